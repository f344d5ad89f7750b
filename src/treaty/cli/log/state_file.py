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
"""Changes from which on a state file makes a difference at the start of a server."""
TRIES, PAUSE = 10, 0.02
"""How often, and after how many seconds again, the lock of a state file is tried."""


@click.command("state")
@log
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write (default: next to the file of a SQLite log).",
)
@click.option("--low-priority", "background", is_flag=True, help="Run with low priority.")
@as_json
def state(*, log: str, file: Path | None, background: bool, as_json: bool) -> None:
    """Write the state file of a LOG: a local snapshot for fast starts, shared by the nodes of a machine.

    A server writes it by itself when much has changed. The log is the source of truth: a state file is safe to delete.

    \b
    Example:
      treaty log state sqlite:///var/lib/treaty/log.db
    """  # noqa: D301 - click wants the control character
    if background:
        os.nice(10)
    path = file or state_path(log)
    if path is None:
        raise click.UsageError("this log is not a file: name the state file with --file")
    written = _write_state_file(log, path)
    if written is None:
        screen.say("another process is writing it", err=True)
    elif as_json:
        place = {"sequence": written.position.sequence, "stateRoot": written.state}
        screen.say_json({"file": str(path), "rows": written.rows, "bytes": written.bytes, **place})
    else:
        screen.say(f"{written.rows:,} rows at sequence {written.position.sequence:,}, {written.bytes:,} bytes", "green")


def offer_fast_start(log: str, changes: int) -> None:
    """Write the state file of a SQLite log after so many changes at once, so that the next server starts fast."""
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
    """Write the state file of a log; None where another process is writing it. Raises `UnusableError`."""

    async def work() -> WrittenStateFile | None:
        with _lock_state_file(path) as mine:
            if not mine:
                return None
            async with open_command_log(log) as found:
                return await write(found, path, now())

    return run(work)


def _try_lock(descriptor: int) -> bool:
    """Lock it. Those who only ask whether it is being written hold it for a moment, so this tries a few times."""
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
    """Return whether nobody else writes this file, and keep others out while the block runs."""
    descriptor = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield _try_lock(descriptor)
    finally:
        os.close(descriptor)
