"""What a SQL store keeps of the state root beside its rows: the share of each state table, as of the last append."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.core.commit import NO_ROOT, Append, Position, as_root
from treaty.core.root import roots_of
from treaty.core.rows import Encoded

log = logging.getLogger("treaty.log")


def stored_place(row: Sequence[Any]) -> Position:
    """Build a position of identity, sequence, digest and root as they stand in a store, whatever somebody made of the root."""
    identity, sequence, digest, root = row
    return Position(identity, sequence, digest, root if isinstance(root, bytes) else str(root).encode())


def stored_roots(rows: Iterable[tuple[str, object]]) -> Mapping[str, int]:
    """Build the table roots of names and roots as they stand in a store; one that is not 32 bytes is no table's root."""
    return {
        table: int.from_bytes(root, "big") if isinstance(root, bytes) and len(root) == 32 else -1
        for table, root in rows
    }


@dataclass(frozen=True, slots=True)
class RootChanges:
    """What an append changes in the table roots of its store."""

    put: tuple[tuple[str, bytes], ...] = ()
    """Tables, and what each adds now, as it is stored."""
    gone: tuple[str, ...] = ()
    """Tables that add nothing any more."""
    others_go: bool = False
    """Whether all tables that `put` does not name add nothing."""


class WrittenRoots:
    """The table roots that one connection wrote last, so that its next append writes only those that it changes."""

    def __init__(self) -> None:
        """Know none: the first append writes all."""
        self._digest = b""
        self._roots: Mapping[str, int] = {}

    def changes(self, append: Append) -> RootChanges:
        """Return what an append changes; all, where somebody else wrote before it."""
        if _repeats(append):
            return RootChanges()
        known = append.parent == self._digest
        before = self._roots if known else {}
        roots = append.roots
        put = tuple((table, root.to_bytes(32, "big")) for table, root in roots.items() if before.get(table) != root)
        return RootChanges(put, tuple(table for table in before if table not in roots), others_go=not known)

    def wrote(self, append: Append) -> None:
        """Remember what is in the store now."""
        if not _repeats(append):
            self._digest, self._roots = append.digest, append.roots
        elif append.parent == self._digest:
            self._digest = append.digest


def _repeats(append: Append) -> bool:
    """Whether an append states the root of its base, and not what each table adds."""
    return not append.roots and append.root != NO_ROOT


def differing(one: Mapping[str, int], other: Mapping[str, int]) -> tuple[str, ...]:
    """Return the tables, in order, of which the two say different things; a table that is missing adds nothing."""
    return tuple(sorted(table for table in {*one, *other} if one.get(table, 0) != other.get(table, 0)))


def warn_where_unequal(where: str, tip: Position, stored: Mapping[str, int], rows: Iterable[Encoded]) -> None:
    """Warn where the table roots of a store do not add up to the root of its last append, and name what is wrong.

    Nodes compare the rows with that root by themselves. This tells them which of the store's own copies was changed.
    """
    if as_root(stored) == tip.root:
        return
    tables = differing(stored, roots_of(rows))
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
