"""Drafts: their references followed, their text read by the real formats, their identity."""

import base64
import hashlib
from dataclasses import dataclass, replace

from tests.simulation.judging.model.avro_texts import equal_form
from tests.simulation.judging.model.events import Alike
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.selecting import as_sent, select
from tests.simulation.texts import FORMATS, answer
from treaty.core.limits import NAME_LENGTH, OPAQUE_BYTES, REFERENCE_DEPTH, REFERENCES, SCHEMA_BYTES, TAGGED
from treaty.core.messages.registration import SubjectCreation
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import InvalidSchema, TooLarge
from treaty.core.schema import Draft, Metadata, Reference, RuleSet, TaggedPath
from treaty.core.schema_engine import (
    FindTags,
    InvalidText,
    ParsedSchema,
    ParseSchema,
    ResolvedReference,
    ResolvedSchema,
    RetaggedSchema,
    RetagSchema,
    TagsFound,
)
from treaty.core.state.values import Schema, StoredReference, SubjectValue

VERSION_PROPERTY = "confluent:version"
CODED = "data:;base64,"
"""What a text begins with that stands for bytes that are no text."""
Home = SubjectValue | SubjectCreation
"""The settings of a subject that is there, or with which it would be made."""


@dataclass(frozen=True, slots=True)
class ReadDraft:
    """A draft that is a valid schema."""

    draft: Draft
    used: tuple[StoredReference, ...]
    parsed: ParsedSchema
    meaning: ResolvedSchema
    """Of the canonical text."""
    equal_text: str
    """What it has in common with all texts that are the same schema."""
    type_name: str = ""
    """The type of a version of it in its subject."""
    normal_text: str | None = None
    """The same of its normal form, where the identity of its subject is normalised."""

    @property
    def sent(self) -> bytes:
        """The bytes that were sent."""
        return sent_bytes(self.draft)

    @property
    def guid(self) -> str:
        opaque = "" if self.draft.format in FORMATS else self.draft.format
        return guid_of(self.parsed.canonical, as_sent(self.used), self.draft.metadata, self.draft.rules, opaque)

    @property
    def alike(self) -> Alike:
        return (self.draft.format, self.equal_text)

    @property
    def normal(self) -> Alike | None:
        return None if self.normal_text is None else (self.draft.format, self.normal_text)

    def carrying(self, metadata: Metadata | None, rules: RuleSet | None) -> "ReadDraft":
        """The same text with other metadata and rules."""
        return replace(self, draft=replace(self.draft, metadata=metadata, rules=rules))


def guid_of(
    text: str, references: tuple[Reference, ...], metadata: Metadata | None, rules: RuleSet | None, opaque: str = ""
) -> str:
    """MD5 over text, references, metadata and rules, written as a UUID (the recipe is Confluent's).

    Where nobody can read the text, its format says what it is, and is a part of it.
    """
    parts = [text, *(["\0", opaque] if opaque else [])]
    data = b"".join(
        one.name.encode() + one.subject.encode() + one.version.to_bytes(4, "big", signed=True) for one in references
    )
    tail: list[str] = []
    if metadata is not None:
        tail.append("\1")
        for path, tags in sorted(metadata.tags):
            tail += [path, *sorted(tags)]
        for name, value in sorted(metadata.properties):
            tail += [name, value]
        tail += sorted(metadata.sensitive)
    if rules is not None:
        tail.append("\1")
        for rule in (*rules.migration, *rules.domain, *rules.encoding):
            tail += [rule.name, rule.doc, rule.kind, rule.mode, rule.type, *sorted(rule.tags)]
            for name, value in sorted(rule.params):
                tail += [name, value]
            tail += [rule.expr, rule.on_success, rule.on_failure, *(["\1"] if rule.disabled else [])]
        tail.append(rules.enable_at)
    whole = "".join(parts).encode() + data + "".join(tail).encode()
    word = hashlib.md5(whole, usedforsecurity=False).hexdigest()
    return f"{word[:8]}-{word[8:12]}-{word[12:16]}-{word[16:20]}-{word[20:]}"


