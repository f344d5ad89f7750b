"""`AvroCodec`: an Avro schema with its references, and the functions that read and write its payloads.

A program that is compiled for the schema handles correct values and payloads. What it refuses goes to a slower
function, which describes the error: fastavro to write; to read, an interpreter behind a skipper that refuses damaged
payloads. For fastavro the top-level type is wrapped in a record of one field, which takes no bytes: so unions,
primitives and named types from references are all handled the same way.
"""

import io
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import fastavro
from fastavro.validation import ValidationError

from treaty.client.compiled.conversions import UnmatchedError
from treaty.client.compiled.interpreter import ReadStep, make_interpreter
from treaty.client.compiled.logical import EXACT, LossError, mark_exact
from treaty.client.compiled.parsed_schema import mark_parsed, print_parsed
from treaty.client.compiled.reader_program import Read, make_reader
from treaty.client.compiled.writer_program import Write, make_writer
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.avro_skipper import MalformedPayloadError, Skip, make_skipper
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.core.names import Subject
from treaty.core.refusals import TooLarge
from treaty.core.registry import Registry
from treaty.core.schema import Reference
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.model import AvroPrimitive, AvroSchema
from treaty.formats.avro.parser import parse_schema
from treaty.formats.format import InvalidSchemaError

_WRAPPER = "__treaty_payload__"
PROGRAM_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)
"""Exceptions of a program for a value or payload that it does not accept."""
_CODEC_ERRORS = (ValueError, TypeError, LookupError, EOFError, ArithmeticError, AttributeError, struct.error)
_COMMENTS = frozenset({"doc", "aliases", "default", "order"})
MAX_READERS = 20
"""The most readers whose programs are cached per writer."""


@dataclass(frozen=True)
class AvroCodec:
    """A schema ready to encode and decode. `raw`: top-level ``bytes``, whose payload is the value itself.

    `model` is what it reads with; `schema` and `named` are the same as fastavro has them, for writing.
    """

    text: str
    model: AvroSchema
    schema: Any
    named: Mapping[str, Any]
    name: str
    raw: bool
    programs: dict[tuple[str, bool], Read | None] = field(default_factory=dict, compare=False, repr=False)
    interpreters: dict[tuple[str, bool], ReadStep] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def skip(self) -> Skip:
        """The skipper, which finds the end of a payload and validates it on the way."""
        return make_skipper(self.model)

    @cached_property
    def reader(self) -> Read | None:
        """The program that reads payloads."""
        return make_reader(self.model, self.model)

    @cached_property
    def tagged_reader(self) -> Read | None:
        """The program that reads payloads with the branches of unions."""
        return make_reader(self.model, self.model, tagged=True)

    def find_program(self, reader: "AvroCodec | None", *, tagged: bool) -> Read | None:
        """The program that reads payloads as values of another schema (None: its own)."""
        if reader is None or reader.lookup_digest == self.lookup_digest:
            return self.tagged_reader if tagged else self.reader
        key = (reader.reading_digest, tagged)
        if key not in self.programs:
            if len(self.programs) >= MAX_READERS:
                self.programs.clear()
            self.programs[key] = make_reader(self.model, reader.model, tagged=tagged)
        return self.programs[key]

    def find_interpreter(self, reader: "AvroCodec | None", *, tagged: bool) -> ReadStep:
        """The interpreter that reads payloads as values of another schema (None: its own)."""
        if reader is None or reader.lookup_digest == self.lookup_digest:
            reader = self
        key = (reader.reading_digest, tagged)
        if key not in self.interpreters:
            if len(self.interpreters) >= MAX_READERS:
                self.interpreters.clear()
            self.interpreters[key] = make_interpreter(self.model, reader.model, tagged=tagged)
        return self.interpreters[key]

    @cached_property
    def writer(self) -> Write | None:
        """The program that writes payloads."""
        return make_writer(self.payload, self.named)

    @cached_property
    def lossy_writer(self) -> Write | None:
        """The program that writes payloads and truncates times to the unit of their types."""
        return make_writer(self.payload, self.named, lossy=True)

    @cached_property
    def exact_schema(self) -> Any:
        """The schema for fastavro, which refuses times with more digits than their types."""
        return mark_exact(self.schema)

    @cached_property
    def lookup_digest(self) -> str:
        """A key that is equal for schemas whose payloads are read alike: without docs, aliases and defaults."""
        named = {name: _strip_comments(schema) for name, schema in self.named.items() if name != _WRAPPER}
        return json.dumps([_strip_comments(self.payload), named], sort_keys=True)

    @cached_property
    def reading_digest(self) -> str:
        """A key that is equal for schemas that read the payloads of any other alike: the schema and all that it refers to, with aliases and defaults."""
        return json.dumps(self.payload, sort_keys=True)

    @property
    def payload(self) -> Any:
        """The schema without its wrapper."""
        return self.schema["fields"][0]["type"]


