"""What the server says about itself: root, metadata, contexts, outcomes of commands."""

from treaty.api.confluent.request_context import NoContent, RequestContext, SeeOther
from treaty.core import requests as q
from treaty.core.names import context_of
from treaty.distribution import VERSION
from treaty.wire.confluent.listings import ContextBody, OutcomeBody

LEVEL = "8.2.0"
"""The level of Confluent's API that is spoken; clients choose features by it."""
RELEASE = VERSION


async def root(_x: RequestContext) -> object:
    """An empty object. A browser, which accepts HTML, is redirected to `/docs` with status 303."""
    return {}


async def show_docs(_x: RequestContext) -> object:
    """Redirects to the description of the interface."""
    return SeeOther("/docs")


async def cluster(_x: RequestContext) -> object:
    """The identity of the registry, in the form of a cluster id."""
    clusters = {"kafka-cluster": "", "schema-registry-cluster": "treaty"}
    return {"id": "", "scope": {"path": [], "clusters": clusters}}


async def version(_x: RequestContext) -> object:
    """The supported level of Confluent's API, and the version of Treaty."""
    return {"version": LEVEL, "commitId": f"treaty-{RELEASE}"}


async def deployment(_x: RequestContext) -> object:
    """No attributes."""
    return {"attributes": []}


async def list_contexts(x: RequestContext) -> object:
    """Names of contexts, the default one first, paged."""
    page = x.query.page()
    return (await x.ask(q.ListContexts(x.query.get("contextPrefix") or ""))).names[page]


async def make_context(x: RequestContext) -> object:
    """Creates an empty context, in which no id up to `highestId` is assigned; needs the mode IMPORT."""
    body = await x.body(ContextBody)
    made = await x.ask(q.MakeContext(context_of(x.values[0]), body.highest_id))
    return ContextBody(made.name, made.highest_id)


async def delete_context(x: RequestContext) -> object:
    """Deletes an empty context; answers 204 without a body."""
    await x.ask(q.DeleteContext(context_of(x.values[0])))
    return NoContent()


async def outcome(x: RequestContext) -> object:
    """The stored result of a command of the caller: its sequence and its answer; 40450 if the id is unknown.

    Administrators name the principal of the command with `principal`.
    """
    found = await x.ask(q.GetOutcome(x.values[0], x.query.get("principal")))
    return OutcomeBody(found.command_id, found.sequence, found.result, dict(found.members))
