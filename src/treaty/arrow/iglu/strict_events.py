"""Says of texts of events whether they are good beyond doubt: each part is decoded as the type of its schema, which checks it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Union

import msgspec

from treaty.formats.jsonschema.data.draft4 import Draft4Schema
from treaty.formats.jsonschema.data.strict_type import NOTES, make_strict_type

UNSURE = (msgspec.MsgspecError, ValueError, TypeError, RecursionError)
"""What is raised for a text that is not good, or not surely."""
_MOST = 2**62


@dataclass(frozen=True, slots=True)
class PartSchema:
    """A schema of parts: its document, and its validator."""

    document: Any
    compiled: Draft4Schema


@dataclass(frozen=True, slots=True)
class _Envelope:
    """An envelope of an array or of one part: how many parts its schema allows, and the types of those that were seen in it."""

    is_array: bool
    least: int
    most: int
    parts: dict[str, type] = field(default_factory=dict)


class StrictEvents:
    """Knows schemas from good events, and says of further events whether they are good too.

    "No" says nothing: an event may have a schema that is not known yet, or a member that is not expected. It is to be looked at
    in full then, and to be learned from if it is good. `depth` is the most levels of a value.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._single: dict[str, type] = {}
        self._envelopes: dict[str, _Envelope] = {}
        self._types: dict[tuple[str, int], type] = {}
        self._checks: dict[type, Callable[[Any], bool]] = {}
        self._plain = msgspec.json.Decoder().decode
        self._decode = self._make_decoder()
        self._made, self._missed = 0, 0

    def find_unsure(self, data: memoryview, places: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield those of some events that are not good beyond doubt: their numbers and texts.

        `places` says where in `data` each one begins and ends. What is learned meanwhile counts from the next event on.
        """
        begin = places[0]
        for number, end in enumerate(places[1:]):
            text, begin = data[begin:end], end
            try:
                event = self._decode(text)
                if not self._checks or self._is_checked(event):
                    continue
            except UNSURE:
                pass
            yield number, bytes(text)

    def learn_value(self, uri: str, schema: PartSchema) -> None:
        """Know the schema of a good event that is no envelope."""
        self._single[uri] = self._type_of(uri, schema, self._depth)
        self._renew_decoder()

    def learn_envelope(self, uri: str, document: Any, parts: Iterable[tuple[str, PartSchema]]) -> None:
        """Know a good envelope, and the schemas of the parts in it, none of which is an envelope."""
        envelope = self._envelopes.get(uri) or read_envelope(document)
        if envelope is None:
            return
        self._envelopes[uri] = envelope
        levels = self._depth - (2 if envelope.is_array else 1)
        for part, schema in parts:
            envelope.parts[part] = self._type_of(part, schema, levels)
        self._renew_decoder()

    def _renew_decoder(self) -> None:
        """Make a new decoder where there are new types; that takes about as long as a look at an event for each of them."""
        self._missed += 1
        if len(self._types) > self._made and self._missed >= len(self._types):
            self._decode = self._make_decoder()
            self._made, self._missed = len(self._types), 0

    def _make_decoder(self) -> Callable[[memoryview], Any]:
        kinds = [*self._single.values()]
        for uri, envelope in self._envelopes.items():
            inner: Any = _any_of(envelope.parts.values())
            if envelope.is_array:
                inner = Annotated[list[inner], msgspec.Meta(min_length=envelope.least, max_length=envelope.most)]
            kinds.append(_struct(uri, inner))
        return msgspec.json.Decoder(_any_of(kinds)).decode

    def _is_checked(self, event: Any) -> bool:
        """Whether parts whose types can't check them are valid."""
        inner = event.data if isinstance(event.data, list) else (event.data,)
        for part in (event, *inner):
            check = self._checks.get(type(part))
            if check is not None and not check(part.data):
                return False
        return True

    def _type_of(self, uri: str, schema: PartSchema, levels: int) -> type:
        """The type of a part of a schema whose data may nest so deep."""
        part_type = self._types.get((uri, levels))
        if part_type is None:
            strict = make_strict_type(schema.document)
            is_strict = strict is not None and strict.depth is not None and strict.depth <= levels
            part_type = _struct(uri, strict.type if strict is not None and is_strict else msgspec.Raw)
            if not is_strict:
                self._checks[part_type] = self._make_check(schema.compiled, levels)
            self._types[uri, levels] = part_type
        return part_type

    def _make_check(self, compiled: Draft4Schema, levels: int) -> Callable[[Any], bool]:
        """The check of the text of a part by the validator of its schema."""

        def check(raw: Any) -> bool:
            text = bytes(raw)
            # A value with fewer brackets than levels allowed can't nest too deep.
            is_flat = text.count(b"{") + text.count(b"[") <= levels
            return is_flat and compiled.is_surely_valid(self._plain(text), len(text))

        return check


def _struct(uri: str, kind: Any) -> type:
    """The type of self-describing values of one schema."""
    return msgspec.defstruct(
        "Part", [("data", kind)], tag_field="schema", tag=uri, forbid_unknown_fields=True, gc=False
    )


_NOTHING: type = msgspec.defstruct(
    "Nothing",
    [("data", Annotated[int, msgspec.Meta(ge=1, le=0)])],
    tag_field="schema",
    tag="",
    forbid_unknown_fields=True,
)
"""The type of no value: a type that stands alone would take values that do not name their schema."""


def _any_of(kinds: Iterable[type]) -> Any:
    return Union[(_NOTHING, *kinds)]


def read_envelope(document: Any) -> _Envelope | None:
    """What an envelope may hold; None where its schema asks more of parts than their `schema`."""
    words = _words(document)
    if words is None or document.get("type") not in {"array", "object"}:
        return None
    if document["type"] == "object":
        return _Envelope(False, 1, 1) if _is_part(document) else None
    if words - {"type", "items", "minItems", "maxItems"} or not _is_part(document.get("items")):
        return None
    return _Envelope(True, document.get("minItems", 0), document.get("maxItems", _MOST))


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
    additional = schema.get("additionalProperties", True)
    return (
        isinstance(additional, bool)
        and properties.keys() <= {"schema", "data"}
        and _words(properties.get("data", {})) == set()
    )


def _words(schema: Any) -> set[str] | None:
    """The keywords of a schema that say something about values; None for what is no object."""
    return set(schema) - NOTES if isinstance(schema, dict) else None
