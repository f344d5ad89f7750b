"""Validates self-describing JSON, with the self-describing parts inside it, by schemas that are already resolved."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
import pyarrow as pa

from treaty.arrow.iglu.names import bytes_of
from treaty.arrow.iglu.strict_events import PartSchema, StrictEvents
from treaty.core.iglu_key import IgluKey, IgluKeyError, SchemaCriterion
from treaty.formats.jsonschema.data.draft4 import DataViolation, SchemaIssuesError, compile_draft4
from treaty.plan.iglu.resolution import FOUND, NOT_FOUND, ResolvedSchemas, SchemaResolution

NOT_JSON, MALFORMED, INVALID_DATA, INVALID_SCHEMA = "NOT_JSON", "MALFORMED", "INVALID_DATA", "INVALID_SCHEMA"
SCHEMA_NOT_FOUND, SCHEMA_UNAVAILABLE = "SCHEMA_NOT_FOUND", "SCHEMA_UNAVAILABLE"
ENVELOPES = (
    "iglu:com.snowplowanalytics.snowplow/contexts/jsonschema/1-*-*",
    "iglu:com.snowplowanalytics.snowplow/unstruct_event/jsonschema/1-*-*",
)
"""Schemas whose data is a self-describing value, or an array of some."""
FAILURE = pa.struct(
    [
        ("column", pa.string()), ("part", pa.string()), ("schema", pa.string()), ("used", pa.string()), ("code", pa.string()),
        ("path", pa.string()), ("keyword", pa.string()), ("message", pa.string()), ("details", pa.string()),
    ]
)  # fmt: skip
"""What is wrong with one part of an event. `part` is its path in the column, `used` the version it was validated with where
that supersedes the one that it names, `path` the place inside its data, `details` the error in the form of Iglu's client.
"""
VALIDATORS = 4
"""Validators that a process keeps."""
Failure = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class EventOptions:
    """Which columns hold self-describing JSON (texts or bytes; null is no part), and which schemas are envelopes: their data
    is a self-describing value or an array of some, each of which is a part too.
    """

    columns: tuple[str, ...] = ("value",)
    envelopes: tuple[str, ...] = ENVELOPES


@dataclass(frozen=True, slots=True)
class _Checker:
    """How parts of one schema are checked: by the schema, or with the one failure that they all have."""

    schema: PartSchema | None
    envelope: bool = False
    failure: Failure | None = None
    used: str = ""


class EventValidator:
    """Validates batches by resolved schemas. It compiles each schema at its first use and asks no registry."""

    def __init__(self, schemas: ResolvedSchemas, options: EventOptions) -> None:
        self._schemas, self._options = schemas, options
        self._envelopes = tuple(SchemaCriterion.parse(one) for one in options.envelopes)
        self._checkers: dict[str, _Checker] = {}
        self._strict = StrictEvents(schemas.depth)
        self._decode = msgspec.json.Decoder().decode

    def validate(self, columns: Sequence[pa.Array]) -> pa.Array:
        """The failures of each row; null for a good row. `columns` are those of the options, in their order."""
        failures_of_rows: list[list[Failure] | None] = [None] * len(columns[0])
        for name, column in zip(self._options.columns, columns, strict=True):
            self._validate_column(name, column, failures_of_rows)
        return pa.array(failures_of_rows, pa.list_(FAILURE))

    def _validate_column(self, name: str, column: pa.Array, failures_of_rows: list[list[Failure] | None]) -> None:
        data, places = bytes_of(column)
        nulls = column.is_null().to_pylist() if column.null_count else None
        for place, text in self._strict.find_unsure(data, places):
            if nulls is not None and nulls[place]:
                continue
            failures = self._explain(text)
            if failures:
                failures_of_rows[place] = [
                    *(failures_of_rows[place] or ()),
                    *({**one, "column": name} for one in failures),
                ]

    def _explain(self, text: bytes) -> list[Failure]:
        """Everything that is wrong with a value; from a good one is learned what is good."""
        try:
            value = self._decode(text)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            return [_failure("$", NOT_JSON, f"the text is not JSON: {error}")]
        # A value with fewer brackets than levels allowed can't nest too deep.
        is_flat = text.count(b"{") + text.count(b"[") <= self._schemas.depth
        failures = [*self._explain_part(value, "$", len(text) if is_flat else None)]
        if not failures:
            self._learn(value["schema"], value["data"])
        return failures

    def _learn(self, uri: str, data: Any) -> None:
        """Know the schemas of a good value."""
        checker = self._checkers[uri]
        assert checker.schema is not None, "it was good by a schema"
        if not checker.envelope:
            self._strict.learn_value(uri, checker.schema)
            return
        names = {one["schema"] for one in (data if isinstance(data, list) else (data,))}
        inner = {name: self._checkers[name] for name in names}
        if not any(one.envelope for one in inner.values()):
            parts = ((name, one.schema) for name, one in inner.items() if one.schema is not None)
            self._strict.learn_envelope(uri, checker.schema.document, parts)

    def _explain_part(self, value: Any, part: str, size: int | None) -> Iterator[Failure]:
        """What is wrong with a part. `size` is that of the event's text, None where it may nest too deep."""
        if not isinstance(value, dict) or not isinstance(value.get("schema"), str) or "data" not in value:
            message = "the value is not self-describing; allowed is an object with schema (a URI) and data"
            yield _failure(part, MALFORMED, message, details="INVALID_DATA_PAYLOAD")
            return
        uri, data = value["schema"], value["data"]
        checker = self._checkers.get(uri)
        if checker is None:
            checker = self._checkers[uri] = self._make_checker(uri)
        if checker.failure is not None:
            yield {**checker.failure, "part": part}
        if checker.schema is None:
            return
        try:
            violations = checker.schema.compiled.find_violations(data, size)
        except SchemaIssuesError as error:
            yield {**_invalid_schema(uri, error, checker.used), "part": part}
            return
        if violations:
            yield _violation(part, uri, checker.used, violations)
        elif checker.envelope and isinstance(data, list):
            for place, item in enumerate(data):
                yield from self._explain_part(item, f"{part}.data[{place}]", size)
        elif checker.envelope:
            yield from self._explain_part(data, f"{part}.data", size)

    def _make_checker(self, uri: str) -> _Checker:
        try:
            key = IgluKey.parse(uri)
        except IgluKeyError as error:
            return _Checker(None, failure=_failure("", MALFORMED, str(error), uri, details=error.code))
        entry = self._schemas.by_uri.get(uri)
        if entry is None or entry.outcome != FOUND:
            return _Checker(None, failure=_make_unresolved(uri, entry))
        document = json.loads(entry.document)
        try:
            schema = PartSchema(document, compile_draft4(document, self._schemas.depth))
        except SchemaIssuesError as error:
            return _Checker(None, failure=_invalid_schema(uri, error, entry.superseded_by))
        return _Checker(schema, any(one.matches(key) for one in self._envelopes), used=entry.superseded_by)


