"""Which way statements go: a server gets their text, a log in this process gets their requests by `registry_session`.

A server parses and carries out what it gets, so that the program needs nothing of the metastore and starts in a moment. Its
parser is loaded for a log, for CASCADE, which is shown and asked for before it is sent, and for queries that this program may plan.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

import click

from treaty.cli.metastore.planner_choice import AUTO, LOCAL, PlannerChoice, starts_planner
from treaty.cli.metastore.result_printer import describe_failure
from treaty.cli.metastore.wait_notice import QUERY
from treaty.cli.terminal import registry_url
from treaty.cli.terminal.source import UnusableError
from treaty.client.settings import ClientSettings
from treaty.core.refusals import RegistryError
from treaty.wire.statements import StatementResultBody

UNREACHABLE = "REGISTRY_UNREACHABLE"
_CASCADE = re.compile(r"\bcascade\b", re.IGNORECASE)

ConfirmDrop = Callable[[Sequence[str]], None]
"""Shows the names of sources that a CASCADE drops, and raises where the user does not want that."""


class StatementSession(Protocol):
    """Carries out scripts, one after the other."""

    def run(
        self,
        text: str,
        variables: Mapping[str, str],
        confirm: ConfirmDrop,
        *,
        dry_run: bool = False,
        atomic: bool = False,
    ) -> Iterator[StatementResultBody]:
        """Yield the results of a script, with `atomic` of one commit; raises `FailedScriptError` at its first error, and `UnusableError` without an answer."""

    def close(self) -> None:
        """Close connections and logs."""


class ServerSession:
    """Statements of a server."""

    def __init__(self, url: str, settings: ClientSettings, planner: PlannerChoice = AUTO) -> None:
        """Send nothing yet; the second session is opened for CASCADE, and for queries that this program may plan."""
        self._url = url
        self._planner = planner
        from treaty.client.protocol.statements import StatementClient  # noqa: PLC0415 (HTTP, of which a log needs nothing)

        self._client = StatementClient(settings)
        self._registry: StatementSession | None = None

    def run(
        self,
        text: str,
        variables: Mapping[str, str],
        confirm: ConfirmDrop,
        *,
        dry_run: bool = False,
        atomic: bool = False,
    ) -> Iterator[StatementResultBody]:
        """Yield the results of a script, which is one request."""
        is_planned = QUERY.search(text) is not None and starts_planner(self._planner) and not atomic
        if is_planned or (_CASCADE.search(text) and not dry_run):
            self._registry = self._registry or _open_registry(self._url, planner=self._planner)
            yield from self._registry.run(text, variables, confirm, dry_run=dry_run, atomic=atomic)
            return
        from treaty.client.protocol.statements import ScriptRefusedError  # noqa: PLC0415 (loaded with the session)

        try:
            yield from self._client.run(text, dry_run=dry_run, variables=variables, atomic=atomic)
        except ScriptRefusedError as refused:
            yield from refused.body.results
            raise describe_failure(text, refused.body, refused.status) from None
        except RegistryError as error:
            raise UnusableError(registry_url.describe_failure(error), UNREACHABLE) from error

    def close(self) -> None:
        """Close all connections."""
        self._client.close()
        if self._registry is not None:
            self._registry.close()


def _open_registry(
    url: str,
    clusters: Sequence[str] = (),
    files: Path | None = None,
    *,
    planner: PlannerChoice = AUTO,
    root: Path | None = None,
    topics: Sequence[str] = (),
) -> StatementSession:
    """Open a session that parses statements itself. It is loaded late: it brings a node and the formats of schemas."""
    kind = import_module("treaty.cli.metastore.registry_session").RegistrySession
    session: StatementSession = kind(url, clusters, files, planner=planner, root=root, topics=topics)
    return session


def open_session(
    url: str,
    clusters: Sequence[str] = (),
    files: Path | None = None,
    *,
    planner: PlannerChoice = AUTO,
    root: Path | None = None,
    topics: Sequence[str] = (),
) -> StatementSession:
    """Open a session with a registry: a server by its URL, or the registry in a log, with its clusters and root of files.

    `planner` says what plans queries; with `local` this program also compares those whose data is below `root` and in the clusters of `topics`. Raises `click.UsageError` where clusters or files are given for a server, which has its own.
    """
    if not url.startswith(("http://", "https://")):
        return _open_registry(url, clusters, files, planner=planner, root=root, topics=topics)
    if clusters or files is not None:
        raise click.UsageError("--cluster and --files are options of the server: give them to `treaty serve`")
    if planner == LOCAL:
        return _open_registry(url, planner=planner, root=root, topics=topics)
    try:
        settings = registry_url.read_settings(url, os.environ)  # noqa: TID251 (a command's settings are variables too)
    except ValueError as error:
        raise UnusableError(f"{error}; give the registry with --registry http://host:port", UNREACHABLE) from error
    assert isinstance(settings, ClientSettings), "a URL with http is a server's"
    return ServerSession(url, settings, planner)
