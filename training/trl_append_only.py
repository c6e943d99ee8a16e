"""The shortest way to train on CAMRE: TRL's tool loop, with the environment's verbs as tools.

    python -m training.trl_append_only --model runs/base/MODEL --data runs/data/train --out runs/trl-tools

A transcript only grows here: what the agent drops or compresses leaves the environment's memory and its bill, yet the
policy still sees it. So it learns when to stop and whom to ask, not how to live with a small memory; for that take
`grpo.py`. The model's chat template must know tools (SmolLM2's does not), at several hundred tokens of prompt.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig
from TokenOptEnv.errors import CamreError
from training.cases import CaseBox
from training.episode import Episode

_TASK = "Work on the case below with the tools, and end with submit.\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Reinforce with TRL's own tool loop.")
    parser.add_argument("--model", type=Path, required=True, help="a model whose chat template knows tools")
    parser.add_argument("--data", type=Path, required=True, help="DATA.zip is the case box")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--groups", type=int, default=2)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--completion-tokens", type=int, default=4_096, help="of a whole transcript")
    try:
        train(parser.parse_args(arguments))
    except CamreError as fault:
        raise SystemExit(f"trl_append_only: {fault}") from None


def train(chosen: argparse.Namespace) -> None:
    box = CaseBox(chosen.data.with_suffix(".zip"))
    rows = [(case.scenario_id, seed) for case in box.index.cases for seed in range(DEFAULT_WORLDS)]
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(str(chosen.model), dtype=torch.float32),
        processing_class=AutoTokenizer.from_pretrained(str(chosen.model), padding_side="left"),
        environment_factory=tools_over(box),
        train_dataset=Dataset.from_dict(
            {
                "prompt": [[{"role": "user", "content": _TASK}]] * len(rows),
                "scenario_id": [scenario_id for scenario_id, _ in rows],
                "seed": [seed for _, seed in rows],
            }
        ),
        peft_config=LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"),
        args=GRPOConfig(
            output_dir=str(chosen.out),
            max_steps=chosen.steps,
            per_device_train_batch_size=chosen.group_size,
            gradient_accumulation_steps=chosen.groups,
            num_generations=chosen.group_size,
            max_completion_length=chosen.completion_tokens,
            scale_rewards="batch",
            beta=0.0,
            logging_steps=1,
            report_to=[],
            use_cpu=not torch.cuda.is_available(),
        ),
    )
    trainer.train()
    trainer.save_model(str(chosen.out / "adapter"))


def tools_over(box: CaseBox) -> Callable[[], CamreTools]:
    return lambda: CamreTools(box)


class CamreTools:
    """One episode. TRL offers every public method to the model, so nothing else here is public."""

    def __init__(self, box: CaseBox) -> None:
        self._box = box
        self._episode: Episode | None = None

    def reset(self, scenario_id: str, seed: int, **_: Any) -> str:
        self._episode = Episode(self._box, scenario_id, seed, EpisodeConfig())
        return self._episode.prompt

    def get_reward(self) -> float:
        """The return; of an episode that never ended, what giving up is worth."""
        assert self._episode is not None
        if self._episode.done:
            return self._episode.outcome().total_return
        return self._episode.observation.reward_breakdown.total

    def read(self, artifact: int, page: int = 1) -> str:
        """
        Read a small artifact whole, or a page of a large one's outline.

        Args:
            artifact: its number in the list of artifacts
            page: the page of the outline
        """
        return self._say(f"read {artifact} {page}")

    def find(self, words: str) -> str:
        """
        Search all artifacts for words.

        Args:
            words: what to look for
        """
        return self._say(f"find {words}")

    def cache(self, words: str) -> str:
        """
        Look for earlier results.

        Args:
            words: the question
        """
        return self._say(f"cache {words}")

    def load(self, segments: list[int]) -> str:
        """
        Load segments into memory, where they are paid for at every step.

        Args:
            segments: their numbers
        """
        return self._say(f"load {_spelt(segments)}")

    def drop(self, items: list[int]) -> str:
        """
        Drop items from memory.

        Args:
            items: their numbers
        """
        return self._say(f"drop {_spelt(items)}")

    def ask(self, question: int, model: int, segments: list[int], effort: str = "medium") -> str:
        """
        Ask a model a question about some evidence.

        Args:
            question: its number
            model: its number
            segments: numbers of the evidence to hand over
            effort: low, medium or high
        """
        return self._say(f"ask {question} {model} {_spelt(segments)} {effort}")

    def submit(self, findings: list[int]) -> str:
        """
        Answer with findings and end.

        Args:
            findings: their numbers
        """
        return self._say(f"submit {_spelt(findings)}")

    def _say(self, text: str) -> str:
        """Do it, and tell what is new: the transcript holds the rest."""
        assert self._episode is not None
        if self._episode.done:
            return "The episode is over."
        before = {item.item_id for item in self._episode.observation.working_memory.items}
        self._episode.say(" ".join(text.split()))
        if self._episode.done:
            return "The episode is over."
        items = self._episode.observation.working_memory.items
        new = [f"#{item.alias} {item.label}\n{item.text}" for item in items if item.item_id not in before]
        return "\n".join([*new, "## Now" + self._episode.prompt.rpartition("## Now")[2]])


def _spelt(numbers: list[int]) -> str:
    return " ".join(str(number) for number in numbers)


if __name__ == "__main__":
    main()
