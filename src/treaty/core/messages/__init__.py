"""Requests and answers by area: groups, encodings, associations. Those of subjects and versions are in `treaty.core.requests` and `answers`."""
