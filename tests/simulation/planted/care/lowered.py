"""Planted: a repair of ids lowers their counter by one too many, so that an id is given twice."""

from dataclasses import replace

from treaty.core.state.reserved import ReservedIds
from treaty.core.state.reserved import healing_row as original
from treaty.core.state.rows import Row
from treaty.core.state.values import Counter
from treaty.core.state.view import View
from treaty.log.maintenance import repair

LAWS = {"4"}
EVENTS = {"ids freed"}
PLACE, NAME = repair, "healing_row"


def planted(view: View, found: ReservedIds) -> Row:
    row = original(view, found)
    assert isinstance(row.value, Counter)
    return replace(row, value=replace(row.value, highest=max(0, row.value.highest - 1)))
