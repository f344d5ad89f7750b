"""The options of commands that talk to an Iglu server: its URL, to which `/api` is added, and its API key."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import click

from treaty.cli.terminal.source import UnusableError
from treaty.client.iglu.server_client import IgluServer, IgluServerError
from treaty.core.urls import UrlError, hide_credentials, split_server_url

API = "/api"
"""Where a server has its Iglu API, below the address of the host."""


def registry_option(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --registry, the address of a server with an Iglu API."""
    return click.option(
        "--registry",
        required=required,
        envvar="TREATY_REGISTRY",
        show_envvar=True,
        metavar="URL",
        help=f"Server: http(s)://host:port. Its Iglu API is at {API} below it, which is added unless the URL ends so.",
    )


apikey_option = click.option(
    "--apikey", envvar="TREATY_IGLU_APIKEY", show_envvar=True, metavar="UUID", help="The API key."
)


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets an `IgluServer` as `server`."""

    @registry_option(required=True)
    @apikey_option
    @wraps(command)
    def run_with_server(*args: Any, registry: str, apikey: str | None, **options: Any) -> Any:
        return command(*args, server=IgluServer(find_api(registry), apikey), **options)

    return run_with_server


def find_api(url: str) -> str:
    """Return the address of the Iglu API of a server: ``/api`` is added unless the path ends so.

    Of several nodes the first is taken; user and password are left out, because the API has keys. Raises
    `UnusableError` for what is no address of a server, such as that of a log.
    """
    first = hide_credentials(url.split(",", maxsplit=1)[0].strip())
    try:
        parts = split_server_url(first)
    except UrlError as error:
        raise UnusableError(str(error)) from None
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise UnusableError(
            f"{first!r} is no server: this command asks an Iglu API over HTTP; give --registry http://host:port"
        )
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(API) else f"{path}{API}", query="", fragment="").geturl()


@contextmanager
def report_unreachable() -> Iterator[None]:
    """Report a server that cannot be reached as an error of the command line."""
    try:
        yield
    except IgluServerError as error:
        raise UnusableError(str(error)) from None
