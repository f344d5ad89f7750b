"""Declarations of operations, by area; `treaty.core.operations` is the table of all."""
