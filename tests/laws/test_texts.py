"""Tables, state files and dumps give back the texts of the log, whoever wrote them and however: the root is taken over them."""

import json
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_tables import readable
from treaty.core.state.commit import START, Commit, Position, RowDigests, as_root, make_append, roots_after, roots_of
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.state_tables import TABLES, UNROOTED
from treaty.core.state.tables import DictTables, read
from treaty.core.state.values import Version
from treaty.core.state.view import Tables
from treaty.log.log import LogDelta
from treaty.log.maintenance.dump import make_head, read_head, read_rows, write_dump
from treaty.node.own_append import last_rows
from treaty.node.segment.build import build
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.node.segment.statefile import open_state, write_state

Change = Callable[[str], str]


def at(rows: Iterable[EncodedRow]) -> Position:
    """A place whose root is that of some rows."""
    return Position(b"i" * 16, 1, b"d" * 32, as_root(roots_of(rows)))


def _within(value: Any) -> Any:
    """A member that nobody knows in every object, however deep."""
    if isinstance(value, dict):
        return {**{name: _within(one) for name, one in value.items()}, "zz": [1.0, {"é": "\u2028"}]}
    return [_within(one) for one in value] if isinstance(value, list) else value


def _backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _backwards(one) for name, one in reversed(value.items())}
    return [_backwards(one) for one in value] if isinstance(value, list) else value


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


CHANGES: dict[str, Change] = {
    "as it is": lambda text: text,
    "blanks": lambda text: json.dumps(json.loads(text), sort_keys=True),
    "a line of its own": lambda text: f"{text}\n",
    "members in another order": lambda text: _plain(_backwards(json.loads(text))),
    "members that nobody knows": lambda text: _plain(_within(json.loads(text))),
    "escapes": lambda text: text.replace("a", "\\u0061"),
    "a slash": lambda text: text.replace('"v"', '"\\/":"\\u001F\\b","v"'),
    "1.0 for 1": lambda text: text.replace(":1", ":1.0"),
    "defaults": lambda text: text.replace('"v"', '"extra":[],"forced":false,"references":[],"state":"live","v"'),
    "twice": lambda text: text.replace('"v"', '"v":1,"v"'),
    "another format": lambda text: text.replace('"v":1', '"v":99'),
    "not a number": lambda text: text.replace('"v"', '"nan":NaN,"v"'),
    "half a character": lambda text: text.replace('"v"', '"half":"\ud800","v"'),
    "deep": lambda text: text.replace('"v"', f'"deep":{"[" * 900}{"]" * 900},"v"'),
    "very deep": lambda text: text.replace('"v"', f'"deep":{"[" * 90_000}{"]" * 90_000},"v"'),
    "cut short": lambda text: text[:-1],
    "foreign": lambda _: "\t\x00é{",
}
KEYS: dict[str, Change] = {
    "as it is": lambda text: text,
    "blanks": lambda text: text.replace(",", ", "),
    "escapes": lambda text: text.replace("a", "\\u0061"),
    "strange": lambda text: f"{text}!",
}
changed = st.builds(
    lambda row, change, key, table: EncodedRow(
        table or row.table, KEYS[key](row.key), row.value and CHANGES[change](row.value)
    ),
    readable.map(encode_row),
    st.sampled_from(sorted(CHANGES)),
    st.sampled_from([*["as it is"] * 4, *KEYS]),
    st.sampled_from([None, None, None, "dreams", "snapshot"]),
)
some = st.lists(changed, max_size=6)


def live(rows: Iterable[EncodedRow]) -> set[EncodedRow]:
    """The texts that stand in the log after some rows."""
    last = {(row.table, row.key): row for row in rows}
    return {row for row in last.values() if row.value is not None}


def holds(tables: Tables, rows: set[EncodedRow]) -> None:
    """Tables give back just these texts, and count each of them."""
    found = [*tables.rows()]
    assert {*found} == rows
    assert len(found) == len(rows)
    assert tables.roots == roots_of(rows)


@given(some, some, some)
def test_tables_give_back_the_texts_of_the_log(
    below: list[EncodedRow], over: list[EncodedRow], later: list[EncodedRow]
) -> None:
    plain, layered, digests = DictTables(), LayeredTables(small=0), RowDigests()
    so_far: list[EncodedRow] = []
    for rows in (below, over, later):
        so_far += rows
        place = at(live(so_far))
        assert as_root(roots_after(plain, rows)) == place.root
        assert plain.advance(rows, place)
        assert layered.advance(rows, place)
        digests.put(rows)
        holds(plain, live(so_far))
        holds(layered, live(so_far))
        assert digests.roots == plain.roots
        layered.stand_on(open_built(layered.build_segment()), place)
        holds(layered, live(so_far))


