"""A draft read by the engine: its references followed to the texts that they lead to, its canonical text, its identity and its
lookup digest.
"""

import hashlib
from dataclasses import dataclass, replace

from treaty.core.finding import Diagnostic
from treaty.core.handlers.drafts.version_identity import NORMALISED, VersionRules, is_opaque, type_in
from treaty.core.handlers.versions import as_sent, schema_row, select
from treaty.core.identity import guid, lookup_digest
from treaty.core.limits import OPAQUE_BYTES, REFERENCE_DEPTH, SCHEMA_BYTES
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, InvalidVersion, NotFound, Reason, TooLarge
from treaty.core.requests import LATEST, Visible
from treaty.core.schema import Draft, Metadata, Reference, RuleSet, opaque_size, refuse_many_references
from treaty.core.schema_engine import (
    Answer,
    InvalidText,
    ParsedSchema,
    ParseSchema,
    Question,
    ResolvedReference,
    ResolvedSchema,
    SchemaEngine,
    bind_imports,
)
from treaty.core.state.values import Schema, StoredReference
from treaty.core.state.view import View


class UnansweredError(Exception):
    """The engine can't answer these questions at once; `decide` turns this into `Needs`."""

    def __init__(self, questions: tuple[Question, ...]) -> None:
        """Keep the questions."""
        super().__init__(len(questions))
        self.questions = questions


@dataclass(frozen=True, slots=True)
class ParsedDraft:
    """A draft after reading."""

    draft: Draft
    used: tuple[StoredReference, ...]
    parsed: ParsedSchema
    meaning: ResolvedSchema
    """Of the canonical text: equal for all spellings of one schema."""
    guid: str
    lookup_digest: str
    rules: VersionRules
    """Those of its subject."""
    type_name: str = ""
    """The type in its subject."""
    identity: str = ""
    """The lookup digest of its normal form, where the identity of the subject is normalised."""
    normal: ParsedSchema | None = None
    """Its normal form there."""
    opaque: bool = False

    @property
    def sent(self) -> bytes | None:
        """The bytes as sent; None where they are the canonical text, or follow from it, as those of opaque schemas do."""
        if self.opaque or (self.draft.data is None and self.draft.text == self.parsed.canonical):
            return None
        data = self.draft.data
        if data is None:
            return self.draft.text.encode("utf-8", "surrogatepass")
        return None if data == self.parsed.canonical.encode("utf-8", "surrogatepass") else data

    @property
    def content(self) -> str:
        """The digest of the bytes as sent; empty where the canonical text says them."""
        sent = self.sent
        return "" if sent is None else hashlib.sha256(sent).hexdigest()


def answers(engine: SchemaEngine, questions: tuple[Question, ...]) -> tuple[Answer, ...]:
    """Ask; all questions that have no answer yet go back together."""
    known = [(question, engine.ask(question)) for question in questions]
    missing = tuple(question for question, answer in known if answer is None)
    if missing:
        raise UnansweredError(missing)
    return tuple(answer for _, answer in known if answer is not None)


