"""Descriptions of the routes of contexts, of the server itself, of Treaty's native API, and of the pages for its operator."""

from typing import Any, Literal

from msgspec import Struct

from treaty.api.confluent.openapi.parts import PAGE, ApiAnswer, ApiOperation, ApiParameter, Schema, Table
from treaty.core.operations import NAMED_OPERATIONS
from treaty.wire.confluent import errors
from treaty.wire.confluent.listings import ContextBody, OutcomeBody
from treaty.wire.native import MEDIA, PATH

_EMPTY: Schema = {"type": "object", "maxProperties": 0}
_ROOT = ApiOperation("server", ApiAnswer("An empty object", whole=_EMPTY, example={}))


def _object(**members: Schema) -> Schema:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


_TEXT: Schema = {"type": "string"}
_CLUSTERS = _object(**{"kafka-cluster": _TEXT, "schema-registry-cluster": _TEXT})
_SCOPE = _object(path={"type": "array", "items": _TEXT}, clusters=_CLUSTERS)

TABLE: Table = {
    "/contexts": {
        "GET": ApiOperation(
            "contexts",
            ApiAnswer("Names; `.` is the default context", list[str], example=[".", ".staging"]),
            query=(ApiParameter("contextPrefix", "Prefix of the names", example=".st"), *PAGE),
        )
    },
    "/contexts/{}": {
        "DELETE": ApiOperation(
            "contexts",
            ApiAnswer("The context does not exist any more, or did not exist", status=204),
            (ApiParameter("context", "Name of a context", example=".staging"),),
            errors=(42205, 42211),
            writes=True,
        )
    },
    "/": {"GET": _ROOT, "POST": _ROOT},
    "/v1/metadata/id": {
        "GET": ApiOperation(
            "server",
            ApiAnswer(
                "The cluster",
                whole=_object(id=_TEXT, scope=_SCOPE),
                example={
                    "id": "",
                    "scope": {"path": [], "clusters": {"kafka-cluster": "", "schema-registry-cluster": "treaty"}},
                },
            ),
        )
    },
    "/v1/metadata/version": {
        "GET": ApiOperation(
            "server",
            ApiAnswer(
                "The versions",
                whole=_object(version=_TEXT, commitId=_TEXT),
                example={"version": "8.2.0", "commitId": "treaty-0.1.0"},
            ),
        )
    },
    "/v1/metadata/deployment": {
        "GET": ApiOperation(
            "server",
            ApiAnswer(
                "An empty list",
                whole=_object(attributes={"type": "array", "items": _TEXT, "maxItems": 0}),
                example={"attributes": []},
            ),
        )
    },
    "/treaty/contexts/{}": {
        "PUT": ApiOperation(
            "contexts",
            ApiAnswer("The context", ContextBody, example={"context": ".staging", "highestId": 100}),
            (ApiParameter("context", "Name of a context", example=".staging"),),
            sent=ContextBody,
            sent_example={"highestId": 100},
            errors=(42205, 42208, 42209),
            writes=True,
        )
    },
    "/treaty/outcome/{}": {
        "GET": ApiOperation(
            "server",
            ApiAnswer(
                "The result of the command",
                OutcomeBody,
                example={"command": "c1", "sequence": 5, "result": "registered"},
            ),
            (ApiParameter("command", "Id of a command, as sent in `Treaty-Command`", example="c1"),),
            (
                ApiParameter(
                    "principal", "The principal of the command, if it is not the caller; for administrators only"
                ),
            ),
            errors=(40450,),
        )
    },
}


class AskBody(Struct, forbid_unknown_fields=True):
    """An operation and its request."""

    operation: Literal[tuple(sorted(NAMED_OPERATIONS))]  # type: ignore[valid-type]  # the words of a table
    request: dict[str, Any] = {}


class AnswerBody(Struct):
    """What an operation answers."""

    answer: dict[str, Any]


NATIVE: Table = {
    PATH: {
        "POST": ApiOperation(
            "server",
            ApiAnswer("The answer", AnswerBody, example={"answer": {"mode": "READWRITE"}}, media=MEDIA),
            sent=AskBody,
            sent_example={"operation": "get-mode", "request": {"scope": {"name": "orders-value"}, "resolve": True}},
            errors=tuple(sorted({line.code for line in errors.TABLE})),
            writes=True,
        )
    }
}
"""Treaty's native API, which is no part of Confluent's dialect."""

_STATUS = _object(
    server={"type": "object"},
    node={"type": "object"},
    worker={"type": "object"},
    workers={"type": "object"},
    limits={"type": "object", "additionalProperties": {"type": "integer"}},
)
_READY: Schema = {
    "type": "object",
    "properties": {"status": _TEXT, "sequence": {"type": "integer"}, "reason": _TEXT},
    "required": ["status"],
    "additionalProperties": False,
}
JSON = "application/json"

PAGES: Table = {
    "/healthz": {
        "GET": ApiOperation(
            "operation", ApiAnswer("Alive", whole=_object(status=_TEXT), example={"status": "ok"}, media=JSON)
        )
    },
    "/readyz": {
        "GET": ApiOperation(
            "operation", ApiAnswer("Ready", whole=_READY, example={"status": "ready", "sequence": 5}, media=JSON)
        )
    },
    "/readyz/writes": {
        "GET": ApiOperation(
            "operation",
            ApiAnswer("Ready for writes", whole=_READY, example={"status": "ready", "sequence": 5}, media=JSON),
        )
    },
    "/ping": {"GET": ApiOperation("operation", ApiAnswer("Alive"))},
    "/status": {
        "GET": ApiOperation("operation", ApiAnswer("The status", whole=_STATUS, media=JSON, also={"text/plain": _TEXT}))
    },
    "/metrics": {
        "GET": ApiOperation("operation", ApiAnswer("Prometheus' text format", whole=_TEXT, media="text/plain"))
    },
    "/openapi.json": {
        "GET": ApiOperation("operation", ApiAnswer("This document", whole={"type": "object"}, media=JSON))
    },
    "/docs": {"GET": ApiOperation("operation", ApiAnswer("The page", whole=_TEXT, media="text/html"))},
}
"""Pages that do not belong to the dialect; ``/readyz…`` also answer 503."""
