"""A server of its own for the attacks: nothing that is done to it reaches another test's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.server.conftest import pytest_pycollect_makemodule  # without OpenEnv: skipped, with the reason

if TYPE_CHECKING:
    from tests.server.live import Address

__all__ = ["pytest_pycollect_makemodule"]


@pytest.fixture(scope="session")
def attacked() -> Iterator[Address]:
    from tests.hard.fuzz_socket import CAPACITY
    from tests.server.live import process

    with process("server.app:app", CAMRE_CAPACITY=str(CAPACITY), CAMRE_PING_SECONDS="1") as address:
        yield address
