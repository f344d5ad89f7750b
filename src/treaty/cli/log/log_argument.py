"""Opening logs for commands: one error for people, whatever is wrong; and the wall clock."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import click

from treaty.cli.terminal import log_config
from treaty.cli.terminal.errors import announce_stop
from treaty.cli.terminal.source import UnusableError
from treaty.core.kafka import KafkaSettingsError
from treaty.core.schema import Pairs
from treaty.log.log import Log, LogDamagedError, LogUnavailableError
from treaty.log.maintenance.dump import DumpError
from treaty.log.maintenance.restore import RestoreError
from treaty.log.upgrade.old_format import OldLogError
from treaty.log.urls import LogOptions, LogUrlError, open_log

T = TypeVar("T")

_SETTINGS = "treaty.log.settings"
UNUSABLE = (
    LogUrlError, LogDamagedError, LogUnavailableError, RestoreError, DumpError, OldLogError, KafkaSettingsError
)  # fmt: skip
"""What a command can't go on after."""


def _keep(context: click.Context, _: click.Parameter, words: tuple[str, ...]) -> None:
    context.meta[_SETTINGS] = log_config.parse_log_config(words)


log_option = log_config.log_config_option(callback=_keep)
"""``--log-config``, for commands that open logs: `open_command_log` reads it."""


def log(command: Callable[..., None]) -> Callable[..., None]:
    """The argument LOG, and how to get at it."""
    return click.argument("log", metavar="LOG", envvar="TREATY_LOG")(log_option(command))


def read_log_settings() -> Pairs:
    """The settings of the library that reaches the log, as ``--log-config`` says them."""
    found: Pairs = click.get_current_context().meta.get(_SETTINGS, ())
    return found


@asynccontextmanager
async def open_command_log(url: str, *, new: bool = False) -> AsyncIterator[Log]:
    """A log while the block runs; only a `new` one is made where it is not there."""
    if not new:
        _refuse_missing(url)
    found = await open_log(url, LogOptions(read_log_settings(), create=new, is_command=True))
    try:
        yield found
    finally:
        await found.close()


def _refuse_missing(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "sqlite" and not Path(unquote(parts.path)).exists():
        raise UnusableError(f"{url}: there is no such file; name a log as `treaty serve --log` takes it")


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a command's work on an event loop; what goes wrong with a log ends the program with exit code 2."""

    async def stoppable() -> T:
        with announce_stop():
            return await work()

    try:
        return asyncio.run(stoppable())
    except UNUSABLE as error:
        raise UnusableError(str(error)) from error
    except OSError as error:
        raise UnusableError(f"{error.filename or 'a file'} can't be used: {error.strerror or error}") from error


def now() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000
