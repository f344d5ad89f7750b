"""Policies: which versions a new schema is compared with, in which direction, and what is found."""

from dataclasses import dataclass, replace

from tests.simulation.judging.model.drafts import ReadDraft, meaning_of
from tests.simulation.judging.model.levels import WORDS, word_of
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.texts import FORMATS, answer
from treaty.core.finding import (
    EXTERNAL_REFERENCE,
    OTHER_FORMAT,
    Diagnostic,
    FailedVersion,
    Finding,
    closing_message,
    format_finding,
    list_messages,
)
from treaty.core.messages.compatibility import CompatibilityResult
from treaty.core.names import Subject
from treaty.core.policy import Level, VersionRange
from treaty.core.refusals import Incompatible, InvalidSchema, NotPermitted
from treaty.core.schema import Metadata
from treaty.core.schema_engine import (
    CompareSchemas,
    ComparisonResult,
    EarlierVersion,
    InspectionResult,
    InspectSchema,
    InvalidText,
    ParseSchema,
    ResolvedSchema,
)
from treaty.core.state.values import ConfigValue, PolicyValue

RESERVED = "confluent:reserved"


@dataclass(frozen=True, slots=True)
class Bar:
    """What a new version has to pass."""

    policy: PolicyValue
    config: ConfigValue


@dataclass(frozen=True, slots=True)
class Pair:
    """A version that a new schema is compared with, and in which directions."""

    old: VersionNow
    backward: bool
    forward: bool


def compared_versions(
    policy: PolicyValue, new: ReadDraft, live: list[VersionNow], only: VersionNow | None = None
) -> list[Pair]:
    """The versions that a policy compares a new schema with, the newest first: those of its part. The `only` one is compared in
    every direction that has a range.
    """
    there = []
    for one in sorted(live, key=_place, reverse=True) if only is None else [only]:
        if policy.partition == "type":
            fits = (one.version.format, one.version.type_name) == (new.draft.format, new.type_name)
        elif policy.partition.startswith("property:"):
            name = policy.partition.removeprefix("property:")
            old, mine = one.schema.metadata or Metadata(), new.draft.metadata or Metadata()
            fits = dict(old.properties).get(name) == dict(mine.properties).get(name)
        else:
            fits = True
        if fits:
            there.append(one)
    if only is None:
        pairs = [
            Pair(one, one in within(policy.backward, there), one in within(policy.forward, there)) for one in there
        ]
    else:
        pairs = [Pair(one, policy.backward.kind != "none", policy.forward.kind != "none") for one in there]
    return [pair for pair in pairs if pair.backward or pair.forward]


def _place(one: VersionNow) -> tuple[int, ...]:
    """By label where a version has one, else by number."""
    given = dict(one.names).get("schemaver")
    return (one.number,) if given is None else tuple(map(int, given.split("-")))


def within(range_: VersionRange, newest_first: list[VersionNow]) -> list[VersionNow]:
    """The versions that lie in a range."""
    if range_.kind == "latest":
        return newest_first[:1]
    if range_.kind == "till":
        return [one for one in newest_first if one.ordinal >= range_.ordinal]
    return newest_first if range_.kind == "all" else []


def compare(past: Past, new: ReadDraft, pair: Pair, strictness: str) -> tuple[FailedVersion | None, list[Finding]]:
    """What stands in the way between a new schema and a version that is there."""
    old = pair.old
    text = old.schema.text
    if old.schema.format != new.draft.format:
        return FailedVersion(old.number, text, sentence=OTHER_FORMAT), [
            Finding("FORMAT_CHANGED", "", OTHER_FORMAT, writer=old.schema.format, reader=new.draft.format)
        ]
    if old.schema.format not in FORMATS:
        if old.schema.text == new.parsed.canonical:
            return None, []
        opaque = Finding("FORMAT_OPAQUE", "", "")
        return FailedVersion(old.number, text, (opaque,)), [opaque]
    meaning = meaning_of(past, old.context, old.schema)
    backward = _findings(CompareSchemas(new.meaning, meaning, strictness)) if pair.backward else ()
    forward = _findings(CompareSchemas(meaning, new.meaning, strictness)) if pair.forward else ()
    if not backward and not forward:
        return None, []
    stored = answer(ParseSchema(meaning))
    if isinstance(stored, InvalidText) and any(one.rule == "REF_UNRESOLVED" for one in stored.faults):
        return FailedVersion(old.number, text, sentence=EXTERNAL_REFERENCE), [*forward, *backward]
    return FailedVersion(old.number, text, backward, forward), [*forward, *backward]


def _findings(question: CompareSchemas) -> tuple[Finding, ...]:
    told = answer(question)
    if isinstance(told, ComparisonResult):
        return told.findings
    assert isinstance(told, InvalidText)
    return (Finding("UNREADABLE", "", "", "; ".join(map(str, told.faults))),)


def reserved_names(metadata: Metadata | None) -> list[str]:
    listed = dict((metadata or Metadata()).properties).get(RESERVED, "")
    return list(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))


def _reserved(new: ReadDraft, latest: VersionNow | None) -> list[Finding]:
    """Names that the latest version reserved and the new one does not, then reserved names that are in use."""
    mine = reserved_names(new.draft.metadata)
    found = [
        Finding("RESERVED_FIELD_REMOVED", f"/metadata/properties/{RESERVED}", "", name, name)
        for name in reserved_names(latest.schema.metadata if latest is not None else None)
        if name not in mine
    ]
    used = [name for name in mine if name in new.parsed.fields]
    return [*found, *(Finding("RESERVED_FIELD_USED", f"/{name}", "", name, reader=name) for name in used)]


