"""A draft read by the engine: its references followed to the texts that they lead to, its canonical text, its identity and its
lookup digest; and what the settings of its subject say of that.

The identity of a subject: ``canonical`` (equal canonical text, references, metadata and rules), ``normalised`` (the same
of the text in its normal form), ``exact`` (equal bytes too). Two versions of different formats or types are never the
same; one schema may be versions of several types.
"""

import hashlib
from dataclasses import replace

from treaty.core.command import UnansweredError
from treaty.core.finding import Diagnostic
from treaty.core.handlers.settings import policy_of
from treaty.core.handlers.versions import as_sent, latest_version, schema_row, select
from treaty.core.limits import NAME_LENGTH, OPAQUE_BYTES, REFERENCE_DEPTH, SCHEMA_BYTES
from treaty.core.messages.registration import SubjectCreation
from treaty.core.messages.request import LATEST, Visible
from treaty.core.messages.settings import Config
from treaty.core.names import Subject
from treaty.core.policy import BY_TYPE
from treaty.core.refusals import InvalidSchema, InvalidVersion, NotFound, Reason, TooLarge
from treaty.core.schema import (
    CODED,
    Draft,
    Metadata,
    Reference,
    RuleSet,
    guid,
    lookup_digest,
    needs_coding,
    opaque_bytes,
    opaque_size,
    opaque_text,
    refuse_many_references,
)
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
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.values import PolicyValue, Schema, StoredReference, SubjectValue
from treaty.core.state.view import View
from treaty.light_dataclass import dataclass

CANONICAL, NORMALISED, EXACT = "canonical", "normalised", "exact"
"""Identities of subjects."""


@dataclass(frozen=True, slots=True)
class VersionRules:
    """What a subject says of its versions."""

    types: str = "across"
    identity: str = "canonical"
    only_type: str | None = None
    """The type of all live versions of a subject with one type; None without a live version."""


def version_rules(view: View, subject: Subject, home: SubjectValue | SubjectCreation | None = None) -> VersionRules:
    """Return the rules of a subject; `home` is its row, which is read where it is not given, or what it is created with."""
    home = home or view.get(SUBJECT, subject)
    if home is None:
        return VersionRules()
    latest = latest_version(view, subject) if home.types == "one" else None
    return VersionRules(home.types, home.identity, None if latest is None else latest[1].type_name)


def policy_for(config: Config, rules: VersionRules) -> PolicyValue:
    """Return the policy in force: in a subject with many types versions are compared within their format and type."""
    policy = policy_of(config)
    return replace(policy, partition=BY_TYPE) if rules.types == "many" else policy


# ------------------------------------------------------------------------------------------------------------ types


def type_in(rules: VersionRules, draft: Draft, parsed: ParsedSchema) -> str:
    """Return the type of a draft in its subject: the one that it says, else the only type of the subject if the text can
    be of it, else the parsed name.

    Raises `InvalidSchema` where the text does not contain the type that it says, `TooLarge` for a long one.
    """
    contained = parsed.type_names
    if not draft.type_name:
        only = rules.only_type or ""
        return only if only and (not contained or only in contained) else parsed.type_name
    if len(draft.type_name) > NAME_LENGTH:
        raise TooLarge.of(
            "NAME_LENGTH",
            "The name of the type is too long",
            path="/type",
            new=f"{len(draft.type_name)} characters",
            allowed=f"at most {NAME_LENGTH} characters",
        )
    if contained and draft.type_name not in contained:
        raise InvalidSchema.of(
            "TYPE_MISSING",
            f"Invalid schema of type {draft.format}, details: it does not define {draft.type_name}",
            path="/type",
            old=", ".join(contained)[:1_000],
            new=draft.type_name,
            allowed=", ".join(contained)[:1_000],
        )
    return draft.type_name


# ---------------------------------------------------------------------------------------------------- opaque content


def is_opaque(draft: Draft, engine: SchemaEngine) -> bool:
    """Return whether there is no plug-in for the format of a draft, so that only its bytes are known."""
    return draft.format not in engine.formats


def with_text(draft: Draft, engine: SchemaEngine) -> Draft:
    """Return an opaque draft with the text that stands for its bytes; any other draft as it is.

    Raises `InvalidSchema` for a text that begins as one in base64 and is none.
    """
    if not is_opaque(draft, engine):
        return draft
    if draft.data is not None:
        return replace(draft, text=opaque_text(draft.data), data=None)
    is_coded = draft.text.startswith(CODED)
    if not is_coded and needs_coding(draft.text):
        return replace(draft, text=opaque_text(opaque_bytes(draft.text)))
    if is_coded and opaque_text(opaque_bytes(draft.text)) != draft.text:
        raise InvalidSchema.of(
            "OPAQUE_CODING",
            f"Invalid schema of type {draft.format}, details: what follows {CODED} is not base64 of bytes that need it",
            path="/schema",
            new=draft.text[:100],
            allowed="the bytes as they are",
        )
    return draft


