"""The examples for TRL train for a step: memory-true through `rollout_func`, append-only through tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from safetensors.torch import load_file
from trl.chat_template_utils import qwen3_chat_template

from tests.train.conftest import Run
from training.cases import CaseBox
from training.collect import read_traces
from training.trl_append_only import CamreTools


def test_rollouts_that_build_each_prompt_anew(run: Run, tiny: Path, data: Path, tmp_path: Path) -> None:
    run(
        *("trl_rollout", "--base", tiny, "--data", data, "--out", tmp_path, "--steps", 1, "--groups", 1),
        *("--group-size", 3, "--action-tokens", 6, "--rate", 1e-2),
    )
    moved = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    assert any("lora_B" in name for name in moved)


@pytest.fixture
def talker(tiny: Path, tmp_path: Path) -> Path:
    """The tiny model, with a chat template that knows tools."""
    folder = tmp_path / "talker"
    folder.mkdir()
    for file in tiny.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "chat_template.jinja").write_text(qwen3_chat_template, encoding="utf-8")
    return folder


def test_a_transcript_that_only_grows(run: Run, talker: Path, data: Path, tmp_path: Path) -> None:
    run(
        *("trl_append_only", "--model", talker, "--data", data, "--out", tmp_path / "out", "--steps", 1),
        *("--groups", 1, "--group-size", 2, "--completion-tokens", 8),
    )
    assert (tmp_path / "out" / "adapter" / "adapter_model.safetensors").is_file()


def test_the_tools_play_the_episode_they_name(data: Path) -> None:
    trace = read_traces(data.with_suffix(".jsonl"))[0]
    tools = CamreTools(CaseBox(data.with_suffix(".zip")))
    assert "## Now" in tools.reset(scenario_id=trace.scenario_id, seed=trace.seed)
    for text in trace.actions[:-1]:
        verb, _, rest = text.partition(" ")
        told = {"find": tools.find, "cache": tools.cache}[verb](rest) if verb in ("find", "cache") else tools._say(text)
        assert "refused" not in told
    findings = [int(number) for number in trace.actions[-1].split()[1:]]
    assert tools.submit(findings) == "The episode is over."
    assert tools.get_reward() == trace.total_return
