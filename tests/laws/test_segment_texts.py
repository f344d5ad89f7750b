"""Segments give rows back as they stand in the log, whoever wrote them and however: the state root is taken over these texts."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_indexes import KEYS, VALUES, place
from tests.laws.test_tables import aliens
from treaty.core.schema import guid, plain_lookup_digest
from treaty.core.state import values
from treaty.core.state.commit import as_root, roots_of
from treaty.core.state.rows import ROW_FORMAT, EncodedRow, Row, decode_row, encode_row
from treaty.node.segment import build as building
from treaty.node.segment.build import build
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.node.segment.segment import Segment, totals
from treaty.node.segment.value_format import FAST, PROVEN, SHORT, read_row

NAMES = ["", "a", "é", '\n\t"\\', "\ud800", "\x7f\x80\u2028/", "\U0001f642", "~", "!", "#"]


def schema(text: str, **members: Any) -> values.Schema:
    """A schema as a registration makes it."""
    digest = "l" if "\ud800" in text else plain_lookup_digest("AVRO", text)
    return values.Schema(guid(text, (), None, None), "AVRO", text, digest, **members)


SOME = [
    *(Row(table, key, VALUES[table][at % len(VALUES[table])]) for table, keys in KEYS.items() for at, key in enumerate(keys)),
    *(Row("schema", (".", 100 + at), schema(text)) for at, text in enumerate(NAMES)),
    *(Row("schema", (".", 200 + at), schema(text, type_name="t")) for at, text in enumerate(NAMES)),
    Row("schema", (".", 300), replace(schema("x"), references=(values.StoredReference("n", "s", 1, 3),))),
    Row("outcome", ("o",), values.Outcome(3, "k", (("a", "1"), ("b", "é")))),
    Row("content", ("c",), values.Content(b"\0\xff")),
    Row("counter", ("k", ".", "s", "p"), values.Counter(3)),
]  # fmt: skip
ROWS = [encode_row(row) for row in SOME]


def spaced(text: str) -> str:
    return json.dumps(json.loads(text), indent=1)


def ascii_only(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":"), sort_keys=True)


def turned(text: str) -> str:
    return json.dumps(dict(reversed(json.loads(text).items())), separators=(",", ":"), ensure_ascii=False)


def further(text: str) -> str:
    """A member that this version does not know."""
    return json.dumps({**json.loads(text), "zz": [1, {"b": 1.50, "a": 2}]}, separators=(",", ":"), ensure_ascii=False)


def nested(text: str) -> str:
    """The same in everything that has members of its own."""

    def more(value: Any) -> Any:
        if isinstance(value, dict):
            return {**{name: more(one) for name, one in value.items()}, "zz": 1}
        return [more(one) for one in value] if isinstance(value, list) else value

    members = {name: more(value) for name, value in json.loads(text).items()}
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def twice(text: str) -> str:
    """A member that stands there twice."""
    return f'{{"v":7,{text[1:]}'


def defaults(text: str) -> str:
    """Members that might have been left out."""
    members = {"type_name": "", "state": "live", "properties": {}, "imported": False, **json.loads(text)}
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def escaped(text: str) -> str:
    return text.replace('"v"', '"\\u0076"')


def pointed(text: str) -> str:
    """The row format as another number."""
    return text.replace(f'"v":{ROW_FORMAT}', f'"v":{ROW_FORMAT}.0')


def unversioned(text: str) -> str:
    members = json.loads(text)
    del members["v"]
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def newer(text: str) -> str:
    return text.replace(f'"v":{ROW_FORMAT}', f'"v":{ROW_FORMAT + 1}')


def cut(text: str) -> str:
    return text[:-1]


HANDS = [spaced, ascii_only, turned, further, nested, twice, defaults, escaped, pointed, unversioned, newer, cut]
"""Ways in which a text may have been written by somebody else."""


def kept(segment: Segment) -> list[EncodedRow]:
    return [*(row for table in segment.counts for row in segment.rows(table)), *segment.raw_rows()]


@pytest.mark.parametrize("hand", [str, *HANDS], ids=lambda hand: hand.__name__)
def test_a_segment_has_every_row_as_it_was_written(hand: Any) -> None:
    rows = [replace(row, value=hand(row.value)) for row in ROWS]
    built = build(rows)
    segment = open_built(built)

    assert {*kept(segment)} == {*rows}
    assert totals(segment.roots, segment.raw_rows()) == roots_of(rows)
    for row in rows:
        read = decode_row(row)
        number = segment.number(row.table, read.key)
        if number is not None:
            assert segment.read_encoded(row.table, number) == row
            assert repr(segment.row(row.table, number)) == repr(read)


@given(
    st.lists(st.tuples(st.sampled_from(ROWS), st.sampled_from([str, *HANDS])), max_size=30),
    st.lists(aliens, max_size=5),
    st.integers(),
)
def test_tables_on_a_segment_give_back_what_was_written(
    some: list[tuple[EncodedRow, Any]], others: list[EncodedRow], seed: int
) -> None:
    """Over a segment, in it, and in one that was made from both."""
    written = [replace(row, value=hand(row.value)) for row, hand in some] + [
        row for row in others if row.value is not None
    ]
    below = {(row.table, row.key): row for row in random.Random(seed).sample(written, len(written) // 2)}
    rows = below | {(row.table, row.key): row for row in written}
    tables = LayeredTables(small=0)
    tables.load(below.values(), place(1))
    tables.apply(written, place(2))
    for _ in range(2):
        assert {*tables.rows()} == {*rows.values()}
        assert tables.roots == roots_of(rows.values())
        for row in rows.values():
            assert tables.share(row.table, decode_row(row).key) == row.digest
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(building, "SAMPLES", 1)
            tables.stand_on(open_built(tables.build_segment()), place(2))
    assert as_root(tables.roots) == as_root(roots_of(rows.values()))


def test_each_form_is_taken_by_some_row_and_gives_its_text_again() -> None:
    forms = {read_row(row)[1][:1] for row in ROWS}

    assert forms == {FAST, SHORT, PROVEN, "{"}