def make_avro_codec(registry: Registry, text: str, references: tuple[Reference, ...], within: Subject) -> AvroCodec:
    """Resolve the references of a schema of `within` and return its codec. Raises `BadValueError` if the text or a
    reference is not Avro, and the registry's error for a missing one.
    """
    payload = _json(text)
    plain = isinstance(payload, dict) and payload.get("type") == "bytes" and "logicalType" not in payload
    try:
        resolved = fetch_resolved_schema(registry, "AVRO", text, references, within)
    except TooLarge as error:
        raise BadValueError(f"the schema refers to too many others: {error}") from None
    return _make_codec(resolved, raw=payload == "bytes" or plain)


def _make_codec(resolved: ResolvedSchema, *, raw: bool) -> AvroCodec:
    """Return the codec of a schema with its references. Raises `BadValueError`."""
    try:
        model = parse_schema(resolved, strict=False)
    except InvalidSchemaError as error:
        raise BadValueError(f"the Avro codec cannot use this schema: {error}") from error
    root, named = print_parsed(model)
    wrapper = {"type": "record", "name": _WRAPPER, "fields": [{"name": "r", "type": root}]}
    return AvroCodec(resolved.text, model, mark_parsed(wrapper, named), named, full_name(resolved.text), raw)


def make_text_skipper(text: str) -> Skip | None:
    """Return the skipper of a schema without references; None for top-level ``bytes``, which have no end of their own.

    Raises `BadValueError` if the text is not Avro.
    """
    codec = _make_codec(ResolvedSchema("AVRO", text), raw=False)
    return None if codec.model.root == AvroPrimitive("bytes") else codec.skip


def _strip_comments(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strip_comments(each) for each in schema]
    if isinstance(schema, dict):
        return {
            key: _strip_comments(value)
            for key, value in schema.items()
            if key not in _COMMENTS and not key.startswith("__")
        }
    return schema


def full_name(text: str) -> str:
    """Return the full name of the top-level type, or ""."""
    schema = _json(text)
    if not isinstance(schema, dict) or not isinstance(schema.get("name"), str):
        return ""
    name, space = str(schema["name"]), schema.get("namespace")
    return f"{space}.{name}" if space and "." not in name else name


def write_payload(
    codec: AvroCodec, value: object, *, check: bool, head: bytes = b"", tagged: bool = False, lossy: bool = False
) -> bytes:
    """Return `head` and the payload of a value. Raises `BadValueError` with the path of the mismatch.

    `tagged`: values of unions carry their branch; if the schema has no such branch, the value's type decides.
    """
    if codec.raw:
        if isinstance(value, (bytes, bytearray, memoryview)):
            return head + bytes(value)
        raise BadValueError(f"the schema is bytes, the value is a {type(value).__name__}")
    write = codec.lossy_writer if lossy else codec.writer
    if write is not None:
        quick = bytearray(head)
        try:
            write(quick, value)
            return bytes(quick)
        except LossError as error:
            raise BadValueError(f"{error}; SerializerSettings(lossy=True) cuts them") from None
        except PROGRAM_ERRORS:
            pass
    return head + write_slowly(codec, drop_branch_names(value) if tagged else value, check=check, lossy=lossy)


