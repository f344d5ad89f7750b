"""Planted: the next id is one more than the highest in use, so that a purged one is given again."""

from treaty.core.handlers import schema_ids
from treaty.core.state.state_tables import SCHEMA
from treaty.core.state.view import View

LAWS = {"4"}
PLACE, NAME = schema_ids, "next_id"


def planted(view: View, context: str) -> int:
    return max((int(one[1]) for one in view.keys(SCHEMA) if one[0] == context), default=0) + 1