def read(
    view: View,
    subject: Subject,
    draft: Draft,
    engine: SchemaEngine,
    *,
    visible: Visible,
    strict: bool,
    normalize: bool,
    rules: VersionRules,
) -> ParsedDraft | InvalidText:
    """Read a draft as a version of the subject, whose `rules` are given.

    Formats without a plug-in are opaque: their text, which the draft has (see `with_text`), is its own canonical form. Raises `InvalidSchema` for references
    that lead nowhere and a type that the text lacks, `TooLarge` past a limit; a text that does not parse is returned as
    `InvalidText`.
    """
    opaque = is_opaque(draft, engine)
    _refuse_large(draft, opaque=opaque)
    refuse_many_references(len(draft.references) + len(draft.imports))
    used = follow(view, subject, draft.references, visible)
    bound = (*resolve_references(view, subject.context, used), *bind_imports(draft.format, draft.imports))
    sent = ResolvedSchema(draft.format, draft.text, bound)
    parsed: Answer = ParsedSchema(draft.text, sent.digest.hex())
    normal: Answer = parsed
    if not opaque:
        forms = {normalize, normalize or rules.identity == NORMALISED}  # as it is stored, and as it is compared
        told = answers(engine, tuple(ParseSchema(sent, strict, form) for form in sorted(forms)))
        parsed, normal = told[0], told[-1]
    for one in (parsed, normal):
        if isinstance(one, InvalidText):
            return one
    assert isinstance(parsed, ParsedSchema)
    assert isinstance(normal, ParsedSchema)
    wrong = _check_imports(draft, bound, engine) if strict else None
    if wrong is not None:
        return wrong
    canonical = sent if parsed.canonical == draft.text else ResolvedSchema(draft.format, parsed.canonical, bound)
    compared = normal if rules.identity == NORMALISED else None
    name = type_in(rules, draft, parsed)
    return _identify(ParsedDraft(draft, used, parsed, canonical, "", "", rules, name, "", compared, opaque))


def _check_imports(draft: Draft, bound: tuple[ResolvedReference, ...], engine: SchemaEngine) -> InvalidText | None:
    """Return the faults of the first file that came with a draft and is not valid; None where all are."""
    files = [(one, tuple(other for other in bound if other is not one)) for one in bound if not one.subject]
    asked = tuple(ParseSchema(ResolvedSchema(draft.format, one.meaning.text, rest)) for one, rest in files)
    for (file, _), told in zip(files, answers(engine, asked), strict=True):
        if isinstance(told, InvalidText):
            return InvalidText(
                tuple(replace(one, message=f"the file '{file.name}': {one.message}") for one in told.faults)
            )
    return None


def _refuse_large(draft: Draft, *, opaque: bool) -> None:
    size = opaque_size(draft.text) if opaque else len(draft.text.encode("utf-8", "surrogatepass"))
    size = max(size, len(draft.data or b""), sum(len(path) + len(file) for path, file in draft.imports))
    limit, most = ("OPAQUE_BYTES", OPAQUE_BYTES) if opaque else ("SCHEMA_BYTES", SCHEMA_BYTES)
    if size > most:
        raise TooLarge.of(
            limit,
            "Register operation failed because schema is too large",
            new=f"{size} bytes",
            allowed=f"at most {most} bytes",
        )


def _identify(one: ParsedDraft) -> ParsedDraft:
    """Return a draft with its guid, which covers its metadata and rules, and its digests."""
    draft, used, parsed, normal = one.draft, one.used, one.parsed, one.normal
    digest = one.lookup_digest or lookup_digest(draft.format, parsed.resolved)
    identity = one.identity or ("" if normal is None else lookup_digest(draft.format, normal.resolved))
    opaque = draft.format if one.opaque else ""
    word = guid(parsed.canonical, as_sent(used), draft.metadata, draft.rules, opaque, imports=draft.imports)
    beside = (one.rules, one.type_name, identity, normal, one.opaque)  # `replace` would take as long as all the rest
    return ParsedDraft(draft, used, parsed, one.meaning, word, digest, *beside)


def with_extras(one: ParsedDraft, metadata: Metadata | None, rules: RuleSet | None) -> ParsedDraft:
    """Return the same text with other metadata and rules, which are part of its guid."""
    if (metadata, rules) == (one.draft.metadata, one.draft.rules):
        return one
    return _identify(replace(one, draft=replace(one.draft, metadata=metadata, rules=rules)))


def refuse_unknown_format(draft: Draft, engine: SchemaEngine) -> None:
    """Raise `InvalidSchema` for an unknown format: Confluent's clients name one that is there, opaque
    ones belong to other dialects.
    """
    if (draft.text or draft.data is not None) and is_opaque(draft, engine):
        raise InvalidSchema.of(
            "SCHEMA_TYPE",
            f"Invalid schema type {draft.format}",
            path="/schemaType",
            new=draft.format,
            allowed=", ".join(engine.formats),
        )