# -------------------------------------------------------------------------------------------------------------- reading


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
    answered = [(question, engine.ask(question)) for question in questions]
    missing = tuple(question for question, answer in answered if answer is None)
    if missing:
        raise UnansweredError(missing)
    return tuple(answer for _, answer in answered if answer is not None)


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
        parses = answers(engine, tuple(ParseSchema(sent, strict, form) for form in sorted(forms)))
        parsed, normal = parses[0], parses[-1]
    for answer in (parsed, normal):
        if isinstance(answer, InvalidText):
            return answer
    assert isinstance(parsed, ParsedSchema)
    assert isinstance(normal, ParsedSchema)
    invalid = _check_imports(draft, bound, engine) if strict and draft.imports else None
    if invalid is not None:
        return invalid
    canonical = sent if parsed.canonical == draft.text else ResolvedSchema(draft.format, parsed.canonical, bound)
    compared = normal if rules.identity == NORMALISED else None
    name = type_in(rules, draft, parsed)
    return _identify(ParsedDraft(draft, used, parsed, canonical, "", "", rules, name, "", compared, opaque))


def _check_imports(draft: Draft, bound: tuple[ResolvedReference, ...], engine: SchemaEngine) -> InvalidText | None:
    """Return the faults of the first file that came with a draft and is not valid; None where all are."""
    files = [(file, tuple(other for other in bound if other is not file)) for file in bound if not file.subject]
    questions = tuple(ParseSchema(ResolvedSchema(draft.format, file.meaning.text, rest)) for file, rest in files)
    for (file, _), answer in zip(files, answers(engine, questions), strict=True):
        if isinstance(answer, InvalidText):
            return InvalidText(
                tuple(replace(fault, message=f"the file '{file.name}': {fault.message}") for fault in answer.faults)
            )
    return None


def _refuse_large(draft: Draft, *, opaque: bool) -> None:
    size = opaque_size(draft.text) if opaque else len(draft.text.encode("utf-8", "surrogatepass"))
    size = max(size, len(draft.data or b""), sum(len(path) + len(file) for path, file in draft.imports))
    limit, allowed = ("OPAQUE_BYTES", OPAQUE_BYTES) if opaque else ("SCHEMA_BYTES", SCHEMA_BYTES)
    if size > allowed:
        raise TooLarge.of(
            limit,
            "Register operation failed because schema is too large",
            new=f"{size} bytes",
            allowed=f"at most {allowed} bytes",
        )


def _identify(parsed_draft: ParsedDraft) -> ParsedDraft:
    """Return a draft with its guid, which covers its metadata and rules, and its digests."""
    draft, used, parsed, normal = parsed_draft.draft, parsed_draft.used, parsed_draft.parsed, parsed_draft.normal
    digest = parsed_draft.lookup_digest or lookup_digest(draft.format, parsed.resolved)
    identity = parsed_draft.identity or ("" if normal is None else lookup_digest(draft.format, normal.resolved))
    opaque = draft.format if parsed_draft.opaque else ""
    word = guid(parsed.canonical, as_sent(used), draft.metadata, draft.rules, opaque, imports=draft.imports)
    beside = (
        parsed_draft.rules,
        parsed_draft.type_name,
        identity,
        normal,
        parsed_draft.opaque,
    )  # `replace` would take as long as all the rest
    return ParsedDraft(draft, used, parsed, parsed_draft.meaning, word, digest, *beside)


def with_extras(parsed_draft: ParsedDraft, metadata: Metadata | None, rules: RuleSet | None) -> ParsedDraft:
    """Return the same text with other metadata and rules, which are part of its guid."""
    if (metadata, rules) == (parsed_draft.draft.metadata, parsed_draft.draft.rules):
        return parsed_draft
    return _identify(replace(parsed_draft, draft=replace(parsed_draft.draft, metadata=metadata, rules=rules)))


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
    return tuple(_follow(view, parent, reference, visible) for reference in references)


def _follow(view: View, parent: Subject, reference: Reference, visible: Visible) -> StoredReference:
    for member, value in (("name", reference.name), ("subject", reference.subject), ("version", reference.version)):
        if not value:
            raise InvalidSchema.of(
                "REFERENCE_INCOMPLETE",
                f"Invalid reference: {member} is missing in {reference}",
                path=f"/references/{member}",
            )
    target = parent.sibling(reference.subject)
    try:
        _, version = select(view, target, LATEST if reference.version == -1 else reference.version, visible)
    except (NotFound, InvalidVersion) as absent:
        raise InvalidSchema(
            Reason(
                "REFERENCE_NOT_FOUND",
                f'No schema reference found for subject "{reference.subject}" and version {reference.version}',
                path=f"/references/{reference.name}",
                new=f"{reference.subject} version {reference.version}",
                allowed=absent.reason.allowed and f"versions {absent.reason.allowed}",
            )
        ) from None
    return StoredReference(reference.name, reference.subject, version.number, version.schema_id)


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
    view: View, context: str, references: tuple[StoredReference, ...], followed: Followed, depth: int
) -> tuple[tuple[ResolvedReference, ...], int]:
    """Return the bindings of references that are `depth` links away, and the links of the longest chain from here."""
    bound, longest = [], 0
    for reference in references:
        target = Subject(context, "").sibling(reference.subject)
        place = (target.context, reference.schema_id)
        if place not in followed:
            _refuse_too_deep(depth)
            schema = schema_row(view, *place)
            inner, links = _resolve_references(view, target.context, schema.references, followed, depth + 1)
            bindings = (*inner, *bind_imports(schema.format, schema.imports))
            followed[place] = (ResolvedSchema(schema.format, schema.text, bindings), links)
        meaning, links = followed[place]
        _refuse_too_deep(depth + links)
        bound.append(ResolvedReference(reference.name, str(target), reference.version, meaning))
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
