"""Admission: does a schema pass the policy in force, against which versions, and if not, why."""

from treaty.core.answers import Checked, Config
from treaty.core.finding import Finding
from treaty.core.grammar import Answer, Compare, Compared, Grammar, Invalid
from treaty.core.law.references import meaning_of
from treaty.core.law.schemas import Read, answers
from treaty.core.law.versions import Kept, schema_row
from treaty.core.messages import Failed, messages
from treaty.core.policy import level_of
from treaty.core.schema import Metadata
from treaty.core.values import PolicyValue, Schema
from treaty.core.view import View

PASSED = Checked(compatible=True)


def compared_with(view: View, policy: PolicyValue, new: Read, live: list[Kept]) -> list[Kept]:
    """Return the versions that a policy compares a new schema with, the newest first."""
    candidates = [one for one in reversed(live) if _same_part(view, policy.partition, new, one)]
    if policy.range == "latest":
        return candidates[:1]
    if policy.range == "till":
        return [one for one in candidates if int(one[0][2]) >= policy.till]
    return candidates


def _same_part(view: View, partition: str, new: Read, one: Kept) -> bool:
    """Only versions of the same part are compared: one metadata property, or format and type."""
    key, version = one
    if partition == "type":
        return (version.format, version.type_name) == (new.draft.format, new.parsed.type_name)
    kind, _, name = partition.partition(":")
    if kind != "property":
        return True
    old = schema_row(view, str(key[0]), version.schema_id).metadata or Metadata()
    return old.get(name) == (new.draft.metadata or Metadata()).get(name)


def check(
    view: View, grammar: Grammar, new: Read, against: list[Kept], *, policy: PolicyValue, config: Config
) -> Checked:
    """Compare a schema with versions, the first of `against` first, and stop at the first that fails."""
    if policy.deny and against:
        return Checked(compatible=False, messages=("The policy of this subject refuses every change",))
    if not (policy.backward or policy.forward):
        return PASSED
    olds = [(one, schema_row(view, str(one[0][0]), one[1].schema_id)) for one in against]
    for (one, old), pair in zip(olds, _pairs(view, policy, new, olds, grammar), strict=True):
        backward, forward = pair
        other = old.format != new.draft.format
        if other or backward or forward:
            failed = Failed(one[1].number, old.text, backward, forward, other_format=other)
            told = messages(
                failed, level=level_of(policy), format=new.draft.format, validate_fields=bool(config.validate_fields)
            )
            return Checked(compatible=False, messages=told, findings=(*forward, *backward))
    return PASSED


_Findings = tuple[tuple[Finding, ...], tuple[Finding, ...]]


def _pairs(
    view: View, policy: PolicyValue, new: Read, olds: list[tuple[Kept, Schema]], grammar: Grammar
) -> list[_Findings]:
    """Return (backward, forward) findings for each old schema; all open questions are asked together."""
    questions: list[Compare] = []
    for one, old in olds:
        if old.format != new.draft.format or old.format not in grammar.formats:
            continue
        meaning = meaning_of(view, str(one[0][0]), old)
        if policy.backward:
            questions.append(Compare(new.meaning, meaning))
        if policy.forward:
            questions.append(Compare(meaning, new.meaning))
    told = iter(answers(grammar, tuple(questions)))
    pairs: list[_Findings] = []
    for _, old in olds:
        if old.format != new.draft.format:
            pairs.append(((), ()))
            continue
        if old.format not in grammar.formats:
            pairs.append(((_opaque(old.format),), ()))
            continue
        backward = _findings(next(told)) if policy.backward else ()
        forward = _findings(next(told)) if policy.forward else ()
        pairs.append((backward, forward))
    return pairs


def _opaque(format_: str) -> Finding:
    """Texts of a format without a plug-in can't be compared; a policy that asks for it is never skipped."""
    sentence = "The {reader} schema and the {writer} schema can't be compared"
    told = f"no plug-in for format {format_} here"
    return Finding("FORMAT_OPAQUE", "", sentence, told, remedy="set the level to NONE, or install the plug-in")


def _findings(answer: Answer) -> tuple[Finding, ...]:
    """A stored schema that no longer parses (an imported one may not) can't be compared: that is a finding too."""
    if isinstance(answer, Compared):
        return answer.findings
    assert isinstance(answer, Invalid)
    told = "; ".join(map(str, answer.faults))
    sentence = "The {reader} schema and the {writer} schema can't be compared: one of them is not valid"
    return (Finding("UNREADABLE", "", sentence, told, remedy="delete the version that is not valid, or force"),)
