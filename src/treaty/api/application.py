"""Builds the ASGI application of a worker: all dialects behind one dispatcher, with rights, response cache, metrics and pages."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from treaty.api.auth.api_keys import finder_of
from treaty.api.confluent.dialect import make_confluent_dialect
from treaty.api.confluent.server import LEVEL
from treaty.api.dialects.dialect import DialectApplication
from treaty.api.dispatcher import InternalEndpoint, MountedDialect, RequestDispatcher, RunningNode, by_prefix
from treaty.api.iglu.dialect import make_iglu_dialect
from treaty.api.iglu.exchange import ValidateCall, validate_on_thread
from treaty.api.ksqldb.dialect import make_ksqldb_dialect
from treaty.api.metastore.dialect import make_metastore_dialect
from treaty.api.metrics import ServerMetrics
from treaty.api.native import make_native_dialect
from treaty.api.network.hosts import ANY_HOST, AllowedHosts
from treaty.api.openapi import cached_pages
from treaty.api.operator_pages import ListOpen, OperatorPages, list_nothing
from treaty.api.pravega.dialect import PRAVEGA
from treaty.api.protection import ActiveProtection
from treaty.api.response_cache import ResponseCache
from treaty.api.schemarepo.dialect import CONFIG, SCHEMA_REPO
from treaty.core.limits import HOT_BLOCKS
from treaty.core.registry import AsyncRegistry
from treaty.metastore.records.destinations import RecordDestinations
from treaty.metastore.records.steps import RecordDestination
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.iglu.documents import DEFAULT_IGLU, IgluSettings

MountPages = Callable[[AsyncRegistry], MountedDialect]
"""Makes the pages for people over a registry that asks with the rights of the caller."""


@dataclass(frozen=True, slots=True)
class ServerApplication:
    """The ASGI application of a worker, and the parts that its server needs."""

    dispatcher: RequestDispatcher
    cache: ResponseCache
    metrics: ServerMetrics
    node: RunningNode = field(repr=False)
    registry: AsyncRegistry = field(repr=False)
    """Asks the node with the rights of the caller."""
    protection: ActiveProtection | None = None

    def with_pages(self, mount: MountPages) -> "ServerApplication":
        """Return the application with pages for people, over the registry of all dialects."""
        pages = mount(self.registry)
        dispatcher = replace(self.dispatcher, mounted={**self.dispatcher.mounted, **by_prefix(pages)}, people=pages)
        return replace(self, dispatcher=dispatcher)


@dataclass(frozen=True, slots=True)
class ServerParts:
    """What APIs need of the server around them.

    `validate_value` validates values for Iglu's API: a server does it in its pool. `destination` takes the records of INSERT.
    `list_open` returns what of the server's project is not there yet.
    """

    validate_value: ValidateCall = validate_on_thread
    destination: RecordDestination | None = None
    list_open: ListOpen = list_nothing


DEFAULT_PARTS = ServerParts()


def build_application(
    node: RunningNode,
    metrics: ServerMetrics | None = None,
    cache: ResponseCache | None = None,
    protection: ActiveProtection | None = None,
    *,
    incompatible: int = INCOMPATIBLE,
    internal: InternalEndpoint | None = None,
    hosts: AllowedHosts = ANY_HOST,
    iglu: IgluSettings = DEFAULT_IGLU,
    parts: ServerParts = DEFAULT_PARTS,
) -> ServerApplication:
    """Build the application over a running node; commits of the node clear the response cache.

    With `protection`, dialects use the node through it. `incompatible` is the error code for incompatible schemas.
    `internal` is the endpoint for peer nodes. `hosts` are the allowed hosts of requests. `iglu` has the settings of Iglu's
    API. `parts` are those that a server has and a test has not.
    """
    metrics, cache = metrics or ServerMetrics(), cache or ResponseCache()
    node.on_change(cache.empty)
    operator = OperatorPages(
        node, metrics, cache, LEVEL, protection is not None and protection.read_only, parts.list_open
    )
    registry: AsyncRegistry = node
    if protection is not None:
        registry = protection.protect(node)
        if protection.authenticator is not None:
            cache.digest_key, cache.most_blocks = secrets.token_bytes(32), HOT_BLOCKS
            protection.authenticator.forget = cache.forget
            protection.authenticator.find_key = finder_of(node)
    on_records = None if protection is None else protection.on_records
    authenticate = protection.authenticate if protection is not None else None
    repository = DialectApplication(SCHEMA_REPO, registry)
    destination = parts.destination or RecordDestinations()
    dispatcher = RequestDispatcher(
        DialectApplication(make_confluent_dialect(incompatible), registry),
        metrics,
        {**operator.paths(), **cached_pages.CACHED_PAGES},
        authenticate=authenticate,
        internal=internal,
        hosts=hosts,
        mounted=by_prefix(
            DialectApplication(make_native_dialect(incompatible), registry),
            DialectApplication(PRAVEGA, registry),
            DialectApplication(make_metastore_dialect(destination, on_records), registry),
            DialectApplication(make_ksqldb_dialect(destination, on_records), registry),
            repository,
            DialectApplication(make_iglu_dialect(iglu, parts.validate_value), registry),
        ),
        as_text={CONFIG: repository},
        pages_as_text=operator.paths_as_text(),
    )
    return ServerApplication(dispatcher, cache, metrics, node, registry, protection)
