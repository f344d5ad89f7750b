"""Rows of every table go and change over a segment, and in one that copies its blocks: what is counted and listed is what is there."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.laws.test_indexes import KEYS, VALUES, place
from treaty.core.schema import Metadata, RuleSet, guid, plain_lookup_digest
from treaty.core.schema import Reference as SentReference
from treaty.core.state import values
from treaty.core.state.rows import Row, Value, encode_row
from treaty.core.state.state_tables import TABLES
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables
from treaty.core.state.view import count_group
from treaty.node.segment import build
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.node.segment.value_format import PROVEN, SHORT, has_its_guid, read_row, text_of


def as_listed(value: Any) -> object:
    """What `items` gives of a value."""
    if isinstance(value, values.Schema):
        return value.format, value.text, value.references, value.metadata
    return (value.number, value.schema_id, value.state) if hasattr(value, "schema_id") and hasattr(value, "state") else value  # fmt: skip


def changes(table: str) -> Iterator[list[Row]]:
    """All rows, and then some at a time that go, come again and change."""
    keys, some = [TABLES[table].key(*key) for key in KEYS[table]], VALUES[table]
    yield [Row(table, key, some[at % len(some)]) for at, key in enumerate(keys)]
    for turn, key in enumerate(keys):
        value: Value = some[(turn + 1) % len(some)]
        yield [Row(table, key, None), Row(table, keys[turn - 1], value)]


@pytest.mark.parametrize("name", [name for name in KEYS if name in TABLES])
def test_what_is_counted_and_listed_is_what_is_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "SAMPLES", 1)
    monkeypatch.setattr(build, "DEAD_SHARE", 1.0)
    table, plain, layered = TABLES[name], DictTables(), LayeredTables(small=0)
    there: dict[Key, Value] = {}
    keys = [table.key(*key) for key in KEYS[name]]
    groups = {group[1] for key in keys for value in VALUES[name] if (group := count_group(Row(name, key, value)))}
    for turn, rows in enumerate(changes(name), 1):
        there |= {row.key: row.value for row in rows if row.value is not None}
        for key in {row.key for row in rows if row.value is None} - {row.key for row in rows if row.value is not None}:
            there.pop(key, None)
        for tables in (plain, layered):
            tables.apply([encode_row(row) for row in rows], place(turn))
        for base in (None, layered.build_segment() if turn % 2 else None):
            if base is not None:
                layered.stand_on(open_built(base), place(turn))
            listed = sorted((key, repr(as_listed(value))) for key, value in layered.items(table))
            assert listed == sorted((key, repr(as_listed(plain.get(table, key)))) for key in plain.keys(table))
            assert sorted(layered.keys(table)) == sorted(there) == [key for key, _ in listed]
            assert layered.total(table) == len(there)
            for part in groups:
                assert layered.count(table, part) == plain.count(table, part), part


USED = values.StoredReference("n", "s", 1, 3)
PARTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "text": ("y", {}),
    "references": ((USED,), {"references": (SentReference("n", "s", 1),)}),
    "metadata": (Metadata(properties=(("a", "b"),)), {"metadata": Metadata(properties=(("a", "b"),))}),
    "rules": (RuleSet(), {"rules": RuleSet()}),
    "imports": ((("a.proto", "x"),), {"imports": (("a.proto", "x"),)}),
}
"""Members of a schema that its guid covers, each with what the guid is taken over then."""


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("lookup", ["of-the-text", "another"])
def test_a_schema_whose_guid_follows_from_its_content_is_kept_as_such_and_comes_back(part: str, lookup: str) -> None:
    member, covered = PARTS[part]
    content = {"references": (), "metadata": None, "rules": None, "imports": ()} | covered
    text = member if part == "text" else "x"
    digest = guid(text, content["references"], content["metadata"], content["rules"], imports=content["imports"])
    members = {} if part == "text" else {part: member}
    wanted = plain_lookup_digest("AVRO", text) if lookup == "of-the-text" else "l"
    schema = values.Schema(digest, "AVRO", text, wanted, **members)
    row = encode_row(Row("schema", (".", 1), schema))
    read, form = read_row(row)
    assert has_its_guid(schema)
    assert form[0] == (SHORT if (part, lookup) == ("text", "of-the-text") else PROVEN)
    assert (read.value, text_of(form)) == (schema, row.value)
