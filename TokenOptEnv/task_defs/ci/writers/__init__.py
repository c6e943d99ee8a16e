"""Writers of what surrounds a test run: commits, runners, caches, installs, uploads.

A writer takes a log, which carries its clock and its stream, and parameters. None knows a case.
"""
