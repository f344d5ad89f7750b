"""Validators of a policy: those that it may name, and what they find in a new schema.

The engine runs those that look at texts, metadata and earlier versions. Those that compare by another policy are run here, by
the same admission as the policy of the subject.
"""

from dataclasses import dataclass, replace

from treaty.core.finding import Diagnostic, Finding
from treaty.core.handlers.compatibility import CompatibilityRequirements, check_compatibility, compared_with
from treaty.core.handlers.drafts.schemas import ParsedDraft, answers, resolve_schema
from treaty.core.handlers.settings import package_of, policy_named
from treaty.core.handlers.versions import schema_row
from treaty.core.limits import VALIDATED_CHARACTERS, VALIDATED_VERSIONS, VALIDATOR_CHARACTERS, VALIDATORS
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.policy import (
    BUILT_IN_POLICIES,
    BY_TYPE,
    LINT,
    POLICY,
    WRITTEN,
    ValidatorCall,
    built_in_level,
    name_of_validator,
    parse_validator,
)
from treaty.core.refusals import Incompatible, InvalidSchema, InvalidSetting, NotPermitted, Reason, TooLarge
from treaty.core.schema import Metadata, Pairs
from treaty.core.schema_engine import (
    DescribeValidators,
    EarlierVersion,
    InspectionResult,
    InspectSchema,
    InvalidText,
    ResolvedSchema,
    SchemaEngine,
    ValidatorsDescribed,
)
from treaty.core.state.values import PolicyValue
from treaty.core.state.view import View

# ---------------------------------------------------------------------------------------------- what a policy may name


def refuse_bad_validators(view: View, named: tuple[str, ...] | None, engine: SchemaEngine, path: str) -> Pairs:
    """Return the packages of the plug-ins among validators, by name.

    Raises `InvalidSetting` for one that is not here, which would block every new version, for parameters that it can't
    have, and for too many. `path` is the path of the validators.
    """
    if not named:
        return ()
    if len(named) > VALIDATORS or max(map(len, named)) > VALIDATOR_CHARACTERS:
        limit, allowed = (
            ("VALIDATORS", VALIDATORS) if len(named) > VALIDATORS else ("VALIDATOR_CHARACTERS", VALIDATOR_CHARACTERS)
        )
        raise TooLarge.of(
            limit, "The policy has too many validators, or too long ones", path=path, allowed=f"at most {allowed}"
        )
    calls = tuple(_parse(validator, path) for validator in named)
    missing = tuple(call.name for call in calls if not _is_here(view, call, engine))
    if missing:
        offered = (*(name for name in sorted(engine.validators) if not name.startswith(LINT)), f"{POLICY}NAME")
        raise InvalidSetting.of(
            "VALIDATOR_MISSING",
            f"Invalid validators. There is no validator {missing[0]} on this node",
            path=path,
            new=", ".join(missing),
            allowed=", ".join(offered),
        )
    for call in calls:
        if call.name.startswith(POLICY):
            _refuse_bad_policy_call(call, path)
    described = _describe(engine, _without_policies(named))
    if described.faults:
        first = described.faults[0]
        raise InvalidSetting.of(
            "VALIDATOR_PARAMETERS",
            f"Invalid validators. The parameters of {first.rule} can't be: {first.message}",
            path=path,
            new=next(validator for validator in named if name_of_validator(validator) == first.rule),
            allowed=first.expected,
        )
    return described.packages


def _parse(text: str, path: str) -> ValidatorCall:
    try:
        return parse_validator(text)
    except ValueError:
        message = f"Invalid validators. {text[:100]!r} is not how a validator is written"
        raise InvalidSetting.of("VALIDATOR_MISSING", message, path=path, new=text[:100], allowed=WRITTEN) from None


def _is_here(view: View, call: ValidatorCall, engine: SchemaEngine) -> bool:
    if not call.name.startswith(POLICY):
        return call.name in engine.validators
    name = call.name.removeprefix(POLICY)
    return name in BUILT_IN_POLICIES or policy_named(view, name) is not None


