"""Playing in the Studio: who may watch what, and each action on the seat of its episode."""

from __future__ import annotations

from TokenOptEnv import policies, scenario_store
from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.models import TokenOptEnvAction
from TokenOptEnv.server.faults import guarded
from TokenOptEnv.server.studio.seats import Seat, Seats
from TokenOptEnv.server.studio.sitting import Frame, Sitting


class Table:
    def __init__(self, reveal: bool, seats: Seats | None = None) -> None:
        self.reveal = reveal
        self._seats = Seats() if seats is None else seats

    def frames(self, sitting: Sitting) -> tuple[Frame, ...]:
        """The episode from its beginning to where it stands."""
        with guarded():
            seat = self._sit_down(sitting)
            played = (seat.first(), *map(seat.again, sitting.actions))
            self._seats.put(sitting, seat)
            return played

    def step(self, sitting: Sitting, action: TokenOptEnvAction) -> Frame:
        """A visitor's action."""
        with guarded():
            if sitting.policy is not None:
                raise BadInput(f"policy {sitting.policy!r} plays this episode; begin one of your own to act in it")
            return self._played(sitting, self._seat(sitting), action)

    def next(self, sitting: Sitting) -> Frame:
        """The policy's action."""
        with guarded():
            if sitting.policy is None:
                raise BadInput("nobody but you plays this episode; send an action, or begin one with a policy")
            seat = self._seat(sitting)
            return self._played(sitting, seat, seat.decided())

    def _played(self, sitting: Sitting, seat: Seat, action: TokenOptEnvAction) -> Frame:
        frame = seat.play(action)
        self._seats.put(sitting.model_copy(update={"actions": (*sitting.actions, action)}), seat)
        return frame

    def _seat(self, sitting: Sitting) -> Seat:
        seat = self._seats.take(sitting)
        if seat is None:
            seat = self._sit_down(sitting)
            seat.first()
            for action in sitting.actions:
                seat.again(action)
        return seat

    def _sit_down(self, sitting: Sitting) -> Seat:
        """Truth and plan are for the end of an episode, where the server was told to reveal them, and never on test."""
        reveal = self.reveal and scenario_store.split_of(sitting.scenario_id) != "test"
        if sitting.policy is not None:
            if sitting.policy not in policies.names():  # the other kinds run a visitor's code, or call a network
                raise UnknownName("policy", sitting.policy, policies.names(), "the list of policies in the Studio")
            if policies.info(sitting.policy).knows_truth and not reveal:
                raise BadInput(
                    f"policy {sitting.policy!r} knows the truth; it is watched on a server that was started with"
                    " --reveal, and never on the test split"
                )
        return Seat(sitting, reveal)
