"""Seeded writers, one file per log format or kind of document.

A writer takes a stream, a log (its format and clock), a window of time and parameters; it knows nothing
of any one case. What a case means stands in the case, by hand; what surrounds it comes from here.
"""
