"""Bad events in the shape of Snowplow's bad rows: ``schema_violations`` 2-0-1 of Iglu Central, one JSON text for each event."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from treaty.arrow.iglu.events import INVALID_SCHEMA, MALFORMED, NOT_JSON, Failure

SCHEMA_VIOLATIONS = "iglu:com.snowplowanalytics.snowplow.badrows/schema_violations/jsonschema/2-0-1"
ARTIFACT = "treaty"
FIELD_CHARACTERS = 64
"""Characters of the name of a column that the shape has room for."""
TEXT_CHARACTERS = 512
"""Characters of one parameter of a payload, and of one message; longer events are cut into several parameters."""
_UNKNOWN_PART = "INVALID_DATA_PAYLOAD"


def make_bad_rows(
    columns: Mapping[str, pa.Array], failures: pa.Array, clock: Callable[[], str], version: str
) -> pa.Array:
    """The bad rows of events with failures, by the columns that hold their JSON; null for an event without failures.

    `clock` returns the time as ISO 8601 in UTC, `version` is that of the program that is named as the processor.
    """
    texts = {name: _texts(column) for name, column in columns.items()}
    documents = [
        None
        if failure is None
        else _make_bad_row({name: column[place] for name, column in texts.items()}, failure, clock(), version)
        for place, failure in enumerate(failures.to_pylist())
    ]
    return pa.array(documents, pa.string())


def _texts(column: pa.Array) -> list[str | None]:
    values = column.cast(pa.binary()).to_pylist()
    return [None if one is None else str(one, "utf-8", "replace") for one in values]


def _make_bad_row(texts: Mapping[str, str | None], failures: Sequence[Failure], now: str, version: str) -> str:
    raw = {
        "vendor": ARTIFACT,
        "version": "1",
        "loaderName": ARTIFACT,
        "encoding": "UTF-8",
        "parameters": [
            {"name": name[:TEXT_CHARACTERS], "value": cut} for name, text in texts.items() for cut in _split_text(text)
        ],
    }
    data = {
        "processor": {"artifact": ARTIFACT, "version": version},
        "failure": {"timestamp": now, "messages": [_message(one, texts) for one in failures]},
        "payload": {"raw": raw, "enriched": {}},
    }
    return json.dumps({"schema": SCHEMA_VIOLATIONS, "data": data}, separators=(",", ":"), ensure_ascii=False)


def _split_text(text: str | None) -> Iterator[str]:
    for begin in range(0, len(text or ""), TEXT_CHARACTERS):
        yield (text or "")[begin : begin + TEXT_CHARACTERS]


def _message(failure: Failure, texts: Mapping[str, str | None]) -> dict[str, Any]:
    column = failure["column"] or ""
    if failure["code"] == NOT_JSON:
        return {"field": column[:FIELD_CHARACTERS], "value": texts.get(column), "error": failure["message"]}
    if failure["code"] == MALFORMED:
        value = _find_part(texts.get(column), failure["part"] or "$")
        return {"json": value, "error": failure["details"] or _UNKNOWN_PART}
    details = json.loads(failure["details"] or "{}")
    if failure["code"] == INVALID_SCHEMA and not details:
        details = {"error": "ValidationError", "schemaIssues": [{"path": "$", "message": failure["message"]}]}
    return {"schemaKey": failure["schema"], "error": details}


def _find_part(text: str | None, path: str) -> Any:
    """The part of an event that a failure is about, by a path such as ``$.data[0].data``; the text of the whole event where it is
    no JSON, or has nothing there.
    """
    try:
        value = msgspec.json.decode(text or "null")
        for step in path.removeprefix("$").replace("[", ".").replace("]", "").split(".")[1:]:
            value = value[int(step)] if isinstance(value, list) else value[step]
    except (msgspec.DecodeError, ValueError, LookupError, TypeError):
        return text
    return value
