"""The two versions every result carries, written once."""

VERSION = "0.1.0"

SCORING_VERSION = 2
"""Bumped when any score of any episode changes; the changelog says what is no longer comparable."""

TRACE_VERSION = 1
"""Bumped when the shape of a trace record changes."""
