"""Builds a running node from the URL of a log, and opens registries.

The choices of a deployment (log, schema service, clock) are made here and nowhere else.
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from treaty.assemble.reach import PeeringError
from treaty.client.properties import resolve_registry
from treaty.client.settings import ClientSettings
from treaty.core.registry import AsyncRegistry, CallOptions, Registry
from treaty.core.schema_engine import SearchIndex
from treaty.core.urls import hide_credentials, split_url
from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.urls import DEFAULT_OPTIONS, LogOptions, LogUrlError, list_log_topics, open_log
from treaty.node.embedded import AsyncEmbeddedRegistry, EmbeddedRegistry
from treaty.node.encryption import NO_KEYS, KeyFileError, MetadataCipher, read_keys
from treaty.node.environment import real_environment
from treaty.node.node import Node
from treaty.node.peer_batches import PeerTransport
from treaty.node.schema_service import make_process_service, make_thread_service
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.manager import StateFileManager, Write

if TYPE_CHECKING:
    from treaty.client.async_connection import AsyncConnection
    from treaty.client.connection import Connection
    from treaty.metastore import AsyncMetastore, Metastore
    from treaty.web.index.maintenance import Build

journal = logging.getLogger("treaty.node")

UNUSABLE_ERRORS = (LogUrlError, LogDamagedError, KeyFileError, PeeringError)
"""Errors that a retry cannot resolve."""
PASSING_ERRORS = (LogUnavailableError,)
"""Errors that a later start may resolve."""

_NEEDS_PEERS = "this log has one owner, to which all nodes forward writes, so nodes must authenticate each other: start every node with the same --peer-secret-file FILE, or with --peer-name NAME and certificates"
_NEEDS_ADDRESS = "this log has one owner, to which all nodes forward writes, so nodes must reach each other: set the URL of this node, such as --advertise https://this-machine:8081"


LOG_CONFIG = "TREATY_LOG_CONFIG"
"""The environment variable with settings of the log's client library, one per line."""


def log_environment(url: str, terms: LogOptions) -> dict[str, str]:
    """The environment variables with log and settings for another process; both may contain passwords, so they are no
    arguments.
    """
    return {"TREATY_LOG": url, LOG_CONFIG: "\n".join(f"{name}={value}" for name, value in terms.settings)}


def state_path(url: str) -> Path | None:
    """Return the default state file of a log: next to the database of a SQLite log, else none."""
    parts = split_url(url)
    return Path(f"{unquote(parts.path)}-state") if parts.scheme == "sqlite" else None


def state_writer(url: str, path: Path, terms: LogOptions = DEFAULT_OPTIONS) -> Write:
    """Return the function that writes the state file of a log in a separate process."""

    async def write(background: bool) -> None:  # noqa: FBT001 (it is a `Write`)
        await _write_apart(url, path, terms, ("--low-priority",) if background else ())

    return write


def index_builder(url: str, path: Path, terms: LogOptions = DEFAULT_OPTIONS) -> "Build":
    """Return the function that writes the state file of a log and builds the search index of it in a separate process."""

    async def build() -> None:
        await _write_apart(url, path, terms, ("--low-priority", "--index"))

    return build


async def _write_apart(url: str, path: Path, terms: LogOptions, options: tuple[str, ...]) -> None:
    """Run `treaty log state`; a failure is logged."""
    settings = {**os.environ, **log_environment(url, terms)}  # noqa: TID251 (what it inherits, and more)
    words = ("-m", "treaty.cli.main", "log", "state", "--file", str(path), "--json", *options)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *words, env=settings, stdout=pipe, stderr=pipe)
    try:
        output, trouble = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()  # no child is left over
    if process.returncode:
        journal.warning("the state file was not written: %s", _one_line(trouble) or f"exit code {process.returncode}")
    elif output.strip():
        written = json.loads(output)
        journal.info("state file written: %s rows at sequence %s", f"{written['rows']:,}", written["sequence"])
    else:
        journal.info("the state file: %s", _one_line(trouble))


def _one_line(text: bytes) -> str:
    return " ".join(text.decode(errors="replace").split())


@asynccontextmanager
async def open_node(
    url: str,
    *,
    state: Path | None = None,
    writes_state: bool = False,
    metadata_keys: Path | None = None,
    terms: LogOptions = DEFAULT_OPTIONS,
    transport: PeerTransport | None = None,
    alone: bool = False,
    index: SearchIndex | None = None,
) -> AsyncIterator[Node]:
    """Run a node over the log that a URL names, while the block runs.

    It reads the state file, and with `writes_state` has a new one written when much has changed.
    Sensitive metadata is sealed with the keys of a file, if there is one.
    Searches are answered by `index`, if there is one. The log is opened on `terms`; a `transport` reaches other nodes, unless this one is `alone`.
    Raises `LogUrlError` for a URL that names none, `LogUnavailableError` or `LogDamagedError` where it can't be used,
    `KeyFileError` where the file of keys can't be, `PeeringError` where other nodes must be reached and can't be.
    """
    cipher = cipher_of(metadata_keys)
    try:
        log = await open_log(url, terms)
    except OSError as reason:
        raise LogUnavailableError(f"{hide_credentials(url)}: {reason}") from reason
    if log.single_writer and not alone and (transport is None or not terms.address):
        await log.close()
        raise PeeringError(_NEEDS_PEERS if transport is None else _NEEDS_ADDRESS)
    tables = LayeredTables()
    writer = state_writer(url, state, terms) if state is not None and writes_state else None
    state_files = StateFileManager(state, tables, writer, waits=state is not None)
    state_files.open()
    node = Node(
        log, replace(make_process_service(), index=index), real_environment(), tables, state_files, cipher=cipher, transport=transport,
        log_topics=list_log_topics(url),
    )  # fmt: skip
    await node.start()
    try:
        yield node
    finally:
        await node.close()