def _refuse_bad_policy_call(call: ValidatorCall, path: str) -> None:
    name = call.name.removeprefix(POLICY)
    try:
        level = built_in_level(name, call.parameters)
        problem = "it takes no parameters" if level is None and call.parameters else ""
    except ValueError as error:
        problem = str(error)
    if problem:
        raise InvalidSetting.of(
            "VALIDATOR_PARAMETERS",
            f"Invalid validators. The parameters of {call.name} can't be: {problem}",
            path=path,
            new=f"{call.name}({','.join(call.parameters)})",
            allowed=f"{POLICY}{name}, and for BackwardTill, ForwardTill and both the ordinals of versions in parentheses",
        )


def _without_policies(named: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(validator for validator in named if not validator.startswith(POLICY))


def _describe(engine: SchemaEngine, named: tuple[str, ...]) -> ValidatorsDescribed:
    if not named:
        return ValidatorsDescribed(parses=False)
    (answer,) = answers(engine, (DescribeValidators(named),))
    assert isinstance(answer, ValidatorsDescribed)
    return answer


# ------------------------------------------------------------------------------------------------- what they find


@dataclass(frozen=True, slots=True)
class InspectedDraft:
    """A schema that validators look at, and the policy whose validators they are."""

    view: View
    engine: SchemaEngine
    subject: Subject
    new: ParsedDraft
    policy: PolicyValue


def inspect(
    view: View, engine: SchemaEngine, subject: Subject, new: ParsedDraft, policy: PolicyValue
) -> tuple[Diagnostic, ...]:
    """Return what the validators of a policy find in a schema, those of the first one first; nothing where they are content.

    The rule of a fault is the name of its validator. Raises `NotPermitted` for a missing validator or an unknown format: no
    validator is skipped for that. Lints of other formats have nothing to say.
    """
    if not policy.validators:
        return ()
    inspected = InspectedDraft(view, engine, subject, new, policy)
    own = _without_policies(policy.validators)
    faults = [*_ask_engine(inspected, own)] if own else []
    for text in policy.validators:
        if text.startswith(POLICY):
            faults += _compare(inspected, parse_validator(text))
    order = {name_of_validator(validator).removeprefix(LINT): at for at, validator in enumerate(policy.validators)}
    return tuple(sorted(faults, key=lambda fault: order.get(fault.rule, len(order))))


def _ask_engine(inspected: InspectedDraft, named: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    _refuse_missing(inspected, named)
    described = _describe(inspected.engine, named)
    draft = inspected.new.draft
    if described.faults:
        first = described.faults[0]
        problem = f"The parameters of validator {first.rule} of subject {inspected.subject} can't be: {first.message}"
        raise _refuse_to_run(inspected, "VALIDATOR_PARAMETERS", problem, first.rule, "a policy with other parameters")
    if described.parses and draft.format not in inspected.engine.formats:
        problem = f"Subject {inspected.subject} has validators, and no plug-in for format {draft.format} is installed on this node"
        raise _refuse_to_run(
            inspected, "FORMAT_OPAQUE", problem, draft.format, "a node that has it, or a policy without validators"
        )
    versions = _earlier_versions(inspected) if described.reads_versions else ()
    metadata = (draft.metadata or Metadata()).properties
    sent = ResolvedSchema(draft.format, draft.text, inspected.new.meaning.bindings)
    (answer,) = answers(inspected.engine, (InspectSchema(sent, named, metadata, versions),))
    assert isinstance(answer, InspectionResult | InvalidText)
    return answer.faults


def _refuse_missing(inspected: InspectedDraft, named: tuple[str, ...]) -> None:
    missing = [name for name in map(name_of_validator, named) if name not in inspected.engine.validators]
    if missing:
        package = package_of(inspected.view, Scope(*inspected.subject), missing[0])
        problem = f"Validator {missing[0]} of subject {inspected.subject} is not installed on this node"
        what = f"the package {package}" if package else "it"
        more = f"; the package {package} is missing" if package else ""
        raise _refuse_to_run(
            inspected,
            "VALIDATOR_MISSING",
            problem + more,
            ", ".join(missing),
            f"a node that has {what}, or a policy without it",
        )


def _refuse_to_run(inspected: InspectedDraft, rule: str, problem: str, new: str, allowed: str) -> NotPermitted:
    named, subject = ", ".join(inspected.policy.validators), str(inspected.subject)
    return NotPermitted.of(rule, problem, subject=subject, old=named, new=new, allowed=allowed)


def _earlier_versions(inspected: InspectedDraft) -> tuple[EarlierVersion, ...]:
    """The versions in a range of the policy, the newest first. Raises `TooLarge` past the limits."""
    earlier: list[EarlierVersion] = []
    characters = 0
    for compared in compared_with(inspected.view, inspected.policy, inspected.new, inspected.subject):
        key, version = compared.version
        schema = schema_row(inspected.view, key.context, version.schema_id)
        characters += len(schema.text)
        if len(earlier) == VALIDATED_VERSIONS or characters > VALIDATED_CHARACTERS:
            limit = "VALIDATED_VERSIONS" if len(earlier) == VALIDATED_VERSIONS else "VALIDATED_CHARACTERS"
            raise TooLarge.of(
                limit,
                f"The validators of subject {inspected.subject} would look at more earlier versions than the limit {limit} allows",
                subject=str(inspected.subject),
                allowed=f"{VALIDATED_VERSIONS} versions of {VALIDATED_CHARACTERS} characters; use a level that is not transitive",
            )
        metadata = (schema.metadata or Metadata()).properties
        earlier.append(EarlierVersion(version.number, resolve_schema(inspected.view, key.context, schema), metadata))
    return tuple(earlier)


def _compare(draft: InspectedDraft, call: ValidatorCall) -> list[Diagnostic]:
    """What the comparison by another policy finds, and the validators of a named one."""
    other = _other_policy(draft, call)
    bar = CompatibilityRequirements(other, Config())
    verdict = check_compatibility(draft.view, draft.engine, draft.new, draft.subject, bar=bar)
    compared = [
        Diagnostic(
            call.name, finding.path, f"{finding.rule}: {finding.message(reader='new', writer='old')}", finding.remedy
        )
        for finding in verdict.findings
    ]
    inspected = inspect(draft.view, draft.engine, draft.subject, draft.new, other)
    return [
        *compared,
        *(
            replace(diagnostic, rule=call.name, message=f"{diagnostic.rule}: {diagnostic.message}")
            for diagnostic in inspected
        ),
    ]


def _other_policy(inspected: InspectedDraft, call: ValidatorCall) -> PolicyValue:
    """The policy that a validator names. A built-in one has the partition and the strictness of the subject's policy."""
    name = call.name.removeprefix(POLICY)
    level = built_in_level(name, call.parameters)
    if level is not None:
        return replace(inspected.policy, backward=level.backward, forward=level.forward, deny=level.deny, validators=())
    named = policy_named(inspected.view, name)
    if named is None:
        problem = f"There is no policy {name}, by which a validator of subject {inspected.subject} compares"
        raise _refuse_to_run(inspected, "VALIDATOR_MISSING", problem, call.name, "a policy without this validator")
    return replace(named.policy, partition=BY_TYPE) if inspected.new.rules.types == "many" else named.policy


def as_finding(fault: Diagnostic) -> Finding:
    """Return a validator's fault as a finding, for the list of what a compatibility check found."""
    return Finding(fault.rule, fault.path, str(fault), remedy=fault.expected)


def refuse_faults(subject: Subject, new: ParsedDraft, faults: tuple[Diagnostic, ...]) -> None:
    """Raise a refusal with every fault that the validators found, if there is one.

    The first one decides which: `Incompatible` for a validator that compares by a policy, else `InvalidSchema`.
    """
    if not faults:
        return
    first = faults[0]
    message = "; ".join(f"{fault.rule}: {fault}" for fault in faults)
    reason = Reason(
        first.rule,
        f"Invalid schema of type {new.draft.format}, details: the validators of subject {subject} demand more: {message}",
        path=first.path,
        allowed=first.expected,
        subject=str(subject),
        details=tuple(map(str, faults)),
    )
    if first.rule.startswith(POLICY):
        raise Incompatible(reason, tuple(map(as_finding, faults)))
    raise InvalidSchema(reason, faults)
