"""What must hold for a scenario: one module a subject, each with `check(scenario)` that yields faults."""
