"""Measurements against baselines: `python -m benchmarks` prints a table and writes RESULTS.md."""
