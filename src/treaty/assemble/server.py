"""A member becomes a server: what is in its way, where it listens, which of several workers it is."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from treaty.api.application import MountPages, ServerParts, build_application
from treaty.api.auth.authentication import refuse_unusable_rights
from treaty.api.auth.sessions import SessionCookies
from treaty.api.auth.watched_file import AuthFileError
from treaty.api.dispatcher import MountedDialect, RunningNode
from treaty.api.http_server import ListenerSettings
from treaty.api.http_server import serve as serve_application
from treaty.api.metrics import ServerMetrics
from treaty.api.network.hosts import AllowedHosts, host_of
from treaty.api.operator_pages import RELEASE
from treaty.api.peer import PeerEndpoint
from treaty.api.protection import STDERR, ActiveProtection, ProtectionSettings, open_protection
from treaty.api.tls import TlsError, TlsFiles
from treaty.assemble.page_settings import DEFAULT_PAGES, LazyPages, PageSettings
from treaty.assemble.peers import NO_PEERS, PeerSettings, address_of, authenticator_of, transport_of
from treaty.assemble.reach import is_loopback
from treaty.assemble.runtime import UNUSABLE_ERRORS, index_builder, open_node
from treaty.assemble.search import keep_index, place_index
from treaty.assemble.topic_reconciler import TopicReconciler
from treaty.core.kafka import KafkaCluster
from treaty.core.registry import AsyncRegistry
from treaty.core.urls import split_server_url
from treaty.formats.registry import find_formats
from treaty.log.urls import DEFAULT_OPTIONS as PLAIN_TERMS
from treaty.log.urls import LogOptions
from treaty.metastore.project.start import ProjectStart, ProjectStartError
from treaty.metastore.records.destinations import RecordDestinations
from treaty.node.node import Node
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.iglu.documents import DEFAULT_IGLU, IgluSettings

HOPELESS_ERRORS = (*UNUSABLE_ERRORS, AuthFileError, TlsError, ProjectStartError)
"""Errors that a restart cannot resolve."""
GARBAGE = 5_000, 3, 1_300
"""When a server collects garbage: after so many objects, so many young collections, and so many middle ones.

A collection stops the event loop while it walks the objects that were made since the one before. Python's own 700 walk
rows too often, which stay for good. Ten times as many objects as these take more than 40 ms.
"""


def check_files(protection: ProtectionSettings, tls: TlsFiles | None) -> None:
    """Check the files of rights and TLS; raises `AuthFileError` or `TlsError`."""
    if tls is not None:
        tls.context()
    if protection.auth is not None:
        refuse_unusable_rights(protection.auth, certificates=tls is not None and tls.client_ca is not None)


def allowed_hosts(listening: ListenerSettings, protection: ProtectionSettings, peering: PeerSettings) -> AllowedHosts:
    """Return the allowed hosts of requests; limited for a server without authentication on a loopback address."""
    advertised = split_server_url(peering.advertise).hostname
    names = {host_of(one) for one in (*listening.hosts, advertised or "")} - {""}
    is_guarded = protection.auth is None and is_loopback(listening.socket.getsockname()[0])
    return AllowedHosts(frozenset(names), is_guarded)


def load_formats() -> None:
    """Import all formats at the start, because a later request may find no free file descriptor."""
    formats = find_formats()
    for name in formats.names:
        formats.find(name)


def ignore_ready() -> None:
    """Ignore that the server is ready."""


@dataclass(frozen=True, slots=True)
class WorkerSlot:
    """The number of this worker, and the folder of shared metrics."""

    worker: int = 0
    board: Path | None = None


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of a server.

    `incompatible` is the error code of an incompatible schema: `INCOMPATIBLE`, or 409 as in Confluent's servers before
    8.0. `metadata_keys` is a key file for sensitive metadata. `peering` has the options for peer nodes, `iglu` those of
    Iglu's API.
    """

    incompatible: int = INCOMPATIBLE
    metadata_keys: Path | None = None
    peering: PeerSettings = NO_PEERS
    iglu: IgluSettings = DEFAULT_IGLU
    clusters: tuple[tuple[str, KafkaCluster], ...] = ()
    """Kafka clusters of sources by name."""
    files: Path | None = None
    """The root of folders of files."""
    project: ProjectStart | None = None
    """What the server applies to the metastore before it listens."""
    pages: PageSettings = DEFAULT_PAGES
    search: bool = True
    """Whether there is a search index."""


DEFAULT_OPTIONS = ServerOptions()
ONLY_WORKER = WorkerSlot()
UNPROTECTED = ProtectionSettings()