def _make_unresolved(uri: str, entry: SchemaResolution | None) -> Failure:
    if entry is not None and entry.outcome == NOT_FOUND:
        return _failure("", SCHEMA_NOT_FOUND, f"no registry has the schema {uri}", uri, details=entry.error)
    message = (
        f"a registry can't say now whether it has the schema {uri}" if entry else f"the schema {uri} was not asked for"
    )
    return _failure("", SCHEMA_UNAVAILABLE, message, uri, details=entry.error if entry else "")


def _failure(part: str, code: str, message: str, uri: str | None = None, *, details: str = "") -> Failure:
    return {"part": part, "schema": uri, "code": code, "message": message[:2000], "details": details or None}


@lru_cache(maxsize=VALIDATORS)
def share_validator(schemas: ResolvedSchemas, options: EventOptions) -> EventValidator:
    """The validator of these schemas, made once in a process: the tasks of a worker, and the batches of a stream, share it."""
    return EventValidator(schemas, options)


def _invalid_schema(uri: str, error: SchemaIssuesError, used: str) -> Failure:
    issues = [{"path": one.path, "message": one.message} for one in error.issues]
    details = _compact({"error": "ValidationError", "schemaIssues": issues}, used)
    return _failure("", INVALID_SCHEMA, str(error), uri, details=details)


def _violation(part: str, uri: str, used: str, violations: tuple[DataViolation, ...]) -> Failure:
    first = violations[0]
    details = {
        "error": "ValidationError",
        "dataReports": [
            {
                "message": violation.message,
                "path": violation.path,
                "keyword": violation.keyword,
                "targets": list(violation.targets),
            }
            for violation in violations
        ],
    }
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    return {
        "part": part, "schema": uri, "used": used or None, "code": INVALID_DATA, "path": first.path, "keyword": first.keyword,
        "message": f"{first.message}{more}", "details": _compact(details, used),
    }  # fmt: skip


def _compact(details: dict[str, Any], used: str) -> str:
    return msgspec.json.encode({**details, "supersededBy": used} if used else details).decode()
