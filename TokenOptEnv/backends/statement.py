"""What a run says of who answered it: all that decides the answers, and nothing that is secret.

Two runs whose statements differ were answered by different models, and are not silently ranked against each other.
"""

from __future__ import annotations

from pydantic import Field

from TokenOptEnv.models.base import Frozen

SIMULATED = "simulated"


class BackendStatement(Frozen):
    kind: str = SIMULATED
    address: str | None = None
    """Of a live endpoint. It holds no secret: an address with one is refused."""
    served_as: dict[str, str] = Field(default_factory=dict)
    """From a model of the catalog, or `*`, to its name at the endpoint."""
    reply_tokens: int | None = None
    reasoning_room: int | None = None
    """What bounds a live reply, since a reply cut short is another reply."""
    recording_sha256: str | None = None
    """Of the file that answers, where nothing is added to it."""

    @property
    def is_simulated(self) -> bool:
        return self.kind == SIMULATED

    @property
    def grows(self) -> bool:
        """Whether its recording is written while it answers, for real money."""
        return not self.is_simulated and self.recording_sha256 is None

    def __str__(self) -> str:
        told = self.address or self.recording_sha256
        named = ", ".join(name if model == "*" else f"{model}={name}" for model, name in sorted(self.served_as.items()))
        return f"{self.kind}{f' {told}' if told else ''}{f' as {named}' if named else ''}"