def verdict(
    past: Past,
    new: ReadDraft,
    live: list[VersionNow],
    bar: Bar,
    *,
    faults: tuple[Diagnostic, ...] = (),
    other_type: tuple[Finding, ...] = (),
    only: VersionNow | None = None,
) -> CompatibilityResult:
    """Whether a schema passes: against the versions that the policy names, or the `only` one; the first that fails ends
    it. Messages are given where the model is sure of each word, else none.
    """
    return verdict_against(past, new, live, bar, faults=faults, other_type=other_type, only=only)[0]


def verdict_against(
    past: Past,
    new: ReadDraft,
    live: list[VersionNow],
    bar: Bar,
    *,
    faults: tuple[Diagnostic, ...] = (),
    other_type: tuple[Finding, ...] = (),
    only: VersionNow | None = None,
) -> tuple[CompatibilityResult, int]:
    """The same with the number of the version that fails, or 0."""
    policy, config = bar.policy, bar.config
    said = [*other_type, *(Finding(one.rule, one.path, str(one), remedy=one.expected) for one in faults)]
    if policy.deny and live:
        return CompatibilityResult(compatible=False, findings=(*said, Finding("POLICY_DENIES", "", ""))), 0
    first = _reserved(new, live[-1] if live else None) if config.validate_fields else []
    failed, found = None, list[Finding]()
    for pair in compared_versions(policy, new, live, only):
        failed, found = compare(past, new, pair, policy.strictness or "STRICT")
        if failed is not None:
            break
    if failed is None and not first and not said:
        return CompatibilityResult(compatible=True), 0
    level = word_of(Level(policy.backward, policy.forward, policy.deny))
    fields = bool(config.validate_fields)
    tail = (
        (closing_message(level, validate_fields=fields),)
        if failed is None
        else list_messages(failed, level=level, form=new.parsed.finding_form, validate_fields=fields)
    )
    middle = (format_finding(one, new.parsed.finding_form, reader="new", writer="old") for one in said)
    told = CompatibilityResult(
        compatible=False,
        messages=() if first or other_type or any(one.rule.startswith("policy:") for one in said) else (*middle, *tail),
        findings=(*first, *said, *found),
    )
    return told, 0 if failed is None else failed.number


READ = {"NAME_SHORT", "no-removed-fields"}
"""Validators that look into a text, which must be of a known format."""


def inspect(
    past: Past, new: ReadDraft, live: list[VersionNow], policy: PolicyValue, types: str
) -> tuple[Diagnostic, ...]:
    """What the validators of a policy find in the text as it was sent, one after the other in their order."""
    plain = [one for one in policy.validators if not one.startswith("policy:")]
    if READ.intersection(plain) and new.draft.format not in FORMATS:
        raise No(NotPermitted, "FORMAT_OPAQUE", new=new.draft.format)
    metadata = (new.draft.metadata or Metadata()).properties
    sent = ResolvedSchema(new.draft.format, new.draft.text, new.meaning.bindings)
    earlier = [pair.old for pair in compared_versions(policy, new, live)]
    seen = tuple(
        EarlierVersion(
            one.number, meaning_of(past, one.context, one.schema), (one.schema.metadata or Metadata()).properties
        )
        for one in earlier
    )
    faults: list[Diagnostic] = []
    for one in policy.validators:
        if one.startswith("policy:"):
            faults += _by_policy(past, new, live, _policy_of(past, policy, one, types), one)
            continue
        told = answer(InspectSchema(sent, (one,), metadata, seen if one == "no-removed-fields" else ()))
        assert isinstance(told, InspectionResult | InvalidText)
        faults += told.faults
    return tuple(faults)


def _policy_of(past: Past, policy: PolicyValue, validator: str, types: str) -> PolicyValue:
    """The policy that a validator names; a level has the partition and strictness of the policy around it."""
    name = validator.removeprefix("policy:").partition("(")[0]
    levels = {**WORDS, "DenyAll": Level(deny=True), "AllowAny": Level()}
    if name == "BackwardTill":
        levels[name] = Level(VersionRange("till", int(validator.partition("(")[2].rstrip(")"))))
    if name not in levels:
        return replace(past.policies[name], partition="type") if types == "many" else past.policies[name]
    level = levels[name]
    return replace(policy, backward=level.backward, forward=level.forward, deny=level.deny, validators=())


def _by_policy(
    past: Past, new: ReadDraft, live: list[VersionNow], other: PolicyValue, validator: str
) -> list[Diagnostic]:
    """What another policy refuses, and what its validators find."""
    rule = validator.partition("(")[0]
    compared = verdict(past, new, live, Bar(other, ConfigValue()))
    found = [Diagnostic(rule, one.path, "", one.remedy) for one in compared.findings]
    return [*found, *(replace(one, rule=rule) for one in inspect(past, new, live, other, ""))]


def refuse_faults(subject: Subject, faults: tuple[Diagnostic, ...]) -> None:
    if faults:
        kind = Incompatible if faults[0].rule.startswith("policy:") else InvalidSchema
        raise No(kind, faults[0].rule, path=faults[0].path, subject=str(subject))
