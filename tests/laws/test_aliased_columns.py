"""Columns and fields with aliases: a column is the field as which its values are read, judged by a reader that is not Treaty's."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product
from typing import Any

import fastavro
import pytest

from treaty.core.column_types.leaf_paths import ELEMENT, VALUE, LeafPath, print_path
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, Scalar
from treaty.formats.avro.parser import parse_schema
from treaty.metastore.columns.from_schema import columns_of_schema
from treaty.metastore.columns.refresh import find_refresh_effect
from treaty.metastore.columns.renames import list_renames
from treaty.plan.encoding.avro import make_targets
from treaty.plan.encoding.column_pairs import pair_columns
from treaty.plan.encoding.derivation.avro import text as derive_avro
from treaty.plan.encoding.options import DeriveOptions
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema

OLD = ("a", "b")
"""The fields of the old record; in the order of their values 0 and 1."""
ALIASES = ((), ("a",), ("b",), ("a", "b"), ("b", "a"))
Fields = tuple[tuple[str, tuple[str, ...]], ...]
"""Name and aliases of each field."""
OLD_FIELDS: Fields = tuple((name, ()) for name in OLD)


def list_newer_fields() -> Iterator[Fields]:
    """Yield the fields of every small record that may come next: kept ones, former names, and names that are new."""
    for names in (*permutations("abcd", 2), *combinations("abcd", 3)):
        for aliases in product(ALIASES, repeat=len(names)):
            fields = tuple(zip(names, aliases, strict=True))
            if not is_contested(fields):
                yield fields


def is_contested(fields: Fields) -> bool:
    """Whether two old fields would be read as one new one, which Java refuses."""
    owners = {alias: name for name, aliases in fields for alias in aliases} | {name: name for name, _ in fields}
    taken = [owners[name] for name in OLD if name in owners]
    return len({*taken}) < len(taken)


def print_record(fields: Fields, name: str = "R") -> str:
    members = [
        {"name": field, "type": "int", "default": -1} | ({"aliases": [*aliases]} if aliases else {})
        for field, aliases in fields
    ]
    return json.dumps({"type": "record", "name": name, "fields": members})


def read_sources(fields: Fields) -> dict[str, str]:
    """Return the old field by the new one that has its value, as fastavro reads it."""
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, json.loads(print_record(OLD_FIELDS)), {name: at for at, name in enumerate(OLD)})
    writer, reader = (json.loads(print_record(each)) for each in (OLD_FIELDS, fields))
    row: Any = fastavro.schemaless_reader(io.BytesIO(buffer.getvalue()), writer, reader)
    return {name: OLD[value] for name, value in row.items() if value >= 0}


def read_elsewhere(fields: Fields) -> dict[str, str]:
    """Return the new name by the old one of each field whose value is read under another name."""
    return {was: now for now, was in read_sources(fields).items() if was != now}


def test_a_column_is_called_what_its_values_are_read_as() -> None:
    old = ResolvedSchema("AVRO", print_record(OLD_FIELDS))
    for fields in list_newer_fields():
        renames = list_renames(old, ResolvedSchema("AVRO", print_record(fields)))
        assert dict(renames) == read_elsewhere(fields), fields
        assert len({path for path, _ in renames}) == len(renames), fields


def test_a_column_that_is_read_elsewhere_is_renamed_and_no_other_one_is() -> None:
    """A name that is there still is that column, whatever the aliases of others say."""
    old = ResolvedSchema("AVRO", print_record(OLD_FIELDS))
    columns = columns_of_schema(old).columns
    for fields in list(list_newer_fields())[::8]:
        new = ResolvedSchema("AVRO", print_record(fields))
        effect = find_refresh_effect(columns, columns_of_schema(new).columns, (), list_renames(old, new))
        elsewhere, names = read_elsewhere(fields), {name for name, _ in fields}
        expected = {("renamed", was, now) for was, now in elsewhere.items()}
        expected |= {("gone", name, "") for name in OLD if name not in names and name not in elsewhere}
        expected |= {("added", name, "INT NOT NULL") for name in names - {*OLD} - {*elsewhere.values()}}
        assert {(each.kind, each.path, each.new) for each in effect.effects} == expected, fields


# ------------------------------------------------------------------------------------------------------------- places

PLACES: Mapping[str, tuple[str, LeafPath]] = {
    "a struct": ("{0}", ()),
    "an array": ('{{"type": "array", "items": {0}}}', (ELEMENT,)),
    "a map": ('{{"type": "map", "values": {0}}}', (VALUE,)),
    "a nullable struct": ('["null", {0}]', ()),
    "the first branch": ('[{0}, "string"]', ("member0",)),
    "the last branch": ('["null", "string", {0}]', ("member1",)),
    "an array of unions": ('{{"type": "array", "items": ["int", {0}]}}', (ELEMENT, "member1")),
    "a struct in a struct": ('{{"type": "record", "name": "P", "fields": [{{"name": "p", "type": {0}}}]}}', ("p",)),
}


def print_outer(*columns: tuple[str, str, Sequence[str]]) -> ResolvedSchema:
    """A record with columns: name, type, aliases."""
    members = [{"name": name, "type": json.loads(kind), "aliases": aliases} for name, kind, aliases in columns]
    return ResolvedSchema("AVRO", json.dumps({"type": "record", "name": "R", "fields": members}))


@pytest.mark.parametrize("place", PLACES)
def test_fields_are_called_otherwise_alike_wherever_their_record_stands(place: str) -> None:
    text, way = PLACES[place]
    old = print_outer(("c", text.format(print_record(OLD_FIELDS, "S")), ()))
    for fields in list(list_newer_fields())[::9]:
        new = print_outer(("c", text.format(print_record(fields, "S")), ()))
        expected = {print_path(("c", *way, was)): now for was, now in read_elsewhere(fields).items()}
        assert dict(list_renames(old, new)) == expected, fields


@pytest.mark.parametrize("columns", ["a new name", "its own name, a new name", "a new name, its own name"])
@pytest.mark.parametrize("place", PLACES)
def test_what_a_column_has_inside_is_compared_with_the_column_that_it_is_now(place: str, columns: str) -> None:
    """Where a column has its name still, the record of another one that has it for an alias is a new one."""
    text, way = PLACES[place]
    plain, other = (
        text.replace('"P"', f'"P{name}"').format(print_record(fields, name))
        for name, fields in (("S", OLD_FIELDS), ("T", (("x", ("a",)), ("y", ("b",)))))
    )
    outer = {"its own name": ("c", plain, ()), "a new name": ("d", other, ("c",))}
    new = print_outer(*(outer[column] for column in columns.split(", ")))
    inside = {print_path(("c", *way, was)): now for was, now in (("a", "x"), ("b", "y"))}
    expected = {"c": "d"} | inside if columns == "a new name" else {}
    assert dict(list_renames(print_outer(outer["its own name"]), new)) == expected


# ----------------------------------------------------------------------------------------------------------- messages


def print_message(fields: Mapping[int, str], text: str) -> ResolvedSchema:
    """A message with a field of another one, whose fields have these names by their numbers."""
    inner = " ".join(f"int32 {name} = {number};" for number, name in fields.items())
    return ResolvedSchema("PROTOBUF", f'syntax = "proto3"; message R {{ {text} }} message S {{ {inner} }}')


@pytest.mark.parametrize(
    ("text", "way"),
    [("S c = 1;", ()), ("repeated S c = 1;", (ELEMENT,)), ("map<int32, S> c = 1;", (VALUE,)), ("oneof o { S c = 1; }", ())],
    ids=["a message", "a list", "a map", "a choice"],
)  # fmt: skip
def test_a_number_is_the_field_whatever_becomes_of_the_names(text: str, way: LeafPath) -> None:
    """Names are kept, removed, exchanged, handed on in a chain and given to new numbers."""
    was = {1: "a", 2: "b"}
    old = print_message(was, text)
    for numbers, names in product(
        (each for size in (1, 2, 3) for each in permutations((1, 2, 3), size)), permutations("abc")
    ):
        now = dict(zip(numbers, names, strict=False))
        expected = {print_path(("c", *way, was[at])): now[at] for at in was if at in now and now[at] != was[at]}
        assert dict(list_renames(old, print_message(now, text))) == expected, now


# ------------------------------------------------------------------------------------------------------------- writing


COLUMNS = tuple(Column(name, Scalar("int32"), nullable=False) for name in OLD)


def schema_of(fields: Fields) -> RegisteredSchema:
    meaning = ResolvedSchema("AVRO", print_record(fields))
    return RegisteredSchema(1, "s", 1, "AVRO", parse_schema(meaning, False), meaning=meaning)


def test_a_column_is_written_into_the_field_as_which_it_would_be_read_and_into_no_other() -> None:
    """A field that has the name of another one for an alias has its default; a column for which none is left is refused."""
    for fields in list_newer_fields():
        schema, sources = schema_of(fields).schema, read_sources(fields)
        columns = [column for column in COLUMNS if column.name in sources.values()]
        targets = make_targets(schema)
        parts = pair_columns(columns, targets, schema.root).parts
        assert {part.name: part.source for part in parts if part.source} == sources, fields
        if len(columns) < len(COLUMNS):
            with pytest.raises(PlanError, match="the schema has no field for"):
                pair_columns(COLUMNS, targets, schema.root)


def test_a_derived_schema_grows_the_field_as_which_its_column_would_be_read() -> None:
    wide = [replace(column, type=Scalar("int64")) for column in COLUMNS]
    for fields in list(list_newer_fields())[::8]:
        members = json.loads(derive_avro(wide, "R", DeriveOptions(), schema_of(fields)))["fields"]
        grown, sources = {each["name"] for each in members if each["type"] == "long"}, read_sources(fields)
        unread = {*OLD} - {*sources.values()}
        assert grown == {*sources} | unread, fields
