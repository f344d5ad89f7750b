"""Every place of a schema text from which the search index takes fields, types, tags and words, format by format."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from treaty.core.schema_engine import ResolvedSchema
from treaty.web.index.extraction import extract

Said = tuple[Mapping[str, tuple[str, ...]], set[str], list[str]]
"""Fields with their types, tags, and documentation."""
TAGS = "confluent:tags"


def record(*fields: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [*fields], **members}


INNER = record({"name": "zip", "type": "int"})
AVRO: Mapping[str, tuple[Any, Said]] = {
    "items of an array": (record({"name": "a", "type": {"type": "array", "items": INNER}}), ({"a": ("array",), "a.zip": ("int",)}, set(), [])),
    "values of a map": (record({"name": "a", "type": {"type": "map", "values": INNER}}), ({"a": ("map",), "a.zip": ("int",)}, set(), [])),
    "a type in a type": (record({"name": "a", "type": {"type": {"type": "array", "items": INNER}}}), ({"a": (), "a.zip": ("int",)}, set(), [])),
    "branches of a union": (
        [record({"name": "a", "type": ["null", INNER, "string"]}), record({"name": "b", "type": "int"})],
        ({"a": ("record", "R", "string"), "a.zip": ("int",), "b": ("int",)}, set(), []),
    ),
    "names with a namespace": (record({"name": "a", "type": "org.acme.Id"}), ({"a": ("org.acme.Id", "Id")}, set(), [])),
    "a logical type": (record({"name": "a", "type": {"type": "int", "logicalType": "date"}}), ({"a": ("int", "date")}, set(), [])),
    "words of records and fields": (
        record({"name": "a", "type": "int", "doc": "one"}, {"name": "b", "type": "int", "doc": "two", "default": 1}, {"name": "c", "type": record(doc="three")}, doc="zero"),
        ({"a": ("int",), "b": ("int",), "c": ("record", "R")}, set(), ["zero", "one", "two", "three"]),
    ),
    "tags of records and fields": (
        record({"name": "a", "type": "int", TAGS: ["A"]}, {"name": "b", "type": "int", "doc": "two", TAGS: ["B"]}, {"name": "c", "type": {"type": "int", TAGS: ["C"]}}, **{TAGS: ["R", "A"]}),
        ({"a": ("int",), "b": ("int",), "c": ("int",)}, {"A", "B", "C", "R"}, ["two"]),
    ),
}  # fmt: skip
ZIP = {"properties": {"zip": {"type": "integer"}}}
JSON: Mapping[str, tuple[Any, Said]] = {
    "items": ({"properties": {"a": {"type": "array", "items": ZIP}}}, ({"a": ("array",), "a.zip": ("integer",)}, set(), [])),
    "additional properties": ({"properties": {"a": {"type": "object", "additionalProperties": ZIP}}}, ({"a": ("object",), "a.zip": ("integer",)}, set(), [])),
    **{step: ({"properties": {"a": {step: [{"type": "null"}, ZIP]}}}, ({"a": (), "a.zip": ("integer",)}, set(), [])) for step in ("allOf", "anyOf", "oneOf")},
    "types and a format": ({"properties": {"a": {"type": ["string", "null", "integer"], "format": "date-time"}}}, ({"a": ("string", "integer", "date-time")}, set(), [])),
    "a reference": (
        {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {**ZIP, "type": "object", "format": "x"}}},
        ({"a": ("object", "x"), "a.zip": ("integer",)}, set(), []),
    ),
    "a reference with escapes": (
        {"properties": {"a": {"$ref": "#/$defs/b~01~1c"}}, "$defs": {"b~1/c": ZIP, "b//c": {}, "b~01/c": {}}},
        ({"a": (), "a.zip": ("integer",)}, set(), []),
    ),
    "a reference to another text": ({"properties": {"a": {"$ref": "other.json#/$defs/b"}}, "$defs": {"b": ZIP}}, ({"a": ()}, set(), [])),
    "words and tags": (
        {"title": "one", "description": "two", TAGS: ["R"], "properties": {"a": {"description": "three", TAGS: ["A", "R"]}}},
        ({"a": ()}, {"A", "R"}, ["one", "two", "three"]),
    ),
}  # fmt: skip
PROTOBUF = """syntax = "proto3"; package acme;
import "confluent/meta.proto";
// About orders.
message Order {
  // The carrier.
  string carrier = 1 [(confluent.field_meta) = { tags: "PII" }];
  Home home = 2;
  enum Kind { UNKNOWN = 0; }
}
message Home { int32 zip = 1; }
"""


def as_said(format_: str, text: str) -> Said:
    contents = extract(ResolvedSchema(format_, text))
    assert len(dict(contents.fields)) == len(contents.fields)
    return dict(contents.fields), contents.tags, sorted(contents.docs)


CASES = [("AVRO", name, *case) for name, case in AVRO.items()] + [("JSON", name, *case) for name, case in JSON.items()]


@pytest.mark.parametrize(("format_", "name", "value", "said"), CASES, ids=lambda part: part if isinstance(part, str) else "")  # fmt: skip
def test_a_text_says_all_that_stands_in_its_places(format_: str, name: str, value: Any, said: Said) -> None:
    fields, tags, docs = said
    assert as_said(format_, json.dumps(value)) == (fields, tags, sorted(docs)), name


def test_a_format_that_lists_its_elements_says_their_names_words_and_tags() -> None:
    fields, tags, docs = as_said("PROTOBUF", PROTOBUF)
    assert {path.rpartition(".")[2] for path in fields} == {"carrier", "home", "zip"}
    assert tags == {"PII"}
    assert {"About orders.", "The carrier."} <= {doc.strip() for doc in docs}
