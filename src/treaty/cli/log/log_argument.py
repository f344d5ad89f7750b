"""Opening logs for commands: every failure becomes one error message; and the wall clock."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import click

from treaty.cli.terminal import log_config
from treaty.cli.terminal.errors import announce_stop
from treaty.cli.terminal.source import UnusableError
from treaty.core.kafka import KafkaSettingsError
from treaty.core.schema import Pairs
from treaty.core.urls import UrlError, split_url
from treaty.log.log import Log, LogDamagedError, LogUnavailableError
from treaty.log.maintenance.dump import DumpError
from treaty.log.maintenance.restore import RestoreError
from treaty.log.urls import LogOptions, LogUrlError, open_log

T = TypeVar("T")

_SETTINGS = "treaty.log.settings"
UNUSABLE = (LogUrlError, LogDamagedError, LogUnavailableError, RestoreError, DumpError, KafkaSettingsError, UrlError)
"""Errors that end a command."""


def _keep(context: click.Context, _: click.Parameter, words: tuple[str, ...]) -> None:
    context.meta[_SETTINGS] = log_config.parse_log_config(words)


log_option = log_config.log_config_option(callback=_keep)
"""``--log-config``, for commands that open logs: `open_command_log` reads it."""


def log(command: Callable[..., None]) -> Callable[..., None]:
    """The argument LOG with the settings to open it."""
    return click.argument("log", metavar="LOG", envvar="TREATY_LOG")(log_option(command))


def read_log_settings() -> Pairs:
    """The settings of the client library of the log, as given by ``--log-config``."""
    settings: Pairs = click.get_current_context().meta.get(_SETTINGS, ())
    return settings


@asynccontextmanager
async def open_command_log(url: str, *, new: bool = False) -> AsyncIterator[Log]:
    """Open a log for the block; a missing log is made only if `new`."""
    if not new:
        _refuse_missing(url)
    opened_log = await open_log(url, LogOptions(read_log_settings(), create=new, is_command=True))
    try:
        yield opened_log
    finally:
        await opened_log.close()


def _refuse_missing(url: str) -> None:
    parts = split_url(url)
    if parts.scheme == "sqlite" and not Path(unquote(parts.path)).exists():
        raise UnusableError(f"{url}: no such file; give the log as for `treaty serve --log`")


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the work of a command on an event loop; an error of the log ends the program with exit code 2."""

    async def run_until_stopped() -> T:
        with announce_stop():
            return await work()

    try:
        return asyncio.run(run_until_stopped())
    except UNUSABLE as error:
        raise UnusableError(str(error)) from error
    except OSError as error:
        raise UnusableError(f"{error.filename or 'a file'} cannot be used: {error.strerror or error}") from error


def now() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
