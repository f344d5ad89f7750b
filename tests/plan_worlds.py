"""Registries in which plans grow old: versions come, go softly and for good, are imported into gaps, and other subjects share their schemas."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tests.frames import frame, header, record
from treaty import arrow
from treaty.client.connection import Connection
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteVersion, GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import NotFound, Refusal
from treaty.core.schema import Draft
from treaty.plan.value import DecodePlan

NOBODY = 9_999
"""An id that no schema has."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A schema, and the payload of a row."""

    text: str
    payload: bytes
    fields: frozenset[str] = frozenset()
    """The columns that the row has by itself."""


def _inner(name: str) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": "a", "type": "int"}]}


def _avro(text: str, value: Any) -> Shape:
    return Shape(text, frame(0, text, value)[5:], frozenset(value if isinstance(value, dict) else ()))


def _document(properties: Mapping[str, str], **value: Any) -> Shape:
    text = {"type": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}}
    return Shape(json.dumps(text), json.dumps(value).encode(), frozenset(value))


def _message(fields: str, payload: str, before: str = "") -> Shape:
    index = "00" if not before else "0202"
    text = f'syntax = "proto3"; package shop; {before} message Order {{ {fields} }}'
    names = frozenset(one.split()[-3] for one in fields.split(";") if one)
    return Shape(text, bytes.fromhex(index + payload), names)


X, Y = ("x", "int"), ("y", "int", 1)
ONE, OTHER, THIRD = _inner("One"), _inner("Other"), _inner("Third")
SHAPES: Mapping[str, tuple[Shape, ...]] = {
    "AVRO": (
        _avro(record(X), {"x": 5}),
        _avro(record(X, Y), {"x": 5, "y": 6}),
        _avro(record(("x", "long"), Y, ("z", "string", "")), {"x": 2**53 + 1, "y": 6, "z": "s"}),
        _avro(record(("x", "string")), {"x": "five"}),
        _avro(record(X, ("X", "int", 3)), {"x": 5, "X": 7}),
        _avro(record(X, ("u", [ONE, OTHER], {"a": 0})), {"x": 5, "u": ("shop.Other", {"a": 8})}),
        _avro(record(X, ("u", [OTHER, ONE, THIRD], {"a": 0})), {"x": 5, "u": ("shop.Other", {"a": 9})}),
        _avro('{"type": "string"}', "s"),
        _avro(record(X, ("y", "bytes", "")), {"x": 5, "y": b"\xff"}),
        _avro(record(X, ("y", "string", "")), {"x": 5, "y": "\u00e9"}),
    ),
    "JSON": (
        _document({"x": "integer"}, x=5),
        _document({"x": "integer", "y": "integer"}, x=5, y=6),
        _document({"x": "number", "y": "integer", "z": "string"}, x=5.5, y=6, z="s"),
        _document({"x": "string"}, x="five"),
        _document({"x": "integer", "X": "integer"}, x=5, X=7),
        _document({"u": "boolean"}, u=True),
        _document({"x": "integer", "u": "array"}, x=5, u=[1, "a"]),
        Shape('{"type": "string"}', b'"s"'),
        _document({"y": "object", "x": "integer"}, x=5, y={"b": 1}),
    ),
    "PROTOBUF": (
        _message("int32 x = 1;", "0805"),
        _message("int32 x = 1; int32 y = 2;", "08051006"),
        _message("int64 x = 1; int32 y = 2; string z = 3;", "088180808080808010" + "10061a0173"),
        _message("string x = 1;", "0a0466697665"),
        _message("int32 x = 1; int32 X = 4;", "08052007"),
        _message("int32 x = 1; string u = 5;", "08052a0161", "message First { int32 f = 1; }"),
        _message("uint32 x = 1; optional int32 y = 2;", "08051006"),
        _message("repeated int32 x = 1;", "0a020506"),
    ),
}  # fmt: skip
"""By format: rows that widen, clash, differ in case alone, move members of a union, or are no record."""


@dataclass(frozen=True, slots=True)
class PlanWorld:
    """A registry with two subjects of one context, which share schemas."""

    registry: Connection
    format: str
    context: str = "."
    sent: dict[int, Shape] = field(default_factory=dict)
    """By schema id, also of schemas that are gone by now."""

    @property
    def subject(self) -> Subject:
        """The subject that plans are made for."""
        return Subject(self.context, "orders-value")

    @property
    def other(self) -> Subject:
        """Another subject."""
        return Subject(self.context, "other-value")

    def register(self, place: Subject, shape: int, number: int = 0, schema_id: int = -1) -> int | None:
        """Register a shape and return its id; None where the registry refuses. With a number or an id it is imported."""
        mine = SHAPES[self.format][shape % len(SHAPES[self.format])]
        scope = Scope(place.context, place.name)
        self.registry.ask(SetConfig(scope, Config(level="NONE")))
        try:
            if number or schema_id > 0:
                self.registry.ask(SetMode(scope, "IMPORT", force=True))
            request = Register(place, Draft(mine.text, self.format), number=number, schema_id=schema_id)
            found = self.registry.ask(request).answer.version.schema_id
        except Refusal:
            return None
        finally:
            self.registry.ask(SetMode(scope, None))
        self.sent[found] = mine
        return found

    def delete(self, place: Subject, number: int, *, permanent: bool = False) -> None:
        """Delete a version softly, then for good; nothing where there is none."""
        for step in (False, True)[: 1 + permanent]:
            with suppress(Refusal):
                self.registry.ask(DeleteVersion(place, number, permanent=step))

    def versions(self, place: Subject) -> dict[int, int]:
        """The versions that were not deleted for good: number and schema id."""
        try:
            numbers = self.registry.ask(ListVersions(place, visible="all")).answer.numbers
        except NotFound:
            return {}
        return {one: self.registry.ask(GetVersion(place, one, deleted=True)).answer.schema_id for one in numbers}

    def has(self, schema_id: int) -> bool:
        """Whether the context has a schema with this id."""
        try:
            self.registry.ask(GetSchema(schema_id, Subject(self.context, "")))
        except NotFound:
            return False
        return True


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """What a plan says of a frame: the columns of a record, or a code."""

    columns: Mapping[str, Any] | None
    code: str = ""


def read_rows(plan: DecodePlan, sent: Mapping[int, Shape]) -> dict[int, RowAnswer]:
    """What a plan says of one frame of each id."""
    frames = pa.array([header(one) + shape.payload for one, shape in sent.items()], pa.binary())
    found = arrow.decode(frames, plan).to_pylist()
    return {one: _answer(row["record"], row["error"]) for one, row in zip(sent, found, strict=True)}


def _answer(record_: Any, error: Any) -> RowAnswer:
    if error is not None:
        return RowAnswer(None, error["code"])
    return RowAnswer(record_ if isinstance(record_, dict) else {"value": record_})


def shows(old: Any, new: Any) -> bool:
    """Whether a value has all that an older one had: columns may come, and be empty."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return all(name in new and shows(value, new[name]) for name, value in old.items())
    return bool(old == new)
