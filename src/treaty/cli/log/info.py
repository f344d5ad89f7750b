"""`treaty log info` prints facts about a log: its last position, its rows by table, its size and its origin."""

from collections import Counter
from typing import Any

import click

from treaty.cli.log.log_argument import log, open_command_log, run
from treaty.cli.registry.connection import as_json
from treaty.cli.terminal import screen
from treaty.core.state.commit import START, Position
from treaty.core.state.rows import EncodedRow, decode_row
from treaty.core.state.values import LogOrigin

LINES = {"appendsRemembered": "remembered appends", "oldestRemembered": "oldest of these"}
"""Members that people read under another name than programs."""


@click.command("info")
@log
@as_json
def info(*, log: str, as_json: bool) -> None:
    """Show the last position of a LOG, its rows by table, its size and its origin.

    \b
    Examples:
      treaty log info sqlite:///var/lib/treaty/log.db
      TREATY_LOG=postgresql://treaty@db/registry treaty log info --json
    """  # noqa: D301 - click wants the control character

    async def read_facts() -> dict[str, Any]:
        async with open_command_log(log) as opened_log:
            facts, delta = await opened_log.read_stats(), await opened_log.read(START)
            tables = Counter(row.table for row in delta.rows)
            return {
                "log": opened_log.url,
                "kind": facts.kind,
                "layout": facts.layout,
                **position_members(delta.tip),
                **({} if facts.bytes < 0 else {"bytes": facts.bytes}),
                "rows": facts.live,
                "tombstones": facts.tombstones,
                "appendsRemembered": facts.appends,
                "oldestRemembered": facts.oldest,
                "tables": dict(sorted(tables.items())),
                "log_origin": _origin_members(delta.rows),
            }

    members = run(read_facts)
    if as_json:
        screen.say_json(members)
        return
    lines = {
        LINES.get(name, name): f"{value:,}" if isinstance(value, int) else str(value)
        for name, value in members.items()
        if name not in {"tables", "log_origin"} and value is not None
    }
    screen.say_facts(lines)
    screen.say("rows by table", bold=True)
    screen.say_facts({name: f"{count:,}" for name, count in members["tables"].items()})
    for role, mark in members["log_origin"].items():
        screen.say(f"{role}: {mark['place']} at sequence {mark['sequence']} of log {mark['identity']}")


def position_members(tip: Position) -> dict[str, Any]:
    """Return a position as JSON members."""
    return {"identity": tip.identity.hex(), "sequence": tip.sequence, "digest": tip.digest.hex()}


def _origin_members(rows: tuple[EncodedRow, ...]) -> dict[str, Any]:
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
