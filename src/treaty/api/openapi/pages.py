"""Pages of a server that belong to no dialect: for its operator, and the description itself."""

from treaty.api.dialects.description import ApiAnswer, ApiOperation, Schema, Table
from treaty.api.operator_pages import OperatorPages

JSON = "application/json"
_TEXT: Schema = {"type": "string"}


def _object(**members: Schema) -> Schema:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


_STATUS = _object(
    server={"type": "object"},
    node={"type": "object"},
    worker={"type": "object"},
    workers={"type": "object"},
    limits={"type": "object", "additionalProperties": {"type": "integer"}},
)
_READY: Schema = {
    "type": "object",
    "properties": {
        "status": _TEXT,
        "sequence": {"type": "integer"},
        "reason": _TEXT,
        "open": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": _TEXT, "reason": _TEXT}, "required": ["name", "reason"]},
        },
    },
    "required": ["status"],
    "additionalProperties": False,
}
OPERATOR_PAGES: Table = {
    "/healthz": {
        "GET": ApiOperation(
            OperatorPages.answer_health,
            "operation",
            ApiAnswer("Alive", schema=_object(status=_TEXT), example={"status": "ok"}, media=JSON),
        )
    },
    "/readyz": {
        "GET": ApiOperation(
            OperatorPages.answer_readiness,
            "operation",
            ApiAnswer("Ready", schema=_READY, example={"status": "ready", "sequence": 5}, media=JSON),
        )
    },
    "/readyz/writes": {
        "GET": ApiOperation(
            OperatorPages.answer_write_readiness,
            "operation",
            ApiAnswer("Ready for writes", schema=_READY, example={"status": "ready", "sequence": 5}, media=JSON),
        )
    },
    "/ping": {"GET": ApiOperation(OperatorPages.answer_ping, "operation", ApiAnswer("Alive"))},
    "/status": {
        "GET": ApiOperation(
            OperatorPages.status,
            "operation",
            ApiAnswer("The status", schema=_STATUS, media=JSON, also={"text/plain": _TEXT}),
        )
    },
    "/metrics": {
        "GET": ApiOperation(
            OperatorPages.answer_metrics,
            "operation",
            ApiAnswer("Prometheus' text format", schema=_TEXT, media="text/plain"),
        )
    },
    "/openapi.json": {
        "GET": ApiOperation(
            None,
            "operation",
            ApiAnswer("This document", schema={"type": "object"}, media=JSON),
            says="The OpenAPI document.",
        )
    },
    "/docs": {
        "GET": ApiOperation(
            None,
            "operation",
            ApiAnswer("The page", schema=_TEXT, media="text/html"),
            says="The OpenAPI document as a page, which loads nothing from other hosts.",
        )
    },
}
"""Pages that do not belong to the dialect; ``/readyz…`` also answer 503."""
