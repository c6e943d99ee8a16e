"""What was said elsewhere, said again: `actions:FILE`.

A model that is sampled in large batches, on a machine that keeps nothing, leaves its actions behind: a line an episode,
`{"scenario_id": ..., "seed": ..., "actions": [...]}`, each action in its short form. Played from there they become
traces and scores like anybody's, which can be verified and stand on one board with the others.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from TokenOptEnv.errors import BadInput
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.policies.base import PolicyInfo, PolicyScheme
from TokenOptEnv.text_actions import parse


class SaidEpisode(Frozen):
    scenario_id: str
    seed: int
    actions: tuple[str, ...]


class RecordedActions:
    def __init__(self, file: str, seed: int) -> None:
        self._file, self._seed = file, seed

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        scenario_id, step = observation.task.scenario_id, observation.step
        said = _read(self._file).get((scenario_id, self._seed))
        if said is None or step >= len(said):
            missing = "nothing" if said is None else f"only {len(said)} actions"
            raise BadInput(f"{self._file!r} has {missing} for {scenario_id}@{self._seed}; record that episode again")
        return parse(said[step], observation)


@lru_cache(maxsize=4)
def _read(file: str) -> dict[tuple[str, int], tuple[str, ...]]:
    episodes = {}
    for number, line in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), start=1):
        try:
            said = SaidEpisode.model_validate_json(line)
        except ValidationError as fault:
            cause = fault.errors()[0]
            where = ".".join(map(str, cause["loc"])) or "the line"
            raise BadInput(f"{file!r}, line {number}: {where}: {cause['msg']}; record it again") from None
        episodes[said.scenario_id, said.seed] = said.actions
    return episodes


def _resolve(rest: str) -> PolicyInfo:
    if not Path(rest).is_file():
        raise BadInput(f"there is no file {rest!r} of actions; name one: actions:FILE")
    _read(rest)
    return PolicyInfo(
        f"actions:{rest}", "actions that were recorded elsewhere", lambda seed: RecordedActions(rest, seed)
    )


SCHEME = PolicyScheme("actions", "FILE", "actions recorded elsewhere, a line an episode", _resolve)
