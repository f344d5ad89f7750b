"""Admission: does a schema pass the policy in force, against which versions, and if not, why.

A range for each direction, partition, strictness and denial multiply here and nowhere else: registration and both forms
of the compatibility check ask `check_compatibility`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from treaty.core.finding import (
    EXTERNAL_REFERENCE,
    OTHER_FORMAT,
    FailedVersion,
    Finding,
    closing_message,
    format_finding,
    format_list,
    list_messages,
)
from treaty.core.handlers.drafts.names import reserved_findings
from treaty.core.handlers.drafts.schemas import ParsedDraft, answers, resolve_schema
from treaty.core.handlers.schemaver.labels import live_labels
from treaty.core.handlers.versions import StoredVersion, latest_version, newest_first, schema_row
from treaty.core.limits import ERROR_CHARACTERS
from treaty.core.messages.compatibility import CompatibilityResult
from treaty.core.messages.schemaver import SCHEMAVER
from treaty.core.messages.settings import Config
from treaty.core.names import Subject
from treaty.core.policy import NONE, STRICTNESS, Level, VersionRange, word_of
from treaty.core.refusals import Incompatible, Reason
from treaty.core.schema import Metadata
from treaty.core.schema_engine import Answer, CompareSchemas, ComparisonResult, InvalidText, ParseSchema, SchemaEngine
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.values import PolicyValue, Schema
from treaty.core.state.view import View

PASSED = CompatibilityResult(compatible=True)

DENIED = Finding(
    "POLICY_DENIES", "", "The policy of this subject refuses every change", remedy="another policy, or another subject"
)

BLOCKED = "REF_UNRESOLVED"
"""The rule of a fault that says: a text refers to something outside the registry, which is never fetched."""


@dataclass(frozen=True, slots=True)
class CompatibilityRequirements:
    """What a new version has to pass: the policy and config in force, and what validators said of it already."""

    policy: PolicyValue
    config: Config
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedVersion:
    """An earlier version that a new schema is compared with, and in which directions."""

    version: StoredVersion
    backward: bool
    forward: bool


def check_compatibility(
    view: View,
    engine: SchemaEngine,
    new: ParsedDraft,
    subject: Subject,
    *,
    bar: CompatibilityRequirements,
    only: StoredVersion | None = None,
) -> CompatibilityResult:
    """Check a schema that would follow the live versions of a subject: against those that the policy compares, or the
    `only` one.

    The first of them that fails ends it. Reserved names and what validators said come first in the list of reasons;
    what validators said is returned too where the policy refuses every change.
    """
    return find_incompatible(view, engine, new, subject, bar=bar, only=only)[0]


def refuse_incompatible(
    view: View, engine: SchemaEngine, new: ParsedDraft, subject: Subject, bar: CompatibilityRequirements
) -> None:
    """Raise `Incompatible` for a schema that may not follow the live versions of a subject."""
    verdict, _ = find_incompatible(view, engine, new, subject, bar=bar)
    if verdict.compatible:
        return
    first = verdict.findings[0] if verdict.findings else None
    raise Incompatible(
        Reason(
            first.rule if first else "INCOMPATIBLE",
            _describe_incompatible(subject, bar.policy, verdict),
            path=first.path if first else "",
            old=first.writer if first else "",
            new=first.reader if first else "",
            allowed=first.remedy if first else "",
            subject=str(subject),
            details=verdict.messages,
        ),
        verdict.findings,
    )


def _describe_incompatible(subject: Subject, policy: PolicyValue, checked: CompatibilityResult) -> str:
    """Return for people what the first finding is, and how many there are; dialects have texts of their own."""
    if not checked.findings:
        return f"the schema is incompatible with {subject}: {format_list(checked.messages)[:ERROR_CHARACTERS]}"
    first = checked.findings[0]
    reader, writer = ("reading", "writing")
    if policy.forward == NONE:
        reader, writer = ("new", "old")
    elif policy.backward == NONE:
        reader, writer = ("old", "new")
    where = f" at {first.path}" if first.path else ""
    remedy = f"; allowed: {first.remedy}" if first.remedy else ""
    more = len(checked.findings) - 1
    more_findings = f"; and {more} more finding{'s' if more > 1 else ''}" if more else ""
    message = f"{first.message(reader=reader, writer=writer)}{where}{remedy}"[:ERROR_CHARACTERS]
    return f"the schema is incompatible with {subject}: {first.rule}: {message}{more_findings}"


def find_incompatible(
    view: View,
    engine: SchemaEngine,
    new: ParsedDraft,
    subject: Subject,
    *,
    bar: CompatibilityRequirements,
    only: StoredVersion | None = None,
) -> tuple[CompatibilityResult, int]:
    """Check as `check_compatibility` does; returns also the number of the version that fails, 0 where none does."""
    latest = latest_version(view, subject)
    if bar.policy.deny and latest is not None:
        denied = (*_sentences(new, bar), DENIED.sentence)
        return CompatibilityResult(compatible=False, messages=denied, findings=(*bar.findings, DENIED)), 0
    against = compared_with(view, bar.policy, new, subject, only=only) if latest is not None else []
    first: tuple[Finding, ...] = ()
    if bar.config.validate_fields:
        before = None if latest is None else schema_row(view, subject.context, latest[1].schema_id)
        first = reserved_findings(new, None if before is None else before.metadata)
    failed, findings = _compare_with(view, engine, new, against, bar)
    if failed is None and not first and not bar.findings:
        return PASSED, 0
    messages = (
        *(difference.sentence for difference in first),
        *_sentences(new, bar),
        *_list_closing_messages(failed, new.parsed.finding_form, bar),
    )
    result = CompatibilityResult(compatible=False, messages=messages, findings=(*first, *bar.findings, *findings))
    return result, 0 if failed is None else failed.number


def _sentences(new: ParsedDraft, bar: CompatibilityRequirements) -> tuple[str, ...]:
    return tuple(
        format_finding(finding, new.parsed.finding_form, reader="new", writer="old") for finding in bar.findings
    )


def _list_closing_messages(failed: FailedVersion | None, form: str, bar: CompatibilityRequirements) -> tuple[str, ...]:
    level, validate_fields = (
        word_of(Level(bar.policy.backward, bar.policy.forward, bar.policy.deny)),
        bool(bar.config.validate_fields),
    )
    if failed is None:
        return (closing_message(level, validate_fields=validate_fields),)
    return list_messages(failed, level=level, form=form, validate_fields=validate_fields)


def compared_with(
    view: View, policy: PolicyValue, new: ParsedDraft, subject: Subject, *, only: StoredVersion | None = None
) -> list[ComparedVersion]:
    """Return the live versions of a subject that a policy compares a new schema with, the newest first, each with the
    directions in whose range it is.

    Where no range goes beyond the latest one, no other is looked at. The `only` one is in every range, and is compared if it
    is of the same part.
    """
    kinds = {policy.backward.kind, policy.forward.kind}
    if kinds == {"none"}:
        return []
    if only is not None:
        chosen = ComparedVersion(only, policy.backward != NONE, policy.forward != NONE)
        return [chosen] if _same_part(view, policy.partition, new, only) else []
    same = (version for version in _last_first(view, subject) if _same_part(view, policy.partition, new, version))
    candidates = islice(same, 1) if kinds <= {"none", "latest"} else same
    compared = (
        ComparedVersion(version, _holds(policy.backward, at, version), _holds(policy.forward, at, version))
        for at, version in enumerate(candidates)
    )
    return [comparison for comparison in compared if comparison.backward or comparison.forward]


def _last_first(view: View, subject: Subject) -> Iterable[StoredVersion]:
    """The live versions of a subject, the last one first: by label where versions have labels, else by number."""
    row = view.get(SUBJECT, subject)
    if row is None or row.order != SCHEMAVER:
        return newest_first(view, subject)
    return reversed(live_labels(view, subject).values())


def _holds(range_: VersionRange, at: int, stored: StoredVersion) -> bool:
    """Whether a range holds a version, which is the `at`-th of its part, the newest first."""
    if range_.kind == "till":
        return stored[0].ordinal >= range_.ordinal
    if range_.kind == "latest":
        return at == 0
    return range_.kind != "none"  # all, and what nobody knows: a row that was changed by hand admits no more for it


def _same_part(view: View, partition: str, new: ParsedDraft, stored: StoredVersion) -> bool:
    """Only versions of the same part are compared: one metadata property, or format and type."""
    key, version = stored
    if partition == "type":
        return (version.format, version.type_name) == (new.draft.format, new.type_name)
    kind, _, name = partition.partition(":")
    if kind != "property":
        return True
    old = schema_row(view, key.context, version.schema_id).metadata or Metadata()
    return old.get(name) == (new.draft.metadata or Metadata()).get(name)


_Pair = tuple[Answer | None, Answer | None]
"""What was answered backward and forward; None where the version is not in the range of that direction."""


def _compare_with(
    view: View, engine: SchemaEngine, new: ParsedDraft, against: list[ComparedVersion], bar: CompatibilityRequirements
) -> tuple[FailedVersion | None, tuple[Finding, ...]]:
    """Compare with versions, the first of `against` first: the first that fails, and what was found."""
    olds = [
        (comparison, schema_row(view, comparison.version[0].context, comparison.version[1].schema_id))
        for comparison in against
    ]
    for (stored, old), pair in zip(olds, _pairs(view, bar.policy, new, olds, engine), strict=True):
        number = stored.version[1].number
        if old.format != new.draft.format:
            return FailedVersion(number, old.text, sentence=OTHER_FORMAT), (
                _other_format(old.format, new.draft.format),
            )
        if old.format not in engine.formats:
            if old.text == new.parsed.canonical:
                continue  # it reads what it writes itself
            opaque = (_make_opaque_finding(old.format),)
            return FailedVersion(number, old.text, opaque), opaque
        backward, forward = map(_findings, pair)
        if (backward or forward) and _refers_outside(view, engine, stored.version, old):
            return FailedVersion(number, old.text, sentence=EXTERNAL_REFERENCE), (*forward, *backward)
        if backward or forward:
            return FailedVersion(number, old.text, backward, forward), (*forward, *backward)
    return None, ()


def _pairs(
    view: View, policy: PolicyValue, new: ParsedDraft, olds: list[tuple[ComparedVersion, Schema]], engine: SchemaEngine
) -> list[_Pair]:
    """Return the answers for each old schema; all open questions are asked together."""
    questions: dict[tuple[int, str], CompareSchemas] = {}
    strictness = policy.strictness or STRICTNESS[0]
    for at, (compared, old) in enumerate(olds):
        if old.format != new.draft.format or old.format not in engine.formats:
            continue
        meaning = resolve_schema(view, compared.version[0].context, old)
        if compared.backward:
            questions[at, "backward"] = CompareSchemas(new.meaning, meaning, strictness)
        if compared.forward:
            questions[at, "forward"] = CompareSchemas(meaning, new.meaning, strictness)
    answered = dict(zip(questions, answers(engine, tuple(questions.values())), strict=True))
    return [(answered.get((at, "backward")), answered.get((at, "forward"))) for at in range(len(olds))]


def _other_format(old: str, new: str) -> Finding:
    remedy = "the format of the earlier versions, another subject, or the level NONE"
    return Finding("FORMAT_CHANGED", "", OTHER_FORMAT, writer=old, reader=new, remedy=remedy)


def _make_opaque_finding(format_: str) -> Finding:
    """Texts of a format without a plug-in can't be compared; a policy that asks for it is never skipped."""
    sentence = "The {reader} schema and the {writer} schema can't be compared"
    reason = f"no plug-in for format {format_} here"
    return Finding("FORMAT_OPAQUE", "", sentence, reason, remedy="set the level to NONE, or install the plug-in")


def _refers_outside(view: View, engine: SchemaEngine, stored: StoredVersion, old: Schema) -> bool:
    """Whether a stored schema, an imported one, would be refused today for what it refers to."""
    (answer,) = answers(engine, (ParseSchema(resolve_schema(view, stored[0].context, old)),))
    return isinstance(answer, InvalidText) and any(fault.rule == BLOCKED for fault in answer.faults)


def _findings(answer: Answer | None) -> tuple[Finding, ...]:
    """A stored schema that no longer parses (an imported one may not) can't be compared: that is a finding too."""
    if answer is None:
        return ()
    if isinstance(answer, ComparisonResult):
        return answer.findings
    assert isinstance(answer, InvalidText)
    reason = "; ".join(map(str, answer.faults))
    sentence = "The {reader} schema and the {writer} schema can't be compared: one of them is not valid"
    return (Finding("UNREADABLE", "", sentence, reason, remedy="delete the version that is not valid, or force"),)
