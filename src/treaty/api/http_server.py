"""One worker runs the application on a listening socket until it is stopped: it closes idle connections (KEEP_ALIVE_SECONDS), drains requests at its
end (DRAIN_SECONDS) and writes its metrics (`_beat`).
"""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import ssl
from collections.abc import Generator
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from treaty.api.application import ServerApplication
from treaty.api.metrics import HELP, ServerMetrics
from treaty.api.network.addresses import NO_PROXIES, TrustedProxies
from treaty.api.network.caching_protocol import CachingProtocol, is_supported, make_protocol
from treaty.api.network.connections import ConnectionTable
from treaty.api.network.descriptors import make_room
from treaty.api.network.hosts import is_loopback
from treaty.api.response_cache import ResponseCache
from treaty.api.tls import ShownCertificate, TlsFiles
from treaty.node.status import LogReporter, Status

log = logging.getLogger("treaty.server")

DRAIN_SECONDS = 15
"""Seconds for requests in flight when the server stops."""
KEEP_ALIVE_SECONDS = 65
"""Seconds until an idle connection is closed: longer than in common proxies, so that these close first."""
RENEW_SECONDS = 5.0
"""Seconds between two checks for a renewed certificate."""
HTTPS_PORT = 443
HSTS = ("strict-transport-security", "max-age=31536000")
BEAT_SECONDS = 1.0
"""Seconds between two beats of a worker: it writes gauges, checks its parent process, and checks for clients that are
slow or gone.
"""
HANDSHAKE_SECONDS = 10.0
"""Time-out of the TLS handshake, in seconds."""
TURN_CONNECTIONS = 500
"""Connections that are looked at in one turn of the loop."""


