"""Warm start, then reinforcement, on a tiny model: they learn, survive a kill, and leave a policy that plays."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.train.conftest import ROOT, Run, command, environment
from TokenOptEnv import LocalEnv, policies
from TokenOptEnv.errors import BadInput
from TokenOptEnv.policies import hf
from training.cases import CaseBox
from training.options import model_of

_PATIENCE_S = 240


def rows(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def warm(run: Run, small: list[object], data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sft")
    run("sft", *small, "--out", out, "--epochs", 6, "--batch", 3, "--rate", 2e-2, "--validation", f"{data}.zip")
    return out


def grpo(small: list[object], warm: Path, out: Path) -> list[object]:
    return [
        *small,
        *("--adapter", warm / "adapter", "--out", out, "--iterations", 3, "--groups", 2, "--group-size", 3),
        *("--updates", 2, "--rate", 1e-2, "--checkpoint-every", 1, "--kl", 0.01),
    ]


@pytest.fixture(scope="module")
def reinforced(run: Run, small: list[object], warm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("grpo")
    run("grpo", *grpo(small, warm, out))
    return out


def test_the_warm_start_learns_its_traces(warm: Path) -> None:
    losses = [row["loss"] for row in rows(warm) if "loss" in row]
    assert losses[-1] < 0.8 * losses[0]
    assert rows(warm)[-1]["check_episodes"] == 1


def test_traces_of_cases_made_before_are_those_of_cases_made_now(run: Run, data: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    run("collect", "--box", f"{data}.zip", "--processes", 1, "--out", again)
    for suffix in (".zip", ".jsonl"):
        assert again.with_suffix(suffix).read_bytes() == data.with_suffix(suffix).read_bytes()


def test_the_tutor_is_judged_like_a_heuristic(run: Run, data: Path, tmp_path: Path) -> None:
    judged = ["--box", f"{data}.zip", "--processes", 1, "--summary", tmp_path / "summary.json"]
    run("evaluate", *judged, "--policy", "tutor", "--policy", "expert")
    found = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert found.keys() == {"tutor", "expert"} and found["tutor"] != found["expert"]


def test_an_adapter_begins_with_the_numbers_of_the_runs_seed(tiny: Path) -> None:
    def first(seed: int) -> dict[str, torch.Tensor]:
        chosen = argparse.Namespace(base=tiny, adapter=None, full=False, rank=4, seed=seed, halved=False)
        return {name: each.detach() for name, each in model_of(chosen, torch.device("cpu")).trainable()}

    once, again, other = first(0), first(0), first(1)
    assert all(torch.equal(once[name], again[name]) for name in once)
    assert any(not torch.equal(once[name], other[name]) for name in once)


def test_reinforcement_tells_all_that_a_red_team_asks_for(reinforced: Path) -> None:
    told = rows(reinforced)
    assert [row["iteration"] for row in told] == [0, 1, 2]
    wanted = "return success sce refused_share malformed_share ungrounded_share farmed_reward entropy clip_fraction"
    wanted += " compared_return compared_success compared_sce compared_expected_sce expected_return"
    for row in told:
        assert set(wanted.split()) <= row.keys()
        assert row["episodes"] == 6
    assert told[0]["kl_start"] == 0.0 < told[2]["kl_start"]


def test_without_the_grammar_a_policy_learns_from_what_it_says_of_its_own_accord(
    run: Run, small: list[object], warm: Path, reinforced: Path, tmp_path: Path
) -> None:
    run("grpo", *grpo(small, warm, tmp_path), "--no-grammar", "--iterations", 1)
    assert rows(tmp_path)[0]["malformed_share"] > rows(reinforced)[0]["malformed_share"]


def test_credit_by_branch_learns_from_fewer_steps(
    run: Run, small: list[object], warm: Path, reinforced: Path, tmp_path: Path
) -> None:
    run("grpo", *grpo(small, warm, tmp_path), "--credit", "branch", "--iterations", 1)
    (row,) = rows(tmp_path)
    assert row["return"] == rows(reinforced)[0]["return"] and row["gradient"] > 0.0
    assert 0.0 < row["kept_share"] < rows(reinforced)[0]["kept_share"]


def test_bold_draws_by_what_is_to_be_expected_show_what_is_reached_without_them(
    run: Run, small: list[object], warm: Path, tmp_path: Path
) -> None:
    bold = ("--temperature", 2, "--drawn-share", 0.5, "--least-share", 0.01, "--worth", "expected")
    run("grpo", *grpo(small, warm, tmp_path), "--credit", "branch", *bold, "--iterations", 1)
    (row,) = rows(tmp_path)
    assert {"undrawn_return", "undrawn_expected_sce", "expected_return"} <= row.keys()


def test_a_run_that_was_killed_goes_on_to_the_same_metrics(
    run: Run, small: list[object], warm: Path, reinforced: Path, tmp_path: Path
) -> None:
    arguments = grpo(small, warm, tmp_path)
    killed = subprocess.Popen(
        command("grpo", *arguments), cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until(lambda: (tmp_path / "state.pt").is_file())
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(rows(tmp_path)) < 3
    run("grpo", *arguments)
    assert (tmp_path / "metrics.jsonl").read_bytes() == (reinforced / "metrics.jsonl").read_bytes()
    adapters = [folder / "adapter" / "adapter_model.safetensors" for folder in (tmp_path, reinforced)]
    assert adapters[0].read_bytes() == adapters[1].read_bytes()


def test_a_finished_run_called_again_changes_nothing(
    run: Run, small: list[object], warm: Path, reinforced: Path
) -> None:
    before = (reinforced / "metrics.jsonl").read_bytes()
    run("grpo", *grpo(small, warm, reinforced))
    assert (reinforced / "metrics.jsonl").read_bytes() == before


def test_the_adapter_plays_as_a_policy(tiny: Path, reinforced: Path, data: Path, run: Run, tmp_path: Path) -> None:
    """Through `hf:` and through the recipes' own batched play: the same returns."""
    out = tmp_path / "episodes.jsonl"
    run(
        *("evaluate", "--box", f"{data}.zip", "--base", tiny, "--adapter", reinforced / "adapter", "--episodes", 1),
        *("--processes", 0, "--device", "cpu", "--out", out),
    )
    batched = json.loads(out.read_text(encoding="utf-8"))
    policy = policies.make(f"hf:{reinforced / 'adapter'}@{tiny}", 0)
    env = LocalEnv()
    observation = env.reset(scenario_id=batched["scenario_id"], seed=batched["seed"])
    while not observation.done:
        observation = env.step(policy.act(observation))
    assert observation.score is not None
    assert observation.score.total_return == batched["total_return"]
    assert observation.step == batched["steps"]


