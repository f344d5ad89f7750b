"""What the server says about itself: root, metadata, contexts, associations, outcomes of commands."""

from importlib.metadata import version as installed

from treaty.api.confluent.exchange import Exchange, Nothing
from treaty.core import requests as q
from treaty.core.names import context_of
from treaty.wire.confluent.listings import OutcomeBody

LEVEL = "8.2.0"
"""The level of Confluent's API that is spoken; clients choose features by it."""
RELEASE = installed("treaty")


async def root(_x: Exchange) -> object:
    """``GET /`` and ``POST /``."""
    return {}


async def cluster(_x: Exchange) -> object:
    """``GET /v1/metadata/id``."""
    clusters = {"kafka-cluster": "", "schema-registry-cluster": "treaty"}
    return {"id": "", "scope": {"path": [], "clusters": clusters}}


async def version(_x: Exchange) -> object:
    """``GET /v1/metadata/version``."""
    return {"version": LEVEL, "commitId": f"treaty-{RELEASE}"}


async def deployment(_x: Exchange) -> object:
    """``GET /v1/metadata/deployment``."""
    return {"attributes": []}


async def list_contexts(x: Exchange) -> object:
    """``GET /contexts``."""
    page = x.query.page()
    return (await x.ask(q.ListContexts(x.query.get("contextPrefix") or ""))).names[page]


async def delete_context(x: Exchange) -> object:
    """``DELETE /contexts/{context}``."""
    await x.ask(q.DeleteContext(context_of(x.values[0])))
    return Nothing()


async def no_associations(_x: Exchange) -> object:
    """``GET /associations/…``: there are none, and an empty list makes clients name subjects after topics."""
    return ()


async def outcome(x: Exchange) -> object:
    """``GET /treaty/outcome/{command}``: what became of a command."""
    found = await x.ask(q.GetOutcome(x.values[0]))
    return OutcomeBody(found.command_id, found.sequence, found.result, dict(found.members))