@pytest.mark.parametrize("change", [name for name in CHANGES if name != "very deep"])
@pytest.mark.parametrize("kind", [DictTables, partial(LayeredTables, small=0)], ids=["plain", "layered"])
def test_each_text_comes_back_as_it_stands_in_the_log(
    kind: Callable[[], DictTables | LayeredTables], change: str
) -> None:
    """One row in each form that another release, or a hand, may have written it in."""
    row = encode_row(Row("version", (".", "s", 1, 0), Version(1, 1, "TOY")))
    assert row.value is not None
    written, tables = EncodedRow(row.table, row.key, CHANGES[change](row.value)), kind()
    tables.load([written], at([written]))
    holds(tables, {written})


@given(some, some)
def test_rows_that_come_to_another_root_change_nothing(rows: list[EncodedRow], more: list[EncodedRow]) -> None:
    for tables in (DictTables(), LayeredTables(small=0)):
        tables.load(rows, at(live(rows)))
        assert not tables.advance(more, Position(b"i" * 16, 2, b"e" * 32, b"r" * 32))
        holds(tables, live(rows))
        assert tables.position == at(live(rows))


@pytest.mark.parametrize("make", [DictTables, partial(LayeredTables, small=0)], ids=["plain", "layered"])
@given(some, some)
def test_tables_after_an_own_append_are_held_against_its_root(
    make: Callable[[], DictTables | LayeredTables], rows: list[EncodedRow], more: list[EncodedRow]
) -> None:
    tables, after = make(), at(live([*rows, *more]))
    tables.load(rows, at(live(rows)))
    assert tables.advance_own([read(one) for one in more], after)
    holds(tables, live([*rows, *more]))
    assert not tables.advance_own((), Position(b"i" * 16, 2, b"e" * 32, b"r" * 32))


@given(st.lists(readable, max_size=6))
def test_an_own_append_has_the_rows_of_the_log_in_their_order(rows: list[Row]) -> None:
    """Rows that go again in the same append are there once, in their last state, where they first stood."""
    rows = [*rows, *(Row(row.table, row.key, None) for row in reversed(rows[::2]))]
    sent = [(encode_row(row), row) for row in rows]
    commit = Commit(1, tuple(encoded for encoded, _ in sent))
    append = make_append(START, b"a" * 16, (commit,), roots_of(commit.rows))
    own = last_rows(sent)
    assert tuple(encoded for encoded, _, _ in own) == append.rows
    assert all(encode_row(row) == encoded and is_exact for encoded, row, is_exact in own)


@given(some)
def test_a_dump_and_a_state_file_give_back_the_texts_of_the_log(rows: list[EncodedRow]) -> None:
    texts = live(rows)
    head, *lines = write_dump(make_head(LogDelta(at(texts), tuple(texts)), "memory:", 1), texts)
    assert {*read_rows(read_head(head), head, lines)} == texts
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state")
        write_state(path, build(texts), at(texts), 1)
        file, tables = open_state(path), LayeredTables(small=0)
        tables.stand_on(file.segment, file.position)
        holds(tables, texts)


@given(changed, st.integers(0, 2**31), st.integers(0, 2))
def test_every_bit_of_a_row_counts(row: EncodedRow, place: int, part: int) -> None:
    texts = [row.table, row.key, row.value or ""]
    at = place % (len(texts[part]) or 1)
    texts[part] = texts[part][:at] + "x" + texts[part][at + 1 :]
    other = EncodedRow(texts[0], texts[1], None if row.value is None else texts[2])
    if row.value is not None and row != other and "snapshot" not in {row.table, other.table}:
        assert row.digest != other.digest
        assert roots_of([row]) != roots_of([other])


@pytest.mark.parametrize("table", [*TABLES, "dreams"])
def test_every_table_counts_but_those_that_describe_their_log(table: str) -> None:
    roots = roots_of([EncodedRow(table, '["a"]', "{}")])
    assert set(roots) == {table} - UNROOTED
    assert {"snapshot", "log_origin"} == UNROOTED
