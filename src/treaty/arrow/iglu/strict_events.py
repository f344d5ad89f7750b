"""Says of texts of events whether they are good beyond doubt: each part is decoded as the type of its schema, which checks it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from treaty.formats.jsonschema.data.draft4 import Draft4Schema
from treaty.formats.jsonschema.data.strict_type import NOTES, make_strict_type

Take = Callable[[msgspec.Raw], Any]
"""Reads the text of a part's data; raises where it is not valid, and where that is not sure."""
UNSURE = (msgspec.MsgspecError, ValueError, LookupError, TypeError, RecursionError)


class _Part(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A self-describing value whose data is still text."""

    schema: str
    data: msgspec.Raw


class _Parts(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An array of self-describing values in an envelope."""

    schema: str
    data: list[_Part]


@dataclass(frozen=True, slots=True)
class _Envelope:
    """An envelope: how many parts its schema allows, and the schemas of parts that were seen in valid ones."""

    least: int
    most: int
    takes: dict[str, Take] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartSchema:
    """A schema of parts: its document, and its validator."""

    document: Any
    compiled: Draft4Schema


class StrictEvents:
    """Knows schemas from good events, and says of further events whether they are good too.

    "No" says nothing: an event may have a schema that is not known yet, a member that is not expected, a schema that no type
    can check. It is to be looked at in full then, and to be learned from if it is good. `depth` is the most levels of a value.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._single: dict[str, Take] = {}
        self._inner: dict[str, _Envelope] = {}
        self._arrays: dict[str, _Envelope] = {}
        self._takes: dict[tuple[str, int], Take] = {}
        self._decode = msgspec.json.Decoder().decode
        self._decode_part = msgspec.json.Decoder(_Part).decode
        self._decode_parts = msgspec.json.Decoder(_Parts).decode
        self._ways = [self._is_good_array, self._is_good_part]

    def is_good(self, text: bytes) -> bool:
        """Whether an event is good beyond doubt. What was right for the event before is tried first."""
        for place, way in enumerate(self._ways):
            try:
                way(text)
            except UNSURE:
                continue
            if place:
                self._ways.reverse()
            return True
        return False

    def learn_value(self, uri: str, schema: PartSchema) -> None:
        """Know the schema of an event that is a part itself."""
        self._single[uri] = self._take(uri, schema, self._depth)

    def learn_envelope(self, uri: str, document: Any, parts: Iterable[tuple[str, PartSchema]]) -> None:
        """Know a good envelope, and the schemas of the parts in it, none of which is an envelope."""
        shape = read_envelope(document)
        if shape is None:
            return
        is_array, least, most = shape
        known = (self._arrays if is_array else self._inner).setdefault(uri, _Envelope(least, most))
        levels = self._depth - (2 if is_array else 1)
        for part, schema in parts:
            known.takes.setdefault(part, self._take(part, schema, levels))

    def _is_good_array(self, text: bytes) -> None:
        event = self._decode_parts(text)
        envelope = self._arrays[event.schema]
        if not envelope.least <= len(event.data) <= envelope.most:
            raise ValueError
        takes = envelope.takes
        for part in event.data:
            takes[part.schema](part.data)

    def _is_good_part(self, text: bytes) -> None:
        event = self._decode_part(text)
        take = self._single.get(event.schema)
        if take is not None:
            take(event.data)
            return
        envelope = self._inner[event.schema]
        part = self._decode_part(event.data)
        envelope.takes[part.schema](part.data)

    def _take(self, uri: str, schema: PartSchema, levels: int) -> Take:
        """How the data of a schema is read where it may nest so deep."""
        found = self._takes.get((uri, levels))
        if found is None:
            strict = make_strict_type(schema.document)
            if strict is not None and strict.depth is not None and strict.depth <= levels:
                found = strict.decode
            else:
                found = self._make_validation(schema.compiled, levels)
            self._takes[uri, levels] = found
        return found

    def _make_validation(self, compiled: Draft4Schema, levels: int) -> Take:
        """Reading with the validator, for schemas without a strict type."""

        def take(raw: msgspec.Raw) -> None:
            text = bytes(raw)
            # A value with fewer brackets than levels allowed can't nest too deep.
            is_flat = text.count(b"{") + text.count(b"[") <= levels
            if not is_flat or not compiled.is_surely_valid(self._decode(text), len(text)):
                raise ValueError

        return take


def read_envelope(document: Any) -> tuple[bool, int, int] | None:
    """Whether an envelope holds an array, and how many parts; None where its schema asks more of parts than their `schema`."""
    words = _words(document)
    if words is None or document.get("type") not in {"array", "object"}:
        return None
    if document["type"] == "object":
        return (False, 1, 1) if _is_part(document) else None
    if words - {"type", "items", "minItems", "maxItems"} or not _is_part(document.get("items")):
        return None
    return True, document.get("minItems", 0), document.get("maxItems", 2**63)


def _is_part(schema: Any) -> bool:
    """Whether a schema says nothing of a self-describing value but of its `schema`."""
    words = _words(schema)
    if (
        words is None
        or schema.get("type") != "object"
        or words - {"type", "properties", "required", "additionalProperties"}
    ):
        return False
    properties: Mapping[str, Any] = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    return (
        isinstance(others, bool)
        and properties.keys() <= {"schema", "data"}
        and _words(properties.get("data", {})) == set()
    )


def _words(schema: Any) -> set[str] | None:
    """The keywords of a schema that say something about values; None for what is no object."""
    return set(schema) - NOTES if isinstance(schema, dict) else None
