"""Is a value valid: the check of the validator library over the schema's own texts, and never over others."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

import jsonschema_rs

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS, REGEXES, VALUE_BYTES, VALUE_COMPARISONS, VALUE_STEPS
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_pointer import escape_step, find_positions
from treaty.formats.json_text import read_exact_json
from treaty.formats.jsonschema.bundle import list_nodes, split_texts
from treaty.formats.jsonschema.data.cost import count_steps, count_values, measure_weight
from treaty.formats.jsonschema.data.error_bounds import (
    ALL,
    NONE,
    Reported,
    compares_much,
    count_compared,
    find_reported,
)
from treaty.formats.jsonschema.model import Json, JsonSchema, JsonSchemaDraft
from treaty.formats.jsonschema.regex import ENGINES, count_regexes

_CLASSES: dict[int, Any] = {
    4: jsonschema_rs.Draft4Validator,
    6: jsonschema_rs.Draft6Validator,
    7: jsonschema_rs.Draft7Validator,
    2019: jsonschema_rs.Draft201909Validator,
    2020: jsonschema_rs.Draft202012Validator,
}
_ALL_FAULTS = 5_000
"""Steps up to which every fault of a value is reported; past it the first one is."""
_ONE_FAULT = 50_000
"""Steps for one place up to which a fault is reported at all; past it reporting would take too long."""
_CALM = 100_000_000
"""Steps, counted roughly, up to which they are not counted one by one."""

_kept: WeakKeyDictionary[JsonSchema, "ValueValidator"] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class ValueValidator:
    """A compiled validator, and the steps that it takes for one place of a value; None where that depends."""

    compiled: Any
    weight: int | None
    compared: int = 0
    """Members of enums with which values are compared one after the other."""


def get_validator(document: JsonSchema) -> ValueValidator:
    """The validator of a schema, made once for each; raises `ValueError` if it can't be made.

    Formats are not asserted. Regular expressions run in linear time; those with looks around and backward references
    run with a bound on their steps.
    """
    validator = _kept.get(document)
    if validator is None:
        validator = _kept[document] = ValueValidator(
            _compile_validator(document), measure_weight(document), count_compared(document)
        )
    return validator


def _count_steps(document: JsonSchema, validator: ValueValidator, value: Json) -> int:
    """The steps that a check takes; raises `ValueError` if they are too many."""
    if compares_much(document, validator.compared, value):
        raise ValueError(f"it takes more comparisons than the limit VALUE_COMPARISONS of {VALUE_COMPARISONS}")
    if validator.weight is not None and (total := validator.weight * count_values(value)) <= _CALM:
        return total
    counted = count_steps(document, value)
    if counted is None:
        raise ValueError(f"it takes more than the limit VALUE_STEPS of {VALUE_STEPS}")
    return counted


def _compile_validator(document: JsonSchema) -> Any:
    if sum(count_regexes(node.value) for node in list_nodes(document)) > REGEXES:
        raise ValueError(f"it has more regular expressions than the limit REGEXES of {REGEXES}")
    own, other_texts = split_texts(document)
    draft: JsonSchemaDraft = document.root.draft
    registry = jsonschema_rs.Registry(list(other_texts.items()))
    failure: Exception | None = None
    for engine in ENGINES:
        try:
            return _CLASSES[draft.number](
                own,
                offline=True,
                validate_formats=False,
                pattern_options=engine,
                **({"registry": registry} if other_texts else {}),
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            failure = error
        except BaseException as error:  # a panic of the library, which is no `Exception`
            if type(error).__name__ != "PanicException":
                raise
            failure = ValueError(f"the validator failed: {error}")
    raise ValueError(str(failure).partition("\n")[0][:200])


def is_valid(document: JsonSchema, value: Json) -> bool:
    """Whether a value, nested no deeper than a text may be, is valid; raises `ValueError` as `get_validator` does, and for one
    that takes too many steps.
    """
    validator = get_validator(document)
    _count_steps(document, validator, value)
    return bool(validator.compiled.is_valid(value))


def check_value(document: JsonSchema, text: str) -> tuple[Diagnostic, ...]:
    """The faults of a value given as JSON text, each with its place in the text; empty if it is valid."""
    if len(text) * 4 > VALUE_BYTES and (size := len(text.encode("utf-8", "surrogatepass"))) > VALUE_BYTES:
        message = f"the value has {size} bytes, more than the limit VALUE_BYTES of {VALUE_BYTES}"
        return (Diagnostic("VALUE_TOO_LARGE", "", message, f"at most {VALUE_BYTES} bytes"),)
    try:
        value = read_exact_json(text, VALUE_BYTES)
    except InvalidSchemaError as error:
        return tuple(replace(one, rule=one.rule.replace("SCHEMA_", "VALUE_")) for one in error.faults)
    try:
        validator = get_validator(document)
        steps = _count_steps(document, validator, value)
    except ValueError as error:
        message = f"values can't be checked by this schema: {error}"
        return (Diagnostic("VALUE_NOT_JUDGED", "", message, "a schema that the validator can compile and run"),)
    if validator.compiled.is_valid(value):
        return ()
    faults = list(_faults(validator, value, steps, find_reported(document, value)))
    places_ = find_positions(text, {one.path for one in faults})
    return tuple(replace(one, line=places_[one.path][0], column=places_[one.path][1]) for one in faults)


def _faults(validator: ValueValidator, value: Json, steps: int, reported: Reported) -> Iterator[Diagnostic]:
    """All faults where that is cheap, else the first one, or only that there are some."""
    if steps <= _ALL_FAULTS and reported == ALL:
        yield from (_fault(error) for error in islice(validator.compiled.iter_errors(value), FAULTS))
    elif min(steps, validator.weight or steps) <= _ONE_FAULT and reported != NONE:
        try:
            validator.compiled.validate(value)
        except jsonschema_rs.ValidationError as error:
            yield _fault(error)
    else:
        message = "the value is not valid; the schema has too many branches to say why"
        yield Diagnostic("VALUE_INVALID", "", message, "a value of the schema")


_ASKED = ("types", "limit", "options", "expected_value", "pattern", "multiple_of", "property")
"""Where the library says what a keyword asks for."""


def _fault(error: Any) -> Diagnostic:
    kind = error.kind
    rule = "".join(f"_{char}" if char.isupper() else char for char in kind.name).upper().lstrip("$_")
    steps = list(error.instance_path)
    if rule in ("ADDITIONAL_PROPERTIES", "UNEVALUATED_PROPERTIES", "UNEVALUATED_ITEMS"):
        steps += kind.unexpected[:1]
    path = "".join(f"/{escape_step(str(step))}" for step in steps)
    place = "".join(f"/{escape_step(str(step))}" for step in error.schema_path) or "/"
    limit = next((getattr(kind, name) for name in _ASKED if hasattr(kind, name)), None)
    asked_text = " or ".join(map(str, limit)) if isinstance(limit, list) else "" if limit is None else str(limit)
    expected = (
        f"{kind.name} {_shorten_message(asked_text)}, as the schema says at {place}"
        if asked_text
        else f"what the schema says at {place}"
    )
    return Diagnostic(rule, path, _shorten_message(error.message), expected)


def _shorten_message(message: str) -> str:
    return message if len(message) <= 200 else f"{message[:120]} … {message[-79:]}"
