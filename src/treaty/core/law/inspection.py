"""Validators: what the owner of a subject demands of every new version beside its compatibility."""

from treaty.core.finding import Diagnostic, Finding
from treaty.core.law.schemas import Read, answers
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, NotPermitted, Reason
from treaty.core.schema_engine import InspectionResult, InspectSchema, InvalidText, ResolvedSchema, SchemaEngine
from treaty.core.values import PolicyValue


def inspect(engine: SchemaEngine, subject: Subject, new: Read, policy: PolicyValue) -> tuple[Diagnostic, ...]:
    """Return what the validators of a policy find in a text as it was sent; nothing where they are content.

    Raises `NotPermitted` where one is named that is not here, or nobody here can read the format: no validator is
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


def refuse_faults(subject: Subject, new: Read, faults: tuple[Diagnostic, ...]) -> None:
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
