"""Irregular registries for tests to begin in: what happened there before, as requests that any registry takes."""
