"""The table of named policies, with its key, value and indexes."""

from typing import NamedTuple

from treaty.core.state import values
from treaty.core.state.table import Table


class PolicyKey(NamedTuple):
    """Key of a named policy."""

    name: str


POLICY = Table("policy", PolicyKey, values.NamedPolicy, ordered=True, counted=lambda _key, _: ())
"""Counted together."""
