"""The options of commands that talk to an Iglu server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import click

from treaty.cli.terminal.source import UnusableError
from treaty.client.iglu.server_client import IgluServer, IgluServerError


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets an `IgluServer` as `server`."""

    @click.option(
        "--registry", required=True, metavar="URL", help="URL of the server's API, such as http://127.0.0.1:8081/api."
    )
    @click.option("--apikey", envvar="TREATY_IGLU_APIKEY", show_envvar=True, metavar="UUID", help="The API key.")
    @wraps(command)
    def wrapped(*args: Any, registry: str, apikey: str | None, **others: Any) -> Any:
        return command(*args, server=IgluServer(registry, apikey), **others)

    return wrapped


@contextmanager
def report_unreachable() -> Iterator[None]:
    """Report a server that cannot be reached as an error of the command line."""
    try:
        yield
    except IgluServerError as wrong:
        raise UnusableError(str(wrong)) from None
