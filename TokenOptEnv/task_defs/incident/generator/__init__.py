"""Incidents without end: a simulated system, a fault put into it, and everything that was logged and said about it."""

from TokenOptEnv.task_defs.incident.generator.case import generate

__all__ = ["generate"]
