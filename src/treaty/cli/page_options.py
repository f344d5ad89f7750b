"""Options of `treaty serve` about its pages for people: whether there are any, and the key file of sessions."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from treaty.assemble.page_settings import PageSettings

OPTIONS = (
    click.option(
        "--pages/--no-pages",
        envvar="TREATY_PAGES",
        default=True,
        show_default=True,
        help="Serve pages for people at /ui.",
    ),
    click.option(
        "--session-key-file",
        envvar="TREATY_SESSION_KEY_FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Key that signs the sessions of people who log in at /ui; servers behind one address share it (default: a random one, so that sessions end with the server).",
    ),
)


def add_page_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def page_flags(settings: PageSettings) -> Iterator[str]:
    """The same as arguments of a worker."""
    yield "--pages" if settings.enabled else "--no-pages"
    if settings.session_key is not None:
        yield from ("--session-key-file", str(settings.session_key))
