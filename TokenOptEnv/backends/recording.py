"""The file that answers are kept in: a header, then one JSON object a line, appended as things happen.

    {"format":"camre-recording","version":1,"made_with":...}
    {"kind":"call",...}         money that may be gone, written before anything is sent
    {"kind":"answered",...}     an answer, what it took and what it cost; settles the calls of its key
    {"kind":"unanswered",...}   the calls of a key led to nothing; what they cost at most

Killed at any moment, a recording has lost at most an answer that was under way, and never the money for it: calls
that nothing settles count in full. Requests are named by their keys; texts stand in it only if that was asked for.
"""

from __future__ import annotations

import fcntl
import threading
from contextlib import suppress
from hashlib import sha256
from io import BufferedRandom
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from TokenOptEnv.errors import BadInput
from TokenOptEnv.models import Effort
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.simulators.backend import RouteReply, RouteUsage
from TokenOptEnv.version import VERSION

RECORDING_VERSION: Final = 1
_FORMAT: Final = "camre-recording"
_DIGITS: Final = 16
_KEEP: Final = "name a file that a live backend wrote"


class RecordingHeader(Frozen):
    format: Literal["camre-recording"]
    version: int
    made_with: str
    """The package's version: information, no condition."""


class Message(Frozen):
    """One of a chat. Kept only if that was asked for."""

    role: Literal["system", "user", "assistant"]
    content: str


class Call(Frozen):
    kind: Literal["call"] = "call"
    key: str
    worst_nano_usd: int = Field(ge=0)


class Answered(Frozen):
    kind: Literal["answered"] = "answered"
    key: str
    scenario_id: str
    subtask_id: str
    model_id: str
    served_as: str
    effort: Effort
    values: dict[str, str]
    text: str
    confidence: float = Field(ge=0.0, le=1.0)
    cites: tuple[str, ...]
    prompt_tokens: int = Field(ge=0)
    cached_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    reasoning_tokens: int = Field(ge=0)
    counted_by: Literal["server", "here"]
    """`here` where the server told nothing, or nothing that can be true."""
    replies: int = Field(ge=1)
    """2 where the first had to be repaired."""
    nano_usd: int = Field(ge=0)
    elapsed_ms: int = Field(ge=0)
    """By the clock on the wall: information. Bills follow the model's card, whatever machine serves it."""
    messages: tuple[Message, ...] | None = None
    """Prompts and raw replies, in order."""

    def reply(self) -> RouteReply:
        return RouteReply(
            values=dict(self.values),
            text=self.text,
            confidence=self.confidence,
            cites=self.cites,
            reasoning_tokens=self.reasoning_tokens,
            usage=RouteUsage(self.prompt_tokens, self.cached_tokens, self.completion_tokens),
        )


class Unanswered(Frozen):
    kind: Literal["unanswered"] = "unanswered"
    key: str
    subtask_id: str
    model_id: str
    nano_usd: int = Field(ge=0)


Line = Annotated[Call | Answered | Unanswered, Field(discriminator="kind")]
_LINE: Final[TypeAdapter[Call | Answered | Unanswered]] = TypeAdapter(Line)


class Tally:
    """What the lines of a recording come to."""

    def __init__(self) -> None:
        self.answers: dict[str, Answered] = {}
        self._settled_nano_usd = 0
        self._open_nano_usd: dict[str, int] = {}

    def add(self, line: Call | Answered | Unanswered) -> None:
        if isinstance(line, Call):
            self._open_nano_usd[line.key] = self._open_nano_usd.get(line.key, 0) + line.worst_nano_usd
            return
        self._open_nano_usd.pop(line.key, None)
        self._settled_nano_usd += line.nano_usd
        if isinstance(line, Answered):
            self.answers.setdefault(line.key, line)

    @property
    def spent_nano_usd(self) -> int:
        return self._settled_nano_usd + sum(self._open_nano_usd.values())


def read(file: Path) -> Tally:
    """A last line without its end was being written when its writer was killed: it never happened."""
    return _tally(file, whole_lines(file))


def whole_lines(file: Path) -> bytes:
    try:
        data = file.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        raise BadInput(f"there is no recording {str(file)!r}; {_KEEP}") from None
    if not data:
        raise BadInput(f"the recording {str(file)!r} is empty; {_KEEP}")
    return data[: data.rfind(b"\n") + 1]


def digest(file: Path) -> str:
    """The same for the same lines, whatever the file is called."""
    return sha256(whole_lines(file)).hexdigest()[:_DIGITS]


class Recorder:
    """A recording that grows. One process at a time holds it; its threads take turns."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            file.touch(exist_ok=False)
        self._lines: BufferedRandom = file.open("r+b")
        try:
            self._tally = self._begun(file)
        except BaseException:
            self._lines.close()
            raise
        self._turn = threading.Lock()

    def _begun(self, file: Path) -> Tally:
        try:
            fcntl.flock(self._lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(f"another run is recording to {str(file)!r}; wait for it, or name another file") from None
        data = self._lines.read()
        whole = data[: data.rfind(b"\n") + 1]
        if not whole and (not data or data.startswith(b'{"format"')):
            self._lines.truncate(0)
            self._lines.seek(0)
            self._write(RecordingHeader(format=_FORMAT, version=RECORDING_VERSION, made_with=VERSION))
            return Tally()
        tally = _tally(file, data)
        self._lines.truncate(len(whole))
        self._lines.seek(len(whole))
        return tally

    def answer(self, key: str) -> Answered | None:
        return self._tally.answers.get(key)

    @property
    def spent_nano_usd(self) -> int:
        return self._tally.spent_nano_usd

    def add(self, line: Call | Answered | Unanswered) -> None:
        """In the file, beyond this process, once this returns."""
        with self._turn:
            self._write(line)
            self._tally.add(line)

    def _write(self, line: RecordingHeader | Call | Answered | Unanswered) -> None:
        self._lines.write(line.model_dump_json(exclude_none=True).encode() + b"\n")
        self._lines.flush()

    def close(self) -> None:
        self._lines.close()


def _tally(file: Path, data: bytes) -> Tally:
    head, *lines = data.split(b"\n")[:-1] or [b""]
    try:
        header = RecordingHeader.model_validate_json(head)
    except ValidationError:
        raise BadInput(f"{str(file)!r} is no recording: its first line is no header; {_KEEP}") from None
    if header.version != RECORDING_VERSION:
        raise BadInput(
            f"{str(file)!r} is a recording of version {header.version}, and this reads {RECORDING_VERSION}; record anew"
        )
    tally = Tally()
    for number, line in enumerate(lines, start=2):
        try:
            tally.add(_LINE.validate_json(line))
        except ValidationError:
            raise BadInput(f"line {number} of recording {str(file)!r} is damaged; delete it, or record anew") from None
    return tally
