"""What the server says about itself: root, metadata, contexts, outcomes of commands."""

from importlib.metadata import version as installed

from treaty.api.confluent.exchange import Exchange, Nothing
from treaty.core import requests as q
from treaty.core.names import context_of
from treaty.wire.confluent.listings import ContextBody, OutcomeBody

LEVEL = "8.2.0"
"""The level of Confluent's API that is spoken; clients choose features by it."""
RELEASE = installed("treaty")


async def root(_x: Exchange) -> object:
    """An empty object."""
    return {}


async def cluster(_x: Exchange) -> object:
    """Who this is, in the shape that clients expect of a cluster."""
    clusters = {"kafka-cluster": "", "schema-registry-cluster": "treaty"}
    return {"id": "", "scope": {"path": [], "clusters": clusters}}


async def version(_x: Exchange) -> object:
    """The level of Confluent's API that is spoken, and the release of Treaty."""
    return {"version": LEVEL, "commitId": f"treaty-{RELEASE}"}


async def deployment(_x: Exchange) -> object:
    """No attributes."""
    return {"attributes": []}


async def list_contexts(x: Exchange) -> object:
    """Names of contexts, the default one first, paged."""
    page = x.query.page()
    return (await x.ask(q.ListContexts(x.query.get("contextPrefix") or ""))).names[page]


async def make_context(x: Exchange) -> object:
    """Makes a context before it has a subject, and gives no id up to `highestId` in it; only where the mode lets ids be given."""
    body = await x.body(ContextBody)
    made = await x.ask(q.MakeContext(context_of(x.values[0]), body.highest_id))
    return ContextBody(made.name, made.highest_id)


async def delete_context(x: Exchange) -> object:
    """Forgets an empty context; answers nothing, with 204."""
    await x.ask(q.DeleteContext(context_of(x.values[0])))
    return Nothing()


async def outcome(x: Exchange) -> object:
    """What became of a command of the caller, by its id: its sequence, and the answer it had; 40450 where nobody remembers.

    An administrator names with `principal` whose command it was.
    """
    found = await x.ask(q.GetOutcome(x.values[0], x.query.get("principal")))
    return OutcomeBody(found.command_id, found.sequence, found.result, dict(found.members))