def cipher_of(metadata_keys: Path | None) -> MetadataCipher:
    """The keys of a file; none where there is no file. Raises `KeyFileError`."""
    return NO_KEYS if metadata_keys is None else MetadataCipher(read_keys(metadata_keys))


Where = str | Mapping[str, Any] | ClientSettings | None
"""A registry: a URL, settings (a mapping with the names of Confluent's clients), or None for the environment."""


def connect(
    where: Where = None, *, metadata_keys: Path | None = None, log_config: Mapping[str, str] | None = None
) -> "Connection[Metastore]":
    """Connect to a registry: ``http(s)://host:port`` is a server, the URL of a log runs a node in this process.

    ``memory:`` is a registry in memory, ``sqlite:///absolute/path.db`` one in a file. `log_config` has settings of
    librdkafka for a Kafka log (SASL, TLS). Without an argument the environment variables ``TREATY_REGISTRY``,
    ``TREATY_USER`` … are used (`treaty.client.settings.VARIABLES`). A node in this process encrypts sensitive metadata
    with the keys of a file, if given (`KeyFileError`).

    `metastore` of the connection has streams and tables.

    Raises `ValueError` for invalid settings (`LogUrlError` for a URL), `LogUnavailableError` or `LogDamagedError` for
    an unusable log. Close it, or use it with ``with``.
    """
    from treaty.client.connection import Connection  # noqa: PLC0415 (its methods bring the messages of all operations)

    return Connection(
        open_registry(where, metadata_keys=metadata_keys, log_config=log_config), open_metastore=_open_metastore
    )


def open_registry(
    where: Where = None, *, metadata_keys: Path | None = None, log_config: Mapping[str, str] | None = None
) -> Registry:
    """Open the registry that `connect` connects to, without the methods of a connection. Raises as `connect` does."""
    target = resolve_registry(where, os.environ)  # noqa: TID251 (read here, for whoever names no registry)
    if isinstance(target, ClientSettings):
        from treaty.client.http_registry import HttpRegistry  # noqa: PLC0415 (a server needs no client's HTTP)

        remote = HttpRegistry(target)
        if target.cache is None:
            return remote
        from treaty.client.cache import CachedRegistry  # noqa: PLC0415 (as above)

        return CachedRegistry(remote, target.cache)
    cipher = cipher_of(metadata_keys)
    terms = LogOptions(tuple((log_config or {}).items()))
    return EmbeddedRegistry(lambda: _node(target, terms, cipher))


def connect_async(
    where: Where = None, *, log_config: Mapping[str, str] | None = None
) -> "AsyncConnection[AsyncMetastore]":
    """Connect to a registry from an asyncio program: as `connect`, with ``await`` before everything that asks.

    A log is opened by the first request, which raises its errors. Belongs to one event loop; close it, or use it with
    ``async with``.
    """
    from treaty.client.async_connection import AsyncConnection  # noqa: PLC0415 (as in `connect`)

    target = resolve_registry(where, os.environ)  # noqa: TID251 (read here, for whoever names no registry)
    if isinstance(target, ClientSettings):
        from treaty.client.async_cache import AsyncCachedRegistry  # noqa: PLC0415 (as below)
        from treaty.client.async_http_registry import AsyncHttpRegistry  # noqa: PLC0415 (as above)

        remote = AsyncHttpRegistry(target)
        registry = remote if target.cache is None else AsyncCachedRegistry(remote, target.cache)
        return AsyncConnection(registry, open_metastore=_open_async_metastore)
    terms = LogOptions(tuple((log_config or {}).items()))
    return AsyncConnection(AsyncEmbeddedRegistry(lambda: _node(target, terms)), open_metastore=_open_async_metastore)


def _open_metastore(registry: Registry, call: CallOptions) -> "Metastore":
    from treaty.metastore import Metastore  # noqa: PLC0415 (it brings the formats of schemas, which few programs need)

    return Metastore(registry, call)


def _open_async_metastore(registry: AsyncRegistry, call: CallOptions) -> "AsyncMetastore":
    from treaty.metastore import AsyncMetastore  # noqa: PLC0415 (as above)

    return AsyncMetastore(registry, call)


async def _node(url: str, terms: LogOptions = DEFAULT_OPTIONS, cipher: MetadataCipher = NO_KEYS) -> Node:
    """Return an embedded node, which reads a server's state file and writes none."""
    log, state, tables = await open_log(url, terms), state_path(url), LayeredTables()
    state_files = StateFileManager(state, tables)
    state_files.open()
    return Node(
        log, make_thread_service(), real_environment(), tables, state_files, cipher=cipher, log_topics=list_log_topics(url)
    )  # fmt: skip
