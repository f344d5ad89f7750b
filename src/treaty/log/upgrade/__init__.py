"""Upgrade of a log of format 1 to a new log of the current format.

The code that reads format 1 is frozen and does not depend on the current tables.
"""
