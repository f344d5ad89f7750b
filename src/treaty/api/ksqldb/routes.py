"""Routes of ksqlDB's REST interface (`/ksql`, `/info`, `/healthcheck`): which function answers which method and path."""

from treaty.api.dialects.description import ApiAnswer, ApiDescription, ApiOperation, ApiParameter, Schema, Table
from treaty.api.dialects.router import build_routes
from treaty.api.ksqldb import endpoints as x
from treaty.api.ksqldb.bodies import KsqlErrorBody, KsqlStatementsBody

GROUPS = {
    "ksqldb": "ksqlDB's REST for streams, tables and types: the statements that ksqlDB and Treaty have both. Errors have the body of `KsqlErrorBody`."
}
_TEXT: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}


def _object(**members: Schema) -> Schema:
    return {"type": "object", "properties": members, "required": list(members)}


_INFO = _object(KsqlServerInfo=_object(version=_TEXT, kafkaClusterId=_TEXT, ksqlServiceId=_TEXT, serverStatus=_TEXT))
_HEALTH = _object(isHealthy=_BOOLEAN, details={"type": "object"})
_STATUS = _object(status=_TEXT, message=_TEXT, queryId=_TEXT)
_COMMAND_ID = (
    ApiParameter("kind", "What was changed", example="stream", choices=("stream", "table", "type", "query")),
    ApiParameter("name", "Its name, with or without back quotes", example="ORDERS"),
    ApiParameter("action", "How it was changed", example="create", choices=("create", "alter", "drop", "undrop", "pause", "resume")),
)  # fmt: skip
_WARNINGS: Schema = {"type": "array", "items": _object(message=_TEXT)}
_ENTITIES: Schema = {
    "type": "array",
    "items": _object(**{"@type": _TEXT, "statementText": _TEXT, "warnings": _WARNINGS}),
}
_EXAMPLE = {
    "@type": "currentStatus",
    "statementText": "DROP STREAM ORDERS;",
    "commandId": "stream/ORDERS/drop",
    "commandStatus": {"status": "SUCCESS", "message": "ORDERS dropped", "queryId": None},
    "commandSequenceNumber": 8,
    "warnings": [],
}
_REFUSED = ApiAnswer("Nothing: it is always refused", schema={"type": "object"})
_QUERY = {"POST": ApiOperation(x.refuse_query, "ksqldb", _REFUSED)}

TABLE: Table = {
    "/info": {"GET": ApiOperation(x.get_info, "ksqldb", ApiAnswer("The server", schema=_INFO))},
    "/healthcheck": {"GET": ApiOperation(x.check_health, "ksqldb", ApiAnswer("The health", schema=_HEALTH))},
    "/status/{}/{}/{}": {
        "GET": ApiOperation(x.get_status, "ksqldb", ApiAnswer("The status", schema=_STATUS), _COMMAND_ID, errors=(404,))
    },
    "/ksql": {
        "POST": ApiOperation(
            x.post_statements,
            "ksqldb",
            ApiAnswer("The results, in order", schema=_ENTITIES, example=[_EXAMPLE]),
            sent=KsqlStatementsBody,
            sent_example={"ksql": "SHOW STREAMS;", "streamsProperties": {}},
            errors=(417,),
            writes=True,
        )
    },
    "/query": _QUERY,
    "/query-stream": _QUERY,
    "/close-query": _QUERY,
    "/inserts-stream": {"POST": ApiOperation(x.refuse_inserts, "ksqldb", _REFUSED)},
}
"""Operations by path and method."""
ROUTES = build_routes(TABLE)
DESCRIPTION = ApiDescription(
    "ksqldb",
    GROUPS,
    TABLE,
    KsqlErrorBody,
    {"@type": "statement_error", "error_code": 40001, "message": "There is no stream or table ORDERS"},
    {
        400: "The body or a statement is not taken; the message says why, and what does the same here",
        404: "No stream, table or type shows what the command comes to; the message says why",
        417: "What ASSERT says does not hold",
        503: "No planner, or the log can't be reached; nothing was written",
    },
)