def test_what_a_prompt_shares_with_the_last_is_read_once(tiny: Path, reinforced: Path, data: Path) -> None:
    """And what is said is the same as if all were read anew."""
    (case,) = CaseBox(data.with_suffix(".zip")).cases
    name = f"hf:{reinforced / 'adapter'}@{tiny}"
    said: dict[bool, list[str]] = {True: [], False: []}
    read, cached = dict.fromkeys(said, 0), dict.fromkeys(said, 0)
    for is_kept in said:
        policy = policies.make(name, 0)
        assert isinstance(policy, hf.HfPolicy)
        layers = policy._checkpoint._network.model.layers

        def count(_module: object, inputs: tuple[torch.Tensor, ...], is_kept: bool = is_kept) -> None:
            read[is_kept] += inputs[0].shape[1]

        hook = layers[0].register_forward_pre_hook(count)
        env = LocalEnv()
        observation = env.reset(scenario_id=case, seed=0)
        while not observation.done:
            if not is_kept:
                policy._reading = hf.Reading()
            action = policy.act(observation)
            said[is_kept].append(action.model_dump_json())
            observation = env.step(action)
        hook.remove()
        cached[is_kept] = policy.usage.cached_tokens
    assert said[True] == said[False] and len(said[True]) > 2
    assert 2 * read[True] < read[False]
    assert cached == {True: read[False] - read[True], False: 0}


