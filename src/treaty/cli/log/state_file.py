"""`treaty log state`: writes the state file of a log."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from treaty.assemble import state_path
from treaty.cli.log.log_argument import log, now, open_command_log, run
from treaty.cli.registry.connection import as_json
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.node.segment.state_writer import WrittenStateFile, write

MANY_CHANGES = 1000
"""From this number of changes on a state file makes the start of a server faster."""
TRIES, PAUSE = 10, 0.02
"""Number of attempts to lock a state file, and the seconds between them."""


@click.command("state")
@log
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write (default: next to the database of a SQLite log).",
)
@click.option("--low-priority", "background", is_flag=True, help="Run with low priority.")
@as_json
def state(*, log: str, file: Path | None, background: bool, as_json: bool) -> None:
    """Write the state file of a LOG: a copy of the tables on disk for fast starts, shared by the nodes of a machine.

    A server also writes it when much has changed. A state file is a cache of the log and safe to delete.

    \b
    Example:
      treaty log state sqlite:///var/lib/treaty/log.db
    """  # noqa: D301 - click wants the control character
    if background:
        os.nice(10)
    path = file or state_path(log)
    if path is None:
        raise click.UsageError("this log is not a local file; name the state file with --file")
    written = _write_state_file(log, path)
    if written is None:
        screen.say("another process is writing the state file", err=True)
    elif as_json:
        place = {"sequence": written.position.sequence, "stateRoot": written.state}
        screen.say_json({"file": str(path), "rows": written.rows, "bytes": written.bytes, **place})
    else:
        screen.say(f"{written.rows:,} rows at sequence {written.position.sequence:,}, {written.bytes:,} bytes", "green")


def offer_fast_start(log: str, changes: int) -> None:
    """Write the state file of a SQLite log after many changes, so that the next server starts fast."""
    path = state_path(log)
    if path is None or changes < MANY_CHANGES:
        return
    try:
        written = _write_state_file(log, path)
    except UnusableError as error:  # everything is in the log: a state file only saves time
        screen.say(f"The state file was not written: {error.message}", "yellow", err=True)
        return
    if written is not None:
        screen.say(f"State file written, {written.rows:,} rows: servers on this log start fast.", err=True)


def _write_state_file(log: str, path: Path) -> WrittenStateFile | None:
    """Write the state file of a log; return None if another process is writing the state file. Raises `UnusableError`."""

    async def work() -> WrittenStateFile | None:
        with _lock_state_file(path) as mine:
            if not mine:
                return None
            async with open_command_log(log) as found:
                return await write(found, path, now())

    return run(work)


def _try_lock(descriptor: int) -> bool:
    """Lock the file, with a few attempts: a process that only asks whether it is being written holds the lock for a
    moment.
    """
    for _ in range(TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE)
        else:
            return True
    return False


@contextmanager
def _lock_state_file(path: Path) -> Iterator[bool]:
    """Return whether the lock of this file was free; hold it while the block runs."""
    descriptor = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield _try_lock(descriptor)
    finally:
        os.close(descriptor)
