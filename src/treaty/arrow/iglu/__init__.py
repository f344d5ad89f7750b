"""Self-describing JSON in Arrow columns: which schemas it names, and what is wrong with it."""
