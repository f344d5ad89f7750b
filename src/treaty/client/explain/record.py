"""Explains a record: its frame, the schema of the frame, and the payload."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.client.explain import avro, protobuf
from treaty.client.explain.pieces import PieceReader, RecordPiece, UnexpectedBytesError
from treaty.client.records.decoder import to_json_value
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.errors import BadRecordError
from treaty.client.serializers.frames import MAGIC_GUID, MAGIC_ID, Frame, Part, unframe
from treaty.client.serializers.message_indexes import Path, split_path
from treaty.client.serializers.payloads import choose_codec
from treaty.client.serializers.protobuf import messages
from treaty.client.serializers.schema_selection import text_of
from treaty.core.messages.schemas import GetGuid, GetSchema, SchemaFound
from treaty.core.refusals import NotFound
from treaty.core.registry import Registry
from treaty.formats.format import BadPayloadError, InvalidSchemaError, PayloadEncoding
from treaty.formats.protobuf.runtime import build_pool
from treaty.formats.registry import find_formats


@dataclass(frozen=True, slots=True)
class RecordExplanation:
    """The pieces of a record, its writer's schema if it was found, and its error, if any."""

    pieces: tuple[RecordPiece, ...]
    writer_schema: SchemaFound | None = None
    problem: str = ""


def explain_record(
    registry: Registry,
    data: bytes,
    headers: Iterable[tuple[str, bytes]] = (),
    part: Part = "value",
    *,
    encoding: str = "",
) -> RecordExplanation:
    """Explain the key or value of a record. An error in it is returned as `problem`; an unreachable registry raises.

    `encoding` is one of `Format.payloads`, for formats of plug-ins.
    """
    given_headers = tuple(headers)
    pieces = PieceReader(data)
    try:
        frame = unframe(data, given_headers, part, headed=True)
        _frame(pieces, frame)
        written = _find_schema(registry, frame)
    except BadRecordError as bad:
        pieces.note_rest("not read")
        return RecordExplanation(tuple(pieces), None, str(bad))
    except NotFound as absent:
        pieces.note_rest("not read")
        return RecordExplanation(tuple(pieces), None, str(absent))
    try:
        _payload(registry, written, pieces, frame, encoding)
        if pieces.left:
            problem = f"{pieces.left} bytes are left after the record"
            pieces.note_rest("left over")
            return RecordExplanation(tuple(pieces), written, problem)
    except (UnexpectedBytesError, InvalidSchemaError, ValueError, TypeError) as error:
        pieces.note_rest("not read")
        return RecordExplanation(tuple(pieces), written, str(error))
    return RecordExplanation(tuple(pieces), written)


def _frame(pieces: PieceReader, frame: Frame) -> None:
    """Note the frame; a frame in a header has no bytes in the record."""
    if frame.head is not None:
        pieces.note(0, "", "frame", f"in the header: guid {frame.schema}")
        return
    start = pieces.at
    magic = pieces.take(1, "", "magic byte")[0]
    pieces.note(start, "", "magic byte", {MAGIC_ID: "an id follows", MAGIC_GUID: "a guid follows"}[magic])
    start = pieces.at
    pieces.take(4 if magic == MAGIC_ID else 16, "", "schema")
    pieces.note(start, "", "schema id, big-endian" if magic == MAGIC_ID else "schema guid", frame.schema)


def _find_schema(registry: Registry, frame: Frame) -> SchemaFound:
    if isinstance(frame.schema, int):
        return registry.ask(GetSchema(frame.schema)).answer
    return registry.ask(GetGuid(frame.schema)).answer


def _payload(registry: Registry, written: SchemaFound, pieces: PieceReader, frame: Frame, encoding: str) -> None:
    form = find_formats().find(written.format)
    if form is None:
        pieces.note_rest(f"a payload of format {written.format}")
        return

    def parse() -> Any:
        schema_text = text_of(written)
        meaning = fetch_resolved_schema(
            registry,
            written.format,
            schema_text.text,
            schema_text.references,
            schema_text.home,
            imports=schema_text.imports,
        )
        return form.parse(meaning, False)

    explain = _EXPLAINERS.get(form.name)
    if explain is not None:
        explain(parse, pieces, frame)
    elif form.payloads:
        _plugin(choose_codec(form, encoding), parse(), pieces)
    else:
        pieces.note_rest(f"a payload of format {form.name}")


def _plugin(codec: PayloadEncoding[Any], model: Any, pieces: PieceReader) -> None:
    """Note the value of a whole payload: a format of a plug-in says no more."""
    start = pieces.at
    try:
        value = codec.read(model, model)(pieces.take(pieces.left, "", "payload"))
    except BadPayloadError as bad:
        raise UnexpectedBytesError(start, "", f"{bad.code}: {bad.message}") from bad
    pieces.note(start, "", "payload", json.dumps(to_json_value(value), ensure_ascii=False))


def _protobuf(model: Any, pieces: PieceReader, frame: Frame) -> None:
    path = _path(pieces, frame)
    name = messages(model).get(path)
    if name is None:
        raise UnexpectedBytesError(pieces.at, "", f"the schema has no message at {list(path)}")
    protobuf.explain(build_pool(model).FindMessageTypeByName(name), pieces)


def _path(pieces: PieceReader, frame: Frame) -> Path:
    """Note the message indexes, before the payload or after the guid in the header."""
    if frame.head is not None:
        return split_path(frame.head or b"\x00", frame.schema)[0]
    path, rest = split_path(frame.payload, frame.schema)
    start = pieces.at
    pieces.take(len(frame.payload) - len(rest), "", "message indexes")
    pieces.note(start, "", "message indexes", list(path))
    return path


def _json(pieces: PieceReader) -> None:
    start = pieces.at
    raw = pieces.take(pieces.left, "", "JSON text")
    try:
        text = str(raw, "utf-8")
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnexpectedBytesError(start, "", f"not JSON: {error}") from error
    pieces.note(start, "", "JSON text", text)


_EXPLAINERS: Mapping[str, Callable[[Callable[[], Any], PieceReader, Frame], None]] = {
    "AVRO": lambda parse, whole, _: avro.explain(parse(), whole),
    "JSON": lambda _, whole, __: _json(whole),
    "PROTOBUF": lambda parse, whole, frame: _protobuf(parse(), whole, frame),
}
"""How a payload is explained, by format: with a function that parses its schema, where that is needed."""
