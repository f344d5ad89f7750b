"""Deserializer of a group: payloads behind Pravega's header, unpacked and read with their writers' schemas."""

import json
import uuid
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from google.protobuf.json_format import SerializeToJsonError

from treaty.client.cache import LoadingCache
from treaty.client.groups.codecs import CodecError, MissingCodecError, PayloadCodec, find_codec, unpack_payload
from treaty.client.groups.payloads import (
    OpenPayload,
    VersionRegistry,
    has_payloads,
    make_frame_header,
    make_payload_reader,
    make_trim,
)
from treaty.client.groups.settings import GroupReaderSettings
from treaty.client.groups.types import GroupType, SomeType, list_group_types, without_class
from treaty.client.records.decoder import to_json_value
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import Part, split_encoding
from treaty.client.serializers.settings import DeserializedPart
from treaty.core.limits import ENCODINGS_CACHED
from treaty.core.messages.encodings import NO_CODEC, CodecType, EncodingFound, GetEncoding, ListCodecs
from treaty.core.messages.groups import CheckReading, CreateSubject
from treaty.core.messages.schemas import SchemaFound
from treaty.core.messages.versions import VersionFound
from treaty.core.names import subject_of
from treaty.core.refusals import EncodingNotFound
from treaty.core.registry import Registry
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.commit import PositionToken


class CodecMismatchError(BadValueError):
    """The group has a codec that the deserializer lacks."""


class UnreadableGroupError(BadValueError):
    """The deserializer's own schema cannot read what the group's policy lets writers write."""


@dataclass(frozen=True, slots=True)
class _Encoding:
    """An encoding with the functions that unpack its payloads and read them."""

    found: EncodingFound
    unpack: Callable[[bytes], bytes]
    read: Callable[[bytes], Any]
    writer_schema: SchemaFound


