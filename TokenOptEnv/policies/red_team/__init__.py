"""The red team: policies that go for the reward and not for the answer. Each must score below `cheapest`.

They are named `red:NAME` and play only when asked for. One that wins has found a hole in the reward.
"""

from __future__ import annotations

from TokenOptEnv.errors import UnknownName
from TokenOptEnv.policies.base import PolicyInfo, PolicyScheme
from TokenOptEnv.policies.red_team import burning, citing, farming, idling, probing, spamming
from TokenOptEnv.policies.red_team.trick import Trick

_TEAM: tuple[type[Trick], ...] = (
    idling.Abstain,
    probing.AskAgain,
    burning.BurnBudgets,
    citing.CiteEverything,
    farming.FarmMilestones,
    farming.FarmPartial,
    idling.Guess,
    burning.Hoard,
    idling.NoFault,
    probing.ProbeLeaks,
    idling.RunOut,
    spamming.SpamCheckpoints,
    spamming.SpamEscalations,
    spamming.SpamMalformed,
    spamming.SpamReads,
    spamming.SpamSqueezes,
    idling.SubmitAtOnce,
    burning.Thrash,
    citing.TrustCache,
)
_TRICKS = {trick.name: trick for trick in _TEAM}
SCHEME_NAME = "red"


def names() -> tuple[str, ...]:
    """Every member of the team, by its full name."""
    return tuple(f"{SCHEME_NAME}:{name}" for name in _TRICKS)


def _resolve(name: str) -> PolicyInfo:
    if name not in _TRICKS:
        raise UnknownName("red-team policy", name, _TRICKS, "camre policies list")
    trick = _TRICKS[name]
    about = (trick.__doc__ or "").split("\n", 1)[0].rstrip(".")
    return PolicyInfo(f"{SCHEME_NAME}:{name}", about, trick)


SCHEME = PolicyScheme(SCHEME_NAME, "NAME", "policies that try to game the reward", _resolve, lambda: tuple(_TRICKS))