def refuse(invalid: InvalidText, draft: Draft) -> InvalidSchema:
    """Return the refusal of a text that is not a valid schema."""
    first = invalid.faults[0] if invalid.faults else Diagnostic("INVALID", "", "not a schema")
    return InvalidSchema(
        Reason(
            first.rule,
            f"Invalid schema of type {draft.format}, details: {first}",
            path=first.path,
            allowed=first.expected,
            details=tuple(map(str, invalid.faults)),
        ),
        invalid.faults,
    )


# ------------------------------------------------------------------------------------------------------- references


def follow(
    view: View, parent: Subject, references: tuple[Reference, ...], visible: Visible
) -> tuple[StoredReference, ...]:
    """Find the version that each reference names; -1 becomes the number it means now.

    Raises `InvalidSchema` where a member is missing or nothing is there that may be seen, `TooLarge` past the limit.
    """
    refuse_many_references(len(references))
    return tuple(_follow(view, parent, one, visible) for one in references)


def _follow(view: View, parent: Subject, one: Reference, visible: Visible) -> StoredReference:
    for member, given in (("name", one.name), ("subject", one.subject), ("version", one.version)):
        if not given:
            raise InvalidSchema.of(
                "REFERENCE_INCOMPLETE", f"Invalid reference: {member} is missing in {one}", path=f"/references/{member}"
            )
    target = parent.sibling(one.subject)
    try:
        _, version = select(view, target, LATEST if one.version == -1 else one.version, visible)
    except (NotFound, InvalidVersion) as absent:
        raise InvalidSchema(
            Reason(
                "REFERENCE_NOT_FOUND",
                f'No schema reference found for subject "{one.subject}" and version {one.version}',
                path=f"/references/{one.name}",
                new=f"{one.subject} version {one.version}",
                allowed=absent.reason.allowed and f"versions {absent.reason.allowed}",
            )
        ) from None
    return StoredReference(one.name, one.subject, version.number, version.schema_id)


Followed = dict[tuple[str, int], tuple[ResolvedSchema, int]]
"""What stored schemas mean, and the links of the longest chain from there, by context and id."""


def resolve_references(
    view: View, context: str, references: tuple[StoredReference, ...]
) -> tuple[ResolvedReference, ...]:
    """Return the meanings of stored references, each followed once. `context` is that of the schema that has them.

    Raises `TooLarge` where a chain of references is longer than the limit.
    """
    return _resolve_references(view, context, references, {}, 1)[0]


def _resolve_references(
    view: View, context: str, references: tuple[StoredReference, ...], known: Followed, depth: int
) -> tuple[tuple[ResolvedReference, ...], int]:
    """Return the bindings of references that are `depth` links away, and the links of the longest chain from here."""
    bound, longest = [], 0
    for one in references:
        target = Subject(context, "").sibling(one.subject)
        place = (target.context, one.schema_id)
        if place not in known:
            _refuse_too_deep(depth)
            schema = schema_row(view, *place)
            inner, links = _resolve_references(view, target.context, schema.references, known, depth + 1)
            bindings = (*inner, *bind_imports(schema.format, schema.imports))
            known[place] = (ResolvedSchema(schema.format, schema.text, bindings), links)
        meaning, links = known[place]
        _refuse_too_deep(depth + links)
        bound.append(ResolvedReference(one.name, str(target), one.version, meaning))
        longest = max(longest, links + 1)
    return tuple(bound), longest


def _refuse_too_deep(depth: int) -> None:
    if depth > REFERENCE_DEPTH:
        raise TooLarge.of(
            "REFERENCE_DEPTH", "the chain of references is too long", allowed=f"at most {REFERENCE_DEPTH} links"
        )


def resolve_schema(view: View, context: str, schema: Schema) -> ResolvedSchema:
    """Return what a stored schema means."""
    bound = resolve_references(view, context, schema.references)
    return ResolvedSchema(schema.format, schema.text, (*bound, *bind_imports(schema.format, schema.imports)))
