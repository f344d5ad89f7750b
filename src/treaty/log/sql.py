"""Shared by logs in SQL stores: the stored forms of rows, positions and table roots."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from treaty.core.state.commit import NO_ROOT, Append, Position


def encode_text(text: str | None) -> bytes | None:
    """Encode a text as UTF-8. Half characters, which JSON can carry, are encoded too."""
    return None if text is None else text.encode("utf-8", "surrogatepass")


def bind_text(text: str) -> str | bytes:
    """Return what SQLite's binding takes for a text: the text itself, or its bytes where it may have half characters."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass")


def decode_text(data: bytes) -> str:
    r"""Decode what `encode_text` encoded. Bytes that were changed and are no UTF-8 any more are shown as ``\xNN``: such
    a row counts as unreadable and moves the state root, and all other rows can still be read.
    """
    try:
        return str(data, "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return str(data, "utf-8", "backslashreplace")


log = logging.getLogger("treaty.log")


def read_position(row: Sequence[Any]) -> Position:
    """Build a position of identity, sequence, digest and root as stored, with any value of the root."""
    identity, sequence, digest, root = row
    return Position(identity, sequence, digest, root if isinstance(root, bytes) else str(root).encode())


def read_table_roots(rows: Iterable[tuple[str, object]]) -> Mapping[str, int]:
    """Build the table roots of names and roots as stored; one that is not 32 bytes is no table's root."""
    return {
        table: int.from_bytes(root, "big") if isinstance(root, bytes) and len(root) == 32 else -1
        for table, root in rows
    }


class TableRootChanges(NamedTuple):
    """What an append changes in the table roots of its store."""

    put: Sequence[tuple[str, bytes]] = ()
    """Tables, and what each adds now, as it is stored."""
    gone: Sequence[str] = ()
    """Tables that add nothing any more."""
    others_go: bool = False
    """Whether all tables that `put` does not name add nothing."""


class TableRootWriter:
    """The table roots that one connection wrote last, so that its next append writes only those that it changes."""

    def __init__(self) -> None:
        """Know none: the first append writes all."""
        self._digest = b""
        self._roots: Mapping[str, int] = {}

    def changes(self, append: Append) -> TableRootChanges:
        """Return what an append changes; all, where somebody else wrote before it."""
        if _repeats_root(append):
            return TableRootChanges()
        is_own = append.parent == self._digest
        before = self._roots if is_own else {}
        roots = append.roots
        put = [(table, root.to_bytes(32, "big")) for table, root in roots.items() if before.get(table) != root]
        gone = [table for table in before if table not in roots]
        return TableRootChanges(put, gone, others_go=not is_own)

    def note_append(self, append: Append) -> None:
        """Remember what is in the store now."""
        if not _repeats_root(append):
            self._digest, self._roots = append.digest, append.roots
        elif append.parent == self._digest:
            self._digest = append.digest


def _repeats_root(append: Append) -> bool:
    """Whether an append states the root of its base, and not what each table adds."""
    return not append.roots and append.root != NO_ROOT
