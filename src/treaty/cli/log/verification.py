"""`treaty log verify`: checks all rows of a log and compares them with its state root."""

import sys
from dataclasses import dataclass
from typing import Any

import click

from treaty.cli.log.info import position_members
from treaty.cli.log.log_argument import log_option
from treaty.cli.log.repair import reserved_members
from treaty.cli.log.whole_state import StateComparison, WholeState, compare_states, read_whole_state
from treaty.cli.registry.connection import as_json
from treaty.cli.terminal import screen
from treaty.core.invariants import find_violations
from treaty.core.state.commit import Position, as_root
from treaty.core.state.indexes import InvariantViolation, wrong_indexes
from treaty.core.state.reserved import ReservedIds, reserved_ids

SHOWN = 20
"""The most faults and differing rows that are printed as text; JSON has all of them."""
SHOWN_CHARACTERS, BEFORE = 200, 60
"""Characters of a row that are printed as text, and how many of them come before the first difference."""


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The result for one log, dump, backup or state file."""

    source: str
    tip: Position
    state: str
    rows: int
    faults: tuple[InvariantViolation, ...]
    reserved: tuple[ReservedIds, ...]


@click.command(
    "verify",
    epilog="Exit code 0: sound. 1: an invariant is broken, a state root is wrong, or two states differ. 2: an input cannot be read.",
)
@click.argument("sources", metavar="LOG-OR-FILE...", nargs=-1, required=True, envvar="TREATY_LOG")
@click.option(
    "--against",
    metavar="FILE-OR-LOG",
    default="",
    help="Compare the rows with another copy (a state file, dump, backup or log) and list the differences.",
)
@log_option
@as_json
def verify(*, sources: tuple[str, ...], against: str, as_json: bool) -> None:
    """Verify a LOG, dump, backup or state file: check every invariant of its rows, rebuild and compare every index, and
    compare the state root of the rows, in total and by table, with the one that the LOG states.

    All nodes at one sequence of a log have the same state root: `node.state_root` in their /status.
    Very high ids that raised the id counter are listed; they are valid.

    \b
    Examples:
      treaty log verify sqlite:///var/lib/treaty/log.db
      treaty log verify postgresql://treaty@db/registry backup.dump.zst
      treaty log verify sqlite:///var/lib/treaty/log.db \\
        --against /var/lib/treaty/log.db-state
    """  # noqa: D301 - click wants the control character
    if against and len(sources) != 1:
        raise click.UsageError("--against compares a single log or file with another; name one")
    copies = [read_whole_state(source) for source in sources]
    verdicts = [_verify_state(copy) for copy in copies]
    comparison = compare_states(copies[0], read_whole_state(against)) if against else None
    differ = len({one.state for one in verdicts if one.tip == verdicts[0].tip}) > 1
    sound = not differ and not any(one.faults for one in verdicts) and not (comparison and comparison.count)
    if as_json:
        compared = {"against": _comparison_members(comparison)} if comparison else {}
        screen.say_json({"sound": sound, "logs": [*map(_result_members, verdicts)], **compared})
    else:
        for verified in verdicts:
            _say_result(verified)
        if differ:
            screen.say("states at the same position differ: one of them is damaged", "red", bold=True)
        if comparison:
            _say_comparison(comparison)
    sys.exit(0 if sound else 1)


def _verify_state(copy: WholeState) -> VerifyResult:
    faults = copy.faults if copy.checked else (*copy.faults, *find_violations(copy.tables), *wrong_indexes(copy.tables))
    return VerifyResult(
        copy.source, copy.tip, as_root(copy.tables.roots).hex(), len(copy.rows), faults, reserved_ids(copy.tables)
    )


def _result_members(verified: VerifyResult) -> dict[str, Any]:
    faults = [
        {"rule": fault.rule, "table": fault.table, "key": list(fault.key), "message": fault.message}
        for fault in verified.faults
    ]
    return {"log": verified.source, **position_members(verified.tip), "stateRoot": verified.state, "statedRoot": verified.tip.root.hex(),
            "rows": verified.rows, "faults": faults, "reserved": [*map(reserved_members, verified.reserved)]}  # fmt: skip


def _comparison_members(comparison: StateComparison) -> dict[str, Any]:
    rows = [{"table": one.table, "key": one.key, "here": one.here, "there": one.there} for one in comparison.rows]
    return {
        "source": comparison.there.source,
        **position_members(comparison.there.tip),
        "differing": comparison.count,
        "rows": rows,
    }


def _say_result(verified: VerifyResult) -> None:
    place = {name: str(value) for name, value in position_members(verified.tip).items()}
    screen.say_facts({"log": verified.source, **place, "state root": verified.state, "rows": f"{verified.rows:,}"})
    for fault in verified.faults[:SHOWN]:
        screen.say(str(fault), "red")
    if len(verified.faults) > SHOWN:
        screen.say(f"... and {len(verified.faults) - SHOWN:,} more; --json prints them all", "red")
    if any(fault.rule == "STATE_ROOT" for fault in verified.faults):
        screen.say(
            "   rows were changed outside the log: compare with another copy by --against to find them, then see `treaty log repair`",
            "yellow",
        )
    screen.say_first((f"reserved ids: {held}" for held in verified.reserved), "yellow")
    if verified.reserved:
        screen.say("   if an import assigned them by mistake, `treaty log repair --ids` lowers the counter", "yellow")
    if not verified.faults:
        screen.say("sound: all invariants hold, all indexes match the rows, and the state root is right", "green")


def _say_comparison(comparison: StateComparison) -> None:
    if not comparison.count:
        screen.say(f"no row differs from {comparison.there.source}", "green")
        return
    what = "1 row differs" if comparison.count == 1 else f"{comparison.count:,} rows differ"
    screen.say(f"{what} from {comparison.there.source}", "red", bold=True)
    if comparison.here.tip != comparison.there.tip:
        screen.say(
            f"   it is at sequence {comparison.there.tip.sequence:,}, not {comparison.here.tip.sequence:,}; rows written in between differ too",
            "yellow",
        )
    for row in comparison.rows[:SHOWN]:
        screen.say(f"{row.table} {row.key}", "red")
        start = _first_difference(row.here, row.there)
        for name, text in (("here", row.here), ("there", row.there)):
            screen.say(f"   {name}: {_cut_text(text, start)}")
    if comparison.count > SHOWN:
        screen.say(f"... and {comparison.count - SHOWN:,} more; --json prints {len(comparison.rows):,} of them", "red")


def _first_difference(left: str | None, right: str | None) -> int:
    """Return the index of the first difference of two texts, less a few characters of context."""
    if left is None or right is None:
        return 0
    same = next((at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), 0)
    return max(same - BEFORE, 0)


def _cut_text(text: str | None, start: int) -> str:
    if text is None:
        return "no row"
    end = start + SHOWN_CHARACTERS
    return f"{'…' * (start > 0)}{text[start:end]}{'…' * (end < len(text))}"
