"""The prompt stays small enough for small agents, at every step of every baseline.

The limits are in tokens of SmolLM2, whose vocabulary the core does not carry. On prompts of these very episodes it was
measured to need at most 1.28 times the yardstick's tokens; the 95th percentile of easy prompts is 1.05 times as high in
its tokens (1,952), and that of medium ones 1.09 times (3,100).
"""

from __future__ import annotations

from TokenOptEnv import LocalEnv, policies, render_text, scenario_store
from TokenOptEnv.config import YARDSTICK, Difficulty
from TokenOptEnv.simulators import tokens

MOST_TIMES = 1.28
LONGEST = 7_500
USUAL_TIMES = {Difficulty.EASY: 1.05, Difficulty.MEDIUM: 1.09}
USUAL = {Difficulty.EASY: 2_000, Difficulty.MEDIUM: 3_500}
SEEDS = range(2)


def test_the_prompts_of_every_baseline_stay_within_their_sizes() -> None:
    sizes: dict[Difficulty, list[int]] = {}
    for scenario_id in scenario_store.ids("core"):
        for name in policies.names():
            for seed in SEEDS:
                env, policy = LocalEnv(), policies.make(name, seed)
                observation = env.reset(scenario_id=scenario_id, seed=seed)
                while not observation.done:
                    count = tokens.count(YARDSTICK, render_text(observation))
                    sizes.setdefault(observation.task.difficulty, []).append(count)
                    observation = env.step(policy.act(observation))
    for difficulty, counts in sizes.items():
        counts.sort()
        assert counts[-1] * MOST_TIMES <= LONGEST
        if difficulty in USUAL:
            assert counts[int(0.95 * len(counts))] * USUAL_TIMES[difficulty] <= USUAL[difficulty]
