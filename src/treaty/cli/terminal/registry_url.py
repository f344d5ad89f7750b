"""The registry and credentials of a command: from the URL, environment variables or a password prompt."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

import click

from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.client.credentials import basic
from treaty.client.properties import resolve_registry
from treaty.client.protocol.delivery import NoResponseError
from treaty.client.settings import ClientSettings, credentials_in, tls_in
from treaty.core.refusals import RegistryError
from treaty.core.urls import split_server_url, split_url

if TYPE_CHECKING:
    from treaty.client.connection import Connection
    from treaty.core.registry import Registry

MISSING = Literal["refuse", "create", "empty"]
"""How a missing SQLite file is handled: an error, a new registry, or an empty one in memory."""


def connect_to(url: str, missing: MISSING = "refuse") -> "Connection":
    """Connect to a registry. Raises what `connect` raises, and `UnusableError` without a password. A command that only
    reads creates no file and no folder.
    """
    from treaty.assemble import connect  # noqa: PLC0415 (it brings a node, and most commands ask a server)

    return connect(_find_target(url, missing))


def open_at(url: str, missing: MISSING = "refuse") -> "Registry":
    """Open the registry that `connect_to` connects to, without the methods of a connection. Raises as `connect_to` does."""
    from treaty.assemble import open_registry  # noqa: PLC0415 (as above)

    return open_registry(_find_target(url, missing))


def _find_target(url: str, missing: MISSING) -> ClientSettings | str:
    if is_missing(url):
        if missing == "refuse":
            raise UnusableError(f"there is no registry at {url}: the file does not exist; check its path")
        if missing == "empty":
            screen.say(f"There is no registry at {url} yet; it is treated as empty.", "yellow", err=True)
            return "memory:"
        screen.say(f"{url} is a new registry.", "yellow", err=True)
    return read_settings(url, os.environ)  # noqa: TID251 (a command's settings are variables too)


def describe_failure(error: RegistryError, registry: str = "the registry") -> str:
    """Return what failed: with a remedy if the registry did not answer; an answer with an error has its own."""
    if not isinstance(error, NoResponseError) and not isinstance(error.__cause__, NoResponseError):
        return f"the request to {registry} failed: {error}"
    return f"{registry} does not answer: {error}; {_remedy_of(error, registry)}"


_NO_HTTP = ("RemoteDisconnected", "ConnectionResetError", "BadStatusLine", "RemoteProtocolError", "ReadError")
"""Errors of a request whose server closed the connection, or answered with something other than HTTP: TLS, for example."""


def _remedy_of(error: RegistryError, registry: str) -> str:
    text = str(error)
    if "ame mismatch" in text or "IP address mismatch" in text:
        return "write the URL with a name that its certificate has"
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "if you trust the authority of its certificate, name the authority's file in PEM: TREATY_CA=ca.pem"
    if "WRONG_VERSION_NUMBER" in text:
        return "check that it has TLS; without TLS its URL begins with http://"
    if not registry.startswith("https:") and any(name in text for name in _NO_HTTP):
        return "is it https? The URL of a registry with TLS begins with https://; else check that it runs"
    return "check that it runs"


def is_missing(url: str) -> bool:
    """Return whether a URL is that of a SQLite file that does not exist."""
    parts = split_url(url)
    return parts.scheme == "sqlite" and parts.path.startswith("/") and not Path(unquote(parts.path)).exists()


def read_settings(url: str, environment: Mapping[str, str]) -> ClientSettings | str:
    """Return the client settings for a URL, or the URL of a log.

    The password of a user in the URL comes from TREATY_PASSWORD or from a prompt. Without a user the credentials of the
    environment are used, unless TREATY_REGISTRY is another registry: credentials are only sent to their own registry.
    """
    settings = resolve_registry(url, {})
    if isinstance(settings, str):
        return settings
    settings = replace(settings, tls=tls_in(environment))
    users = [part for part in map(split_server_url, url.split(",")) if part.username is not None]
    if users and users[0].password is None:
        user = unquote(users[0].username or "")
        return replace(settings, credentials=basic(user, _read_password(user, users[0].hostname or "", environment)))
    if users or not _is_usual_registry(settings, environment):
        return settings
    return replace(settings, credentials=credentials_in(environment))


def _is_usual_registry(settings: ClientSettings, environment: Mapping[str, str]) -> bool:
    usual = environment.get("TREATY_REGISTRY", "")
    if not usual.startswith(("http://", "https://")):
        return True
    usual_settings = resolve_registry(usual, {})
    return isinstance(usual_settings, ClientSettings) and {*map(_origin_of, settings.urls)} <= {
        *map(_origin_of, usual_settings.urls)
    }


def _origin_of(url: str) -> tuple[str, str | None, int | None]:
    parts = split_server_url(url)
    return parts.scheme, parts.hostname, parts.port


def _read_password(user: str, host: str, environment: Mapping[str, str]) -> str:
    if "TREATY_PASSWORD" in environment and environment.get("TREATY_USER", user) == user:
        return environment["TREATY_PASSWORD"]
    if not sys.stdin.isatty():
        raise UnusableError(f"there is no terminal to ask for the password of {user} at {host}; set TREATY_PASSWORD")
    typed: str = click.prompt(
        f"Password of {user} at {host}", hide_input=True, err=True, default="", show_default=False
    )
    return typed