# ---------------------------------------------------------------------------------------------------- references


def follow(past: Past, parent: Subject, references: tuple[Reference, ...], visible: str) -> tuple[StoredReference, ...]:
    """The versions that references name; an unqualified subject is one of the parent's context."""
    if len(references) > REFERENCES:
        raise No(TooLarge, "REFERENCES")
    used = []
    for one in references:
        missing = [name for name in ("name", "subject", "version") if not getattr(one, name)]
        if missing:
            raise No(InvalidSchema, "REFERENCE_INCOMPLETE", path=f"/references/{missing[0]}")
        try:
            there = select(past, subject_of(one.subject, parent.context), one.version, visible)
        except No:
            raise No(InvalidSchema, "REFERENCE_NOT_FOUND", path=f"/references/{one.name}") from None
        used.append(StoredReference(one.name, one.subject, there.number, there.schema_id))
    return tuple(used)


def bind(past: Past, context: str, used: tuple[StoredReference, ...], depth: int = 1) -> tuple[ResolvedReference, ...]:
    """What references mean, and what those mean that they lead to."""
    if used and depth > REFERENCE_DEPTH:
        raise No(TooLarge, "REFERENCE_DEPTH")
    bound = []
    for one in used:
        target = subject_of(one.subject, context)
        schema = past.schema(target.context, one.schema_id)
        assert schema is not None, f"reference {one} of context {context} leads nowhere"
        inner = bind(past, target.context, schema.references, depth + 1)
        bound.append(
            ResolvedReference(one.name, str(target), one.version, ResolvedSchema(schema.format, schema.text, inner))
        )
    return tuple(bound)


def meaning_of(past: Past, context: str, schema: Schema) -> ResolvedSchema:
    """What a stored schema means."""
    return ResolvedSchema(schema.format, schema.text, bind(past, context, schema.references))


# ---------------------------------------------------------------------------------------------------------- texts


def written(draft: Draft) -> Draft:
    """A draft with the text that stands for its bytes: of what nobody can read, the bytes where they are UTF-8, else coded."""
    if draft.format in FORMATS or draft.data is None:
        return draft
    try:
        text = draft.data.decode()
    except UnicodeDecodeError:
        text = CODED
    if text.startswith(CODED):
        text = CODED + base64.b64encode(draft.data).decode()
    return replace(draft, text=text)


def sent_bytes(draft: Draft) -> bytes:
    """The bytes that a draft stands for."""
    if draft.data is not None:
        return draft.data
    if draft.format not in FORMATS and draft.text.startswith(CODED):
        return base64.b64decode(draft.text.removeprefix(CODED))
    return draft.text.encode()


def _refuse_long_texts(draft: Draft) -> None:
    """As many bytes as a text may have; of what nobody can read, as many as a commit may have."""
    if draft.format not in FORMATS:
        if draft.text.startswith(CODED):
            try:
                base64.b64decode(draft.text.removeprefix(CODED), validate=True)
            except ValueError:
                raise No(InvalidSchema, "OPAQUE_CODING") from None
        if len(sent_bytes(draft)) > OPAQUE_BYTES:
            raise No(TooLarge, "OPAQUE_BYTES")
    elif max(len(draft.text.encode()), len(sent_bytes(draft))) > SCHEMA_BYTES:
        raise No(TooLarge, "SCHEMA_BYTES")
    if len(draft.type_name) > NAME_LENGTH:
        raise No(TooLarge, "NAME_LENGTH")


