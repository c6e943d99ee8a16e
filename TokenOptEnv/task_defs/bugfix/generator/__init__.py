"""Bug fixes without end."""
