"""Cases designed by hand, one folder each: the past, the people, the hidden tests, and the case that joins them.

Beside the folders lies what cases share: the fields that all of them ask for, and commits that only tidy.
"""
