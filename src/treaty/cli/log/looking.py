"""`treaty log info` and `treaty log verify`: what a log is, and whether what it holds is sound."""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from treaty.cli.log.checking import check_state
from treaty.cli.log.files import is_dump, read_file
from treaty.cli.log.mending import reserved_members
from treaty.cli.log.opened import log, opened, run, set_up
from treaty.cli.nouns.asking import as_json
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.core.commit import START, Position, as_root
from treaty.core.indexes import wrong_indexes
from treaty.core.reserved import ReservedIds, reserved_ids
from treaty.core.rows import Encoded, decode_row
from treaty.core.soundness import Unsound, unsound
from treaty.core.tables import DictTables
from treaty.core.values import LogOrigin
from treaty.node.segment.segment import SegmentDamagedError
from treaty.node.segment.statefile import StateFileError, is_state

SHOWN = 20
"""Faults that are printed for people; JSON has them all."""


@click.command("info")
@log
@as_json
def info(*, log: str, as_json: bool) -> None:
    """Show what a LOG is: where it ends, what it holds, how large it is, and where it comes from.

    \b
    Examples:
      treaty log info sqlite:///var/lib/treaty/log.db
      TREATY_LOG=postgresql://treaty@db/registry treaty log info --json
    """  # noqa: D301 - click wants the control character

    async def look() -> dict[str, Any]:
        async with opened(log) as found:
            facts, delta = await found.facts(), await found.read(START)
            tables = Counter(row.table for row in delta.rows)
            return {
                "log": found.url,
                "kind": facts.kind,
                "layout": facts.layout,
                **_place(delta.tip),
                **({} if facts.bytes < 0 else {"bytes": facts.bytes}),
                "rows": facts.live,
                "tombstones": facts.tombstones,
                "appendsRemembered": facts.appends,
                "oldestRemembered": facts.oldest,
                "tables": dict(sorted(tables.items())),
                "log_origin": _lineage(delta.rows),
            }

    told = run(look)
    if as_json:
        screen.say_json(told)
        return
    lines = {
        name: str(value) for name, value in told.items() if name not in {"tables", "log_origin"} and value is not None
    }
    screen.say_facts(lines)
    screen.say("rows by table", bold=True)
    screen.say_facts({name: f"{count:,}" for name, count in told["tables"].items()})
    for role, mark in told["log_origin"].items():
        screen.say(f"{role}: {mark['place']} at sequence {mark['sequence']} of log {mark['identity']}")


def _place(tip: Position) -> dict[str, Any]:
    return {"identity": tip.identity.hex(), "sequence": tip.sequence, "digest": tip.digest.hex()}


def _lineage(rows: tuple[Encoded, ...]) -> dict[str, Any]:
    decoded = [decode_row(row) for row in rows if row.table == "log_origin"]
    return {
        str(row.key[0]): {
            "place": row.value.url,
            "identity": row.value.identity,
            "sequence": row.value.sequence,
            "gap": row.value.gap,
        }
        for row in decoded
        if isinstance(row.value, LogOrigin)
    }


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of checking one log, dump or state file."""

    source: str
    tip: Position
    state: str
    rows: int
    faults: tuple[Unsound, ...]
    reserved: tuple[ReservedIds, ...]


@click.command(
    "verify", epilog="Exit code 0: sound. 1: a law is broken, or two states differ. 2: something can't be read."
)
@click.argument("sources", metavar="LOG-OR-FILE...", nargs=-1, required=True, envvar="TREATY_LOG")
@set_up
@as_json
def verify(*, sources: tuple[str, ...], as_json: bool) -> None:
    """Check every law that the rows of a LOG (or of a dump, or of a state file) can show, build every index again and compare, and
    print its chain and its state root.

    Nodes at one sequence of one log have one state root; compare it with `node.state_root` in their /status.
    Ids that lie far above the rest and hold the counter of ids up are listed; they break no rule.

    \b
    Examples:
      treaty log verify sqlite:///var/lib/treaty/log.db
      treaty log verify postgresql://treaty@db/registry backup.dump.zst
      treaty log verify /var/lib/treaty/log.db-state
    """  # noqa: D301 - click wants the control character
    verdicts = [_checked(source) for source in sources]
    differ = len({one.state for one in verdicts if one.tip == verdicts[0].tip}) > 1
    if as_json:
        screen.say_json(
            {"sound": not any(one.faults for one in verdicts) and not differ, "logs": [*map(_told, verdicts)]}
        )
    else:
        for one in verdicts:
            _say(one)
        if differ:
            screen.say("states at the same place differ: one of them is damaged", "red", bold=True)
    sys.exit(1 if differ or any(one.faults for one in verdicts) else 0)


def _checked(source: str) -> Verdict:
    if is_state(Path(source)):
        return _checked_state(Path(source))
    rows, tip, place = _read(source)
    tables = DictTables()
    tables.load(rows, tip)
    faults = (*unsound(tables), *wrong_indexes(tables))
    return Verdict(place, tip, as_root(tables.roots).hex(), len(rows), faults, reserved_ids(tables))


def _checked_state(path: Path) -> Verdict:
    """Check a state file: its rows as those of a log, and all by which nodes find them in it."""
    try:
        state = check_state(path)
    except (StateFileError, SegmentDamagedError) as error:
        raise UnusableError(f"{error}; remove the file: nodes read the log where there is none") from error
    return Verdict(
        str(path),
        state.position,
        as_root(state.rows.roots).hex(),
        state.rows.size,
        state.faults,
        reserved_ids(state.rows),
    )


def _read(source: str) -> tuple[tuple[Encoded, ...], Position, str]:
    if is_dump(source):
        head, rows = run(lambda: read_file(source))
        return tuple(rows), head.position, source

    async def read() -> tuple[tuple[Encoded, ...], Position, str]:
        async with opened(source) as found:
            delta = await found.read(START)
            return delta.rows, delta.tip, found.url

    return run(read)


def _told(one: Verdict) -> dict[str, Any]:
    faults = [
        {"rule": fault.rule, "table": fault.table, "key": list(fault.key), "message": fault.message}
        for fault in one.faults
    ]
    return {"log": one.source, **_place(one.tip), "stateRoot": one.state, "rows": one.rows, "faults": faults,
            "reserved": [*map(reserved_members, one.reserved)]}  # fmt: skip


def _say(one: Verdict) -> None:
    place = {name: str(value) for name, value in _place(one.tip).items()}
    screen.say_facts({"log": one.source, **place, "state": one.state, "rows": f"{one.rows:,}"})
    for fault in one.faults[:SHOWN]:
        screen.say(str(fault), "red")
    if len(one.faults) > SHOWN:
        screen.say(f"... and {len(one.faults) - SHOWN:,} more; --json prints them all", "red")
    for held in one.reserved:
        screen.say(f"reserved ids: {held}", "yellow")
        screen.say(
            "   where an importer gave them by mistake, `treaty log repair --ids` lowers the counter again", "yellow"
        )
    if not one.faults:
        screen.say("sound: every law that rows can show holds, and every index shows what the rows say", "green")
