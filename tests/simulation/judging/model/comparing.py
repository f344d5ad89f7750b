"""Policies: which versions a new schema is compared with, in which direction, and what is found."""

from dataclasses import dataclass

from tests.simulation.judging.model.drafts import ReadDraft, meaning_of
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.texts import FORMATS, Truth, answer
from treaty.core.answers import Checked, Config
from treaty.core.finding import Fault, Finding
from treaty.core.grammar import Compare, Compared, Inspect, Inspected, Invalid, Parse
from treaty.core.meaning import Meaning
from treaty.core.messages import EXTERNAL_REFERENCE, OTHER_FORMAT, Failed, closing, messages, shown
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, NotPermitted
from treaty.core.schema import Metadata
from treaty.core.values import PolicyValue

RESERVED = "confluent:reserved"


@dataclass(frozen=True, slots=True)
class Bar:
    """What a new version has to pass."""

    policy: PolicyValue
    config: Config


def level_word(policy: PolicyValue) -> str:
    """The level that a policy is told as."""
    if policy.deny:
        return "FULL_TRANSITIVE"
    if policy.backward and policy.forward:
        word = "FULL"
    elif policy.backward:
        word = "BACKWARD"
    elif policy.forward:
        word = "FORWARD"
    else:
        return "NONE"
    return word if policy.range == "latest" else f"{word}_TRANSITIVE"


def compared_versions(policy: PolicyValue, new: ReadDraft, live: list[VersionNow]) -> list[VersionNow]:
    """The versions that a policy compares a new schema with, the newest first."""
    chosen = []
    for one in sorted(live, key=lambda each: each.number, reverse=True):
        if policy.partition == "type":
            fits = (one.version.format, one.version.type_name) == (new.draft.format, new.parsed.type_name)
        elif policy.partition.startswith("property:"):
            name = policy.partition.removeprefix("property:")
            old, mine = one.schema.metadata or Metadata(), new.draft.metadata or Metadata()
            fits = dict(old.properties).get(name) == dict(mine.properties).get(name)
        else:
            fits = True
        if fits and not (policy.range == "till" and one.ordinal < policy.till):
            chosen.append(one)
    return chosen[:1] if policy.range == "latest" else chosen


def compare(past: Past, new: ReadDraft, old: VersionNow, policy: PolicyValue) -> tuple[Failed | None, list[Finding]]:
    """What stands in the way between a new schema and a version that is there."""
    text = old.schema.text
    if not policy.backward and not policy.forward:
        return None, []
    if old.schema.format != new.draft.format:
        return Failed(old.number, text, sentence=OTHER_FORMAT), [
            Finding("FORMAT_CHANGED", "", OTHER_FORMAT, writer=old.schema.format, reader=new.draft.format)
        ]
    if old.schema.format not in FORMATS:
        opaque = Finding("FORMAT_OPAQUE", "", "")
        return Failed(old.number, text, (opaque,)), [opaque]
    strictness = policy.strictness or "STRICT"
    meaning = meaning_of(past, old.context, old.schema)
    backward = _findings(Compare(new.meaning, meaning, strictness)) if policy.backward else ()
    forward = _findings(Compare(meaning, new.meaning, strictness)) if policy.forward else ()
    if not backward and not forward:
        return None, []
    stored = answer(Parse(meaning))
    if isinstance(stored, Invalid) and any(one.rule == "REF_UNRESOLVED" for one in stored.faults):
        return Failed(old.number, text, sentence=EXTERNAL_REFERENCE), [*forward, *backward]
    return Failed(old.number, text, backward, forward), [*forward, *backward]


def _findings(question: Compare) -> tuple[Finding, ...]:
    told = answer(question)
    if isinstance(told, Compared):
        return told.findings
    assert isinstance(told, Invalid)
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
    faults: tuple[Fault, ...] = (),
    only: VersionNow | None = None,
) -> Checked:
    """Whether a schema passes: against the versions that the policy names, or the `only` one; the first that fails ends
    it. Messages are given where the model is sure of each word, else none.
    """
    policy, config = bar.policy, bar.config
    if policy.deny and live:
        return Checked(compatible=False, findings=(Finding("POLICY_DENIES", "", ""),))
    first = _reserved(new, live[-1] if live else None) if config.validate_fields else []
    said = [Finding(one.rule, one.path, str(one), remedy=one.expected) for one in faults]
    failed, found = None, list[Finding]()
    for old in [only] if only is not None else compared_versions(policy, new, live):
        failed, found = compare(past, new, old, policy)
        if failed is not None:
            break
    if failed is None and not first and not said:
        return Checked(compatible=True)
    level, fields = level_word(policy), bool(config.validate_fields)
    tail = (
        (closing(level, validate_fields=fields),)
        if failed is None
        else messages(failed, level=level, format=new.draft.format, validate_fields=fields)
    )
    middle = (shown(one, new.draft.format, reader="new", writer="old") for one in said)
    return Checked(compatible=False, messages=() if first else (*middle, *tail), findings=(*first, *said, *found))


def inspect(subject: Subject, new: ReadDraft, policy: PolicyValue) -> tuple[Fault, ...]:
    """What the validators of a policy find in the text as it was sent."""
    if not policy.validators:
        return ()
    missing = [name for name in policy.validators if name not in Truth.validators]
    if missing:
        raise No(NotPermitted, "VALIDATOR_MISSING", subject=str(subject), new=", ".join(missing))
    if new.draft.format not in FORMATS:
        raise No(NotPermitted, "FORMAT_OPAQUE", subject=str(subject), new=new.draft.format)
    told = answer(Inspect(Meaning(new.draft.format, new.draft.text, new.meaning.bindings), policy.validators))
    assert isinstance(told, Inspected | Invalid)
    return told.faults


def refuse_faults(subject: Subject, faults: tuple[Fault, ...]) -> None:
    if faults:
        raise No(InvalidSchema, faults[0].rule, path=faults[0].path, subject=str(subject))
