"""Tables that stand on a segment show what dictionaries show, whatever has changed since."""

import random

from hypothesis import given

from tests.laws.test_tables import batches, histories, last, place, seeds, shuffled, whole
from treaty.core.rows import Encoded
from treaty.core.tables import DictTables
from treaty.node.segment.layered import LayeredTables


@given(histories, histories, seeds)
def test_a_segment_with_changes_over_it_is_as_dictionaries_are(
    below: list[Encoded], over: list[Encoded], seed: int
) -> None:
    chance, both = random.Random(seed), below + over
    plain, layered = DictTables(), LayeredTables(small=0)
    live = [row for row in shuffled(last(below), chance) if row.value is not None]
    for tables in (plain, layered):
        tables.load(live, place(4))
    assert whole(layered, both) == whole(plain, both)
    for rows in batches(over, chance):
        for tables in (plain, layered):
            tables.apply(rows, place(plain.sequence + 1 if tables is plain else plain.sequence))
        assert whole(layered, both) == whole(plain, both)


@given(histories, histories)
def test_loading_anew_forgets_what_was_there(first: list[Encoded], second: list[Encoded]) -> None:
    plain, layered = DictTables(), LayeredTables(small=0)
    layered.load(first, place(1))
    layered.apply(second, place(2))
    for tables in (plain, layered):
        tables.load([row for row in last(second) if row.value is not None], place(7))
    assert whole(layered, first + second) == whole(plain, first + second)
