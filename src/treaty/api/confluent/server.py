"""Endpoints of what the server says about itself (root, metadata), of contexts, and of outcomes of commands."""

from treaty.api.confluent.exchange import ConfluentExchange, NoContent, SeeOther
from treaty.api.confluent.parameters import PAGE
from treaty.api.dialects.description import ApiAnswer, ApiOperation, ApiParameter, Schema, Table
from treaty.core.messages.contexts import DeleteContext, ListContexts, MakeContext
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.names import context_of
from treaty.distribution import VERSION
from treaty.wire.confluent.headers import wants_page
from treaty.wire.confluent.listings import ContextBody, OutcomeBody

LEVEL = "8.2.0"
"""The level of Confluent's API that is spoken; clients choose features by it."""
RELEASE = VERSION


async def root(x: ConfluentExchange) -> object:
    """An empty object. A browser, which accepts HTML, is redirected to `/docs` with status 303."""
    is_read = x.http.method in {"GET", "HEAD"}
    return SeeOther("/docs") if is_read and wants_page(x.http.headers.get("accept", "")) else {}


async def cluster(_x: ConfluentExchange) -> object:
    """The identity of the registry, in the form of a cluster id."""
    clusters = {"kafka-cluster": "", "schema-registry-cluster": "treaty"}
    return {"id": "", "scope": {"path": [], "clusters": clusters}}


async def version(_x: ConfluentExchange) -> object:
    """The supported level of Confluent's API, and the version of Treaty."""
    return {"version": LEVEL, "commitId": f"treaty-{RELEASE}"}


async def deployment(_x: ConfluentExchange) -> object:
    """No attributes."""
    return {"attributes": []}


async def list_contexts(x: ConfluentExchange) -> object:
    """Names of contexts, the default one first, paged."""
    page = x.query.page()
    return (await x.registry.ask(ListContexts(x.query.get("contextPrefix") or ""))).names[page]


async def make_context(x: ConfluentExchange) -> object:
    """Creates an empty context, in which no id up to `highestId` is assigned; needs the mode IMPORT."""
    body = await x.body(ContextBody)
    context = await x.registry.ask(MakeContext(context_of(x.values[0]), body.highest_id))
    return ContextBody(context.name, context.highest_id)


async def delete_context(x: ConfluentExchange) -> object:
    """Deletes an empty context; answers 204 without a body."""
    await x.registry.ask(DeleteContext(context_of(x.values[0])))
    return NoContent()


async def outcome(x: ConfluentExchange) -> object:
    """The stored result of a command of the caller: its sequence and its answer; 40450 if the id is unknown.

    Administrators name the principal of the command with `principal`.
    """
    stored = await x.registry.ask(GetOutcome(x.values[0], x.query.get("principal")))
    return OutcomeBody(stored.command_id, stored.sequence, stored.result, dict(stored.members))


_EMPTY: Schema = {"type": "object", "maxProperties": 0}
_ROOT = ApiOperation(root, "server", ApiAnswer("An empty object", schema=_EMPTY, example={}))


def _object(**members: Schema) -> Schema:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


_TEXT: Schema = {"type": "string"}
_CLUSTERS = _object(**{"kafka-cluster": _TEXT, "schema-registry-cluster": _TEXT})
_SCOPE = _object(path={"type": "array", "items": _TEXT}, clusters=_CLUSTERS)

ROUTES: Table = {
    "/contexts": {
        "GET": ApiOperation(
            list_contexts,
            "contexts",
            ApiAnswer("Names; `.` is the default context", list[str], example=[".", ".staging"]),
            query=(ApiParameter("contextPrefix", "Prefix of the names", example=".st"), *PAGE),
        )
    },
    "/contexts/{}": {
        "DELETE": ApiOperation(
            delete_context,
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
            cluster,
            "server",
            ApiAnswer(
                "The cluster",
                schema=_object(id=_TEXT, scope=_SCOPE),
                example={
                    "id": "",
                    "scope": {"path": [], "clusters": {"kafka-cluster": "", "schema-registry-cluster": "treaty"}},
                },
            ),
        )
    },
    "/v1/metadata/version": {
        "GET": ApiOperation(
            version,
            "server",
            ApiAnswer(
                "The versions",
                schema=_object(version=_TEXT, commitId=_TEXT),
                example={"version": "8.2.0", "commitId": "treaty-0.1.0"},
            ),
        )
    },
    "/v1/metadata/deployment": {
        "GET": ApiOperation(
            deployment,
            "server",
            ApiAnswer(
                "An empty list",
                schema=_object(attributes={"type": "array", "items": _TEXT, "maxItems": 0}),
                example={"attributes": []},
            ),
        )
    },
    "/treaty/contexts/{}": {
        "PUT": ApiOperation(
            make_context,
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
            outcome,
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
