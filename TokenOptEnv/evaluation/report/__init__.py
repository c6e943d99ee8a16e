"""One HTML file that shows a whole evaluation and works without a network."""

from TokenOptEnv.evaluation.report.page import Report, build, write

__all__ = ["Report", "build", "write"]