def pages_over(
    node: RunningNode,
    settings: PageSettings,
    protection: ProtectionSettings,
    active: ActiveProtection | None,
    metrics: ServerMetrics | None = None,
) -> MountPages | None:
    """Return what makes the pages for people over a node; None where they are off. Raises `AuthFileError`.

    `metrics` have the numbers of the other workers.
    """
    if not settings.enabled:
        return None
    sessions = SessionCookies(settings.read_key())
    authenticator = None if active is None else active.authenticator
    if authenticator is not None:
        authenticator.sessions = sessions

    def load(registry: AsyncRegistry) -> MountedDialect:
        from treaty.assemble.mounted_pages import MountedPages  # noqa: PLC0415 (see LazyPages)
        from treaty.assemble.page_facts import fetch_status, tail_of  # noqa: PLC0415
        from treaty.web.pages.application import PageApplication  # noqa: PLC0415
        from treaty.web.pages.page import LeadingNode, ServerFacts  # noqa: PLC0415

        path = protection.audit
        audit = None if path is None or path == STDERR else tail_of(path)

        async def find_leader() -> LeadingNode | None:
            leader = await node.leader() if isinstance(node, Node) else None
            return None if leader is None else LeadingNode(leader.address, leader.is_own)

        server = ServerFacts(
            RELEASE,
            node.status,
            read_only=protection.read_only,
            audit=audit,
            workers=None if metrics is None else metrics.workers,
            leader=find_leader,
            runner_status=fetch_status,
        )
        return MountedPages(PageApplication(server), registry, sessions, authenticator)

    return lambda registry: LazyPages(partial(load, registry))


async def serve(
    url: str,
    listening: ListenerSettings,
    *,
    sharing: WorkerSlot = ONLY_WORKER,
    protection: ProtectionSettings = UNPROTECTED,
    manner: ServerOptions = DEFAULT_OPTIONS,
    state: Path | None = None,
    terms: LogOptions = PLAIN_TERMS,
    ready: Callable[[], None] = ignore_ready,
) -> int:
    """Run a worker of a server until it is stopped; return its exit code.

    All workers read the state file, which the first one writes. `ready` is called when the log is open. Raises
    `AuthFileError`, `TlsError` or `PeeringError` for an unusable file, and `ProjectStartError` or `ProjectUnavailableError` for
    a project that can't be applied.
    """
    gc.set_threshold(*GARBAGE)
    load_formats()
    check_files(protection, listening.tls)
    place: tuple[str, int] = listening.socket.getsockname()[:2]
    own = 0 if listening.own is None else listening.own.getsockname()[1]
    peering, tls = manner.peering, listening.tls
    authenticator = authenticator_of(peering)
    indexed = place_index(state, sharing.board, sharing.worker, enabled=manner.search)
    opened = open_node(
        url,
        state=state,
        writes_state=sharing.worker == 0,
        metadata_keys=manner.metadata_keys,
        terms=replace(terms, address=address_of(peering, place, tls, own)),
        transport=transport_of(peering, tls),
        alone=sharing.board is None and is_loopback(place[0]),
        index=None if indexed is None else indexed.file,
    )
    destination = RecordDestinations(dict(manner.clusters), manner.files)
    async with (
        open_protection(protection) as active,
        opened as node,
        _applied_project(manner.project, node),
        keep_index(indexed, node, None if state is None else index_builder(url, state, terms)),
    ):
        metrics = ServerMetrics(sharing.board, sharing.worker)
        internal = None if authenticator is None else PeerEndpoint(node.take, authenticator)
        hosts = allowed_hosts(listening, protection, peering)
        app = build_application(
            node,
            metrics,
            protection=active,
            incompatible=manner.incompatible,
            internal=internal,
            hosts=hosts,
            iglu=manner.iglu,
            parts=ServerParts(
                node.validate_value, destination, lambda: {} if manner.project is None else manner.project.open
            ),
        )
        pages = pages_over(node, manner.pages, protection, active, metrics)
        app = app if pages is None else app.with_pages(pages)
        ready()
        gc.collect()
        gc.freeze()  # what was loaded to start stays for good, and is not looked through again
        async with _reconciled_topics(node, manner.clusters if sharing.worker == 0 else (), metrics):
            with closing(destination):
                await serve_application(app, listening)
    return 0


@asynccontextmanager
async def _reconciled_topics(
    node: Node, clusters: Sequence[tuple[str, KafkaCluster]], metrics: ServerMetrics
) -> AsyncIterator[None]:
    """In the block topics of the clusters become what the sources over them say."""
    if not clusters:
        yield
        return
    reconciling = asyncio.create_task(
        TopicReconciler(node, dict(clusters), tell_open=lambda count: metrics.set_gauge("topics_open", count)).run(),
        name="topics",
    )
    try:
        yield
    finally:
        reconciling.cancel()
        await asyncio.gather(reconciling, return_exceptions=True)


@asynccontextmanager
async def _applied_project(project: ProjectStart | None, node: Node) -> AsyncIterator[None]:
    """Apply the project of a server before the block; in the block its queries are tried until a planner is there."""
    if project is None:
        yield
        return
    await project.apply(node)
    trying = asyncio.create_task(project.finish(node))
    try:
        yield
    finally:
        trying.cancel()
        await asyncio.gather(trying, return_exceptions=True)


def new_loop() -> asyncio.AbstractEventLoop:
    """A fresh event loop: uvloop's, where there is one."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop  # noqa: PLC0415 (does not exist for Windows)

    return uvloop.new_event_loop()
