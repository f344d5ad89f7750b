"""Folds: the state of all rows at one place, kept in a log in a few large pieces, so that a start copies and parses nothing."""
