"""Encodes JSON values as framed records, with a schema of any format."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import EncodeError
from google.protobuf.message_factory import GetMessageClass

from treaty.client.records import avro
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.avro_codec import full_name
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import HEADER_OF, Headers, Part, encode_guid, encode_id
from treaty.client.serializers.message_indexes import FIRST, encode_path
from treaty.client.serializers.payloads import choose_codec
from treaty.client.serializers.protobuf import messages
from treaty.client.serializers.schema_selection import SchemaText
from treaty.core.registry import Registry
from treaty.formats.format import Format, InvalidSchemaError
from treaty.formats.protobuf.runtime import build_pool
from treaty.formats.registry import find_formats


@dataclass(frozen=True, slots=True)
class EncodedPayload:
    """A payload, and its prefix: message indexes, if the format has them."""

    payload: bytes
    head: bytes = b""

    def add_frame(self, schema_id: int, guid: str, part: Part, framing: str) -> tuple[bytes, Headers]:
        """Add the frame of a schema: before the payload, or (``header``) in a header."""
        if framing == "header":
            return self.payload, ((HEADER_OF[part], encode_guid(guid) + self.head),)
        return encode_id(schema_id) + self.head + self.payload, ()


Encode = Callable[[Any], EncodedPayload]
"""A function from a JSON value to its payload. Raises `BadValueError` with the path of the mismatch."""


@dataclass(frozen=True, slots=True)
class RecordEncoder:
    """Encodes values of a schema; `record` is the full name of its type, or ""."""

    record: str
    encode: Encode


def read_record_name(format_: str, text: str, message: str = "") -> str:
    """Return the full name of a schema's type, for subject name strategies; `message` is the Protobuf message."""
    read = _RECORD_NAMES.get(format_)
    return read(text) if read else message


def _read_title(text: str) -> str:
    try:
        title = json.loads(text).get("title")
    except (ValueError, RecursionError, AttributeError):
        return ""
    return title if isinstance(title, str) else ""


_RECORD_NAMES: Mapping[str, Callable[[str], str]] = {"AVRO": full_name, "JSON": _read_title}


def make_encoder(
    registry: Registry, format_: str, schema_text: SchemaText, message: str = "", encoding: str = ""
) -> RecordEncoder:
    """Return an encoder for a schema. `message` is the full name of the Protobuf message (default: the first of the
    file), `encoding` one of `Format.payloads`.

    Raises `BadValueError` for an unusable schema, and the errors of the registry for its references.
    """
    try:
        resolved = fetch_resolved_schema(
            registry, format_, schema_text.text, schema_text.references, schema_text.home, imports=schema_text.imports
        )
        model: Any = find_formats()[format_].parse(resolved, False)
        make = _ENCODERS.get(format_)
        return (
            make(model, schema_text.text, message) if make else _make_plugin(find_formats()[format_], model, encoding)
        )
    except (InvalidSchemaError, TypeError) as error:
        raise BadValueError(f"the schema can't be used: {error}") from error


def _make_plugin(form: Format[Any], model: Any, encoding: str) -> RecordEncoder:
    """An encoder by the payloads of a format."""
    write = choose_codec(form, encoding).write(model)

    def encode(value: Any) -> EncodedPayload:
        try:
            return EncodedPayload(write(value))
        except ValueError as error:
            raise BadValueError(str(error)) from error

    return RecordEncoder(form.show(model, False).type_name, encode)


def _json(model: Any) -> Encode:
    check = find_formats()["JSON"].check
    assert check is not None

    def encode(value: Any) -> EncodedPayload:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        if faults := check(model, text):
            raise BadValueError("; ".join(f"at {one.path or '/'}: {one.message}" for one in faults))
        return EncodedPayload(text.encode())

    return encode


def _protobuf(model: Any, message: str) -> RecordEncoder:
    names = messages(model)
    paths = {name: path for path, name in names.items()}
    name = message or names.get(FIRST, "")
    if name not in paths:
        raise BadValueError(f"the schema has no message {message or 'at all'}; it has {', '.join(paths) or 'none'}")
    files = build_pool(model)
    kind = GetMessageClass(files.FindMessageTypeByName(name))
    front = encode_path(paths[name])
    check = find_formats()["PROTOBUF"].check if paths[name] == FIRST else None

    def encode(value: Any) -> EncodedPayload:
        built = kind()
        try:
            ParseDict(value, built, descriptor_pool=files)
            return EncodedPayload(built.SerializeToString(deterministic=True), front)
        except (ParseError, EncodeError, TypeError, ValueError, AttributeError, RecursionError) as error:
            faults = check(model, json.dumps(value)) if check else ()
            problems = "; ".join(f"at {one.path or '/'}: {one.message}" for one in faults)
            raise BadValueError(problems or f"not a {name}: {error}") from error

    return RecordEncoder(name, encode)


_ENCODERS: Mapping[str, Callable[[Any, str, str], RecordEncoder]] = {
    "AVRO": lambda model, text, _: RecordEncoder(
        full_name(text), lambda value: EncodedPayload(avro.encode(model, value))
    ),
    "JSON": lambda model, text, _: RecordEncoder(_read_title(text), _json(model)),
    "PROTOBUF": lambda model, _, message: _protobuf(model, message),
}
"""How an encoder is made of a parsed schema, its text and the message's name, by format of this package."""
