"""Pipelines: streams of frames into tables of good and of bad rows, each row once, and bad rows that come back."""
