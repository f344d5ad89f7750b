"""The table of all routes: every path of the dialect has its entry, and a test says where one is missing."""

from collections.abc import Mapping

from treaty.api.confluent.openapi import associations, schemas, server, settings, subjects
from treaty.api.confluent.openapi.parts import ApiOperation, Parameter, Table
from treaty.core.registry import CONSISTENCIES

GROUPS: Mapping[str, str] = {
    "subjects": "A subject is a name under which versions of a schema follow each other.",
    "schemas": "Schemas by their id, which records carry, or by their guid.",
    "compatibility": "Would a schema be taken? Nothing is written.",
    "config": "Compatibility and defaults of a subject, a context, or everything.",
    "mode": "What a subject, a context, or everything takes now: `READWRITE`, `READONLY`, `IMPORT`, `FORWARD`.",
    "contexts": "Contexts are registries beside each other in one: ids and names are theirs alone.",
    "associations": "Which subject a topic's keys or values are under.",
    "server": "What the server says of itself to clients.",
    "operation": "Pages for those who run the server.",
}
"""Groups of routes, in the order in which they are shown."""

TABLE: Table = {**subjects.TABLE, **schemas.TABLE, **settings.TABLE, **server.TABLE, **associations.TABLE}
"""Routes of the dialect."""

NATIVE = server.NATIVE
PAGES = server.PAGES
EVERYTHING: Table = {**TABLE, **NATIVE, **PAGES}

CONSISTENCY = Parameter(
    "consistency", "The same as the header `Treaty-Consistency`, which it wins over", choices=CONSISTENCIES
)
HEADERS = (
    Parameter("Treaty-Position", "Position token of an earlier answer: this answer is not older"),
    Parameter(
        "Treaty-Consistency",
        "`latest` looks at the end of the log first, as all reads do but those of schemas by id and guid; `strict` waits "
        "for an append that proves that this was the end (on Kafka), `eventual` answers from memory",
        choices=CONSISTENCIES,
    ),
    Parameter(
        "Treaty-Details",
        "`true` asks for the member `treaty` in bodies: what is known beyond the established members",
        "boolean",
    ),
    Parameter(
        "X-Request-ID", "Comes back with the answer, and stands in the server's log; made up where it is not sent"
    ),
)
"""Headers that every route reads."""
COMMANDS = (
    Parameter("Treaty-Command", "Id of this change: sent again with the same id it is done once"),
    Parameter(
        "Treaty-Retry",
        "`true` for a command that was sent before and may still be pending: its outcome is stored, even where it changes nothing",
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


def codes(operation: ApiOperation) -> tuple[int, ...]:
    """Error codes that a route may answer, ascending by status: its own, and those of every route like it."""
    body = WITH_BODY if operation.sent is not None else ()
    writing = WRITING if operation.writes else ()
    return tuple(sorted({*EVERYWHERE, *body, *writing, *operation.errors}, key=lambda code: (str(code)[:3], code)))
