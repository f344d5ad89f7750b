"""JSON values to framed records, under a schema of any format."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import EncodeError
from google.protobuf.message_factory import GetMessageClass

from treaty.client.records import avro
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.choosing import Text
from treaty.client.serializers.codec import full_name
from treaty.client.serializers.failures import BadValue
from treaty.client.serializers.framing import HEADER_OF, Headers, Part, prefix, stamp
from treaty.client.serializers.indexes import FIRST, head
from treaty.client.serializers.protobuf import messages
from treaty.core.registry import Registry
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.runtime import build_pool
from treaty.formats.registry import find_formats


@dataclass(frozen=True, slots=True)
class EncodedRow:
    """A payload and what stands before it: message indexes, where the format has them."""

    payload: bytes
    head: bytes = b""

    def framed(self, schema_id: int, guid: str, part: Part, framing: str) -> tuple[bytes, Headers]:
        """Put the frame of a schema around it: before it, or (``header``) into a header."""
        if framing == "header":
            return self.payload, ((HEADER_OF[part], stamp(guid) + self.head),)
        return prefix(schema_id) + self.head + self.payload, ()


Encode = Callable[[Any], EncodedRow]
"""From a JSON value to its payload. Raises `BadValue` with the place that does not fit."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """Encodes values of one schema; `record` is the full name of its type, or ""."""

    record: str
    encode: Encode


def record_of(format_: str, text: str, message: str = "") -> str:
    """The name of a schema's type as subject strategies want it; `message` is the Protobuf message that is meant."""
    if format_ == "AVRO":
        return full_name(text)
    if format_ == "JSON":
        try:
            title = json.loads(text).get("title")
        except (ValueError, RecursionError, AttributeError):
            return ""
        return title if isinstance(title, str) else ""
    return message


def encoder(registry: Registry, format_: str, text: Text, message: str = "") -> Encoder:
    """Make a schema ready. `message` is the full name of the Protobuf message to write, the file's first one without it.

    Raises `BadValue` for a schema that can't be used, and what the registry raises for what it refers to.
    """
    try:
        meaning = fetch_resolved_schema(registry, format_, text.text, text.references, text.within)
        model: Any = find_formats()[format_].parse(meaning, False)
        if format_ == "AVRO":
            return Encoder(full_name(text.text), lambda value: EncodedRow(avro.encode(model, value)))
        if format_ == "JSON":
            return Encoder(record_of(format_, text.text), _json(model))
        if format_ == "PROTOBUF":
            return _protobuf(model, message)
    except (InvalidSchemaError, TypeError) as wrong:
        raise BadValue(f"the schema can't be used: {wrong}") from wrong
    raise BadValue(f"records of format {format_} can't be written from JSON")


def _json(model: Any) -> Encode:
    check = find_formats()["JSON"].check
    assert check is not None

    def encode(value: Any) -> EncodedRow:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        if faults := check(model, text):
            raise BadValue("; ".join(f"at {one.path or '/'}: {one.message}" for one in faults))
        return EncodedRow(text.encode())

    return encode


def _protobuf(model: Any, message: str) -> Encoder:
    names = messages(model)
    paths = {name: path for path, name in names.items()}
    name = message or names.get(FIRST, "")
    if name not in paths:
        raise BadValue(f"the schema has no message {message or 'at all'}; it has {', '.join(paths) or 'none'}")
    files = build_pool(model)
    kind = GetMessageClass(files.FindMessageTypeByName(name))
    front = head(paths[name])
    check = find_formats()["PROTOBUF"].check if paths[name] == FIRST else None

    def encode(value: Any) -> EncodedRow:
        made = kind()
        try:
            ParseDict(value, made, descriptor_pool=files)
            return EncodedRow(made.SerializeToString(deterministic=True), front)
        except (ParseError, EncodeError, TypeError, ValueError, AttributeError, RecursionError) as error:
            faults = check(model, json.dumps(value)) if check else ()
            told = "; ".join(f"at {one.path or '/'}: {one.message}" for one in faults)
            raise BadValue(told or f"not a {name}: {error}") from error

    return Encoder(name, encode)
