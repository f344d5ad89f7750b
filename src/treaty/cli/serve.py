"""`treaty serve`: run a registry on this machine, in one process or several."""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import click

from treaty.api.http_server import ListenerSettings
from treaty.api.workers import HOPELESS, WorkerSupervisor
from treaty.assemble import PASSING_ERRORS, log_environment, open_node, state_path
from treaty.assemble.page_settings import PageSettings
from treaty.assemble.peers import PeerSettings
from treaty.assemble.reach import is_loopback
from treaty.assemble.secret_files import list_warnings, warn_of_unwritable_log
from treaty.assemble.server import (
    DEFAULT_OPTIONS,
    HOPELESS_ERRORS,
    ServerOptions,
    WorkerSlot,
    check_files,
    new_loop,
    serve,
)
from treaty.cli import logging_setup
from treaty.cli.cluster_options import add_server_options, cluster_flags, read_clusters
from treaty.cli.iglu_options import add_iglu_options, iglu_flags
from treaty.cli.listener import find_client_url, open_listener
from treaty.cli.metastore.start_options import (
    DEFAULT_START,
    StartOptions,
    add_start_options,
    read_project,
    read_start_options,
)
from treaty.cli.page_options import add_page_options, page_flags
from treaty.cli.peer_options import add_peer_options, add_worker_secret, peer_flags, refuse_unsafe_options
from treaty.cli.security_options import SecurityOptions, add_security_options, read_security_options
from treaty.cli.terminal import log_config
from treaty.cli.terminal.errors import INTERRUPTED, announce_stop
from treaty.distribution import VERSION
from treaty.log.urls import DEFAULT_OPTIONS as DEFAULT_LOG_OPTIONS
from treaty.log.urls import LogOptions
from treaty.metastore.project.start import ProjectUnavailableError
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.iglu.documents import IgluSettings

