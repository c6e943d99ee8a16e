"""CAMRE under Inspect AI: in this process with its stand-in model, and by its command against a real endpoint."""

from __future__ import annotations

import gc
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model

from tests.adapters.played import FIRST, ROOT, run_example, spoken
from tests.core.live_server import Step, serving
from tests.surface import documented
from TokenOptEnv import scenario_store
from TokenOptEnv.adapters.inspect_task import camre
from TokenOptEnv.errors import BadInput, UnknownName

pytestmark = pytest.mark.filterwarnings(  # its own code warns, and is not ours to mend
    "ignore:The 'initial' parameter:DeprecationWarning", "ignore:Unclosed <MemoryObject:ResourceWarning"
)

PLAYED = spoken()


class Parrot:
    """Says what a policy said, and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[list[ChatMessage]] = []

    def __call__(self, messages: list[ChatMessage], *ignored: Any) -> ModelOutput:
        step = len(self.shown)
        self.shown.append(messages)
        output = ModelOutput.from_content("mockllm/model", PLAYED.replies[step])
        output.usage = ModelUsage(input_tokens=1, output_tokens=PLAYED.tokens(step))
        return output


def _means(log: EvalLog) -> dict[str, float]:
    assert log.status == "success", log.error
    assert log.results is not None
    return {score.name: score.metrics["mean"].value for score in log.results.scores}


_GRADE = {
    "success": float(PLAYED.score.success),
    "total_return": PLAYED.score.total_return,
    "sce": PLAYED.score.sce,
    "cost_usd": PLAYED.score.cost_nano_usd / 1e9,
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[EvalLog, Parrot]:
    parrot = Parrot()
    model = get_model("mockllm/model", custom_outputs=parrot)
    (log,) = evaluate(camre(episodes=1), model=model, display="none", log_dir=str(tmp_path_factory.mktemp("logs")))
    gc.collect()  # what it left open complains when it is thrown away, which must not be during somebody else's test
    return log, parrot


def test_the_model_is_shown_each_prompt_alone(played: tuple[EvalLog, Parrot]) -> None:
    _, parrot = played
    assert [[message.text for message in shown] for shown in parrot.shown] == [[prompt] for prompt in PLAYED.prompts]


def test_the_scores_are_the_grade_of_the_environment(played: tuple[EvalLog, Parrot]) -> None:
    log, _ = played
    assert _means(log) == pytest.approx(_GRADE)


def test_the_log_tells_every_action(played: tuple[EvalLog, Parrot]) -> None:
    log, _ = played
    assert log.samples is not None
    (sample,) = log.samples
    assert sample.id == f"{FIRST}@0"
    assert len(sample.store["Played:actions"]) == len(PLAYED.replies)
    assert sum(event.event == "model" for event in sample.events) == len(PLAYED.replies)


def test_a_sample_is_a_scenario_in_one_of_its_worlds() -> None:
    names = [sample.id for sample in camre(episodes=2, seeds=2).dataset]
    assert names == [f"{scenario_store.at('core', index)}@{seed}" for index in range(2) for seed in range(2)]


def test_what_cannot_be_is_one_clear_line() -> None:
    with pytest.raises(UnknownName, match="did you mean 'core'"):
        camre(split="cora")
    with pytest.raises(BadInput, match="a task needs an episode and a seed"):
        camre(episodes=0)


def _message(text: str, output_tokens: int) -> Step:
    """A reply in the form of Anthropic's API: verifiers, beside it here, keeps `openai` too old for Inspect."""
    reply = {
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "parrot",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": output_tokens},
    }
    return Step(body=json.dumps(reply).encode(), headers={"Content-Type": "application/json"})


@pytest.mark.parametrize("command", documented.typed_by(__file__))
def test_the_command_of_the_page_evaluates_it_on_a_local_model(command: str, tmp_path: Path) -> None:
    script = [_message(reply, PLAYED.tokens(step)) for step, reply in enumerate(PLAYED.replies)]
    program, *words = shlex.split(command.replace("PROVIDER/MODEL", "anthropic/parrot").replace("seeds=2", "seeds=1"))
    options = ["-T", "episodes=1", "--max-tokens", "64", "--display", "plain", "--log-dir", str(tmp_path)]
    with serving(lambda body: _message("?", 1), *script) as server:
        served = ["--model-base-url", server.url.removesuffix("/v1"), "-M", "api_key=none"]
        typed = [str(Path(sys.executable).parent / program), *words, *served, *options]
        done = subprocess.run(typed, capture_output=True, text=True, check=False, cwd=ROOT)
        shown = [asked.prompt for asked in server.asked]
    assert done.returncode == 0, done.stdout + done.stderr
    assert tuple(shown) == PLAYED.prompts
    (file,) = tmp_path.glob("*.eval")
    assert _means(read_eval_log(str(file))) == pytest.approx(_GRADE)


def test_the_example_runs(tmp_path: Path) -> None:
    lines = run_example("inspect_offline.py", str(tmp_path)).splitlines()
    assert [line.partition(":")[0] for line in lines] == list(_GRADE)
