"""State roots: comparison of the rows of a log with the stated roots, in total and by table."""

import logging
from collections.abc import Iterable, Iterator, Mapping

from treaty.core.state.commit import START, Position, as_root, roots_of
from treaty.core.state.rows import EncodedRow
from treaty.light_dataclass import dataclass
from treaty.log.capabilities import TableRoots
from treaty.log.log import Log, LogDelta

log = logging.getLogger("treaty.log")

ROOT_REMEDY = "see `treaty log verify`, with --against another copy; `treaty log repair --accept-state` states the root of the rows as they are"
"""What to do about a log whose rows are not those that it states."""
TRIES = 5
"""Times that a log is read for its rows and the shares of its tables at one position, while others write."""


@dataclass(frozen=True, slots=True)
class RootMismatch:
    """A table whose rows add another share than is stated, or (without a table) a state that comes to another root."""

    table: str
    message: str


def find_root_mismatches(
    root: bytes, stated: Mapping[str, int] | None, shares: Mapping[str, int]
) -> Iterator[RootMismatch]:
    """Compare what rows come to (`shares`, by table) with the root that is stated for them, and with the shares of the
    tables where these are kept (None where they are not).
    """
    tables = sorted({*stated, *shares}) if stated is not None else ()
    for table in tables:
        says, adds = (stated or {}).get(table, 0), shares.get(table, 0)
        if says != adds:
            yield RootMismatch(table, f"its rows add {adds:064x} to the state root, {says:064x} is stated")
    if as_root(shares) != root:
        yield RootMismatch("", f"the rows come to the state root {as_root(shares).hex()}, {root.hex()} is stated")
    if stated is not None and as_root(stated) != root:
        yield RootMismatch(
            "", f"the shares of the tables come to the state root {as_root(stated).hex()}, {root.hex()} is stated"
        )


def has_stated_root(delta: LogDelta) -> bool:
    """Return whether the rows of a whole log come to the root that its last append states."""
    return as_root(roots_of(delta.rows)) == delta.tip.root


async def read_with_table_roots(log: Log) -> tuple[LogDelta, Mapping[str, int] | None]:
    """Return the whole state of a log, and what each of its tables adds to the root as the log itself keeps it.

    None where it keeps nothing of the kind, or where others wrote meanwhile again and again.
    """
    for _ in range(TRIES):
        delta = await log.read(START)
        if not isinstance(log, TableRoots):
            return delta, None
        tip, roots = await log.table_roots()
        if tip == delta.tip:
            return delta, roots
    return delta, None


def differing_tables(first: Mapping[str, int], second: Mapping[str, int]) -> tuple[str, ...]:
    """Return the tables, in order, of which the two say different things; a table that is missing adds nothing."""
    return tuple(sorted(table for table in {*first, *second} if first.get(table, 0) != second.get(table, 0)))


def warn_of_wrong_table_roots(where: str, tip: Position, stored: Mapping[str, int], rows: Iterable[EncodedRow]) -> None:
    """Warn where the table roots of a store do not add up to the root of its last append, and name what is wrong.

    Nodes compare the rows with that root by themselves. This shows which of the store's own copies was changed.
    """
    if as_root(stored) == tip.root:
        return
    tables = differing_tables(stored, roots_of(rows))
    what = (
        f"those of {', '.join(tables)} do not fit the rows"
        if tables
        else "they fit the rows, the append's root does not"
    )
    log.warning(
        "%s: the roots of the tables do not add up to the root of the append at sequence %s; %s. See `treaty log verify`",
        where,
        tip.sequence,
        what,
    )
