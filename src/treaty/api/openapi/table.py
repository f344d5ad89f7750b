"""The table of all routes of a server, from which the OpenAPI document and the reference of HTTP are made."""

from collections.abc import Mapping

from treaty.api.confluent.routes import TABLE as CONFLUENT
from treaty.api.dialects.description import ApiDescription, ApiOperation, ApiParameter, Table
from treaty.api.iglu.routes import DESCRIPTION as IGLU
from treaty.api.ksqldb.routes import DESCRIPTION as KSQLDB
from treaty.api.metastore.routes import DESCRIPTION as METASTORE
from treaty.api.native import TABLE as NATIVE
from treaty.api.openapi.pages import OPERATOR_PAGES
from treaty.api.pravega.routes import DESCRIPTION as PRAVEGA
from treaty.api.schemarepo.routes import DESCRIPTION as SCHEMA_REPO
from treaty.core.registry import CONSISTENCIES

DIALECTS: tuple[ApiDescription, ...] = (PRAVEGA, SCHEMA_REPO, IGLU, METASTORE, KSQLDB)
"""Dialects with their own bodies of errors."""
GROUPS: Mapping[str, str] = {
    "subjects": "A subject is a named list of versions of a schema.",
    "schemas": "Schemas by id, which records carry, or by guid.",
    "compatibility": "Test whether a schema is compatible. Nothing is written.",
    "config": "Compatibility and defaults of a subject, a context, or the whole registry.",
    "mode": "Which changes a subject, a context, or the whole registry accepts: `READWRITE`, `READONLY`, `IMPORT`, `FORWARD`.",
    "contexts": "A context is a namespace: schema ids and subject names are unique within it.",
    "associations": "The subjects of a topic's keys and values.",
    "server": "Facts about the server that clients ask for.",
    **{group: says for dialect in DIALECTS for group, says in dialect.groups.items()},
    "operation": "Pages for operators.",
}
"""Groups of routes, in the order in which they are shown."""

EVERYTHING: Table = {
    **CONFLUENT,
    **NATIVE,
    **{path: methods for dialect in DIALECTS for path, methods in dialect.table.items()},
    **OPERATOR_PAGES,
}

CONSISTENCY = ApiParameter(
    "consistency", "The same as the header `Treaty-Consistency`; takes precedence over it", choices=CONSISTENCIES
)
HEADERS = (
    ApiParameter("Treaty-Position", "The position token of an earlier answer: this answer is not older than that one"),
    ApiParameter(
        "Treaty-Consistency",
        "`latest` (the default, except for schemas by id and guid) reads up to the end of the log first; `strict` is linearizable "
        "even if a deposed leader of Kafka answers, and costs an empty commit; `eventual` answers from memory",
        choices=CONSISTENCIES,
    ),
    ApiParameter(
        "Treaty-Details", "`true` adds the member `treaty` to bodies: facts beyond Confluent's members", "boolean"
    ),
    ApiParameter("X-Request-ID", "An id that the answer and the server's log repeat; generated if absent"),
)
"""Headers that every route reads."""
COMMANDS = (
    ApiParameter("Treaty-Command", "Idempotency key of this change: a retry with the same key has no second effect"),
    ApiParameter(
        "Treaty-Retry",
        "`true` for a retry whose first attempt may still be in progress: the outcome is stored even if nothing changes",
        "boolean",
    ),
)
"""The headers that every route which writes reads beside them."""

EVERYWHERE = (400, 40101, 40301, 404, 405, 406, 429, 500, 503)
"""Codes that any route may answer."""
WITH_BODY = (413, 415, 422)
"""Codes that a route with a body may answer beside them."""
WRITING = (504,)
"""Codes that a route which writes may answer beside them."""


STATUSES_EVERYWHERE = (400, 401, 403, 404, 405, 429, 500, 503)
STATUSES_WITH_BODY = (413, 415)


def dialect_of(path: str) -> ApiDescription | None:
    """Return the dialect that a path belongs to; None for Confluent's, Treaty's own path, and pages."""
    return next((dialect for dialect in DIALECTS if path in dialect.table), None)


def statuses(operation: ApiOperation) -> tuple[int, ...]:
    """Statuses of errors that a route of another dialect may answer, ascending."""
    body = STATUSES_WITH_BODY if operation.sent is not None or operation.sent_as else ()
    writing = WRITING if operation.writes else ()
    return tuple(sorted({*STATUSES_EVERYWHERE, *body, *writing, *operation.errors}))


def codes(operation: ApiOperation) -> tuple[int, ...]:
    """Error codes that a route may answer, ascending by status: its own, and those of every route like it."""
    body = WITH_BODY if operation.sent is not None else ()
    writing = WRITING if operation.writes else ()
    return tuple(sorted({*EVERYWHERE, *body, *writing, *operation.errors}, key=lambda code: (str(code)[:3], code)))