def write_slowly(codec: AvroCodec, value: object, *, check: bool, lossy: bool = False) -> bytes:
    """Write a value by fastavro, which describes errors."""
    out = io.BytesIO()
    wrapped, schema = {"r": value}, codec.schema if lossy else codec.exact_schema
    try:
        if check:
            fastavro.validate(wrapped, schema, raise_errors=True)
        fastavro.schemaless_writer(out, schema, wrapped, strict_allow_default=check)
    except LossError as error:
        raise BadValueError(f"{error}; SerializerSettings(lossy=True) cuts them") from None
    except ValidationError as error:
        raise BadValueError(_describe_errors(error)) from None
    except (*_CODEC_ERRORS, RecursionError) as error:
        raise BadValueError(f"the value does not fit {codec.name or 'the schema'}: {error}") from error
    return out.getvalue()


def drop_branch_names(value: Any) -> Any:
    """Return the value without the names of branches."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return drop_branch_names(value[1])
    if isinstance(value, list):
        return [drop_branch_names(each) for each in value]
    if isinstance(value, dict):
        return {key: drop_branch_names(each) for key, each in value.items()}
    return value


def read_payload(
    writer: AvroCodec, reader: AvroCodec | None, payload: bytes, schema: int | str, *, tagged: bool = False
) -> object:
    """Return the value of a payload, resolved to `reader` if given. Raises `BadRecordError`. `tagged`: values of unions
    with several named types carry their branch.
    """
    if writer.raw:
        if reader is None or reader.raw:
            return bytes(payload)
        payload = add_length(payload)
    else:
        quick = writer.find_program(reader, tagged=tagged)
        if quick is not None:
            try:
                return quick(payload)
            except PROGRAM_ERRORS:
                pass
    return read_slowly(writer, reader, (payload, schema), tagged=tagged)


def read_slowly(
    writer: AvroCodec, reader: AvroCodec | None, source: tuple[bytes, int | str], *, tagged: bool
) -> object:
    """Read a payload by skipper and interpreter, which describe the error. Raises `BadRecordError`."""
    payload, schema = source
    try:
        end = writer.skip(payload, 0, 0)
    except (MalformedPayloadError, RecursionError) as error:  # the caller's own stack may be deep
        raise BadRecordError(RecordErrorCode.MALFORMED, str(error), payload, schema) from None
    if end != len(payload):
        left = len(payload) - end
        message = f"{left} byte{'s are' if left > 1 else ' is'} left after the record, which ends at byte {end}"
        raise BadRecordError(RecordErrorCode.TRAILING, message, payload, schema)
    try:
        return writer.find_interpreter(reader, tagged=tagged)(payload, 0)[0]
    except UnmatchedError as error:
        raise BadRecordError(RecordErrorCode.RESOLUTION, str(error), payload, schema) from error
    except LossError as error:
        raise BadRecordError(RecordErrorCode.INVALID, str(error), payload, schema) from error
    except (*_CODEC_ERRORS, RecursionError) as error:
        raise BadRecordError(RecordErrorCode.MALFORMED, str(error), payload, schema) from error


def add_length(data: bytes) -> bytes:
    """Prefix bytes with their length."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, "bytes", data)
    return out.getvalue()


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadValueError(f"not an Avro schema: {error}") from error


def _describe_errors(error: ValidationError) -> str:
    """Return the message of a mismatch, without the name of the wrapper."""
    whys = [f"{fault.field or 'value'}: {_describe_error(fault)}" for fault in error.errors]
    return "; ".join(whys).replace(f"{_WRAPPER}.r", "value")


def _describe_error(error: Any) -> str:
    expected = (
        error.schema
        if isinstance(error.schema, str)
        else json.dumps(error.schema, default=str).replace(EXACT, "")[:120]
    )
    return f"{error.datum!r:.80} is a {type(error.datum).__name__}, the schema requires {expected}"
