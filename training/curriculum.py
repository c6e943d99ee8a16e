"""Which cases an iteration plays: easy ones first, harder ones as those are solved.

A group whose episodes all end alike teaches nothing, so most cases are drawn from those that some heuristic has solved;
the rest are drawn from all, because what a heuristic cannot do is not beyond learning.
"""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.config import DEFAULT_WORLDS, Difficulty
from TokenOptEnv.errors import BadInput
from TokenOptEnv.streams import Stream
from training.cases import LONG_STEPS, BoxedCase, BoxIndex
from training.rollouts import Task

_ORDER = (Difficulty.EASY, Difficulty.MEDIUM, Difficulty.HARD, Difficulty.MARATHON)
_SOLVED_RETURN = 0.25
"""The mean return of a heuristic that is worth more than any failure's."""
_MEMORY = 0.8
"""Of the running share of successes, per iteration."""


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Frozen: an iteration gives the next one. `reached` is the hardest difficulty in play."""

    reached: Difficulty
    solved_share: float = 0.0
    """Running, of episodes at the hardest difficulty in play."""

    @classmethod
    def begin(cls, index: BoxIndex) -> Curriculum:
        return cls(_present(index)[0])

    def after(self, solved: list[tuple[str, bool]], index: BoxIndex, enough: float) -> Curriculum:
        """`solved`: of each episode its difficulty and whether it succeeded."""
        at_top = [success for difficulty, success in solved if difficulty == self.reached.value]
        if not at_top:
            return self
        share = _MEMORY * self.solved_share + (1 - _MEMORY) * sum(at_top) / len(at_top)
        harder = [each for each in _present(index) if _ORDER.index(each) > _ORDER.index(self.reached)]
        return Curriculum(harder[0]) if share >= enough and harder else Curriculum(self.reached, share)


def upto(index: BoxIndex, hardest: Difficulty) -> BoxIndex:
    """Without cases that are harder: marathons, say, which cost as much to play as ten others."""
    allowed = _ORDER[: _ORDER.index(hardest) + 1]
    cases = tuple(case for case in index.cases if case.difficulty in allowed)
    if not cases:
        raise BadInput(f"the case box has no case up to {hardest.value!r}; let harder ones in, or collect some")
    return index.model_copy(update={"cases": cases})


def _present(index: BoxIndex) -> tuple[Difficulty, ...]:
    """From easy to hard; never none."""
    found = {case.difficulty for case in index.cases}
    if not found:
        raise BadInput("the case box is empty; make it again: python -m training.collect")
    return tuple(each for each in _ORDER if each in found)


def draw(
    index: BoxIndex,
    curriculum: Curriculum,
    groups: int,
    group_size: int,
    solvable_share: float,
    stream: Stream,
    long_share: float = 1.0,
) -> list[Task]:
    """Groups of the same case in the same world.

    While harder ones wait, half of them are at the hardest difficulty in play; then all are drawn as they come. Cases
    that take many steps are drawn from in a share of the draws, `long_share`, and left out of the others.
    """
    upto = _ORDER[: _ORDER.index(curriculum.reached) + 1]
    is_waiting = any(case.difficulty not in upto for case in index.cases)
    tasks: list[Task] = []
    for number in range(groups):
        allowed = (curriculum.reached,) if is_waiting and number % 2 == 0 else upto
        cases = [case for case in index.cases if case.difficulty in allowed]
        short = [case for case in cases if case.steps < LONG_STEPS]
        cases = short if short and not stream.chance(long_share) else cases
        solvable = [case for case in cases if case.best_return >= _SOLVED_RETURN]
        case: BoxedCase = stream.choice(solvable if solvable and stream.chance(solvable_share) else cases)
        seed = stream.integer(0, DEFAULT_WORLDS - 1)
        tasks += [Task(case.scenario_id, seed)] * group_size
    return tasks
