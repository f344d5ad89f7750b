"""Validation as Iglu has it: schemas of draft 4, formats checked, remote references bound to the empty schema, depth bounded."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import jsonschema_rs

from treaty.core.finding import shorten_text
from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.core.limits import (
    FAULT_CHARACTERS,
    FAULTS,
    REGEXES,
    VALUE_COMPARISONS,
    VALUE_STEPS,
    VIOLATION_CHARACTERS,
    VIOLATIONS_CHARACTERS,
)
from treaty.core.schema_engine import ResolvedSchema, ValueValidated
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.bundle import list_nodes
from treaty.formats.jsonschema.cycles import find_cycles
from treaty.formats.jsonschema.data.cost import count_steps, count_values, measure_weight
from treaty.formats.jsonschema.data.error_bounds import FIRST, NONE, compares_much, count_compared, find_reported
from treaty.formats.jsonschema.drafts import DRAFTS, HOLDING, find_draft
from treaty.formats.jsonschema.model import Json, JsonSchema
from treaty.formats.jsonschema.parser import parse_schema
from treaty.formats.jsonschema.regex import ENGINES, count_regexes

TOO_DEEP = "Maximum allowed JSON depth exceeded"
_DRAFT = DRAFTS[4]
_CALM = 100_000_000
"""Steps, counted roughly, up to which they are not counted one by one."""
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_IPV4 = "^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$"
_FORMATS = {
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
    "ipv4": lambda text: re.search(_IPV4, text) is not None,
}
"""Formats that Iglu's validator checks in its own way."""
_PATTERNS = {"ipv4": _IPV4}
"""Regular expressions that the message about a format names."""


@dataclass(frozen=True, slots=True)
class DataViolation:
    """A place of a value that its schema does not allow: a sentence, a path such as ``$.a[1]``, the keyword of the schema,
    and what the keyword is about, such as the names of missing members.
    """

    message: str
    path: str
    keyword: str
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaIssue:
    """A place of a document that makes it no schema of draft 4."""

    path: str
    message: str

    def __post_init__(self) -> None:
        """Cut what is longer than FAULT_CHARACTERS: a path has names of any length."""
        for name in ("path", "message"):
            object.__setattr__(self, name, shorten_text(getattr(self, name), FAULT_CHARACTERS))


class SchemaIssuesError(ValueError):
    """A document is no schema that values can be validated with."""

    def __init__(self, issues: tuple[SchemaIssue, ...]) -> None:
        super().__init__("; ".join(f"{one.path}: {one.message}" for one in issues[:FAULTS]))
        self.issues = issues


class ValueTooCostlyError(SchemaIssuesError):
    """A value takes too long to check by a schema that others can be checked with."""


@dataclass(frozen=True, slots=True)
class Draft4Schema:
    """A compiled schema; `depth` is the most levels of nesting of a value. `weight` is the most steps for one place of a
    value, None where that depends on the value.
    """

    compiled: Any
    depth: int
    model: JsonSchema
    weight: int | None
    compared: int = 0
    """Members of enums with which values are compared one after the other."""

    def find_violations(self, value: Json, size: int | None = None) -> tuple[DataViolation, ...]:
        """Return what is wrong with a value; empty if it is valid. Raises `ValueTooCostlyError` if that takes too long.

        `size` is that of the text of a value which surely does not nest too deep; less is counted then.
        """
        steps = None if size is None or self.weight is None else self.weight * size
        if steps is None or steps > _CALM:
            if is_too_deep(value, self.depth):
                return (DataViolation(TOO_DEEP, "$", "depth", (str(self.depth),)),)
            self._count_steps(value)
        if compares_much(self.model, self.compared, value):
            raise _too_costly("comparisons", f"VALUE_COMPARISONS of {VALUE_COMPARISONS}")
        try:
            if self.compiled.is_valid(value):
                return ()
            reported = find_reported(self.model, value)
            if reported == NONE:
                message = (
                    "$: the value is not valid; saying why takes more characters than the limit VIOLATIONS_CHARACTERS"
                )
                return (DataViolation(f"{message} of {VIOLATIONS_CHARACTERS}", "$", "schema"),)
            if reported == FIRST:
                self.compiled.validate(value)
            errors = list(islice(self.compiled.iter_errors(value), FAULTS))
        except jsonschema_rs.ValidationError as error:
            errors = [error]
        except (ValueError, TypeError) as error:
            return (DataViolation(f"$: the value is not JSON: {error}", "$", "type"),)
        return tuple(_shorten(one) for one in islice((one for error in errors for one in _violations(error)), FAULTS))

    def is_surely_valid(self, value: Json, size: int) -> bool:
        """Whether a value of a text of so many bytes is valid. False says nothing where checking may take many steps; levels
        of nesting are not counted.
        """
        try:
            calm = self.weight is not None and self.weight * size <= _CALM and self.compared * size <= VALUE_COMPARISONS
            return calm and bool(self.compiled.is_valid(value))
        except (ValueError, TypeError):
            return False

    def _count_steps(self, value: Json) -> int:
        if self.weight is not None and (total := self.weight * count_values(value)) <= _CALM:
            return total
        counted = count_steps(self.model, value)
        if counted is None:
            raise _too_costly("steps", f"VALUE_STEPS of {VALUE_STEPS}")
        return counted


