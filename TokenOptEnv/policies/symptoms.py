"""The words in which software says that something failed: what anyone would search a log for first."""

from __future__ import annotations

LOUD_WORDS = "error failed fail exception refused timed out timeout deadline upstream answer dropped exhausted 500 503 504"
"""One query. Few words of routine lines, and both how a failure is logged and how a caller reports it."""
