"""The schema that records are written with: the latest of a subject, one by id, or one in a file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from treaty.cli.registry.schema import read_draft
from treaty.cli.terminal.source import UnusableError
from treaty.client.connection import Connection
from treaty.client.groups.codecs import MissingCodecError, find_codec
from treaty.client.records.encoder import RecordEncoder, make_encoder
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import Headers, Part, encode_encoding
from treaty.client.serializers.schema_selection import SchemaText, text_of
from treaty.client.serializers.subject_names import (
    STRATEGIES,
    AssociatedNameStrategy,
    SubjectNameStrategy,
    SubjectNaming,
)
from treaty.core.messages.encodings import AssignEncoding, ListCodecs
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import GetVersion, Lookup, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound
from treaty.core.schema import Draft

HOW: Final[Mapping[str, SubjectNameStrategy | AssociatedNameStrategy]] = {
    **STRATEGIES,
    "associated": AssociatedNameStrategy(),
}
"""Subject name strategies by name."""
LATEST_WORD = "latest"
UNKNOWN_ID = "????????"
"""Used in a dry run as the id of a schema that is not registered yet."""


@dataclass(frozen=True, slots=True)
class SchemaOption:
    """The schema option of a record's key or value part: `word` is ``latest``, an id or a file."""

    word: str
    topic: str
    part: Part
    subject: str = ""
    strategy: str = "topic"
    record: str = ""
    format: str | None = None
    references: tuple[str, ...] = ()
    must_exist: bool = False
    normalize: bool = False
    encoding: str = ""
    codec: str | None = None
    """The codec of payloads behind an encoding id (``none``: no codec); None: other framings."""


@dataclass(frozen=True, slots=True)
class SelectedSchema:
    """A schema ready to encode; `schema_id` is None if a dry run would register it."""

    encoder: RecordEncoder
    what: str
    part: Part
    schema_id: int | None = None
    guid: str = ""
    encoding_id: int = 0
    pack: Callable[[bytes], bytes] = bytes

    def frame(self, value: object, framing: str) -> tuple[bytes, Headers]:
        """Return the framed key or value. Raises `BadValueError`."""
        if framing == "pravega":
            return encode_encoding(self.encoding_id) + self.pack(self.encoder.encode(value).payload), ()
        return self.encoder.encode(value).add_frame(self.schema_id or 0, self.guid or "0" * 32, self.part, framing)


def select_schema(client: Connection, option: SchemaOption, *, dry_run: bool = False) -> SelectedSchema:
    """Find or register the schema; a dry run only checks that it could be registered. Raises `UnusableError` for an
    unusable schema, and the errors of the registry.
    """
    try:
        if option.word == LATEST_WORD:
            subject = _find_subject(client, option, option.record)
            return _select_version(client, option, subject, client.ask(GetVersion(subject, LATEST)).answer)
        if option.word.isascii() and option.word.isdecimal():
            return _select_by_id(client, option, int(option.word))
        return _select_from_file(client, option, dry_run=dry_run)
    except BadValueError as error:
        raise UnusableError(f"{option.part} schema {option.word}: {error}") from error
    except ValueError as error:
        raise UnusableError(f"{error} (--strategy), or name the subject with --subject") from error


def _find_subject(client: Connection, option: SchemaOption, record: str) -> Subject:
    if option.subject:
        return subject_of(option.subject)
    return SubjectNaming(client, HOW[option.strategy]).subject(option.topic, option.part, record)


def _select_version(
    client: Connection, option: SchemaOption, subject: Subject, version: VersionFound
) -> SelectedSchema:
    encoder = make_encoder(
        client,
        version.format,
        SchemaText(version.text, version.references, subject, version.imports),
        option.record,
        option.encoding,
    )
    what = f"{version.subject} version {version.number}, id {version.schema_id}, {version.format}"
    chosen = SelectedSchema(encoder, what, option.part, version.schema_id, version.guid)
    return chosen if option.codec is None else _with_codec(client, chosen, option.codec, version)


def _with_codec(client: Connection, chosen: SelectedSchema, name: str, version: VersionFound) -> SelectedSchema:
    """Assign the encoding of a version and a codec that its group has. Raises `UnusableError` for a codec that is missing."""
    try:
        codec = find_codec(name)
    except MissingCodecError as missing:
        raise UnusableError(str(missing)) from missing
    group = subject_of(version.subject)
    encoding_id = client.ask(AssignEncoding(group, version.ordinal, codec.name)).answer.encoding_id
    listed = client.ask(ListCodecs(group)).answer.codecs if codec.name else ()
    properties = next((one.properties for one in listed if one.name == codec.name), ())
    return replace(chosen, encoding_id=encoding_id, pack=lambda payload: codec.pack(payload, properties))


def _select_by_id(client: Connection, option: SchemaOption, schema_id: int) -> SelectedSchema:
    if option.codec is not None:
        raise UnusableError("an encoding id is of a version of a group: choose latest or a file, not a schema id")
    within = subject_of(option.subject) if option.subject else None
    schema = client.ask(GetSchema(schema_id, within)).answer
    encoder = make_encoder(client, schema.format, text_of(schema), option.record, option.encoding)
    return SelectedSchema(encoder, f"id {schema_id}, {schema.format}", option.part, schema_id, schema.guid)


def _select_from_file(client: Connection, option: SchemaOption, *, dry_run: bool) -> SelectedSchema:
    draft = read_draft(client, option.word, option.format, option.references)
    home = subject_of(option.subject) if option.subject else Subject(".", "")
    encoder = make_encoder(
        client, draft.format, SchemaText(draft.text, draft.references, home), option.record, option.encoding
    )
    subject = _find_subject(client, option, encoder.record)
    normalize = option.normalize or None
    if not (option.must_exist or dry_run):
        return _select_version(client, option, subject, client.ask(Register(subject, draft, normalize)).answer.version)
    try:
        return _select_version(client, option, subject, client.ask(Lookup(subject, draft, normalize)).answer)
    except NotFound:
        if option.must_exist:
            raise
    return _select_unregistered(client, option, subject, draft, encoder)


def _select_unregistered(
    client: Connection, option: SchemaOption, subject: Subject, draft: Draft, encoder: RecordEncoder
) -> SelectedSchema:
    result = client.check(str(subject), draft)
    if not result.compatible:
        reasons = "\n".join(f"  {one}" for one in result.messages)
        raise UnusableError(f"{option.word} would be refused as a version of {subject}:\n{reasons}")
    return SelectedSchema(encoder, f"{option.word}, a new version of {subject}", option.part)


def schema_members(part: Part, chosen: SelectedSchema | None) -> dict[str, object]:
    """Return a schema as JSON members of the summary."""
    if chosen is None:
        return {}
    return {f"{part}_schema": {"what": chosen.what, "id": chosen.schema_id, "guid": chosen.guid or None}}
