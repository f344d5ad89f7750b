"""Comparing schemas for people: differences, results of all levels, and who uses what changes."""
