"""Labels of SchemaVer: which may follow which, and what is said of one."""

import re
from typing import NamedTuple

from tests.simulation.judging.model.drafts import ReadDraft, meaning_of
from tests.simulation.judging.model.events import DraftPut, VersionPurged, VersionsSuperseded
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.texts import FORMATS, answer
from treaty.core.finding import Finding
from treaty.core.limits import COUNTER
from treaty.core.names import Subject
from treaty.core.refusals import InvalidVersion, LabelRefused
from treaty.core.schema_engine import CompareSchemas, ComparisonResult
from treaty.core.state.values import StoredDraft

SCHEMAVER = "schemaver"


class Label(NamedTuple):
    """Three numbers, compared as such."""

    model: int
    revision: int
    addition: int

    def __str__(self) -> str:
        return "-".join(map(str, self))


def label(text: str) -> Label:
    """A label, or the refusal of what is none."""
    numbers = text.split("-")
    fits = len(numbers) == 3 and all(re.fullmatch("0|[1-9][0-9]{0,9}", one) for one in numbers)
    if not fits or int(numbers[0]) < 1 or max(map(int, numbers)) > COUNTER:
        raise No(InvalidVersion, "LABEL_INVALID", new=text)
    return Label(*map(int, numbers))


def label_of(one: VersionNow) -> Label | None:
    given = dict(one.names).get(SCHEMAVER)
    return None if given is None else label(given)


def labelled(past: Past, subject: Subject) -> dict[Label, VersionNow]:
    """Live versions of a subject by their labels, the lowest first."""
    pairs = ((label_of(one), one) for one in past.shown(subject))
    return dict(sorted((name, one) for name, one in pairs if name is not None))


def superseding(past: Past) -> dict[tuple[Subject, int, int], int]:
    """By which version others are superseded: subject, generation and ordinal of those, and its ordinal."""
    there: dict[tuple[Subject, int, int], int] = {}
    for event in past.events:
        if type(event) is VersionsSuperseded:
            there |= {(event.subject, event.generation, one): event.ordinal for one in event.others}
        elif type(event) is VersionPurged:
            gone, ordinal = event.subject, event.ordinal
            there = {key: by for key, by in there.items() if key[0] != gone or ordinal not in {key[2], by}}
    return there


def drafts(past: Past) -> dict[tuple[Subject, int], StoredDraft]:
    """Drafts, by name and number."""
    return {(one.subject, one.number): one.value for one in past.events if type(one) is DraftPut}


def order_rules(name: Label, there: dict[Label, VersionNow]) -> list[str]:
    """What is wrong with the place of a label: a gap before it, or the next revision before it."""
    before: list[Label]
    if name[1:] == (0, 0):
        before = [one for one in there if one.model == name.model - 1]
    elif name.addition == 0:
        before = [one for one in there if one[:2] == (name.model, name.revision - 1)]
    else:
        before = [one for one in there if one == (name.model, name.revision, name.addition - 1)]
    wrong = [] if before or name == (1, 0, 0) else ["LABEL_PRECEDING_MISSING"]
    late = name.addition > 0 and any(one[:2] == (name.model, name.revision + 1) for one in there)
    return [*wrong, *(["LABEL_NOT_SEQUENTIAL"] if late else [])]


def refuse_bad_order(
    subject: Subject, name: Label, there: dict[Label, VersionNow], *, importing: bool
) -> list[Finding]:
    """An import is told what else is refused; a label that exists is refused in any case."""
    if name in there:
        raise No(LabelRefused, "LABEL_EXISTS", subject=str(subject), version=str(name))
    wrong = order_rules(name, there)
    if wrong and not importing:
        raise No(LabelRefused, wrong[0], subject=str(subject), version=str(name))
    return [Finding(rule, "", "", reader=str(name)) for rule in wrong]


# --------------------------------------------------------------------------------------------------------- comparing


def _ask(past: Past, new: ReadDraft, one: VersionNow, policy: str) -> tuple[Finding, ...] | None:
    """What the formats find; None where they can't say."""
    if one.schema.format != new.draft.format or new.draft.format not in FORMATS:
        return None
    told = answer(CompareSchemas(new.meaning, meaning_of(past, one.context, one.schema), policy))
    return told.findings if isinstance(told, ComparisonResult) else None


def _reads(past: Past, new: ReadDraft, one: VersionNow) -> str:
    """What a comparison shows: that data is read, that it is not, or nothing."""
    proven = _ask(past, new, one, "LENIENT")
    if proven is not None and any(each.rule != "COMPARISON_TOO_LARGE" for each in proven):
        return "breaks"
    return "reads" if _ask(past, new, one, "STRICT") == () else "unproven"


def label_findings(past: Past, new: ReadDraft, name: Label, there: dict[Label, VersionNow]) -> list[Finding]:
    """By rule, label and the label that would do."""
    own = there.get(name)
    others = {one: version for one, version in there.items() if one != name}
    found: list[Finding] = []
    if name.addition > 0:
        results = {one: _reads(past, new, each) for one, each in others.items() if one.model == name.model}
        if set(results.values()) - {"reads"}:
            last = max(one for one in there if one.model == name.model)
            wanted = Label(name.model, last.revision + 1, 0)
            if set(results.values()) == {"breaks"}:
                wanted = Label(max(one.model for one in there) + 1, 0, 0)
            words = {"breaks": "SCHEMAVER_ADDITION", "unproven": "SCHEMAVER_UNPROVEN"}
            found += [
                Finding(words[result], "", "", writer=str(one), reader=str(name), remedy=f"the label {wanted}")
                for one, result in results.items()
                if result != "reads"
            ]
    elif own is None:
        model = name.model if name.revision else name.model - 1
        results = {one: _reads(past, new, each) for one, each in others.items() if one.model == model}
        last = max((one for one in others if one.model == model), default=Label(0, 0, 0))
        smaller = None
        if results and set(results.values()) == {"reads"}:
            smaller = Label(model, last.revision, last.addition + 1)
        elif "reads" in results.values() and name.revision == 0:
            smaller = Label(model, last.revision + 1, 0)
        if smaller is not None:
            found.append(Finding("SCHEMAVER_SMALLER", "", "", reader=str(name), remedy=f"the label {smaller}"))
    if own is not None and _reads(past, new, own) != "reads":
        found.append(Finding("SCHEMAVER_PATCH", "", "", writer=str(name), reader=str(name)))
    return found
