"""Validation of self-describing values: `validate_value`, its result, and the compiled validators that are kept."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from treaty.client.iglu.answers import IgluSchema, lookup_schema
from treaty.client.iglu.errors import IgluNotFoundError, ResolutionError, read_resolution_error
from treaty.client.iglu.flow import Flow, ResolverState
from treaty.core.iglu_key import IgluKey, IgluKeyError, SchemaVer
from treaty.formats.jsonschema.data.draft4 import (
    DataViolation,
    Draft4Schema,
    SchemaIssue,
    SchemaIssuesError,
    compile_draft4,
)

Outcome = Literal["valid", "invalid_data", "invalid_schema", "malformed", "not_found", "unavailable"]
JSON_SCHEMA = "jsonschema"


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """What was found about a self-describing value.

    `outcome`: ``valid``; ``invalid_data`` with `violations`; ``invalid_schema`` with `issues`; ``malformed``, no
    self-describing value, with one of `issues`; ``not_found`` or ``unavailable``, with the `error` of the resolution.
    `key` is the schema that the value names, `superseded_by` the version that it was validated with instead.
    """

    outcome: Outcome
    key: IgluKey | None = None
    superseded_by: SchemaVer | None = None
    violations: tuple[DataViolation, ...] = ()
    issues: tuple[SchemaIssue, ...] = ()
    error: ResolutionError | None = None

    @property
    def is_valid(self) -> bool:
        """Whether the value is valid."""
        return self.outcome == "valid"

    @property
    def used_version(self) -> SchemaVer | None:
        """The version that the value was validated with; None if there was none."""
        return self.superseded_by or (self.key.version if self.key and self.error is None else None)

    def to_json(self) -> dict[str, Any]:
        """The error as a JSON object in the form of the Scala client; empty for a valid value."""
        if self.error is not None:
            return self.error.to_json()
        if self.is_valid:
            return {}
        members: dict[str, Any] = {"error": "ValidationError"}
        if self.violations:
            members["dataReports"] = [
                {
                    "message": violation.message,
                    "path": violation.path,
                    "keyword": violation.keyword,
                    "targets": list(violation.targets),
                }
                for violation in self.violations
            ]
        else:
            members["schemaIssues"] = [{"path": issue.path, "message": issue.message} for issue in self.issues]
        return members if self.superseded_by is None else {**members, "supersededBy": str(self.superseded_by)}


def read_client_error(value: Any) -> ValidationResult:
    """Read the JSON form of an error, as `ValidationResult.to_json` writes it. Raises `ValueError`."""
    if isinstance(value, Mapping) and value.get("error") == "ValidationError":
        try:
            version = SchemaVer.parse(value["supersededBy"]) if "supersededBy" in value else None
            if "dataReports" in value:
                reports = tuple(
                    DataViolation(report["message"], report["path"], report["keyword"], tuple(report["targets"]))
                    for report in value["dataReports"]
                )
                return ValidationResult("invalid_data", superseded_by=version, violations=reports)
            issues = tuple(SchemaIssue(issue["path"], issue["message"]) for issue in value["schemaIssues"])
            return ValidationResult("invalid_schema", superseded_by=version, issues=issues)
        except (KeyError, TypeError) as error:
            raise ValueError(f"no JSON form of a ValidationError: {error!r}") from None
    return _make_failed(None, read_resolution_error(value))


def _make_failed(key: IgluKey | None, error: ResolutionError) -> ValidationResult:
    outcome: Outcome = "not_found" if isinstance(error, IgluNotFoundError) else "unavailable"
    return ValidationResult(outcome, key, error=error)


class ValidatorCache:
    """The compiled validators of a resolver; each is kept as long as the entry of its schema in the cache is the same."""

    def __init__(self, size: int, depth: int) -> None:
        """Keep at most `size` validators; `depth` is the most levels of nesting."""
        self._size, self._depth = size, depth
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Draft4Schema | SchemaIssuesError] = OrderedDict()
        self.compiled = 0
        """How many validators were compiled so far."""

    def get(self, schema: IgluSchema) -> Draft4Schema:
        """Return the validator of a schema. Raises `SchemaIssuesError`."""
        key = (schema.key, schema.superseded_by, schema.resolved_at)
        with self._lock:
            compiled = self._kept.get(key) if schema.is_cached else None
            if compiled is not None:
                self._kept.move_to_end(key)
        if compiled is None:
            compiled = self._compile(schema)
            if schema.is_cached:
                with self._lock:
                    self._kept[key] = compiled
                    if len(self._kept) > self._size:
                        self._kept.popitem(last=False)
        if isinstance(compiled, SchemaIssuesError):
            raise SchemaIssuesError(compiled.issues)
        return compiled

    def clear(self) -> None:
        """Forget all validators."""
        with self._lock:
            self._kept.clear()

    def _compile(self, schema: IgluSchema) -> Draft4Schema | SchemaIssuesError:
        self.compiled += 1
        if schema.key.format != JSON_SCHEMA:
            message = f"values can't be validated by the format {schema.key.format!r}; allowed is {JSON_SCHEMA}"
            return SchemaIssuesError((SchemaIssue("$", message),))
        try:
            return compile_draft4(schema.document, self._depth)
        except SchemaIssuesError as error:
            return error


def validate_value(state: ResolverState, validators: ValidatorCache, value: Any) -> Flow[ValidationResult]:
    """Validate a self-describing value by the schema it names, or the one that supersedes that."""
    if not isinstance(value, Mapping) or not isinstance(value.get("schema"), str) or "data" not in value:
        message = "the value is not self-describing; allowed is an object with schema (a URI) and data"
        return ValidationResult("malformed", issues=(SchemaIssue("$", message),))
    try:
        key = IgluKey.parse(value["schema"])
    except IgluKeyError as error:
        return ValidationResult("malformed", issues=(SchemaIssue("$.schema", str(error)),))
    try:
        schema = yield from lookup_schema(state, key, superseding=True)
    except ResolutionError as error:
        return _make_failed(key, error)
    try:
        violations = validators.get(schema).find_violations(value["data"])
    except SchemaIssuesError as error:
        return ValidationResult("invalid_schema", key, schema.superseded_by, issues=error.issues)
    return ValidationResult("invalid_data" if violations else "valid", key, schema.superseded_by, violations)
