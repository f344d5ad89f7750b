"""Encode plans: how columns become payloads of a schema, and the checks of each value."""
