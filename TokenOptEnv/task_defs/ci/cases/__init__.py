"""The cases designed by hand, one folder each: its history, its logs, its papers, and the case itself."""