T = TypeVar("T")
UNAVAILABLE = 75
"""Exit code if the log cannot be reached."""


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Options of the command line."""

    url: str
    host: str
    port: int
    workers: int
    log_format: str
    access_log: bool
    security: SecurityOptions
    state: Path | None = None
    """The path of the state file."""
    manner: ServerOptions = DEFAULT_OPTIONS
    start: StartOptions = DEFAULT_START
    log_options: LogOptions = DEFAULT_LOG_OPTIONS
    """Arguments for opening the log, beside its URL."""
    log_config: tuple[str, ...] = ()
    """The arguments of ``--log-config``."""
    clusters: tuple[str, ...] = ()
    """The arguments of ``--cluster``."""

    def listen_on(self, shared: socket.socket, parent: int = 0, own: socket.socket | None = None) -> ListenerSettings:
        """Return how a worker listens."""
        security = self.security
        return ListenerSettings(
            shared, self.access_log, parent, security.tls, own, security.proxies, security.hosts, security.hsts
        )


class ServeOptions(TypedDict):
    """The options as click gives them."""

    url: str | None
    log_config: tuple[str, ...]
    host: str
    port: int
    workers: int
    log_format: str
    access_log: bool
    auth: Path | None
    audit: Path | None
    read_only: bool
    tls_cert: Path | None
    tls_key: Path | None
    tls_client_ca: Path | None
    allowed_hosts: tuple[str, ...]
    trusted_proxies: tuple[str, ...]
    hsts: bool
    state_file: Path | None
    metadata_key_file: Path | None
    advertise: str
    peer_secret_file: Path | None
    peer_names: tuple[str, ...]
    peer_ca: Path | None
    peer_port: int
    peer_plaintext: bool
    incompatible_code: str
    iglu_body_bytes: int
    iglu_depth: int
    iglu_patches: bool
    clusters: tuple[str, ...]
    files: Path | None
    no_search: bool
    apply_path: Path | None
    variables: tuple[str, ...]
    ddl: str
    pages: bool
    session_key_file: Path | None
    data_home: str
    worker: tuple[int, int, int, int] | None
    board: Path | None


@click.command("serve")
@click.option(
    "--log",
    "url",
    envvar="TREATY_LOG",
    metavar="URL",
    help="Log of the registry: sqlite:///absolute/path.db, postgresql://user@host/database, "
    "kafka://host:port/topic or memory: (default: a SQLite file in the user's data folder).",
)
@log_config.log_config_option()
@click.option(
    "--bind",
    "--host",
    "host",
    envvar="TREATY_HOST",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. The default accepts connections of this machine only.",
)
@click.option(
    "--port",
    envvar="TREATY_PORT",
    default=8081,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--workers",
    envvar="TREATY_WORKERS",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Number of worker processes that share the port.",
)
@click.option(
    "--state-file",
    envvar="TREATY_STATE_FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="State file: copy of the tables on disk for fast starts, written by the server, shared by its workers, safe to delete (default: next to the database of a SQLite log).",
)
@add_security_options
@add_peer_options
@add_iglu_options
@add_server_options
@add_start_options
@add_page_options
@click.option(
    "--metadata-key-file",
    envvar="TREATY_METADATA_KEY_FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Encrypt sensitive metadata in the log with the first key of this file. Further keys decrypt older values.",
)
@click.option(
    "--incompatible-code",
    envvar="TREATY_INCOMPATIBLE_CODE",
    type=click.Choice([str(INCOMPATIBLE), "409"]),
    default=str(INCOMPATIBLE),
    show_default=True,
    help="Error code for an incompatible schema. Clients of Confluent's servers before 8.0 expect 409.",
)
@click.option(
    "--log-format",
    envvar="TREATY_LOG_FORMAT",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of log lines: text, or one JSON object per line.",
)
@click.option("--access-log", is_flag=True, help="Log every request. This turns the response cache off.")
@click.option("--data-home", envvar="XDG_DATA_HOME", default="~/.local/share", hidden=True)
@click.option("--worker", nargs=4, type=int, hidden=True, help="Index, socket, parent and number of the workers.")
@click.option("--board", type=click.Path(path_type=Path), hidden=True, help="Folder where workers share their metrics.")
def command(**options: Unpack[ServeOptions]) -> None:
    """Run a registry on this machine.

    Without options the log is a SQLite file in your data folder, and the server listens on the loopback address only.
    """
    logging_setup.set_up_logging(as_json=options["log_format"] == "json", lines=options["access_log"])
    serving = ServeSettings(
        options["url"] or log_config.make_default_url(Path(options["data_home"]).expanduser()),
        options["host"],
        options["port"],
        options["workers"],
        options["log_format"],
        options["access_log"],
        read_security_options(
            auth=options["auth"],
            audit=options["audit"],
            read_only=options["read_only"],
            tls_cert=options["tls_cert"],
            tls_key=options["tls_key"],
            tls_client_ca=options["tls_client_ca"],
            allowed_hosts=options["allowed_hosts"],
            trusted_proxies=options["trusted_proxies"],
            hsts=options["hsts"],
            ddl=options["ddl"],
        ),
    )
    start = read_start_options(
        options["apply_path"], options["variables"], options["ddl"], read_only=options["read_only"]
    )
    manner = _read_manner(options, start)
    terms = LogOptions(log_config.parse_log_config(options["log_config"]))
    state = options["state_file"] or state_path(serving.url)
    serving = replace(
        serving, state=state, manner=manner, start=start, log_options=terms, log_config=options["log_config"],
        clusters=options["clusters"],
    )  # fmt: skip
    if options["worker"]:
        index, descriptor, parent, _ = options["worker"]
        shared, own = socket.socket(fileno=descriptor), None
        if manner.peering:  # others must reach this very worker, and not any that shares its port
            own = open_listener(serving.host, manner.peering.port and manner.peering.port + index)
        listening = serving.listen_on(shared, parent, own)
        sharing = WorkerSlot(index, options["board"])
        protection = serving.security.protection
        served = serve(
            serving.url, listening, sharing=sharing, protection=protection, manner=manner, state=state, terms=terms
        )
        sys.exit(_run_server(served))
    if serving.workers > 1 and serving.url.startswith("memory:"):
        raise click.UsageError("workers cannot share a log in memory; use --workers 1, or a SQLite log")
    refuse_unsafe_options(manner.peering, serving.host, serving.security.tls)
    with open_listener(serving.host, serving.port) as listener:
        sys.exit(_serve_alone(serving, listener) if serving.workers == 1 else _serve_with_workers(serving, listener))


def _read_manner(options: ServeOptions, start: StartOptions) -> ServerOptions:
    """Return the options of the server behind the listener; errors of the files of --apply end the program."""
    peering = PeerSettings(
        options["advertise"], options["peer_secret_file"], options["peer_names"], options["peer_ca"], options["peer_port"],
        options["peer_plaintext"],
    )  # fmt: skip
    iglu = IgluSettings(options["iglu_body_bytes"], options["iglu_depth"], options["iglu_patches"])
    manner = ServerOptions(
        int(options["incompatible_code"]), options["metadata_key_file"], peering, iglu, tuple(read_clusters(options["clusters"]).items()),
        options["files"], search=not options["no_search"], pages=PageSettings(options["pages"], options["session_key_file"]),
    )  # fmt: skip
    if start.path is not None and not (options["worker"] and options["worker"][0]):
        manner = replace(manner, project=read_project(start))
    return manner


def format_banner(serving: ServeSettings, listener: socket.socket) -> str:
    """Print the URL, the log and how to stop the server."""
    host, port = listener.getsockname()[:2]
    base, remark = find_client_url(serving.security.scheme, serving.manner.peering.advertise, host, port)
    return "\n".join(
        [
            *serving.security.warnings(host),
            *warn_of_unwritable_log(serving.url, read_only=serving.security.protection.read_only),
            *list_warnings(
                serving.security.protection,
                serving.security.tls,
                serving.manner.metadata_keys,
                [Path(word) for word in serving.log_config if "=" not in word],
            ),
            f"Treaty {VERSION}, {serving.workers} worker{'s' if serving.workers > 1 else ''}",
            f"  serving  {base}",
            *remark,
            f"  log      {serving.url}",
            f"  try      curl {base}/subjects",
            *([f"  pages    {base}/ui"] if serving.manner.pages.enabled else []),
            f"  docs     {base}/docs",
            f"  stop     Ctrl-C, or kill {os.getpid()}",
        ]
    )


def _serve_alone(serving: ServeSettings, listener: socket.socket) -> int:
    listening = serving.listen_on(listener)

    def print_banner() -> None:
        click.echo(format_banner(serving, listener), err=True)

    protection, manner, state = serving.security.protection, serving.manner, serving.state
    terms = serving.log_options
    return _run_server(
        serve(
            serving.url, listening, ready=print_banner, protection=protection, manner=manner, state=state, terms=terms
        )
    )


async def _try_settings(serving: ServeSettings) -> int:
    """Open and close the log and all files before workers start, so that an error is reported once."""
    check_files(serving.security.protection, serving.security.tls)
    manner = serving.manner
    is_private = bool(manner.peering) or is_loopback(serving.host)  # by workers, who have addresses of their own
    async with open_node(
        serving.url, metadata_keys=manner.metadata_keys, terms=serving.log_options, alone=is_private
    ) as node:
        if manner.project is not None:
            await manner.project.apply(node)
        return 0


def _serve_with_workers(serving: ServeSettings, listener: socket.socket) -> int:
    if code := _run_server(_try_settings(serving)):
        return code
    with tempfile.TemporaryDirectory(prefix="treaty-") as board:
        peering = add_worker_secret(serving.manner.peering, serving.url, serving.host, Path(board))
        pages = serving.manner.pages.with_shared_key(Path(board))

        def arguments(index: int) -> list[str]:
            numbers = map(str, (index, listener.fileno(), os.getpid(), serving.workers))
            flags = ["--log-format", serving.log_format, *(["--access-log"] if serving.access_log else [])]
            flags += ["--state-file", str(serving.state)] if serving.state else []
            flags += ["--incompatible-code", str(serving.manner.incompatible)]
            keys = serving.manner.metadata_keys
            flags += ["--metadata-key-file", str(keys)] if keys else []
            flags += serving.start.flags(is_first=index == 0)
            command = [sys.executable, "-m", "treaty.cli.main", "serve", *flags, *serving.security.flags()]
            command += ["--host", serving.host, *peer_flags(peering), *iglu_flags(serving.manner.iglu)]
            command += [
                *cluster_flags(serving.clusters, serving.manner.files, search=serving.manner.search),
                *page_flags(pages),
            ]
            return [*command, "--board", board, "--worker", *numbers]

        click.echo(format_banner(serving, listener), err=True)
        os.environ.update(log_environment(serving.url, serving.log_options))  # noqa: TID251 (to workers, unseen)
        return _run_server(WorkerSupervisor(arguments, listener, serving.workers).run())


def _run_server(work: Coroutine[Any, Any, int]) -> int:
    """Run the server until it ends; errors that an operator can fix are printed without a traceback."""

    async def run_until_stopped() -> int:
        with announce_stop():
            return await work

    with asyncio.Runner(loop_factory=new_loop) as runner:
        try:
            return runner.run(run_until_stopped())
        except HOPELESS_ERRORS as reason:
            click.echo(f"Error: {reason}", err=True)
            return HOPELESS
        except (*PASSING_ERRORS, ProjectUnavailableError) as reason:
            click.echo(f"Error: the log cannot be used: {reason}", err=True)
            return UNAVAILABLE
        except KeyboardInterrupt:  # before the server took over Ctrl-C
            return INTERRUPTED
