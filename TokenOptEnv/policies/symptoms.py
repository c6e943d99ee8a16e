"""The words in which software says that something failed: what anyone would search a log for first."""

from __future__ import annotations

LOUD_WORDS = "error warn failed refused timed out deadline upstream answer peer"
"""One query: how a failure is logged where it happens, and how a caller reports that another failed it."""
