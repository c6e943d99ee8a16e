"""Evaluation: policies played on scenarios, what they cost and solved, and whether the scenarios hold."""
