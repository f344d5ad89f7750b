"""What the owner of a subject demands of every new version beside its compatibility: validators and reserved names."""

from collections.abc import Iterator

from treaty.core.finding import Diagnostic, Finding
from treaty.core.handlers.drafts.schemas import ParsedDraft, answers
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, NotPermitted, Reason
from treaty.core.schema import Metadata
from treaty.core.schema_engine import InspectionResult, InspectSchema, InvalidText, ResolvedSchema, SchemaEngine
from treaty.core.state.values import PolicyValue


def inspect(engine: SchemaEngine, subject: Subject, new: ParsedDraft, policy: PolicyValue) -> tuple[Diagnostic, ...]:
    """Return what the validators of a policy find in a text as it was sent; nothing where they are content.

    Raises `NotPermitted` for a missing validator or an unknown format: no validator is
    skipped for that. Those of other formats have nothing to say.
    """
    named = policy.validators
    if not named:
        return ()
    missing = [name for name in named if name not in engine.validators]
    if missing:
        raise NotPermitted.of(
            "VALIDATOR_MISSING",
            f"Validator {missing[0]} of subject {subject} is not installed on this node",
            subject=str(subject),
            old=", ".join(named),
            new=", ".join(missing),
            allowed="a node that has it, or a policy without it",
        )
    if new.draft.format not in engine.formats:
        raise NotPermitted.of(
            "FORMAT_OPAQUE",
            f"Subject {subject} has validators, and no plug-in for format {new.draft.format} is installed on this node",
            subject=str(subject),
            old=", ".join(named),
            new=new.draft.format,
            allowed="a node that has it, or a policy without validators",
        )
    sent = ResolvedSchema(new.draft.format, new.draft.text, new.meaning.bindings)
    (told,) = answers(engine, (InspectSchema(sent, named),))
    assert isinstance(told, InspectionResult | InvalidText)
    return told.faults


def as_finding(fault: Diagnostic) -> Finding:
    """Return a validator's fault as a finding, for the list of what a compatibility check found."""
    return Finding(fault.rule, fault.path, str(fault), remedy=fault.expected)


def refuse_faults(subject: Subject, new: ParsedDraft, faults: tuple[Diagnostic, ...]) -> None:
    """Raise `InvalidSchema` with every fault that the validators found, if there is one."""
    if not faults:
        return
    first = faults[0]
    told = "; ".join(f"{one.rule}: {one}" for one in faults)
    raise InvalidSchema(
        Reason(
            first.rule,
            f"Invalid schema of type {new.draft.format}, details: the validators of subject {subject} demand more: {told}",
            path=first.path,
            allowed=first.expected,
            subject=str(subject),
            details=tuple(map(str, faults)),
        ),
        faults,
    )


PROPERTY = "confluent:reserved"
"""The metadata property that lists the reserved names, with commas between them."""

INTERNAL = "$$"
"""What no property of a JSON Schema may begin with where fields are validated: Confluent keeps it for itself."""


def reserved_names(metadata: Metadata | None) -> tuple[str, ...]:
    """Return the names that a schema's metadata reserves, in order."""
    listed = (metadata or Metadata()).get(PROPERTY) or ""
    return tuple(dict.fromkeys(name for name in map(str.strip, listed.split(",")) if name))


def reserved_findings(new: ParsedDraft, latest: Metadata | None) -> tuple[Finding, ...]:
    """Return what breaks the reservations: names of the latest version's that are given up, then names in use."""
    return (*_given_up(new, latest), *_in_use(new))


def _given_up(new: ParsedDraft, latest: Metadata | None) -> Iterator[Finding]:
    kept = frozenset(reserved_names(new.draft.metadata))
    for name in reserved_names(latest):
        if name not in kept:
            yield Finding(
                "RESERVED_FIELD_REMOVED",
                f"/metadata/properties/{PROPERTY}",
                f"The new schema has reserved field {name} removed from its metadata which is present in the old "
                "schema's metadata.",
                name,
                name,
                remedy="keep the name in the list of reserved ones",
            )


def _in_use(new: ParsedDraft) -> Iterator[Finding]:
    fields = frozenset(new.parsed.fields)
    for name in reserved_names(new.draft.metadata):
        if name in fields:
            yield Finding(
                "RESERVED_FIELD_USED",
                f"/{name}",
                f"The new schema has field that conflicts with the reserved field {name}.",
                name,
                reader=name,
                remedy="another name for the field",
            )


def internal_names(new: ParsedDraft) -> InvalidText | None:
    """Return the faults of a JSON Schema whose properties have names that Confluent keeps for itself, or None."""
    if new.draft.format != "JSON":
        return None
    names = [name for name in new.parsed.fields if name.startswith(INTERNAL)]
    faults = tuple(
        Diagnostic(
            "FIELD_NAME_INTERNAL",
            f"/properties/{name.replace('~', '~0').replace('/', '~1')}",
            f"Field names cannot start with {INTERNAL} prefix",
            "another name, or validateFields=false",
        )
        for name in names
    )
    return InvalidText(faults) if faults else None
