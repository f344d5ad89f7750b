"""The registry that a command asks, and as whom: what the URL says, what variables say, what a person types unseen."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

import click

from treaty.assemble import connect
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.client.connection import Connection
from treaty.client.credentials import basic
from treaty.client.properties import resolve_registry
from treaty.client.settings import ClientSettings, credentials_in, tls_in

MISSING = Literal["refuse", "create", "empty"]
"""What becomes of a SQLite file that does not exist: an error, a new registry, or an empty one in memory."""


def connect_to(url: str, missing: MISSING = "refuse") -> Connection:
    """Connect to a registry. Raises what `connect` raises, and `UnusableError` where nobody can say the password.

    A command that only reads creates no file and no folder.
    """
    if is_missing(url):
        if missing == "refuse":
            raise UnusableError(f"there is no registry at {url}: the file does not exist; see that its path is right")
        if missing == "empty":
            screen.say(f"There is no registry at {url} yet; it counts as empty.", "yellow", err=True)
            return connect("memory:")
        screen.say(f"{url} is a new registry.", "yellow", err=True)
    return connect(read_settings(url, os.environ))  # noqa: TID251 (a command's settings are variables too)


def is_missing(url: str) -> bool:
    """Whether a URL names a SQLite file that does not exist."""
    parts = urlsplit(url)
    return parts.scheme == "sqlite" and parts.path.startswith("/") and not Path(unquote(parts.path)).exists()


def read_settings(url: str, environment: Mapping[str, str]) -> ClientSettings | str:
    """Settings of a client for a URL, or the URL of a log.

    A name without a password in the URL takes its password from TREATY_PASSWORD, or from a person at the terminal.
    Without a name the variables say who asks, but only where TREATY_REGISTRY names no other registry than this one: a
    password goes nowhere that it was not meant for.
    """
    found = resolve_registry(url, {})
    if isinstance(found, str):
        return found
    found = replace(found, tls=tls_in(environment))
    users = [part for part in map(urlsplit, url.split(",")) if part.username is not None]
    if users and users[0].password is None:
        user = unquote(users[0].username or "")
        return replace(found, credentials=basic(user, _read_password(user, users[0].hostname or "", environment)))
    if users or not _is_usual_registry(found, environment):
        return found
    return replace(found, credentials=credentials_in(environment))


def hide_credentials(url: str) -> str:
    """A URL as messages show it: without the user and the password."""
    return ",".join(
        f"{scheme}://{rest.rpartition('@')[2]}" if slashes and "@" in rest else one
        for one in url.split(",")
        for scheme, slashes, rest in [one.partition("://")]
    )


def _is_usual_registry(found: ClientSettings, environment: Mapping[str, str]) -> bool:
    usual = environment.get("TREATY_REGISTRY", "")
    if not usual.startswith(("http://", "https://")):
        return True
    known = resolve_registry(usual, {})
    return isinstance(known, ClientSettings) and {*map(_origin_of, found.urls)} <= {*map(_origin_of, known.urls)}


def _origin_of(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
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
