"""Options of a server about Iglu's API: its limits, and whether schemas may be replaced."""

from collections.abc import Callable, Iterator
from typing import Any

import click

from treaty.core.limits import IGLU_BODY_BYTES, IGLU_DEPTH, REQUEST_BYTES, SCHEMA_DEPTH
from treaty.wire.iglu.documents import IgluSettings

OPTIONS = (
    click.option(
        "--iglu-body-bytes",
        envvar="TREATY_IGLU_BODY_BYTES",
        type=click.IntRange(1, REQUEST_BYTES),
        default=IGLU_BODY_BYTES,
        show_default=True,
        metavar="BYTES",
        help="Longest body of a request to Iglu's API.",
    ),
    click.option(
        "--iglu-depth",
        envvar="TREATY_IGLU_DEPTH",
        type=click.IntRange(1, SCHEMA_DEPTH),
        default=IGLU_DEPTH,
        show_default=True,
        metavar="LEVELS",
        help="Deepest nesting of a schema or value that is sent to Iglu's API.",
    ),
    click.option(
        "--iglu-patches",
        envvar="TREATY_IGLU_PATCHES",
        is_flag=True,
        help="Let schemas be replaced and deleted through Iglu's API (patchesAllowed of Iglu Server).",
    ),
)


def add_iglu_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def iglu_flags(settings: IgluSettings) -> Iterator[str]:
    """The same as arguments of a worker."""
    yield from ("--iglu-body-bytes", str(settings.body_bytes), "--iglu-depth", str(settings.depth))
    if settings.patches_allowed:
        yield "--iglu-patches"
