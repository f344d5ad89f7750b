"""`treaty log backup`, `dump` and `restore`: copies of a log as files, and new logs made from them."""

import sys
from pathlib import Path
from urllib.parse import unquote

import click

from treaty.cli.log.dump_file import open_dump_file, write_dump_file
from treaty.cli.log.log_argument import log, now, open_command_log, run
from treaty.cli.log.state_file import offer_fast_start
from treaty.cli.registry.connection import as_json
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.core.limits import RESTORE_FAULTS, RESTORE_GAP
from treaty.core.state.commit import START, Position, roots_of
from treaty.core.state.indexes import InvariantViolation
from treaty.core.state.rows import EncodedRow
from treaty.core.urls import UrlError, split_url
from treaty.log.maintenance.backup import write_backup
from treaty.log.maintenance.dump import DumpError, DumpHead, make_head, write_dump
from treaty.log.maintenance.dump_check import find_dump_violations
from treaty.log.maintenance.restore import restore_log
from treaty.log.state_roots import ROOT_REMEDY, find_root_mismatches, read_with_table_roots

SHOWN = 20
"""The most invalid rows that are printed as text; JSON has all of them."""


@click.command("backup")
@log
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@as_json
def backup(*, log: str, file: Path, as_json: bool) -> None:
    """Copy the database of a SQLite LOG to a FILE, as one consistent state. Nodes keep running.

    The copy is made page by page, at the speed of the disk. The FILE is not a log: `treaty log restore` makes a new log
    of it, with its own identity. For other backends use `treaty log dump`.

    \b
    Examples:
      treaty log backup sqlite:///var/lib/treaty/log.db /backup/registry.db
      treaty log verify /backup/registry.db
      treaty log restore /backup/registry.db sqlite:///var/lib/treaty/new.db
    """  # noqa: D301 - click wants the control character
    try:
        parts = split_url(log)
    except UrlError as error:
        raise UnusableError(str(error)) from None
    source = Path(unquote(parts.path))
    if parts.scheme != "sqlite":
        raise UnusableError("only a SQLite log can be copied as a file; use `treaty log dump` for other backends")
    if not source.exists():
        raise UnusableError(f"{log}: no such file; give the log as for `treaty serve --log`")

    async def work() -> Position:
        with screen.show_progress() as progress:
            return write_backup(source, file, lambda done, of: progress("pages", done, of))

    place = run(work)
    size = file.stat().st_size
    if as_json:
        members = {"file": str(file), "bytes": size, "identity": place.identity.hex(), "sequence": place.sequence}
        screen.say_json(members)
    else:
        screen.say(f"sequence {place.sequence:,} of log {place.identity.hex()}, {size:,} bytes, to {file}", "green")


@click.command(
    "dump", epilog="Exit code 0: the dump can be restored. 1: the rows do not match the state root of the log."
)
@log
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@as_json
def dump(*, log: str, file: Path, as_json: bool) -> None:
    """Write all rows of a LOG to a FILE: one consistent state, with identity and sequence. Nodes keep running.

    A FILE that ends in .zst or .gz is compressed. `treaty log restore` restores it to any backend.

    \b
    Examples:
      treaty log dump sqlite:///var/lib/treaty/log.db registry.dump.zst
      treaty log verify registry.dump.zst
    """  # noqa: D301 - click wants the control character

    async def read() -> tuple[DumpHead, tuple[EncodedRow, ...]]:
        async with open_command_log(log) as opened_log:
            delta, roots = await read_with_table_roots(opened_log)
            return make_head(delta, opened_log.url, now(), roots), delta.rows

    head, rows = run(read)
    if head.position == START:
        raise UnusableError(f"{head.position} is empty: there is nothing to dump")

    async def write() -> int:
        return write_dump_file(file, write_dump(head, rows))

    size = run(write)
    mismatches = [*find_root_mismatches(head.position.root, head.roots, roots_of(rows))]
    if as_json:
        members = {"file": str(file), "bytes": size, "rows": head.rows, "sequence": head.position.sequence}
        screen.say_json(
            {
                **members,
                "identity": head.position.identity.hex(),
                "stateRoot": head.position.root.hex(),
                "addsUp": not mismatches,
            }
        )
    else:
        place = f"sequence {head.position.sequence:,} of log {head.position.identity.hex()}"
        screen.say(f"{head.rows:,} rows, {place}, {size:,} bytes, to {file}", "green")
        for mismatch in mismatches:
            screen.say(f"{mismatch.table or 'the state'}: {mismatch.message}", "red", err=True)
        if mismatches:
            screen.say(
                f"the rows were changed outside the log, so this dump cannot be restored: {ROOT_REMEDY}",
                "red",
                err=True,
            )
    sys.exit(1 if mismatches else 0)


