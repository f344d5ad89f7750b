"""Dump files: one record a line, as JSON or as key, tab and value, the way console consumers print a topic.

A line of JSON may have a third member, `treaty`, with what a record has no word for; others overlook it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from treaty.client.transfer.registry_image import (
    ImageBuilder,
    RecordExtras,
    RegistryImage,
    VersionFacts,
    list_marked_records,
)
from treaty.core.limits import DUMP_LINE_BYTES
from treaty.core.messages.api_keys import ApiKeyFound
from treaty.core.messages.policies import PolicyFound
from treaty.core.messages.transfers import ExportedSubject, ExportedVersion
from treaty.core.policy import ForcedRegistration
from treaty.core.state.codec import DecodeError, decode_message, encode_message
from treaty.wire.confluent.bodies import pairs_of
from treaty.wire.confluent.drafts import ForceBody
from treaty.wire.confluent.policies import PolicyBody, exact_policy_body, policy_of
from treaty.wire.confluent.records import ConfigRecord, Record, RecordError, VersionRecord, record_of


class MarkBody(Struct, omit_defaults=True, rename="camel"):
    """The member `treaty` of a line: of a version's record, or of a NOOP about the ids of a context."""

    forced: ForceBody | None = None
    properties: dict[str, str | None] | None = None
    context: str = ""
    highest_id: int = 0
    ordinal: int = -1
    policy: PolicyBody | None = None
    facts: Any = None
    """What is kept of a version and has no other member here."""
    hidden: Any = None
    """A hidden version, which has no record."""
    subject: Any = None
    """A subject with its settings."""
    named: Any = None
    """A named policy."""
    api_key: Any = None
    """An API key, by its digest."""


_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.encode


@dataclass(frozen=True, slots=True)
class DumpLine:
    """A line's key and value as JSON texts; a value of None is a tombstone."""

    key: bytes
    value: bytes | None
    mark: MarkBody | None = None


def line_of(text: bytes) -> DumpLine:
    """Read a line: ``{"key": …, "value": …}`` (each an object or its text), or key, tab, value. Raises `RecordError`."""
    if len(text) > DUMP_LINE_BYTES:
        message = f"a line of {len(text)} bytes, more than the limit DUMP_LINE_BYTES of {DUMP_LINE_BYTES}"
        raise RecordError(message)
    head, tab, tail = text.partition(b"\t")
    if tab:
        return DumpLine(head.strip(), None if tail.strip() in {b"null", b""} else tail.strip())
    try:
        members: Any = _decode(text)
    except msgspec.MsgspecError as error:
        message = f"neither JSON nor key, tab and value: {error}"
        raise RecordError(message) from None
    if not isinstance(members, dict) or "key" not in members:
        message = 'expected {"key": …, "value": …}, or key, tab and value'
        raise RecordError(message)
    key, value = members["key"], members.get("value")
    try:
        mark = msgspec.convert(members.get("treaty"), MarkBody | None)
    except msgspec.ValidationError as error:
        message = f"the member treaty can't be read: {error}"
        raise RecordError(message) from None
    return DumpLine(_text(key), None if value is None else _text(value), mark)


def _text(member: Any) -> bytes:
    return member.encode() if isinstance(member, str) else _encode(member)


def read_lines(lines: Iterable[bytes]) -> RegistryImage:
    """What a dump holds; lines that can't be read become problems, and the others count."""
    folding = ImageBuilder()
    for number, text in enumerate(lines, 1):
        if text.strip():
            try:
                line = line_of(text.strip(b"\r\n"))
                record = record_of(line.key, line.value)
                folding.add(record, f"line {number}")
                if line.mark is not None:
                    folding.mark(mark_of(record, line.mark))
            except RecordError as error:
                folding.refuse(f"line {number}", "a record", str(error))
            except RecursionError:
                folding.refuse(f"line {number}", "a record", "not JSON that can be read: it is nested too deep")
    return folding.image()


def write_lines(image: RegistryImage) -> Iterator[bytes]:
    """A dump of an image: JSON lines with `key` and `value` as objects."""
    for key, value, mark in list_marked_records(image):
        beside = b"" if mark is None else b',"treaty":' + _encode(mark_body(mark))
        yield b'{"key":' + key + b',"value":' + (value or b"null") + beside + b"}\n"


def mark_of(record: Record, body: MarkBody) -> RecordExtras:
    """What is said beside a record."""
    forced = None if body.forced is None else ForcedRegistration(body.forced.who, body.forced.why)
    place = (record.subject, record.number) if isinstance(record, VersionRecord) else ("", 0)
    about = record.scope if isinstance(record, ConfigRecord) else None
    policy = None if about is None or body.policy is None else (about, policy_of(body.policy))
    properties = pairs_of(body.properties)
    try:
        facts = None if body.facts is None else decode_message(VersionFacts, body.facts)
        hidden = None if body.hidden is None else decode_message(ExportedVersion, body.hidden)
        exported = None if body.subject is None else decode_message(ExportedSubject, body.subject)
        named = None if body.named is None else decode_message(PolicyFound, body.named)
        key = None if body.api_key is None else decode_message(ApiKeyFound, body.api_key)
    except DecodeError as error:
        message = f"the member treaty can't be read: {error}"
        raise RecordError(message) from None
    context, highest, ordinal = body.context, body.highest_id, body.ordinal
    return RecordExtras(
        *place, forced, properties, context, highest, ordinal, policy, facts, hidden, exported, named, key
    )


def mark_body(mark: RecordExtras) -> MarkBody:
    """The same as it is written."""
    forced = None if mark.forced is None else ForceBody(mark.forced.who, mark.forced.why)
    policy = None if mark.policy is None else exact_policy_body(mark.policy[1])
    beside = (mark.facts, mark.hidden, mark.exported, mark.named, mark.api_key)
    numbers = (mark.context, mark.highest_id, mark.ordinal)
    members = (None if one is None else encode_message(one) for one in beside)
    return MarkBody(forced, dict(mark.properties) or None, *numbers, policy, *members)