def compile_draft4(document: Json, depth: int) -> Draft4Schema:
    """Compile a schema document. Nothing is fetched. Raises `SchemaIssuesError`."""
    if is_too_deep(document, depth):
        raise _issue("$", TOO_DEEP)
    if not isinstance(document, dict):
        raise _issue("$", "a schema is a JSON object")
    named = document.get("$schema", SELF_DESCRIBING)
    if named != SELF_DESCRIBING and find_draft(named) is not _DRAFT:
        raise _issue("$.$schema", f"{str(named)[:200]!r} is not allowed; allowed is {SELF_DESCRIBING} or {_DRAFT.uri}#")
    body = {name: value for name, value in document.items() if name not in {"$schema", "self"}}
    validator = _meta_validator()
    if not validator.is_valid(body):
        errors = islice(validator.iter_errors(body), FAULTS)
        raise SchemaIssuesError(tuple(SchemaIssue(_path(one.instance_path), one.message[:300]) for one in errors))
    if _count_regexes(body) > REGEXES:
        raise _issue("$", f"more regular expressions than the limit REGEXES of {REGEXES}")
    bound: Any = _bind_remote(body)
    model = _parse(bound)
    failure: Exception | None = None
    for engine in ENGINES:
        try:
            compiled = jsonschema_rs.Draft4Validator(
                bound, offline=True, validate_formats=True, formats=_FORMATS, pattern_options=engine
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            failure = error
        else:
            return Draft4Schema(compiled, depth, model, measure_weight(model), count_compared(model))
    raise _issue("$", str(failure).partition("\n")[0][:300])


def validate_text(schema: str, value: bytes, depth: int) -> ValueValidated:
    """Validate a JSON text by the text of a schema, both of which were read before."""
    try:
        violations = compile_draft4(json.loads(schema), depth).find_violations(json.loads(value))
    except ValueTooCostlyError as stop:
        return ValueValidated(too_costly=stop.issues[0].message)
    except SchemaIssuesError as error:
        return ValueValidated(issue=str(error))
    return ValueValidated(tuple((one.message, one.path, one.keyword, one.targets) for one in violations))


def _parse(body: dict[str, Json]) -> JsonSchema:
    """The model of a schema without references to other documents. Raises `SchemaIssuesError`."""
    try:
        model = parse_schema(ResolvedSchema("JSON", json.dumps({**body, "$schema": f"{_DRAFT.uri}#"})), False)
    except InvalidSchemaError as error:
        raise SchemaIssuesError(
            tuple(SchemaIssue("$" + one.path.replace("/", "."), one.message) for one in error.faults)
        ) from None
    except (TypeError, ValueError) as error:
        raise _issue("$", f"the document is not JSON: {error}") from None
    if cycles := tuple(find_cycles(model, list(list_nodes(model)))):
        raise SchemaIssuesError(
            tuple(SchemaIssue("$" + one.path.replace("/", "."), one.message) for one in cycles[:FAULTS])
        )
    return model


def is_draft4_schema(document: Json) -> bool:
    """Whether a document is a JSON object that the meta-schema of draft 4 allows."""
    return isinstance(document, dict) and bool(_meta_validator().is_valid(document))


def is_too_deep(value: Json, depth: int) -> bool:
    """Whether objects and arrays nest deeper than this many levels."""
    level: list[Json] = [value]
    for _ in range(depth + 1):
        level = [inner for one in level for inner in _containers(one)]
        if not level:
            return False
    return True


def _containers(value: Json) -> Iterator[Json]:
    """The members of a value, where it can have some."""
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, (list, tuple)):
        yield from value


