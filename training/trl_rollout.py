"""The same training with TRL's GRPOTrainer, memory-true through `rollout_func`.

    python -m training.trl_rollout --base runs/base/smollm2-135m --adapter runs/sft/adapter \\
        --data runs/data/train --out runs/trl

TRL learns from one completion per row, while an episode has as many as it has steps. So each row plays a whole episode,
every step on the prompt it is billed for, and hands back one of its steps, drawn with equal chances, with the return of
the episode. The gradient is right on average; `grpo.py`, which learns from all steps, needs a tenth of the episodes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from TokenOptEnv.config import DEFAULT_WORLDS, EpisodeConfig
from TokenOptEnv.errors import CamreError
from TokenOptEnv.streams import Stream
from training.cases import CaseBox
from training.episode import Episode


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Reinforce with TRL, one step of each episode.")
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, help="a warm start; without one nothing valid is ever said")
    parser.add_argument("--data", type=Path, required=True, help="DATA.zip is the case box")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--action-tokens", type=int, default=64)
    parser.add_argument("--rate", type=float, default=5e-5)
    try:
        train(parser.parse_args(arguments))
    except CamreError as fault:
        raise SystemExit(f"trl_rollout: {fault}") from None


def train(chosen: argparse.Namespace) -> None:
    box = CaseBox(chosen.data.with_suffix(".zip"))
    names = [f"{case.scenario_id}@{seed}" for case in box.index.cases for seed in range(DEFAULT_WORLDS)]
    plain = AutoModelForCausalLM.from_pretrained(str(chosen.base), dtype=torch.float32)
    if chosen.adapter is not None:
        model = PeftModel.from_pretrained(plain, str(chosen.adapter), is_trainable=True)
    else:
        lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
        model = get_peft_model(plain, lora)
    trainer = GRPOTrainer(
        model=model,
        processing_class=AutoTokenizer.from_pretrained(str(chosen.base), padding_side="left"),
        reward_funcs=episode_return,
        rollout_func=Rollouts(box, chosen.action_tokens),
        train_dataset=Dataset.from_dict({"prompt": names}),
        args=GRPOConfig(
            output_dir=str(chosen.out),
            max_steps=chosen.steps,
            per_device_train_batch_size=chosen.group_size,
            gradient_accumulation_steps=chosen.groups,
            num_generations=chosen.group_size,
            max_completion_length=chosen.action_tokens,
            learning_rate=chosen.rate,
            scale_rewards="batch",
            beta=0.0,
            logging_steps=1,
            report_to=[],
            use_cpu=not torch.cuda.is_available(),
        ),
    )
    trainer.train()
    trainer.save_model(str(chosen.out / "adapter"))


def episode_return(completions: list[str], episode_returns: list[float], **_: Any) -> list[float]:
    return episode_returns


class Rollouts:
    """What the trainer calls with a name for each row, and what it learns from."""

    def __init__(self, box: CaseBox, action_tokens: int) -> None:
        self._box, self._action_tokens = box, action_tokens
        self._calls = 0

    def __call__(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        self._calls += 1
        episodes = [self._episode(name) for name in prompts]
        steps: list[list[tuple[list[int], list[int]]]] = [[] for _ in episodes]
        while live := [number for number, episode in enumerate(episodes) if not episode.done]:
            said = self._say([episodes[number].prompt for number in live], trainer)
            for number, (prompt_ids, ids, text) in zip(live, said, strict=True):
                steps[number].append((prompt_ids, ids))
                episodes[number].say(text)
        stream = Stream("trl step", self._calls)
        picked = [stream.choice(each) for each in steps]
        return {
            "prompt_ids": [prompt_ids for prompt_ids, _ in picked],
            "completion_ids": [ids for _, ids in picked],
            "logprobs": None,
            "episode_returns": [episode.outcome().total_return for episode in episodes],
        }

    def _episode(self, name: str) -> Episode:
        scenario_id, _, seed = name.partition("@")
        return Episode(self._box, scenario_id, int(seed), EpisodeConfig())

    def _say(self, prompts: list[str], trainer: GRPOTrainer) -> list[tuple[list[int], list[int], str]]:
        """By prompt: its ids, what was said, and how that reads."""
        tokenizer = trainer.processing_class
        given = tokenizer(prompts, return_tensors="pt", padding=True, add_special_tokens=False)
        given = given.to(trainer.accelerator.device)
        model = trainer.accelerator.unwrap_model(trainer.model)
        with torch.no_grad():
            whole = model.generate(
                **given, max_new_tokens=self._action_tokens, do_sample=True, pad_token_id=tokenizer.pad_token_id
            )
        width = given["input_ids"].shape[1]
        found = []
        for row, mask in zip(whole, given["attention_mask"], strict=True):
            ids = row[width:].tolist()
            if tokenizer.eos_token_id in ids:
                ids = ids[: ids.index(tokenizer.eos_token_id) + 1]
            prompt_ids = row[width - int(mask.sum()) : width].tolist()
            found.append((prompt_ids, ids, tokenizer.decode(ids, skip_special_tokens=True)))
        return found


if __name__ == "__main__":
    main()
