"""Folds: the state of all rows at one place, kept inside a log as a few large pieces, so that a start copies and parses nothing."""