@cache
def _meta_validator() -> Any:
    return jsonschema_rs.validator_for({"$schema": _DRAFT.uri, "$ref": _DRAFT.uri}, offline=True)


def _issue(path: str, message: str) -> SchemaIssuesError:
    return SchemaIssuesError((SchemaIssue(path, message),))


def _too_costly(what: str, limit: str) -> ValueTooCostlyError:
    return ValueTooCostlyError(
        (SchemaIssue("$", f"the value takes more {what} to check than the limit {limit}; send a smaller one"),)
    )


def _bind_remote(schema: Json) -> Json:
    """The schema with every reference to another document replaced by the empty schema."""
    if not isinstance(schema, dict):
        return schema
    to = schema.get("$ref")
    if isinstance(to, str):
        return schema if to.startswith("#") or not to else {}
    return {name: _bind_member(name, value) for name, value in schema.items()}


def _bind_member(name: str, value: Json) -> Json:
    row = HOLDING[4].get(name)
    if row is None:
        return value
    if isinstance(value, list):
        return [_bind_remote(one) for one in value]
    if row.holds in {"map", "dependencies"} and isinstance(value, dict):
        return {key: _bind_remote(one) for key, one in value.items()}
    return _bind_remote(value)


def _count_regexes(value: Json) -> int:
    return count_regexes(value) + sum(_count_regexes(one) for one in _containers(value))


def _violations(error: Any) -> Iterator[DataViolation]:
    """The violations of one error of the library, in the words of Iglu's validator where it has some."""
    kind, path = error.kind, _path(error.instance_path)
    match kind.name:
        case "type":
            type_name = _type_name(error.instance)
            allowed = kind.types[0] if len(kind.types) == 1 else f"[{', '.join(kind.types)}]"
            yield DataViolation(f"{path}: {type_name} found, {allowed} expected", path, "type", (type_name, allowed))
        case "required":
            message = f"{path}.{kind.property}: is missing but it is required"
            yield DataViolation(message, path, "required", (kind.property,))
        case "additionalProperties":
            for name in kind.unexpected:
                rest = "is not defined in the schema and the schema does not allow additional properties"
                yield DataViolation(f"{path}.{name}: {rest}", path, "additionalProperties", (name,))
        case "maxLength" | "minLength":
            word = "may only be" if kind.name == "maxLength" else "must be at least"
            message = f"{path}: {word} {kind.limit} characters long"
            yield DataViolation(message, path, kind.name, (str(kind.limit),))
        case "format":
            pattern = _PATTERNS.get(kind.format)
            message = f"{path}: does not match the {kind.format} {f'pattern {pattern}' if pattern else 'format'}"
            yield DataViolation(message, path, "format", (kind.format, *([pattern] if pattern else [])))
        case name:
            keyword = "oneOf" if name.startswith("oneOf") else name
            message = error.message if len(error.message) <= 300 else f"{error.message[:300]}…"
            yield DataViolation(f"{path}: {message}", path, keyword, _targets(kind))


def _shorten(violation: DataViolation) -> DataViolation:
    """A violation whose texts have no more than VIOLATION_CHARACTERS; targets that are left out are counted."""
    targets, left = list[str](), VIOLATION_CHARACTERS
    for target in violation.targets:
        left -= len(target)
        if left < 0:
            targets.append(f"… and {len(violation.targets) - len(targets)} more")
            break
        targets.append(target)
    return DataViolation(
        _shorten_text(violation.message), _shorten_text(violation.path), violation.keyword, tuple(targets)
    )


def _shorten_text(text: str) -> str:
    return text if len(text) <= VIOLATION_CHARACTERS else f"{text[: VIOLATION_CHARACTERS - 1]}…"


def _targets(kind: Any) -> tuple[str, ...]:
    for name in ("limit", "options", "pattern", "multiple_of"):
        if hasattr(kind, name):
            value = getattr(kind, name)
            return tuple(map(str, value)) if isinstance(value, list) else (str(value),)
    return ()


def _type_name(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array" if isinstance(value, (list, tuple)) else "number"


def _path(steps: list[str | int]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
