"""The same run on a Ray cluster: the same bytes, and the same one line when something is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from TokenOptEnv import scenario_store
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import ray_pool, runner, suite
from TokenOptEnv.evaluation.run_folder import RunFolder
from TokenOptEnv.evaluation.runner import Engine
from TokenOptEnv.evaluation.suite import RunOptions, RunSpec


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _spec() -> RunSpec:
    return suite.run_spec(["cheapest", "random"], suite.CHOSEN, scenario_store.ids("core")[:3], range(2), RunOptions())


def test_a_cluster_leaves_the_bytes_of_one_process(tmp_path: Path) -> None:
    spec = _spec()
    for engine, workers in ((Engine.LOCAL, 1), (Engine.RAY, 2)):
        with RunFolder.opened(tmp_path / engine, spec) as folder:
            assert len(list(runner.play(spec, folder, workers, engine))) == len(spec.jobs())
    assert _files(tmp_path / Engine.RAY) == _files(tmp_path / Engine.LOCAL)


def test_a_node_with_other_code_is_one_clear_line(tmp_path: Path) -> None:
    spec = _spec().model_copy(update={"code": "0" * 16})
    with (
        RunFolder.opened(tmp_path, spec) as folder,
        pytest.raises(BadInput, match=r"^a worker runs other code") as fault,
    ):
        list(runner.play(spec, folder, 1, Engine.RAY))
    assert "\n" not in str(fault.value)


def test_no_workers_do_no_work() -> None:
    with pytest.raises(BadInput, match="0 workers do no work"):
        list(ray_pool.results(str, [1, 2], 0))