def test_a_fault_on_the_way_leaves_nothing_half_read(
    tiny: Path, reinforced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observation = LocalEnv().reset(scenario_id="bugfix-easy-shelflife-regional-prices", seed=0)
    policy = policies.make(f"hf:{reinforced / 'adapter'}@{tiny}", 0)
    assert isinstance(policy, hf.HfPolicy)
    first = policy.act(observation)
    network = policy._checkpoint._network
    with monkeypatch.context() as broken:
        broken.setattr(network, "generate", lambda **given: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            policy.act(observation)
    assert policy.act(observation) == first


def test_under_the_grammar_hardly_anything_is_malformed(tiny: Path, data: Path, run: Run, tmp_path: Path) -> None:
    """Only what is too long to end; of a model that was never taught the form."""
    played = ("--box", f"{data}.zip", "--base", tiny, "--temperature", 1, "--episodes", 4)
    for name, option in (("free", ()), ("held", ("--grammar",))):
        run("evaluate", *played, *option, "--processes", 0, "--device", "cpu", "--out", tmp_path / name)
    free, held = (
        [json.loads(line)["malformed"] for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()]
        for name in ("free", "held")
    )
    assert sum(held) < sum(free)


def test_an_adapter_that_says_how_to_draw_is_drawn_from_by_the_episodes_seed(
    tiny: Path, reinforced: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "adapter"
    shutil.copytree(reinforced / "adapter", folder)
    (folder / "generation_config.json").write_text('{"do_sample": true, "temperature": 1.5}', encoding="utf-8")
    observation = LocalEnv().reset(scenario_id="bugfix-easy-shelflife-regional-prices", seed=0)

    def said(seed: int) -> str:
        return policies.make(f"hf:{folder}@{tiny}", seed).act(observation).model_dump_json()

    first = said(0)
    before = torch.random.get_rng_state()
    assert said(0) == first
    assert len({said(seed) for seed in range(5)}) > 1
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("said", ["do_sample", "[]"])
def test_an_adapter_that_says_it_badly_is_one_line(tiny: Path, reinforced: Path, tmp_path: Path, said: str) -> None:
    folder = tmp_path / "adapter"
    shutil.copytree(reinforced / "adapter", folder)
    (folder / "generation_config.json").write_text(said, encoding="utf-8")
    with pytest.raises(BadInput, match=r"generation_config.json' is not a JSON object; mend it"):
        policies.make(f"hf:{folder}@{tiny}", 0)


def test_listing_policies_loads_no_framework() -> None:
    program = "import sys; from TokenOptEnv import policies; policies.names(), policies.schemes()['hf']"
    asked = f"{program}; assert not {{'torch', 'transformers'}} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", asked], cwd=ROOT, env=environment(), check=True)


def test_every_weight_can_be_trained_instead_of_an_adapter(run: Run, small: list[object], tmp_path: Path) -> None:
    run("sft", *small, "--out", tmp_path, "--epochs", 1, "--batch", 3, "--full")
    assert (tmp_path / "adapter" / "model.safetensors").is_file()


def test_a_wrong_folder_is_one_line(run: Run, data: Path, tmp_path: Path) -> None:
    done = run("sft", "--base", tmp_path, "--data", data, "--out", tmp_path / "out", code=1)
    assert done.stderr.startswith("sft: there is no model in ")
    assert len(done.stderr.splitlines()) == 1


def test_a_wrong_adapter_is_one_line(run: Run, small: list[object], tmp_path: Path) -> None:
    done = run("grpo", *small, "--adapter", tmp_path, "--out", tmp_path / "out", code=1)
    assert done.stderr == f"grpo: there is no adapter in '{tmp_path}'; name the folder that a recipe wrote\n"


def until(holds: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + _PATIENCE_S
    while not holds():
        assert time.monotonic() < ends_at
        time.sleep(0.05)
