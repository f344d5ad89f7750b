"""The policy `schemaver`: whether the label of a new version says of the change what a comparison finds.

An ADDITION reads what every live version of its model wrote. A REVISION reads what some of them wrote, else it is a
MODEL. Where nothing is shown to break, a smaller label is reported. What can't be shown either way is reported, and never refused.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from treaty.core.finding import Finding
from treaty.core.handlers.drafts.schemas import ParsedDraft, answers, resolve_schema
from treaty.core.handlers.schemaver.labels import kind_of, next_labels
from treaty.core.handlers.versions import StoredVersion, schema_row
from treaty.core.iglu_key import SchemaVer
from treaty.core.limits import WARNINGS
from treaty.core.policy import STRICTNESS
from treaty.core.schema_engine import CompareSchemas, ComparisonResult, SchemaEngine
from treaty.core.state.view import View

PROVING = "LENIENT"
"""The strictness under which a finding about JSON Schema is a change that breaks data, and not a proof that is missing."""
UNPROVEN = frozenset({"COMPARISON_TOO_LARGE"})
"""Rules of findings that say that a comparison was not possible."""


@dataclass(frozen=True, slots=True)
class ReadingResult:
    """Whether a new schema reads what a version wrote: the first finding against it, and whether it is proven."""

    label: SchemaVer
    finding: Finding | None = None
    proven: bool = False


@dataclass(frozen=True, slots=True)
class LabelFindings:
    """What is said of a label: findings, and whether one of them is proven and so may refuse it."""

    findings: tuple[Finding, ...] = ()
    breaks: bool = False


def check_label(
    view: View, engine: SchemaEngine, new: ParsedDraft, label: SchemaVer, live: Mapping[SchemaVer, StoredVersion]
) -> LabelFindings:
    """Return what is said of the label of a new version, or of a new text of the version that has it."""
    own = live.get(label)
    rest = {live_label: version for live_label, version in live.items() if live_label != label}
    patched = () if own is None else _patch_findings(_read_all(view, engine, new, {label: own}))
    if kind_of(label) == "ADDITION":
        checked = _addition_findings(label, _read_all(view, engine, new, _of_model(rest, label.model)), live)
    elif own is None:
        model = label.model - (kind_of(label) == "MODEL")
        checked = _smaller_findings(label, _read_all(view, engine, new, _of_model(rest, model)), rest, model)
    else:
        checked = LabelFindings()
    return LabelFindings((*checked.findings, *patched)[:WARNINGS], checked.breaks)


def _of_model(live: Mapping[SchemaVer, StoredVersion], model: int) -> dict[SchemaVer, StoredVersion]:
    return {label: version for label, version in live.items() if label.model == model}


def _read_all(
    view: View, engine: SchemaEngine, new: ParsedDraft, versions: Mapping[SchemaVer, StoredVersion]
) -> list[ReadingResult]:
    """Compare a new schema with versions; all questions are asked together."""
    old = {label: schema_row(view, key.context, version.schema_id) for label, (key, version) in versions.items()}
    meanings = {
        label: resolve_schema(view, versions[label][0].context, schema)
        for label, schema in old.items()
        if schema.format == new.draft.format and schema.format in engine.formats
    }
    questions = [
        CompareSchemas(new.meaning, meaning, policy)
        for meaning in meanings.values()
        for policy in (STRICTNESS[0], PROVING)
    ]
    answered = iter(answers(engine, tuple(questions)))
    results = []
    for label in old:
        if label in meanings:
            strict, lenient = next(answered), next(answered)
            findings = strict.findings if isinstance(strict, ComparisonResult) else (_UNREADABLE,)
            proven = lenient.findings if isinstance(lenient, ComparisonResult) else ()
            results.append(ReadingResult(label, *_choose_finding(findings, proven)))
        else:
            results.append(ReadingResult(label, _UNREADABLE))
    return results


def _choose_finding(findings: tuple[Finding, ...], proven_findings: tuple[Finding, ...]) -> tuple[Finding | None, bool]:
    proven = next((finding for finding in proven_findings if finding.rule not in UNPROVEN), None)
    return (proven, True) if proven is not None else (next(iter(findings), None), False)


_UNREADABLE = Finding("NOT_COMPARED", "", "The {reader} schema and the {writer} schema can't be compared")


def _addition_findings(
    label: SchemaVer, read: list[ReadingResult], live: Mapping[SchemaVer, StoredVersion]
) -> LabelFindings:
    broken = [result for result in read if result.finding is not None]
    if not broken:
        return LabelFindings()
    _, revision, model = next_labels(live, label.model)
    remedy = model if all(result.proven for result in read) else revision
    findings = tuple(_broken_finding(label, result, remedy) for result in broken)
    return LabelFindings(findings, any(result.proven for result in broken))


def _broken_finding(label: SchemaVer, result: ReadingResult, remedy: SchemaVer) -> Finding:
    finding = result.finding
    assert finding is not None
    verb = "can't read" if result.proven else "is not shown to read"
    return Finding(
        "SCHEMAVER_ADDITION" if result.proven else "SCHEMAVER_UNPROVEN",
        finding.path,
        f"The ADDITION {label} {verb} data of {result.label}: {finding.message(reader='new', writer='old')}",
        finding.rule,
        writer=str(result.label),
        reader=str(label),
        remedy=f"the label {remedy}",
    )


def _smaller_findings(
    label: SchemaVer, read: list[ReadingResult], live: Mapping[SchemaVer, StoredVersion], model: int
) -> LabelFindings:
    if not read:
        return LabelFindings()
    addition, revision, _ = next_labels(live, model)
    readable = [result for result in read if result.finding is None]
    if len(readable) == len(read):
        remedy, what = addition, f"every version of model {model}"
    elif readable and kind_of(label) == "MODEL":
        remedy, what = revision, f"{readable[0].label}"
    else:
        return LabelFindings()
    sentence = f"The {kind_of(label)} {label} reads data of {what}, so that a smaller label would do"
    return LabelFindings((Finding("SCHEMAVER_SMALLER", "", sentence, reader=str(label), remedy=f"the label {remedy}"),))


def _patch_findings(read: Iterable[ReadingResult]) -> tuple[Finding, ...]:
    unreadable = ((result, result.finding) for result in read)
    return tuple(
        Finding(
            "SCHEMAVER_PATCH",
            finding.path,
            f"The new text of {result.label} {'can not' if result.proven else 'is not shown to'} read data of its former text: "
            + finding.message(reader="new", writer="old"),
            finding.rule,
            writer=str(result.label),
            reader=str(result.label),
            remedy="a label of its own, or a text that reads what was written",
        )
        for result, finding in unreadable
        if finding is not None
    )
