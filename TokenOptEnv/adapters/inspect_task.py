"""CAMRE as an Inspect AI task: `inspect eval camre --model ...`, offline with `mockllm/model`.

Memory-true: the model is shown `render_text(observation)` and nothing else at every step, as one user message. What the
agent dropped or compressed is gone for the model too, and the conversation is not carried along. Each step's
call stands in the log; the sample's own messages stay the first prompt.

Annotations are not postponed here: Inspect may load this file by its path, and then nobody could look them up later.
"""

from anyio import to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import StoreModel

from TokenOptEnv import scenario_store
from TokenOptEnv.errors import BadInput
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import ScoreBreakdown
from TokenOptEnv.policies.reply import action_of
from TokenOptEnv.prompt import render_text
from TokenOptEnv.text_actions import describe
from TokenOptEnv.version import SCORING_VERSION, VERSION


class Played(StoreModel):
    """An episode, as the log keeps it."""

    actions: list[str] = []  # noqa: RUF012  # pydantic copies a default
    score: ScoreBreakdown | None = None


@task
def camre(
    split: str = "core",
    episodes: int | None = None,
    seeds: int = 1,
    profile: str = "v2",
    track: str = "controller",
    catalog: str = "measured",
) -> Task:
    """`episodes` scenarios of the split (all when left out), each in `seeds` of its worlds."""
    env = LocalEnv(profile=profile, track=track, catalog=catalog)
    return Task(
        dataset=MemoryDataset(_samples(env, split, episodes, seeds), name=f"camre-{split}"),
        solver=play(profile=profile, track=track, catalog=catalog),
        scorer=graded(),
        version=SCORING_VERSION,
        metadata={"package_version": VERSION},
    )


@solver
def play(profile: str = "v2", track: str = "controller", catalog: str = "measured") -> Solver:
    """Shows the model each prompt and plays its reply, until the episode ends."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        env = LocalEnv(profile=profile, track=track, catalog=catalog)
        seen = env.reset(scenario_id=state.metadata["scenario_id"], seed=state.metadata["seed"])
        record = state.store_as(Played)
        while not seen.done:
            reply = await get_model().generate([ChatMessageUser(content=render_text(seen))])
            completion_tokens = reply.usage.output_tokens if reply.usage is not None else 0
            action = action_of(reply.completion, completion_tokens, seen)
            record.actions = [*record.actions, describe(action)]
            seen = await to_thread.run_sync(env.step, action) if env.waits else env.step(action)
            state.output = reply
        record.score = seen.score
        state.completed = True
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def graded() -> Scorer:
    """The environment's own grade; success, return and SCE in it are those of every leaderboard."""

    async def score(state: TaskState, target: Target) -> Score:
        played = state.store_as(Played)
        if played.score is None:
            return Score(value={"success": 0, "total_return": 0, "sce": 0, "cost_usd": 0}, explanation="not played")
        found = played.score
        value: dict[str, str | int | float | bool | None] = {
            "success": int(found.success),
            "total_return": found.total_return,
            "sce": found.sce,
            "cost_usd": found.cost_nano_usd / 1e9,
        }
        return Score(value=value, answer=played.actions[-1], explanation="\n".join(played.actions))

    return score


def _samples(env: LocalEnv, split: str, episodes: int | None, seeds: int) -> list[Sample]:
    size = scenario_store.size(split) if episodes is None else episodes
    if size < 1 or seeds < 1:
        raise BadInput(f"a task needs an episode and a seed, not {size} and {seeds}")
    places = [scenario_store.at(split, index) for index in range(size)]
    return [
        Sample(
            id=f"{scenario_id}@{seed}",
            input=render_text(env.reset(scenario_id=scenario_id, seed=seed)),
            metadata={"scenario_id": scenario_id, "seed": seed},
        )
        for scenario_id in places
        for seed in range(seeds)
    ]
