"""Says whether a new schema is compatible with earlier ones, with findings for people."""

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.core.finding import Diagnostic, Finding
from treaty.core.policy import ALL, LEVELS, NONE
from treaty.core.schema_engine import Answer, CompareSchemas, ComparisonResult, InvalidText, ParseSchema, ResolvedSchema
from treaty.formats.differences import FORMAT_CHANGED
from treaty.formats.engine import FormatEngine


@dataclass(frozen=True, slots=True)
class ExplainedFinding:
    """One finding said for a person.

    `direction` is ``backward`` (the new schema reads old data) or ``forward`` (the old schema reads new data).
    `path` leads into the schema that reads; `old` and `new` are what stands there in the two schemas.
    """

    direction: str
    rule: str
    path: str
    sentence: str
    detail: str
    old: str
    new: str
    remedy: str


@dataclass(frozen=True, slots=True)
class CompatibilityCheck:
    """What came out. `faults` of the two texts come first: a text that is not valid is not compared."""

    level: str
    old_faults: tuple[Diagnostic, ...] = ()
    new_faults: tuple[Diagnostic, ...] = ()
    reasons: tuple[ExplainedFinding, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the new schema may follow the old one under the level."""
        return not (self.old_faults or self.new_faults or self.reasons)


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """An earlier schema and all that breaks between it and the new one, in both directions.

    `faults` are those of the earlier text. `other_format` is the one reason where the formats differ.
    """

    faults: tuple[Diagnostic, ...] = ()
    backward: tuple[ExplainedFinding, ...] = ()
    forward: tuple[ExplainedFinding, ...] = ()
    other_format: ExplainedFinding | None = None

    def reasons(self, level: str) -> tuple[ExplainedFinding, ...]:
        """The reasons that count under a level, whichever versions it looks at."""
        backward, forward = _directions(level)
        if self.other_format is not None:
            return (self.other_format,) if backward or forward else ()
        return (self.backward if backward else ()) + (self.forward if forward else ())


@dataclass(frozen=True, slots=True)
class HistoryComparison:
    """A new schema (its `faults`) after earlier ones, the oldest first: compared once, checked under any level."""

    faults: tuple[Diagnostic, ...] = ()
    steps: tuple[VersionComparison, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether all texts are schemas."""
        return not self.faults and not any(step.faults for step in self.steps)

    def reasons(self, level: str) -> tuple[tuple[ExplainedFinding, ...], ...]:
        """The reasons by earlier schema; none for those that the level does not look at."""
        named = LEVELS[level]
        first = 0 if ALL in {named.backward, named.forward} else len(self.steps) - 1
        return tuple(step.reasons(level) if at >= first else () for at, step in enumerate(self.steps))

    def fits(self, level: str) -> bool:
        """Whether the new schema may follow under a level: a transitive one looks at all, others at the last one."""
        return self.valid and not any(self.reasons(level))

    @property
    def levels(self) -> tuple[str, ...]:
        """All levels under which the new schema may follow."""
        return tuple(level for level in LEVELS if self.fits(level))


def _directions(level: str) -> tuple[bool, bool]:
    """Whether a level compares backward, and whether it compares forward."""
    named = LEVELS[level]
    return named.backward != NONE, named.forward != NONE


def check_compatibility(
    parser: FormatEngine, old: ResolvedSchema, new: ResolvedSchema, level: str, policy: str = "STRICT"
) -> CompatibilityCheck:
    """Check `new` after `old` under one of Confluent's levels, ``NONE`` to ``FULL_TRANSITIVE``, and policies.

    The new text is read as strictly as a registration reads it, the old one as stored. Raises `KeyError` for a level
    that does not exist.
    """
    new_faults = _faults(parser.answer(ParseSchema(new)))
    step = _compare_versions(parser, old, new, policy, ways=_directions(level))
    if step.faults or new_faults:
        return CompatibilityCheck(level, step.faults, new_faults)
    return CompatibilityCheck(level, reasons=step.reasons(level))


def compare_history(
    parser: FormatEngine, olds: Sequence[ResolvedSchema], new: ResolvedSchema, policy: str = "STRICT"
) -> HistoryComparison:
    """Compare `new` with every one of `olds` in both directions, under one of Confluent's policies."""
    faults = _faults(parser.answer(ParseSchema(new)))
    return HistoryComparison(
        faults, tuple(_compare_versions(parser, old, new, policy, ways=(True, True)) for old in olds)
    )


def _compare_versions(
    parser: FormatEngine, old: ResolvedSchema, new: ResolvedSchema, policy: str, *, ways: tuple[bool, bool]
) -> VersionComparison:
    if faults := _faults(parser.answer(ParseSchema(old, strict=False))):
        return VersionComparison(faults)
    if old.format != new.format:
        return VersionComparison(
            other_format=_explain_backward(FORMAT_CHANGED.finding("/", writer=old.format, reader=new.format))
        )
    backward: tuple[ExplainedFinding, ...] = ()
    forward: tuple[ExplainedFinding, ...] = ()
    if ways[0]:
        answer = parser.answer(CompareSchemas(reader=new, writer=old, policy=policy))
        backward = tuple(_explain_backward(found) for found in _findings(answer))
    if ways[1]:
        answer = parser.answer(CompareSchemas(reader=old, writer=new, policy=policy))
        forward = tuple(_explain_forward(found) for found in _findings(answer))
    return VersionComparison((), backward, forward)


def _faults(answer: Answer) -> tuple[Diagnostic, ...]:
    return answer.faults if isinstance(answer, InvalidText) else ()


def _findings(answer: Answer) -> tuple[Finding, ...]:
    return answer.findings if isinstance(answer, ComparisonResult) else ()


def _explain_backward(finding: Finding) -> ExplainedFinding:
    message = finding.message(reader="new", writer="old")
    return ExplainedFinding(
        "backward", finding.rule, finding.path, message, finding.detail, finding.writer, finding.reader, finding.remedy
    )


def _explain_forward(finding: Finding) -> ExplainedFinding:
    message = finding.message(reader="old", writer="new")
    return ExplainedFinding(
        "forward", finding.rule, finding.path, message, finding.detail, finding.reader, finding.writer, finding.remedy
    )
