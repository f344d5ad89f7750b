"""`treaty log state`: writes the state file of a log."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from treaty.assemble import state_path
from treaty.assemble.search import index_path, index_state_file
from treaty.cli.log.log_argument import log, now, open_command_log, run
from treaty.cli.registry.connection import as_json
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.node.segment.segment import SegmentDamagedError
from treaty.node.segment.state_writer import WrittenStateFile, write
from treaty.node.segment.statefile import StateFileError

MANY_CHANGES = 1000
"""From this number of changes on a state file makes the start of a server faster."""
TRIES, PAUSE = 10, 0.02
"""Number of attempts to lock a file, and the seconds between them."""


@click.command("state")
@log
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write (default: next to the database of a SQLite log).",
)
@click.option(
    "--index", "indexes", is_flag=True, help="Also build the search index that a server reads, beside the file."
)
@click.option("--low-priority", "background", is_flag=True, help="Run with low priority.")
@as_json
def state(*, log: str, file: Path | None, indexes: bool, background: bool, as_json: bool) -> None:
    """Write the state file of a LOG: a copy of the tables on disk for fast starts, shared by the nodes of a machine.

    A server also writes it when much has changed, and has the index built where it lacks most schemas of a large registry. Both are
    caches of the log and safe to delete.

    \b
    Examples:
      treaty log state sqlite:///var/lib/treaty/log.db
      treaty log state sqlite:///var/lib/treaty/log.db --index
    """  # noqa: D301 - click wants the control character
    if background:
        os.nice(10)
    path = file or state_path(log)
    if path is None:
        raise click.UsageError("this log is not a local file; name the state file with --file")
    written = _write_state_file(log, path)
    if written is None:
        screen.say("another process is writing the state file", err=True)
    indexed = _build_index(path) if indexes and (written is not None or path.exists()) else None
    if written is not None and as_json:
        place = {"sequence": written.position.sequence, "stateRoot": written.state}
        count = {} if indexed is None else {"schemasIndexed": indexed}
        screen.say_json({"file": str(path), "rows": written.rows, "bytes": written.bytes, **place, **count})
    elif written is not None:
        screen.say(f"{written.rows:,} rows at sequence {written.position.sequence:,}, {written.bytes:,} bytes", "green")
    if indexed is not None and not as_json:
        screen.say(f"{screen.format_count(indexed, 'schema')} in the search index {index_path(path)}", "green")


def _build_index(path: Path) -> int | None:
    """Build the search index of a state file; return None if another process is building it. Raises `UnusableError`."""
    with _lock_file(index_path(path)) as is_free:
        if not is_free:
            screen.say("another process is building the search index", err=True)
            return None
        try:
            with screen.show_progress() as progress:
                return index_state_file(path, lambda done, of: progress("schemas indexed", done, of))
        except (StateFileError, SegmentDamagedError, OSError) as error:
            raise UnusableError(f"{index_path(path)}: the search index can't be built: {error}") from None


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
        with _lock_file(path) as is_locked:
            if not is_locked:
                return None
            async with open_command_log(log) as opened_log:
                return await write(opened_log, path, now())

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
def _lock_file(path: Path) -> Iterator[bool]:
    """Return whether the lock of a file was free; hold it while the block runs."""
    descriptor = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield _try_lock(descriptor)
    finally:
        os.close(descriptor)
