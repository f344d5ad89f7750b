"""The policy `schemaver`: whether the label of a new version says of the change what a comparison finds.

An ADDITION reads what every live version of its model wrote. A REVISION reads what some of them wrote, else it is a
MODEL. Where nothing is shown to break, a smaller label is reported. What can't be shown either way is reported, and never refused.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from treaty.core.finding import Finding
from treaty.core.handlers.drafts.schemas import ParsedDraft, answers, resolve_schema
from treaty.core.handlers.schemaver.labels import kind_of, next_labels
from treaty.core.handlers.versions import Kept, schema_row
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
    view: View, engine: SchemaEngine, new: ParsedDraft, label: SchemaVer, there: Mapping[SchemaVer, Kept]
) -> LabelFindings:
    """Return what is said of the label of a new version, or of a new text of the version that has it."""
    own = there.get(label)
    others = {one: kept for one, kept in there.items() if one != label}
    patched = () if own is None else _patch_findings(_read_all(view, engine, new, {label: own}))
    if kind_of(label) == "ADDITION":
        found = _addition_findings(label, _read_all(view, engine, new, _of_model(others, label.model)), there)
    elif own is None:
        model = label.model - (kind_of(label) == "MODEL")
        found = _smaller_findings(label, _read_all(view, engine, new, _of_model(others, model)), others, model)
    else:
        found = LabelFindings()
    return LabelFindings((*found.findings, *patched)[:WARNINGS], found.breaks)


def _of_model(there: Mapping[SchemaVer, Kept], model: int) -> dict[SchemaVer, Kept]:
    return {label: kept for label, kept in there.items() if label.model == model}


def _read_all(
    view: View, engine: SchemaEngine, new: ParsedDraft, there: Mapping[SchemaVer, Kept]
) -> list[ReadingResult]:
    """Compare a new schema with versions; all questions are asked together."""
    old = {label: schema_row(view, key.context, version.schema_id) for label, (key, version) in there.items()}
    known = {
        label: resolve_schema(view, there[label][0].context, schema)
        for label, schema in old.items()
        if schema.format == new.draft.format and schema.format in engine.formats
    }
    asked = [
        CompareSchemas(new.meaning, meaning, policy)
        for meaning in known.values()
        for policy in (STRICTNESS[0], PROVING)
    ]
    told = iter(answers(engine, tuple(asked)))
    found = []
    for label in old:
        if label in known:
            strict, lenient = next(told), next(told)
            findings = strict.findings if isinstance(strict, ComparisonResult) else (_UNREADABLE,)
            shown = lenient.findings if isinstance(lenient, ComparisonResult) else ()
            found.append(ReadingResult(label, *_first(findings, shown)))
        else:
            found.append(ReadingResult(label, _UNREADABLE))
    return found


def _first(findings: tuple[Finding, ...], shown: tuple[Finding, ...]) -> tuple[Finding | None, bool]:
    proven = next((one for one in shown if one.rule not in UNPROVEN), None)
    return (proven, True) if proven is not None else (next(iter(findings), None), False)


_UNREADABLE = Finding("NOT_COMPARED", "", "The {reader} schema and the {writer} schema can't be compared")


def _addition_findings(label: SchemaVer, read: list[ReadingResult], there: Mapping[SchemaVer, Kept]) -> LabelFindings:
    broken = [one for one in read if one.finding is not None]
    if not broken:
        return LabelFindings()
    _, revision, model = next_labels(there, label.model)
    wanted = model if all(one.proven for one in read) else revision
    told = tuple(_broken_finding(label, one, wanted) for one in broken)
    return LabelFindings(told, any(one.proven for one in broken))


def _broken_finding(label: SchemaVer, one: ReadingResult, wanted: SchemaVer) -> Finding:
    found = one.finding
    assert found is not None
    shown = "can't read" if one.proven else "is not shown to read"
    return Finding(
        "SCHEMAVER_ADDITION" if one.proven else "SCHEMAVER_UNPROVEN",
        found.path,
        f"The ADDITION {label} {shown} data of {one.label}: {found.message(reader='new', writer='old')}",
        found.rule,
        writer=str(one.label),
        reader=str(label),
        remedy=f"the label {wanted}",
    )


def _smaller_findings(
    label: SchemaVer, read: list[ReadingResult], there: Mapping[SchemaVer, Kept], model: int
) -> LabelFindings:
    if not read:
        return LabelFindings()
    addition, revision, _ = next_labels(there, model)
    readable = [one for one in read if one.finding is None]
    if len(readable) == len(read):
        wanted, what = addition, f"every version of model {model}"
    elif readable and kind_of(label) == "MODEL":
        wanted, what = revision, f"{readable[0].label}"
    else:
        return LabelFindings()
    sentence = f"The {kind_of(label)} {label} reads data of {what}, so that a smaller label would do"
    return LabelFindings((Finding("SCHEMAVER_SMALLER", "", sentence, reader=str(label), remedy=f"the label {wanted}"),))


def _patch_findings(read: Iterable[ReadingResult]) -> tuple[Finding, ...]:
    found = ((one, one.finding) for one in read)
    return tuple(
        Finding(
            "SCHEMAVER_PATCH",
            finding.path,
            f"The new text of {one.label} {'can not' if one.proven else 'is not shown to'} read data of its former text: "
            + finding.message(reader="new", writer="old"),
            finding.rule,
            writer=str(one.label),
            reader=str(one.label),
            remedy="a label of its own, or a text that reads what was written",
        )
        for one, finding in found
        if finding is not None
    )
