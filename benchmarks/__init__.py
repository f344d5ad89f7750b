"""Benchmarks: `python -m benchmarks` runs them; `python -m benchmarks.versus --before CHECKOUT` compares two checkouts."""