Socket = socket.socket


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    """How a worker listens."""

    socket: Socket
    access_log: bool = False
    parent: int = 0
    """Process that started this worker; the worker stops when it is gone. 0: none."""
    tls: TlsFiles | None = None
    own: Socket | None = None
    """One more socket, that leads to this very worker and to none of its siblings."""
    proxies: TrustedProxies = NO_PROXIES
    """Proxies that say in ``X-Forwarded-For`` whom they ask for."""
    hosts: tuple[str, ...] = ()
    """Names that the server may be asked under, beside those of this machine."""
    hsts: bool = False
    """With TLS, send ``Strict-Transport-Security`` from any address and port, not from port 443 alone."""


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling: the worker closes its member before it goes.

    A client that does not agree on TLS holds a descriptor for some seconds, and not for uvicorn's minute.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen on sockets that are open."""
        await self.lifespan.startup()
        loop, config = asyncio.get_running_loop(), self.config
        kind = cast("type[HttpToolsProtocol]", config.http_protocol_class)
        seconds = HANDSHAKE_SECONDS if config.ssl else None

        def connect() -> HttpToolsProtocol:
            return kind(config, self.server_state, self.lifespan.state, loop)

        self.servers = [
            await loop.create_server(
                connect, sock=listener, ssl=config.ssl, backlog=config.backlog, ssl_handshake_timeout=seconds
            )
            for listener in sockets or ()
        ]
        self.started = True

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals alone."""
        yield


async def serve(
    application: ServerApplication, listening: ListenerSettings, stopping: asyncio.Event | None = None
) -> None:
    """Serve until SIGTERM, SIGINT or `stopping`, then let running requests end."""
    room, proxies = make_room(), listening.proxies
    table = ConnectionTable(asyncio.get_running_loop().time, most=room.connections, is_shared=proxies.covers)
    config = uvicorn.Config(
        application.dispatcher,
        http=_protocol(application, table, access_log=listening.access_log),
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,  # the gate writes them, with what it knows
        server_header=False,
        headers=_transport_headers(listening),
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies.texts(),
        backlog=room.backlog,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    config.load()
    if listening.tls is not None:
        config.ssl = listening.tls.context()
    server, stopping = _Server(config), stopping or asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    works = (
        _beat(application, table, listening, stopping),
        _end(server, stopping, is_worker=bool(listening.parent)),
        _close_slow_connections(server, table),
        _renew(listening, config.ssl),
    )
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await server.serve(sockets=[listener for listener in (listening.socket, listening.own) if listener is not None])
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
        for other in tasks:
            other.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _transport_headers(listening: ListenerSettings) -> list[tuple[str, str]]:
    """Return the headers of every answer. The one that has browsers use TLS alone holds for all ports of a host."""
    if listening.tls is None:
        return []
    address, port = listening.socket.getsockname()[:2]
    return [HSTS] if listening.hsts or is_whole_host(str(address), port) else []


def is_whole_host(address: str, port: int) -> bool:
    """Whether a server with TLS there is what browsers reach under the host's name: others reach it, and no port is
    written.
    """
    return port == HTTPS_PORT and not is_loopback(address)


async def _end(server: uvicorn.Server, stopping: asyncio.Event, *, is_worker: bool) -> None:
    await stopping.wait()
    if not is_worker:  # the process that started the workers says it once for all
        log.info("stopping: requests that are being answered have %d s to end", DRAIN_SECONDS)
    server.should_exit = True


async def _renew(listening: ListenerSettings, context: ssl.SSLContext | None) -> None:
    """Show new connections the certificate that is in the files, when it is renewed."""
    tls = listening.tls
    if tls is None or context is None:
        return
    certificate = ShownCertificate(tls, context)
    while True:
        await asyncio.sleep(RENEW_SECONDS)
        certificate.refresh()


async def _close_slow_connections(server: uvicorn.Server, table: ConnectionTable) -> None:
    """Close connections whose peers take too long to ask or have left, and cut off those that leave answers unread."""
    reported = 0, 0, 0
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        for place, connection in enumerate(tuple(server.server_state.connections), 1):
            if isinstance(connection, CachingProtocol):
                if connection.is_abandoned():
                    connection.abort()
                elif connection.is_overdue():
                    connection.transport.close()
                table.note_unread(connection)
            if place % TURN_CONNECTIONS == 0:
                await asyncio.sleep(0)
        table.relieve()
        counted = table.refused, table.closed, table.cut_off
        if counted != reported:
            refused, closed, cut_off = (now - before for now, before in zip(counted, reported, strict=True))
            log.warning(
                "connections: %d refused and %d closed for want of room (limits CONNECTIONS and CONNECTIONS_EACH), "
                "%d cut off with unread answers (limits UNREAD_SECONDS and UNREAD_BYTES); %d are open",
                refused, closed, cut_off, table.count,
            )  # fmt: skip
            reported = counted


def _protocol(application: ServerApplication, table: ConnectionTable, *, access_log: bool) -> type[HttpToolsProtocol]:
    """The protocol with the response cache, which keeps nothing where each request has to be logged; uvicorn's if it
    has changed.
    """
    digest_key = application.cache.digest_key
    probe = uvicorn.Config(application.dispatcher, ws="none", lifespan="off", log_config=None)
    sample = HttpToolsProtocol(probe, ServerState(), {})
    if is_supported(CachingProtocol, sample):
        return make_protocol(ResponseCache(limit=0, digest_key=digest_key) if access_log else application.cache, table)
    if digest_key:
        raise RuntimeError(
            "this uvicorn does not report the certificates of clients; install the version that Treaty requires"
        )
    log.warning("unsupported version of uvicorn: the response cache is off, and connections have no limits")
    return HttpToolsProtocol


async def _beat(
    application: ServerApplication, table: ConnectionTable, listening: ListenerSettings, stopping: asyncio.Event
) -> None:
    metrics, protection, reporter = (
        application.metrics,
        application.protection,
        LogReporter(is_known=application.metrics.worker > 0),
    )
    while True:
        metrics.set_cache_hits(application.cache.hits)
        metrics.set_counter("clients_gone", metrics.gone)
        metrics.set_counter("connections_refused", table.refused)
        metrics.set_counter("connections_closed", table.closed)
        metrics.set_counter("connections_cut_off", table.cut_off)
        metrics.set_gauge("connections", table.count)
        metrics.set_gauge("unread_bytes", table.unread_bytes)
        if protection is not None and protection.authenticator is not None:
            metrics.set_counter("credentials_refused", protection.authenticator.refused)
        if protection is not None and protection.audit_file is not None:
            metrics.set_counter("audit_lines", protection.audit_file.written)
            metrics.set_counter("audit_lost", protection.audit_file.lost)
        metrics.set_gauge("in_flight", metrics.in_flight)
        status = application.node.status()
        record_status(metrics, status, is_closed=protection is not None and protection.read_only)
        if isinstance(status, Status):
            reporter.report(status)
        if listening.parent and os.getppid() != listening.parent:
            log.warning("the parent process has ended; stopping")
            stopping.set()
            return
        await asyncio.sleep(BEAT_SECONDS)


def record_status(metrics: ServerMetrics, status: object, *, is_closed: bool) -> None:
    """Put the numbers of a node into the metrics of its worker. `is_closed`: the server was started with ``--read-only``."""
    for name, value in _gauges(status).items():
        metrics.set_gauge(name, value)
    for name, number in _counts(status).items():
        metrics.set_counter(f"node_{name}", number)
    if isinstance(status, Status):
        metrics.set_gauge("read_only", is_closed or bool(status.read_only or status.refusing or status.trouble))


_YES = {"refusing": "refusing", "trouble": "trouble", "root_found": "wrong_root"}
"""Gauges that are 1 where a text in the status is not empty, by the name of its member."""


def _counts(status: object) -> dict[str, int]:
    """Return what a node has counted since its start."""
    return asdict(status.counts) if isinstance(status, Status) else {}


def _gauges(status: object) -> dict[str, float]:
    """Return the numbers of a status that may fall: its own, and those of what it keeps. What it has counted are totals."""
    if not is_dataclass(status):
        return {}
    gauges: dict[str, float] = {}
    for member in fields(status):
        value = getattr(status, member.name)
        if isinstance(value, int | float) and member.name in HELP:
            gauges[member.name] = float(value)
        elif isinstance(value, str) and member.name in _YES:
            gauges[_YES[member.name]] = float(bool(value))
        elif is_dataclass(value) and member.name != "counts":
            gauges |= _gauges(value)
    return gauges
