"""Episodes to compare with: what a policy says in this process, and how an example is run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from TokenOptEnv import LocalEnv, policies, scenario_store
from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.models import ScoreBreakdown
from TokenOptEnv.prompt import render_text
from TokenOptEnv.simulators import tokens
from TokenOptEnv.text_actions import Numbering, parse, write

ROOT = Path(__file__).resolve().parent.parent.parent
FIRST = scenario_store.at("core", 0)


@dataclass(frozen=True, slots=True)
class Spoken:
    """An episode as a language model would have played it."""

    prompts: tuple[str, ...]
    replies: tuple[str, ...]
    score: ScoreBreakdown

    def tokens(self, step: int) -> int:
        """What a server would count for a reply without any thought."""
        return tokens.count(YARDSTICK, self.replies[step])


def spoken(policy_name: str = "cheapest", scenario_id: str = FIRST, seed: int = 0) -> Spoken:
    env, policy = LocalEnv(), policies.make(policy_name, seed)
    seen = env.reset(scenario_id=scenario_id, seed=seed)
    prompts, replies = [], []
    while not seen.done:
        prompts.append(render_text(seen))
        replies.append(write(policy.act(seen), Numbering.of(seen)))
        seen = env.step(parse(replies[-1], seen))
    assert seen.score is not None
    return Spoken(tuple(prompts), tuple(replies), seen.score)


def run_example(name: str, *arguments: str, **environment: str) -> str:
    """What `python examples/NAME` prints, with the commands of this environment on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PATH": path, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