class GroupDeserializer:
    """Deserializes the records of a group, each by its encoding. Thread-safe.

    It asks the registry when it is made, and then once for each new encoding id: the last `ENCODINGS_CACHED` are kept,
    an id that the registry does not know is asked for again.
    """

    def __init__(
        self,
        registry: Registry,
        group: str,
        types: SomeType | Sequence[SomeType] = (),
        settings: GroupReaderSettings | None = None,
        *,
        format_: str = "AVRO",
    ) -> None:
        """Take the types that values are read as: schemas, or classes; none reads every type as a value without a class.

        One type reads all records of its format; several are chosen by the name of the record's type. Raises
        `CodecMismatchError`, `UnreadableGroupError`, `BadValueError` for settings that exclude each other, and the errors
        of the registry.
        """
        self._registry = registry
        self._subject = subject_of(group)
        self._settings = settings or GroupReaderSettings()
        group_types = list_group_types(types, format_, self._resolve)
        self._types = tuple(map(without_class, group_types)) if self._settings.as_json else group_types
        self._codecs = {one.name: one for one in self._settings.decoders}
        self._versions = VersionRegistry(registry)
        self._readers: dict[tuple[str, str | None], OpenPayload] = {}
        self._encodings: LoadingCache[int, _Encoding] = LoadingCache(ENCODINGS_CACHED)
        if self._settings.create is not None:
            registry.ask(CreateSubject(self._subject, self._settings.create))
        self._headerless = None if self._settings.header else self._bind_headerless()
        if self._settings.header:
            self._check_codecs()
        if self._settings.check_reading:
            self._check_reading()

    def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Any:
        """Return the value of a record; None for a tombstone. Raises as `open` does."""
        return None if data is None else self.open(data, topic, part, headers).value

    def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> DeserializedPart:
        """Return value and writer's schema.

        Raises `BadRecordError` for invalid bytes (`code` has the kind; MALFORMED also for a payload that its codec cannot
        unpack), `Unavailable` if the registry does not answer.
        """
        if self._headerless is not None:
            return DeserializedPart(self._read(self._headerless, data, data, None), self._headerless.writer_schema)
        encoding_id, packed = split_encoding(data)
        encoding = self._find(encoding_id, data)
        try:
            payload = encoding.unpack(packed)
        except CodecError as error:
            raise BadRecordError(RecordErrorCode.MALFORMED, str(error), data, encoding_id) from error
        return DeserializedPart(self._read(encoding, payload, data, encoding_id), encoding.writer_schema)

    def find_encoding(self, data: bytes) -> EncodingFound:
        """Return version and codec of a record. Raises `BadRecordError` as `open` does."""
        return self._find(split_encoding(data)[0], data).found

    def _read(self, encoding: _Encoding, payload: bytes, data: bytes, encoding_id: int | None) -> Any:
        try:
            value = encoding.read(payload)
        except BadRecordError as error:
            raise BadRecordError(error.code, error.message, data, encoding_id) from error
        if not self._settings.as_json:
            return value
        try:
            return json.dumps(to_json_value(value), ensure_ascii=False, separators=(",", ":"))
        except (SerializeToJsonError, TypeError, ValueError) as error:
            message = f"it has no JSON form: {error}"
            raise BadRecordError(RecordErrorCode.MALFORMED, message, data, encoding_id) from error

    # ------------------------------------------------------------------------------------------------- encodings

    def _find(self, encoding_id: int, data: bytes) -> _Encoding:
        try:
            return self._encodings.get(encoding_id, lambda: self._load(encoding_id))
        except EncodingNotFound as refusal:
            message = f"the group {self._subject} has no encoding {encoding_id}"
            raise BadRecordError(RecordErrorCode.UNKNOWN_ID, message, data, encoding_id) from refusal
        except MissingCodecError as error:
            raise BadRecordError(RecordErrorCode.MALFORMED, str(error), data, encoding_id) from error

    def _load(self, encoding_id: int) -> _Encoding:
        reply = self._registry.ask(GetEncoding(self._subject, encoding_id))
        return self._make_encoding(reply.answer, reply.token)

    def _make_encoding(self, encoding: EncodingFound, token: PositionToken) -> _Encoding:
        codec, properties = self._find_codec(encoding.codec.name), encoding.codec.properties
        schema = self._versions.add(encoding.version, token)
        if codec.name == NO_CODEC:
            return _Encoding(encoding, bytes, self._make_read(encoding.version), schema)
        trim = make_trim(self._versions, encoding.version)

        def unpack(payload: bytes) -> bytes:
            return trim(unpack_payload(codec, payload, properties))

        return _Encoding(encoding, unpack, self._make_read(encoding.version), schema)

    def _find_codec(self, name: str) -> PayloadCodec:
        return self._codecs[name] if name in self._codecs else find_codec(name)

    def _find_type(self, version: VersionFound) -> GroupType | None:
        """Return the type that a version's values are read as. Raises `LookupError` where there is none for it."""
        if not self._types:
            return None
        same_format = [one for one in self._types if one.draft.format == version.format]
        if len(same_format) == 1 and not self._settings.generic:
            return same_format[0]
        named = next((one for one in same_format if one.name == version.type_name), None)
        if named is None and not self._settings.generic:
            names = ", ".join(f"{one.name or 'a type'} ({one.draft.format})" for one in self._types)
            raise LookupError(f"its type is {version.type_name} ({version.format}); this deserializer reads {names}")
        return named

    def _make_read(self, version: VersionFound) -> Callable[[bytes], Any]:
        """Return the function from a payload of a version to its value."""
        try:
            group_type = self._find_type(version)
        except LookupError as missing:
            return partial(_refuse_type, str(missing))
        if group_type is not None and group_type.read is not None:
            return group_type.read
        if not has_payloads(version.format):
            return bytes  # the payload as it is
        key = (version.format, group_type.name if group_type is not None else None)
        if key not in self._readers:
            self._readers[key] = make_payload_reader(self._versions, version.format, group_type, self._settings)
        read_payload, headers = self._readers[key], make_frame_header(self._versions, version)
        return lambda payload: read_payload(payload, "", "value", headers).value

    def _resolve(self, draft: Draft) -> ResolvedSchema:
        return fetch_resolved_schema(self._registry, draft.format, draft.text, draft.references, self._subject)

    def _bind_headerless(self) -> _Encoding:
        """Return the encoding of payloads without a header: the one type, no codec."""
        if len(self._types) != 1 or self._types[0].draft.format == "AVRO":
            raise BadValueError("header=False needs one type, of JSON, Protobuf or a custom format")
        draft = self._types[0].draft
        version = VersionFound(
            str(self._subject), 0, 0, 0, str(uuid.UUID(int=0)), draft.format, draft.text, draft.references,
            type_name=draft.type_name, data=draft.data,
        )  # fmt: skip
        return self._make_encoding(EncodingFound(-1, version, CodecType(NO_CODEC)), PositionToken("", 0, ""))

    # ------------------------------------------------------------------------------------------------ at the start

    def _check_codecs(self) -> None:
        """Compare the codecs of the group with those that this deserializer has."""
        missing = []
        for codec in self._registry.ask(ListCodecs(self._subject)).answer.codecs:
            try:
                self._find_codec(codec.name)
            except MissingCodecError:
                missing.append(codec.name)
        if not missing:
            return
        message = (
            f"the group {self._subject} has codecs that this deserializer lacks: {', '.join(missing)}; install the packages "
            f"that offer them, or give them as decoders"
        )
        if self._settings.fail_on_codec_mismatch:
            raise CodecMismatchError(f"{message} (fail_on_codec_mismatch=False only warns)")
        warnings.warn(message, stacklevel=3)

    def _check_reading(self) -> None:
        for group_type in self._types:
            checked = self._registry.ask(CheckReading(self._subject, group_type.draft)).answer
            if not checked.compatible:
                sentences = [
                    f"{finding.message(reader='own', writer='found')} (at {finding.path})"
                    for finding in checked.findings
                ]
                reasons = "; ".join((*sentences, *checked.messages))
                raise UnreadableGroupError(
                    f"the schema {group_type.name} can't read what writers of {self._subject} may write: {reasons}"
                )


def _refuse_type(why: str, payload: bytes) -> NoReturn:
    raise BadRecordError(RecordErrorCode.RESOLUTION, why, payload)
