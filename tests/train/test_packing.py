"""What is carried in parts is whole again on the other side."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.train.conftest import ROOT
from training.pack_for_gpu import cut


def test_an_archive_cut_in_parts_is_put_together_by_number(tmp_path: Path) -> None:
    whole = bytes(range(256)) * 12
    (tmp_path / "whole.tar").write_bytes(whole)
    cut(tmp_path / "whole.tar", tmp_path, 256)
    assert len(list(tmp_path.glob("part-*"))) == 12
    joined = subprocess.run(
        ["bash", "-c", "cat $(ls part-*/piece-* | sort -V)"], cwd=tmp_path, capture_output=True, check=True
    )
    assert joined.stdout == whole


@pytest.mark.parametrize("script", ["on_gpu.sh", "whole_run.sh"])
def test_a_script_says_how_it_is_called(script: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", ROOT / "training" / script],
        env={"PATH": "/usr/bin:/bin", "CAMRE_GPU_STORE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"bash training/{script}" in done.stdout and "set -e" not in done.stdout
