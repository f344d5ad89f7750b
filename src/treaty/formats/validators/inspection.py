"""Running validators: each within its limit of steps, and none skipped because it fails."""

from collections.abc import Iterable
from dataclasses import replace

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS, INLINE_STEPS, VALIDATOR_STEPS
from treaty.core.schema_engine import ValidatorsDescribed
from treaty.core.validators import LINT, name_of_validator, parse_validator
from treaty.formats.budget import StepsError, current_budget, limit_steps, spend
from treaty.formats.format import InvalidSchemaError
from treaty.formats.validators.registry import ValidatorRegistry
from treaty.formats.validators.validator import ValidatedSchema, Versions

REMEDY = "a validator that answers, or a policy without it"


def run_validator(
    registry: ValidatorRegistry, text: str, schema: ValidatedSchema, versions: Versions
) -> tuple[Diagnostic, ...]:
    """Run a validator, as a policy names it, on a schema.

    A plug-in never runs in the event loop: it raises `StepsError` there, as work that is too large does. One that fails, or
    takes more than VALIDATOR_STEPS, has found a fault: a schema that no validator has checked is not admitted. The rule of a fault
    is the validator's name.
    """
    call = parse_validator(text)
    validator = registry.find(call.name)
    if validator is None:
        return (Diagnostic(call.name, "", "there is no such validator on this node", REMEDY),)
    if registry.is_plugin(call.name) and current_budget().left <= INLINE_STEPS:
        spend(INLINE_STEPS + 1)
    try:
        with limit_steps(VALIDATOR_STEPS, "VALIDATOR_STEPS"):
            found = _first(validator.find(schema, versions, call.parameters))
            return tuple(replace(one, rule=call.name) for one in found)
    except StepsError as stop:
        if stop.limit != "VALIDATOR_STEPS":
            raise
        message = f"the validator takes more than {stop.message}"
        return (Diagnostic(call.name, "", message, "a smaller schema, or a policy without it"),)
    except InvalidSchemaError as wrong:
        return (Diagnostic(call.name, "", f"an earlier version can't be read: {wrong}", REMEDY),)
    except Exception as error:  # noqa: BLE001 - whatever a plug-in raises, the schema has not been checked
        return (Diagnostic(call.name, "", f"the validator failed: {type(error).__name__}: {error!s:.500}", REMEDY),)


def _first(found: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    for count, one in enumerate(found):
        if count == FAULTS:
            return
        yield one


def describe_validators(
    registry: ValidatorRegistry, lints: frozenset[str], named: tuple[str, ...]
) -> ValidatorsDescribed:
    """Describe validators that are here: lints look at parsed texts and at no earlier version."""
    faults: list[Diagnostic] = []
    reads_versions = parses = False
    for text in named:
        name, told = name_of_validator(text), registry.check(text)
        found = None if told else registry.find(name)
        if told:
            faults.append(Diagnostic(name, "", told, registry.written(name)))
        elif found is not None:
            reads_versions, parses = reads_versions or found.reads_versions, parses or found.parses
        else:
            parses = parses or name.removeprefix(LINT) in lints
    return ValidatorsDescribed(tuple(faults), reads_versions, parses, registry.packages_of(named))
