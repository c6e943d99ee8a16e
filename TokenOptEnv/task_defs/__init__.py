"""Task families: one folder each, found by discovery."""
