"""Drafts: schemas as clients send them, with text, references, metadata and rules; the identity of a schema: the guid, and the
digest by which a lookup finds it (Confluent's rules); and large texts, which no event loop works on.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace

from treaty.core.limits import LOOP_BYTES, REFERENCES, SCHEMA_BYTES
from treaty.core.refusals import TooLarge
from treaty.light_dataclass import dataclass

SEALED = "treaty-sealed:"
"""Prefix of an encrypted metadata value, before the id of the key and the encrypted bytes."""

CODED = "data:;base64,"
"""What the text of an opaque schema begins with where its bytes are no UTF-8 text, or begin so themselves."""
STEP_BYTES = 196_608
"""Bytes that are printed in base64 at once; a multiple of three."""

Pairs = tuple[tuple[str, str], ...]
"""A mapping of strings, as sorted pairs, so that it is frozen and hashable."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference: the name in the text, and the subject and version number of its schema. `version` -1 is the latest;
    its number is stored.
    """

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class Metadata:
    """Properties, tags and names of sensitive properties of a schema; part of its identity."""

    tags: tuple[tuple[str, tuple[str, ...]], ...] = ()
    properties: Pairs = ()
    sensitive: tuple[str, ...] = ()

    def get(self, name: str) -> str | None:
        """Return a property, or None."""
        return dict(self.properties).get(name)

    @property
    def sealed(self) -> bool:
        """Return whether a sensitive value is encrypted."""
        return any(name in self.sensitive and value.startswith(SEALED) for name, value in self.properties)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule for clients to run on data (Confluent's data contracts); stored and returned, not run here."""

    name: str
    kind: str = ""
    mode: str = ""
    type: str = ""
    doc: str = ""
    tags: tuple[str, ...] = ()
    params: Pairs = ()
    expr: str = ""
    on_success: str = ""
    on_failure: str = ""
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a schema, in the three groups that clients know."""

    migration: tuple[Rule, ...] = ()
    domain: tuple[Rule, ...] = ()
    encoding: tuple[Rule, ...] = ()
    enable_at: str = ""


@dataclass(frozen=True, slots=True)
class TaggedPath:
    """Tags inside a text (Confluent's inline tags): the path of the tagged part, and the tags.

    `kind` is ``sr_record`` (a record, object or message) or ``sr_field`` (a field or property). The path is dotted, as
    Confluent writes it; each format defines its own.
    """

    path: str
    kind: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A schema as sent: `format` is a name such as ``AVRO``; an empty `text` is that of the latest version."""

    text: str
    format: str = "AVRO"
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rules: RuleSet | None = None
    type_name: str = ""
    """The type of the schema in its subject; empty: the only type of a subject with one type if the text can be of it, else
    the parsed name.
    """
    data: bytes | None = None
    """The bytes as sent, where they are not the UTF-8 text; `text` is then what they say.

    Of an opaque schema, whose format has no plug-in, the text follows from the bytes: their UTF-8 text, else
    ``data:;base64,…``, also where they begin so themselves (see `opaque_text`).
    """
    imports: Pairs = ()
    """Files that came with the text and that it imports, directly or not, by path: what the paths mean where no reference
    has that name. No subject has them; they are part of the schema's identity.
    """


_ESCAPED_SHORT = b'"\\\b\f\n\r\t'
"""Characters for which a string of JSON has two."""
_ESCAPED = _ESCAPED_SHORT + bytes(sorted({*range(32)} - {*_ESCAPED_SHORT}))
"""These, and those for which it has six."""


def refuse_many_references(count: int) -> None:
    """Raise `TooLarge` for a schema with too many references."""
    if count > REFERENCES:
        raise TooLarge.of("REFERENCES", f"{count} references", new=str(count), allowed=f"at most {REFERENCES}")


def encode_base64(data: bytes) -> str:
    """Return bytes in base64, printed in steps between which other threads get their turn."""
    steps = range(0, len(data), STEP_BYTES)
    return b"".join([base64.b64encode(data[at : at + STEP_BYTES]) for at in steps]).decode()


def decode_base64(text: str) -> bytes:
    """Return the bytes of a text in base64, read in steps likewise. Raises `ValueError` for a text that is none, or that
    has more or less padding than it needs.
    """
    if not text.isascii():
        raise binascii.Error("base64 is written in ASCII characters only")
    if len(text) % 4 or 0 <= text.find("=") < len(text) - 2:
        raise binascii.Error("the padding is wrong, or there is more behind it")
    size = STEP_BYTES // 3 * 4
    return b"".join([base64.b64decode(text[at : at + size], validate=True) for at in range(0, len(text), size)])


def opaque_text(data: bytes) -> str:
    """Return the text that stands for the bytes of an opaque schema: the same where they are UTF-8, else base64.

    Base64 stands also for a text longer than SCHEMA_BYTES of which JSON would escape so much that base64 is shorter: a
    row would be several times as long as the bytes.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return CODED + encode_base64(data)
    return CODED + encode_base64(data) if text.startswith(CODED) or needs_coding(text) else text


def needs_coding(text: str) -> bool:
    """Return whether a text is long, and longer as a string of JSON than in base64."""
    if len(text) <= SCHEMA_BYTES:
        return False
    plain = text.encode("utf-8", "surrogatepass")
    unescaped = len(plain.translate(None, _ESCAPED))
    if unescaped == len(plain):
        return False
    short = len(plain) - len(plain.translate(None, _ESCAPED_SHORT))
    escaped = unescaped + 2 * short + 6 * (len(plain) - unescaped - short) + len('""')
    return escaped > len(CODED) + (len(plain) + 2) // 3 * 4


def opaque_size(text: str) -> int:
    """Return how many bytes the text of an opaque schema stands for, where what follows CODED is base64."""
    if not text.startswith(CODED):
        return len(text.encode("utf-8", "surrogatepass"))
    return (len(text) - len(CODED)) // 4 * 3 - (len(text) - len(text.rstrip("=")))


def opaque_bytes(text: str) -> bytes:
    """Return the bytes that the text of an opaque schema stands for."""
    if text.startswith(CODED):
        try:
            return decode_base64(text.removeprefix(CODED))
        except binascii.Error:
            pass
    return text.encode("utf-8", "surrogatepass")


# ------------------------------------------------------------------------------------------------------------- identity


VERSION_PROPERTY = "confluent:version"
"""The metadata property with a version's number."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")
_LARGEST_NUMBER = 2**31


def guid(
    text: str,
    references: Sequence[Reference],
    metadata: Metadata | None,
    rules: RuleSet | None,
    opaque: str = "",
    *,
    imports: Pairs = (),
) -> str:
    """Return the guid: an MD5 over canonical text, references, metadata and rules, written as a UUID.

    Equal for the same schema in every context and in every registry that computes it so. `opaque` is the name of a
    format without a plug-in: a zero byte and the name follow the text, because the same bytes may mean something else
    in another format. `imports` are files that came with the text: a zero byte and the path stand before each.
    """
    state = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    if opaque:
        state.update(b"\0" + opaque.encode("utf-8", "surrogatepass"))
    for reference in references:
        state.update(
            reference.name.encode() + reference.subject.encode() + reference.version.to_bytes(4, "big", signed=True)
        )
    for path, file in imports:
        state.update(b"\0" + path.encode("utf-8", "surrogatepass") + b"\0" + file.encode("utf-8", "surrogatepass"))
    if metadata is not None or rules is not None:
        for part in (*_metadata(metadata), *_rules(rules)):
            state.update(part)
    word = state.hexdigest()
    return f"{word[:8]}-{word[8:12]}-{word[12:16]}-{word[16:20]}-{word[20:]}"


def lookup_digest(format_: str, resolved: str) -> str:
    """Return the lookup digest: equal for texts that their format calls equal, however they are split into references.

    `resolved` is that of `core.schema_engine.ParsedSchema`. Metadata and rules are no part of it: see `has_same_extras`.
    """
    return hashlib.sha256(f"{format_}\0{resolved}".encode()).hexdigest()


def plain_lookup_digest(format_: str, text: str) -> str:
    """Return the lookup digest of a schema without references whose canonical text is the one by which equal schemas are
    found.
    """
    return lookup_digest(format_, hashlib.sha256(text.encode()).hexdigest())


Extras = tuple[Metadata | None, RuleSet | None]
"""The metadata and rules of a version."""


def has_same_extras(sent: Extras, stored: Extras, number: int) -> bool:
    """Return whether metadata and rules that are sent are those of the version with this number.

    A number that is sent in the version property means a version whose property says it, or one without the property if it
    is that version's number. Without a number versions with and without the property are meant, so long as all else is equal
    (Confluent's ``canLookup``).
    """
    (metadata, rules), (other_metadata, other_rules) = sent, stored
    if (metadata, rules) == stored:
        return True
    if [*_rules(rules)] != [*_rules(other_rules)] or [*_without_number(metadata)] != [*_without_number(other_metadata)]:
        return False
    text, other_text = (
        None if members is None else members.get(VERSION_PROPERTY) for members in (metadata, other_metadata)
    )
    sent_number, has = _number_in(text), _number_in(other_text)
    if sent_number is not None and has is None:
        return other_text is None and sent_number == number
    if sent_number is None and has is not None:
        return text is None
    return text == other_text and (metadata is None) == (other_metadata is None)


def _without_number(metadata: Metadata | None) -> Iterator[bytes]:
    """The parts of metadata without the version property; none for metadata that say nothing else."""
    if metadata is not None:
        properties = tuple(pair for pair in metadata.properties if pair[0] != VERSION_PROPERTY)
        metadata = replace(metadata, properties=properties)
    return _metadata(None if metadata == Metadata() else metadata)


def _number_in(text: str | None) -> int | None:
    """Return the number that a property says; None for a text that says none to Java's ``Integer.parseInt``."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    number = int(text)
    return number if -_LARGEST_NUMBER <= number < _LARGEST_NUMBER else None


def _metadata(metadata: Metadata | None) -> Iterator[bytes]:
    if metadata is None:
        return
    yield b"\1"
    for path, tags in sorted(metadata.tags):
        yield path.encode()
        yield from _texts(sorted(tags))
    for name, value in sorted(metadata.properties):
        yield from _texts((name, value))
    yield from _texts(sorted(metadata.sensitive))


def _rules(rules: RuleSet | None) -> Iterator[bytes]:
    if rules is None:
        return
    yield b"\1"
    for rule in (*rules.migration, *rules.domain, *rules.encoding):
        yield from _rule(rule)
    yield rules.enable_at.encode()


def _rule(rule: Rule) -> Iterator[bytes]:
    yield from _texts((rule.name, rule.doc, rule.kind, rule.mode, rule.type, *sorted(rule.tags)))
    for name, value in sorted(rule.params):
        yield from _texts((name, value))
    yield from _texts((rule.expr, rule.on_success, rule.on_failure))
    if rule.disabled:
        yield b"\1"


def _texts(texts: Iterable[str]) -> Iterator[bytes]:
    return (text.encode("utf-8", "surrogatepass") for text in texts)


# ---------------------------------------------------------------------------------------------------------- large texts


_IS_IN_LOOP: ContextVar[bool] = ContextVar("is_in_loop", default=False)


class LargeTextError(Exception):
    """A text is too large to be worked on in the event loop. It is an answer for the node, never for a client."""


class InEventLoop:
    """A context that lets work on large texts raise `LargeTextError` inside."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _IS_IN_LOOP.set(True)

    def __exit__(self, *_: object) -> None:
        _IS_IN_LOOP.reset(self._token)


def refuse_large_size(size: int) -> None:
    """Raise `LargeTextError` in the event loop, if a text of this size is large."""
    if size > LOOP_BYTES and _IS_IN_LOOP.get():
        raise LargeTextError


def refuse_large_draft(request: object) -> None:
    """Raise `LargeTextError` in the event loop, if a request brings a large schema."""
    if has_large_draft(request) and _IS_IN_LOOP.get():
        raise LargeTextError


def has_large_draft(request: object) -> bool:
    """Return whether a request brings a large schema."""
    draft = getattr(request, "draft", None)
    return isinstance(draft, Draft) and max(len(draft.text), len(draft.data or b"")) > LOOP_BYTES
