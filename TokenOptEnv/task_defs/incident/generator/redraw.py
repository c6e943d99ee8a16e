"""A drawn case that does not meet its own conditions. The next attempt draws another one."""

from __future__ import annotations


class Redraw(Exception):
    pass
