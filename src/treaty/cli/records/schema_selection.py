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
from treaty.core.answers import VersionFound
from treaty.core.messages.encodings import AssignEncoding, ListCodecs
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound
from treaty.core.requests import LATEST, GetSchema, GetVersion, Lookup, Register
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


def select_schema(found: Connection, wanted: SchemaOption, *, dry_run: bool = False) -> SelectedSchema:
    """Find or register the schema; a dry run only checks that it could be registered. Raises `UnusableError` for an
    unusable schema, and the errors of the registry.
    """
    try:
        if wanted.word == LATEST_WORD:
            subject = _find_subject(found, wanted, wanted.record)
            return _select_version(found, wanted, subject, found.ask(GetVersion(subject, LATEST)).answer)
        if wanted.word.isascii() and wanted.word.isdecimal():
            return _select_by_id(found, wanted, int(wanted.word))
        return _select_from_file(found, wanted, dry_run=dry_run)
    except BadValueError as error:
        raise UnusableError(f"{wanted.part} schema {wanted.word}: {error}") from error
    except ValueError as error:
        raise UnusableError(f"{error} (--strategy), or name the subject with --subject") from error


def _find_subject(found: Connection, wanted: SchemaOption, record: str) -> Subject:
    if wanted.subject:
        return subject_of(wanted.subject)
    return SubjectNaming(found, HOW[wanted.strategy]).subject(wanted.topic, wanted.part, record)


def _select_version(found: Connection, wanted: SchemaOption, subject: Subject, version: VersionFound) -> SelectedSchema:
    made = make_encoder(
        found,
        version.format,
        SchemaText(version.text, version.references, subject, version.imports),
        wanted.record,
        wanted.encoding,
    )
    what = f"{version.subject} version {version.number}, id {version.schema_id}, {version.format}"
    chosen = SelectedSchema(made, what, wanted.part, version.schema_id, version.guid)
    return chosen if wanted.codec is None else _with_codec(found, chosen, wanted.codec, version)


def _with_codec(found: Connection, chosen: SelectedSchema, name: str, version: VersionFound) -> SelectedSchema:
    """Assign the encoding of a version and a codec that its group has. Raises `UnusableError` for a codec that is missing."""
    try:
        codec = find_codec(name)
    except MissingCodecError as missing:
        raise UnusableError(str(missing)) from missing
    group = subject_of(version.subject)
    encoding_id = found.ask(AssignEncoding(group, version.ordinal, codec.name)).answer.encoding_id
    listed = found.ask(ListCodecs(group)).answer.codecs if codec.name else ()
    properties = next((one.properties for one in listed if one.name == codec.name), ())
    return replace(chosen, encoding_id=encoding_id, pack=lambda payload: codec.pack(payload, properties))


def _select_by_id(found: Connection, wanted: SchemaOption, schema_id: int) -> SelectedSchema:
    if wanted.codec is not None:
        raise UnusableError("an encoding id is of a version of a group: choose latest or a file, not a schema id")
    within = subject_of(wanted.subject) if wanted.subject else None
    one = found.ask(GetSchema(schema_id, within)).answer
    made = make_encoder(found, one.format, text_of(one), wanted.record, wanted.encoding)
    return SelectedSchema(made, f"id {schema_id}, {one.format}", wanted.part, schema_id, one.guid)


def _select_from_file(found: Connection, wanted: SchemaOption, *, dry_run: bool) -> SelectedSchema:
    draft = read_draft(found, wanted.word, wanted.format, wanted.references)
    home = subject_of(wanted.subject) if wanted.subject else Subject(".", "")
    made = make_encoder(
        found, draft.format, SchemaText(draft.text, draft.references, home), wanted.record, wanted.encoding
    )
    subject = _find_subject(found, wanted, made.record)
    normalize = wanted.normalize or None
    if not (wanted.must_exist or dry_run):
        return _select_version(found, wanted, subject, found.ask(Register(subject, draft, normalize)).answer.version)
    try:
        return _select_version(found, wanted, subject, found.ask(Lookup(subject, draft, normalize)).answer)
    except NotFound:
        if wanted.must_exist:
            raise
    return _select_unregistered(found, wanted, subject, draft, made)


def _select_unregistered(
    found: Connection, wanted: SchemaOption, subject: Subject, draft: Draft, made: RecordEncoder
) -> SelectedSchema:
    result = found.check(str(subject), draft)
    if not result.compatible:
        reasons = "\n".join(f"  {one}" for one in result.messages)
        raise UnusableError(f"{wanted.word} would be refused as a version of {subject}:\n{reasons}")
    return SelectedSchema(made, f"{wanted.word}, a new version of {subject}", wanted.part)


def schema_members(part: Part, chosen: SelectedSchema | None) -> dict[str, object]:
    """Return a schema as JSON members of the summary."""
    if chosen is None:
        return {}
    return {f"{part}_schema": {"what": chosen.what, "id": chosen.schema_id, "guid": chosen.guid or None}}