@click.command("restore", epilog="Exit code 1: rows of the file are invalid, and nothing was written.")
@click.argument("file", type=click.Path(dir_okay=False))
@log
@click.option(
    "--gap",
    default=RESTORE_GAP,
    show_default=True,
    type=click.IntRange(0),
    help="Ids to leave unused after the highest one, for schemas that the old log registered after the dump.",
)
@click.option("--allow-invalid", is_flag=True, help="Restore the rows unchanged, even if some are invalid.")
@as_json
def restore_(*, file: str, log: str, gap: int, allow_invalid: bool, as_json: bool) -> None:
    """Make a new LOG from a FILE, a dump or a backup. The LOG must be empty; it gets its own identity.

    The FILE is read twice: its rows are verified first, as by `treaty log verify`, then written.

    Position tokens of the old log become invalid. An interrupted restore can be run again; no node serves the log until
    the restore is complete.

    \b
    Examples:
      treaty log restore registry.dump.zst sqlite:///var/lib/treaty/new.db
      treaty log restore registry.dump.zst postgresql://treaty@db/registry \\
        --gap 100000
    """  # noqa: D301 - click wants the control character
    head, faults = _check_dump(file)
    if faults and not allow_invalid:
        _report_violations(file, faults, as_json=as_json)
        sys.exit(1)

    async def work() -> Position:
        with screen.show_progress() as progress, open_dump_file(file) as (again, rows):
            _refuse_changed(file, head, again)
            async with open_command_log(log, new=True) as opened_log:
                return await restore_log(
                    opened_log, head, rows, time=now(), gap=gap, progress=lambda n: progress("rows", n, head.rows)
                )

    end = run(work)
    if as_json:
        place = {"identity": end.identity.hex(), "sequence": end.sequence}
        screen.say_json({"rows": head.rows, **place, "gap": gap, "faults": len(faults)})
    else:
        if faults:
            screen.say(f"{_count_rows(faults)} are invalid and were restored unchanged", "yellow", err=True)
        screen.say(f"{head.rows:,} rows restored into log {end.identity.hex()}, ids raised by {gap:,}", "green")
    offer_fast_start(log, head.rows)


def _check_dump(file: str) -> tuple[DumpHead, tuple[InvariantViolation, ...]]:
    """Verify a file before anything is written: compare its digests and check its rows."""

    async def read() -> tuple[DumpHead, tuple[InvariantViolation, ...]]:
        with open_dump_file(file) as (head, rows):
            return head, find_dump_violations(rows, head.position.sequence)

    return run(read)


def _refuse_changed(file: str, checked: DumpHead, read_again: DumpHead) -> None:
    """The head has the digest of all rows, so a second read with the same head and a matching digest is the same file."""
    if read_again != checked:
        raise DumpError(f"{file} changed while it was read; restore a file that no other process writes to")


def _report_violations(file: str, faults: tuple[InvariantViolation, ...], *, as_json: bool) -> None:
    if as_json:
        listed = [{"rule": one.rule, "table": one.table, "key": [*one.key], "message": one.message} for one in faults]
        screen.say_json({"sound": False, "faults": listed})
        return
    for fault in faults[:SHOWN]:
        screen.say(str(fault), "red", err=True)
    if len(faults) > SHOWN:
        screen.say(f"... and {len(faults) - SHOWN:,} more", "red", err=True)
    screen.say(
        f"{file}: {_count_rows(faults)} are invalid, and nothing was written: `treaty log verify` lists them all, --allow-invalid restores them unchanged",
        "red",
        err=True,
    )


def _count_rows(faults: tuple[InvariantViolation, ...]) -> str:
    return f"{len(faults):,} rows" if len(faults) < RESTORE_FAULTS else f"{RESTORE_FAULTS:,} rows or more"
