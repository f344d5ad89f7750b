"""A draft read by the engine: its references followed, its canonical text, its identity and its lookup digest."""

from dataclasses import dataclass

from treaty.core.finding import Diagnostic
from treaty.core.handlers.references import follow, resolve_references
from treaty.core.handlers.versions import as_sent
from treaty.core.identity import guid, lookup_digest
from treaty.core.limits import SCHEMA_BYTES
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, Reason, TooLarge
from treaty.core.requests import Visible
from treaty.core.schema import Draft, Metadata, RuleSet
from treaty.core.schema_engine import (
    Answer,
    InvalidText,
    ParsedSchema,
    ParseSchema,
    Question,
    ResolvedSchema,
    SchemaEngine,
)
from treaty.core.state.values import StoredReference
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


def answers(engine: SchemaEngine, questions: tuple[Question, ...]) -> tuple[Answer, ...]:
    """Ask; all questions that have no answer yet go back together."""
    known = [(question, engine.ask(question)) for question in questions]
    missing = tuple(question for question, answer in known if answer is None)
    if missing:
        raise UnansweredError(missing)
    return tuple(answer for _, answer in known if answer is not None)


def read(
    view: View, subject: Subject, draft: Draft, engine: SchemaEngine, *, visible: Visible, strict: bool, normalize: bool
) -> ParsedDraft | InvalidText:
    """Read a draft as a version of the subject.

    Formats without a plug-in are opaque: their text is its own canonical form. Raises `InvalidSchema` for references
    that lead nowhere, `TooLarge` past a limit; a text that does not parse is returned as `InvalidText`.
    """
    size = len(draft.text.encode("utf-8", "surrogatepass"))
    if size > SCHEMA_BYTES:
        raise TooLarge.of(
            "SCHEMA_BYTES",
            "Register operation failed because schema is too large",
            new=f"{size} bytes",
            allowed=f"at most {SCHEMA_BYTES} bytes",
        )
    used = follow(view, subject, draft.references, visible)
    bound = resolve_references(view, subject.context, used)
    sent = ResolvedSchema(draft.format, draft.text, bound)
    parsed: Answer = ParsedSchema(draft.text, sent.digest.hex())
    if draft.format in engine.formats:
        (parsed,) = answers(engine, (ParseSchema(sent, strict, normalize),))
    if isinstance(parsed, InvalidText):
        return parsed
    assert isinstance(parsed, ParsedSchema)
    canonical = sent if parsed.canonical == draft.text else ResolvedSchema(draft.format, parsed.canonical, bound)
    return _read(draft, used, parsed, canonical)


def _read(
    draft: Draft, used: tuple[StoredReference, ...], parsed: ParsedSchema, resolved: ResolvedSchema
) -> ParsedDraft:
    return ParsedDraft(
        draft,
        used,
        parsed,
        resolved,
        guid(parsed.canonical, as_sent(used), draft.metadata, draft.rules),
        lookup_digest(draft.format, parsed.resolved, draft.metadata, draft.rules),
    )


def with_extras(one: ParsedDraft, metadata: Metadata | None, rules: RuleSet | None) -> ParsedDraft:
    """Return the same text with other metadata and rules, which are part of its identity."""
    if (metadata, rules) == (one.draft.metadata, one.draft.rules):
        return one
    draft = Draft(one.draft.text, one.draft.format, one.draft.references, metadata, rules)
    return _read(draft, one.used, one.parsed, one.meaning)


def refuse_unknown_format(draft: Draft, engine: SchemaEngine) -> None:
    """Raise `InvalidSchema` for an unknown format: Confluent's clients name one that is there, opaque
    ones belong to other dialects.
    """
    if draft.text and draft.format not in engine.formats:
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
