"""Pipelines: streams of frames into tables of good rows and of bad rows, each row exactly once, and replays of bad rows."""
