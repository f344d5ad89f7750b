"""Whether rows add up: what they come to, beside what is stated of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from treaty.core.commit import START, as_root
from treaty.core.root import roots_of
from treaty.log.log import Delta, Log, TableRoots

ACCEPT = "see `treaty log verify`, with --against another copy; `treaty log repair --accept-state` states the root of the rows as they are"
"""What to do about a log whose rows are not those that it states."""
TRIES = 5
"""Times that a log is read for its rows and the shares of its tables at one place, while others write."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A table whose rows add another share than is stated, or (without a table) a state that comes to another root."""

    table: str
    message: str


def disagreements(root: bytes, stated: Mapping[str, int] | None, found: Mapping[str, int]) -> Iterator[Disagreement]:
    """Compare what rows come to (`found`, by table) with the root that is stated for them, and with the shares of the tables
    where these are kept (None where they are not).
    """
    tables = sorted({*stated, *found}) if stated is not None else ()
    for table in tables:
        says, adds = (stated or {}).get(table, 0), found.get(table, 0)
        if says != adds:
            yield Disagreement(table, f"its rows add {adds:064x} to the state root, {says:064x} is stated")
    if as_root(found) != root:
        yield Disagreement("", f"the rows come to the state root {as_root(found).hex()}, {root.hex()} is stated")
    if stated is not None and as_root(stated) != root:
        yield Disagreement(
            "", f"the shares of the tables come to the state root {as_root(stated).hex()}, {root.hex()} is stated"
        )


def adds_up(delta: Delta) -> bool:
    """Tell whether the rows of a whole log come to the root that its last append states."""
    return as_root(roots_of(delta.rows)) == delta.tip.root


async def read_whole(log: Log) -> tuple[Delta, Mapping[str, int] | None]:
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
