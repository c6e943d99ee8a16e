"""What crosses the wire when something goes wrong: one short line, never a stack, a path or the input itself.

Three kinds of fault reach a client:

    CamreError         the caller's mistake; its text was written to be shown
    ValidationError    a message of the wrong shape; told by field, without the value that was sent
    anything else      a bug: `internal error <id>`, and the stack under that id in the server's log
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from secrets import token_hex
from typing import Any, Final

from TokenOptEnv.errors import CamreError

_LOG = logging.getLogger("TokenOptEnv.server")
_LONGEST_LINE: Final = 300
_LONGEST_NAME: Final = 40
_MOST_PROBLEMS: Final = 3


class InternalFault(Exception):
    """A bug, seen from outside. Only its id is told."""


class _Guard:
    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CamreError | InternalFault):
            raise internal_fault(error) from None


_GUARD: Final = _Guard()


def guarded() -> _Guard:
    """Let the caller's mistakes through as they are; turn everything unknown into an `InternalFault`.

    Entered twice a step, hence one plain object and no generator.
    """
    return _GUARD


def internal_fault(error: BaseException) -> InternalFault:
    name = token_hex(4)
    _LOG.error("internal error %s", name, exc_info=error)
    return InternalFault(f"internal error {name}")


def shown(text: str) -> str:
    """Within the length that is ever sent back: what a client sent can be quoted in an error's text."""
    return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…"


def problems(errors: Sequence[Any]) -> str:
    """A validation error in one line: which field, and what it should have been."""
    lines = [f"{_place(error['loc'])}: {shown(error['msg'])}" for error in errors[:_MOST_PROBLEMS]]
    if len(errors) > _MOST_PROBLEMS:
        lines.append(f"and {len(errors) - _MOST_PROBLEMS} more")
    return "; ".join(lines)


def _place(location: Sequence[int | str]) -> str:
    names = [str(part) for part in location]
    return ".".join(name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…" for name in names[:8])