def read_draft(
    past: Past, subject: Subject, draft: Draft, visible: str, *, strict: bool, normalize: bool, home: Home | None = None
) -> ReadDraft | InvalidText:
    """Read a draft as it would stand in a subject; a text that is no schema comes back as `InvalidText`.

    `home` are the settings of a subject that is not there yet.
    """
    home = past.subjects.get(subject) or home or SubjectCreation()
    draft = written(draft)
    _refuse_long_texts(draft)
    used = follow(past, subject, draft.references, visible)
    bound = bind(past, subject.context, used)
    sent = ResolvedSchema(draft.format, draft.text, bound)
    normalised = home.identity == "normalised"
    if draft.format not in FORMATS:
        opaque, label = (
            ParsedSchema(draft.text, sent.digest.hex()),
            _type_of(past, subject, draft, home, ParsedSchema("", "")),
        )
        return ReadDraft(draft, used, opaque, sent, opaque.resolved, label, opaque.resolved if normalised else None)
    parsed = answer(ParseSchema(sent, strict, normalize))
    if isinstance(parsed, InvalidText):
        return parsed
    assert isinstance(parsed, ParsedSchema)
    normal = None
    if normalised:
        told = answer(ParseSchema(sent, strict, normalize=True))
        assert isinstance(told, ParsedSchema)
        normal = _equal_text(told, ResolvedSchema(draft.format, told.canonical, bound))
    label = _type_of(past, subject, draft, home, parsed)
    meaning = ResolvedSchema(draft.format, parsed.canonical, bound)
    return ReadDraft(draft, used, parsed, meaning, _equal_text(parsed, meaning), label, normal)


def _equal_text(parsed: ParsedSchema, meaning: ResolvedSchema) -> str:
    return equal_form(meaning) if meaning.format == "AVRO" else parsed.resolved


def _type_of(past: Past, subject: Subject, draft: Draft, home: Home, parsed: ParsedSchema) -> str:
    """The type that a draft says, which its text has to contain; else the only one of a subject of one type; else its own."""
    inside = parsed.type_names
    if draft.type_name:
        if inside and draft.type_name not in inside:
            raise No(InvalidSchema, "TYPE_MISSING", new=draft.type_name)
        return draft.type_name
    for only in only_type(past, subject, home):
        if not inside or only in inside:
            return only
    return parsed.type_name


def only_type(past: Past, subject: Subject, home: Home) -> list[str]:
    """The type of the live versions of a subject of one type; none where it has no such version, or takes many types."""
    live = past.shown(subject) if home.types == "one" else []
    return [live[-1].version.type_name] if live else []


def no_schema(invalid: InvalidText) -> No:
    """The refusal of a text that is no schema."""
    first = invalid.faults[0]
    return No(InvalidSchema, first.rule, path=first.path, details=tuple(map(str, invalid.faults)))


def refuse_other_formats(draft: Draft) -> None:
    """Nobody here can read it."""
    if (draft.text or draft.data is not None) and draft.format not in FORMATS:
        raise No(InvalidSchema, "SCHEMA_TYPE", path="/schemaType", new=draft.format)


# ----------------------------------------------------------------------------------------------------------- tags


def change_tags(
    past: Past,
    subject: Subject,
    draft: Draft,
    add: tuple[TaggedPath, ...],
    remove: tuple[TaggedPath, ...] = (),
    *,
    visible: str = "live",
    lenient: bool = False,
) -> Draft:
    """The draft with tags added to its text, then others removed; its bytes are not those that were sent any more."""
    if not add and not remove:
        return draft
    if not lenient and len(add) + len(remove) > TAGGED:
        raise No(TooLarge, "TAGGED")
    bound = bind(past, subject.context, follow(past, subject, draft.references, visible))
    told = answer(RetagSchema(ResolvedSchema(draft.format, draft.text, bound), add, remove, lenient))
    if isinstance(told, InvalidText):
        raise no_schema(told)
    assert isinstance(told, RetaggedSchema)
    return replace(draft, text=told.text, data=None)


def tags_in(past: Past, context: str, schema: Schema) -> tuple[TaggedPath, ...]:
    """What inside a stored schema has tags."""
    if schema.format not in FORMATS:
        return ()
    told = answer(FindTags(meaning_of(past, context, schema)))
    return told.tagged if isinstance(told, TagsFound) else ()
