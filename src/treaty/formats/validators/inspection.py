"""Running validators: each within its limit of steps, and none skipped because it fails."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS, INLINE_STEPS, VALIDATOR_STEPS
from treaty.core.policy import LINT, ValidatorCall, name_of_validator, parse_validator
from treaty.core.schema_engine import ValidatorsDescribed
from treaty.formats.budget import StepsError, current_budget, limit_steps, spend
from treaty.formats.format import InvalidSchemaError
from treaty.formats.validators.registry import ValidatorRegistry
from treaty.formats.validators.validator import ValidatedSchema, Versions

REMEDY = "a validator that answers, or a policy without it"
Watcher = Callable[[str], None]
"""Gets the plug-in that begins to work, as a policy names it, and an empty text once it has ended."""
_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


class NoElementsError(Exception):
    """A format lists no types and fields, so a validator about them can find nothing."""


@contextmanager
def use_watcher(watcher: Watcher) -> Iterator[None]:
    """Report to a watcher which plug-ins work inside: one that never counts a step is stopped from outside only."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


@contextmanager
def _announce(text: str) -> Iterator[None]:
    """Run a plug-in outside of the event loop, where `StepsError` is raised, and before the eyes of a watcher."""
    if current_budget().left <= INLINE_STEPS:
        spend(INLINE_STEPS + 1)
    tell = _WATCHER.get()
    if tell is None:
        yield
        return
    tell(text)
    try:
        yield
    finally:
        tell("")


def run_validator(
    registry: ValidatorRegistry, text: str, schema: ValidatedSchema, versions: Versions
) -> tuple[Diagnostic, ...]:
    """Run a validator, as a policy names it, on a schema.

    A plug-in never runs in the event loop: it raises `StepsError` there, as work that is too large does. One that fails, or
    takes more than VALIDATOR_STEPS, has found a fault: a schema that no validator has checked is not admitted. So has one that
    takes more than VALIDATOR_SECONDS, which the watcher sees. The rule of a fault is the validator's name.
    """
    call = parse_validator(text)
    if not registry.is_plugin(call.name):
        return _run(registry, call, schema, versions)
    with _announce(text):
        return _run(registry, call, schema, versions)


def _run(
    registry: ValidatorRegistry, call: ValidatorCall, schema: ValidatedSchema, versions: Versions
) -> tuple[Diagnostic, ...]:
    try:
        validator = registry.find(call.name)
        if validator is None:
            return (Diagnostic(call.name, "", "there is no such validator on this node", REMEDY),)
        with limit_steps(VALIDATOR_STEPS, "VALIDATOR_STEPS"):
            diagnostics = _take_first(validator.find(schema, versions, call.parameters))
            return tuple(replace(one, rule=call.name) for one in diagnostics)
    except StepsError as stop:
        if stop.limit != "VALIDATOR_STEPS":
            raise
        message = f"the validator takes more than {stop.message}"
        return (Diagnostic(call.name, "", message, "a smaller schema, or a policy without it"),)
    except NoElementsError as missing:
        expected = "a package of the format that lists them, or a policy without this validator"
        return (Diagnostic(call.name, "", str(missing), expected),)
    except InvalidSchemaError as invalid:
        return (Diagnostic(call.name, "", f"an earlier version can't be read: {invalid}", REMEDY),)
    except Exception as error:  # noqa: BLE001 - whatever a plug-in raises, the schema has not been checked
        return (Diagnostic(call.name, "", f"the validator failed: {type(error).__name__}: {error!s:.500}", REMEDY),)


def _take_first(diagnostics: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    for count, diagnostic in enumerate(diagnostics):
        if count == FAULTS:
            return
        yield diagnostic


def describe_validators(
    registry: ValidatorRegistry, lints: frozenset[str], named: tuple[str, ...]
) -> ValidatorsDescribed:
    """Describe validators that are here: lints look at parsed texts and at no earlier version. Raises `StepsError` for
    plug-ins in the event loop, which are imported here and check their parameters.
    """
    faults: list[Diagnostic] = []
    reads_versions = parses = False
    for text in named:
        name = name_of_validator(text)
        with _announce(text) if registry.is_plugin(name) else nullcontext():
            refusal = registry.check(text)
        validator = None if refusal else registry.find(name)
        if refusal:
            faults.append(Diagnostic(name, "", refusal, registry.print_signature(name)))
        elif validator is not None:
            reads_versions, parses = reads_versions or validator.reads_versions, parses or validator.parses
        else:
            parses = parses or name.removeprefix(LINT) in lints
    return ValidatorsDescribed(tuple(faults), reads_versions, parses, registry.packages_of(named))
