"""What every recipe is told on its command line."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from TokenOptEnv.config import DEFAULT_CONTROLLERS, EpisodeConfig, Profile
from TokenOptEnv.errors import BadInput
from TokenOptEnv.streams import word
from training.env_pool import Room
from training.grammar import TokenGrammar
from training.policy_model import HALVED, Formats, Lora, PolicyModel
from training.sampler import Sampling


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", type=Path, required=True, help="the base model's folder")
    parser.add_argument("--adapter", type=Path, help="an adapter to go on from")
    parser.add_argument("--data", type=Path, required=True, help="DATA.zip is the case box, DATA.jsonl the traces")
    parser.add_argument("--validation", type=Path, help="a case box to check against")
    parser.add_argument("--checks", type=int, default=100, help="episodes a check")
    parser.add_argument("--check-temperature", type=float, default=0.0, help="0 takes the likeliest token, always")
    parser.add_argument("--check-guise", type=int, default=0, help="the guise that checks are played under; 0 is none")
    parser.add_argument("--out", type=Path, required=True, help="the run's folder; a run found there goes on")
    parser.add_argument("--profile", default="v2", choices=[each.value for each in Profile])
    parser.add_argument("--action-tokens", type=int, default=64, help="the longest action")
    add_cache(parser)
    parser.add_argument("--rank", type=int, default=16, help="of the low-rank adapter")
    parser.add_argument("--full", action="store_true", help="train every weight instead of an adapter")
    parser.add_argument("--tree-tokens", type=int, default=8_192, help="the longest tree; longer episodes are split")
    parser.add_argument("--batch-tokens", type=int, default=8_192, help="padded tokens of one forward pass")
    parser.add_argument("--processes", type=int, default=2, help="for episodes; 0 plays them in this one")
    parser.add_argument("--minutes", type=float, help="stop, saved, after so long")
    parser.add_argument("--checkpoint-every", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    add_device(parser)


def add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", help="cuda or cpu; the best there is when left out")
    parser.add_argument(
        "--halved",
        action="store_true",
        help="bfloat16 on a processor too: a quarter of the time, where it has instructions for it",
    )


def add_cache(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cached-tokens",
        type=int,
        default=2_500_000,
        help="read at once while sampling, at most; fewer where a GPU is shared, which no run can see by itself",
    )


def sampling_of(chosen: argparse.Namespace, temperature: float, least_share: float = 0.0) -> Sampling:
    return Sampling(chosen.action_tokens, temperature, least_share, most_cached_tokens=chosen.cached_tokens)


def room_of(chosen: argparse.Namespace, box: Path, guise: int = 0) -> Room:
    return Room(
        box=box,
        tokenizer=chosen.base / "tokenizer.json",
        config=config_of(chosen),
        most_prompt_tokens=_window(chosen.base) - chosen.action_tokens,
        guise=guise,
    )


def config_of(chosen: argparse.Namespace) -> EpisodeConfig:
    catalog = getattr(chosen, "catalog", "measured")
    return EpisodeConfig(
        profile=Profile(chosen.profile), catalog=catalog, controller_model=DEFAULT_CONTROLLERS[catalog]
    )


def model_of(chosen: argparse.Namespace, device: torch.device) -> PolicyModel:
    """An adapter begins with random numbers: those of the run's seed."""
    torch.manual_seed(word("adapter", chosen.seed) % (1 << 63))
    lora = None if chosen.full else Lora(chosen.rank, 2 * chosen.rank)
    return PolicyModel(chosen.base, lora, chosen.adapter, device, formats_of(chosen))


def formats_of(chosen: argparse.Namespace) -> Formats | None:
    """Those of the device, unless others are asked for."""
    return HALVED if chosen.halved else None


def grammar_of(chosen: argparse.Namespace, model: PolicyModel) -> TokenGrammar:
    profile = Profile(chosen.profile)
    return TokenGrammar.of_actions(profile, model.tokenizer, model.eos_id, model.causal.config.vocab_size)


def _window(base: Path) -> int:
    file = base / "config.json"
    if not file.is_file():
        raise BadInput(f"there is no model in {str(base)!r}; make one: python -m training.base_model --out {base}")
    return int(json.loads(file.read_text(encoding="utf-8"))["max_position_embeddings"])
