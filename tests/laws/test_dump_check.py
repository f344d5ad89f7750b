"""The check of a dump finds on a temporary file what the check of tables finds in memory, and holds little of the dump."""

import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_rights_traces import built, histories
from treaty.core.invariants import find_violations
from treaty.core.messages.request import Request
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.tables import DictTables
from treaty.core.state.values import Content, Counter
from treaty.log.maintenance import dump_check
from treaty.log.maintenance.dump_check import find_dump_violations, order_bytes

TEXTS = st.text("a\0\1\x7fé\ud800\U0010ffff", max_size=3)


@given(st.lists(st.booleans(), max_size=3), st.data())
def test_bytes_are_in_order_as_keys_are(words: list[bool], data: st.DataObject) -> None:
    kinds: list[st.SearchStrategy[Any]] = [TEXTS if word else st.integers(-(2**70), 2**70) for word in words]
    one, other = ((*(data.draw(kind) for kind in kinds),) for _ in range(2))
    shorter = other[: data.draw(st.integers(0, len(other)))]
    for left, right in ((one, other), (one, shorter), (shorter, other)):
        assert (left < right) == (order_bytes(left) < order_bytes(right))
        assert (left == right) == (order_bytes(left) == order_bytes(right))


@given(histories(), st.randoms(use_true_random=False), st.integers(0, 3))
def test_a_dump_breaks_what_its_tables_break(steps: list[Request[object]], chance: random.Random, lost: int) -> None:
    tables = built(steps).tables
    rows = sorted(tables.rows(), key=lambda row: (row.table, row.key))
    for _ in range(min(lost, len(rows))):  # rows that are not there, or are another's
        at = chance.randrange(len(rows))
        again = [row for row in rows if row.table == rows[at].table]
        value = chance.choice([None, "{", again[0].value])
        rows[at : at + 1] = [] if value is None else [replace(rows[at], value=value)]
    loaded = DictTables()
    loaded.load(rows, tables.position)
    found = find_dump_violations(rows, tables.position.sequence)
    assert sorted(map(str, found)) == sorted(map(str, find_violations(loaded)))


def many(count: int) -> Iterator[EncodedRow]:
    for number in range(count):
        yield encode_row(Row("content", (f"{number:064x}",), Content(b"%d" % number * 40)))
    yield encode_row(Row("counter", ("ids", ".", "", 0, ""), Counter(1)))


def test_little_of_a_dump_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_check, "RESTORE_CACHE", 100)
    monkeypatch.setattr(dump_check, "RESTORE_FAULTS", 10)
    peaks = []
    for count in (2_000, 2_000, 12_000):  # the first run imports what is needed
        tracemalloc.start()
        found = find_dump_violations(many(count), 1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(found) == 10
    assert peaks[2] < peaks[1] * 1.5, peaks
