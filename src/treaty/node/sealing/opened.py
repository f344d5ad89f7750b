"""The law behind a vault: it sees opened values, and the rows that it decides are sealed before anybody else sees them.

This is the one place between the law, which must know what is meant, and everything that keeps rows: the log, the
tables, state files and dumps hold sealed values alone, and all of them agree on the digests.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from treaty.core.command import Command, Decision, Needs
from treaty.core.grammar import Grammar
from treaty.core.refusals import Refusal
from treaty.core.rows import Key, Value
from treaty.core.view import View
from treaty.node.sealing.vault import Vault

Decide = Callable[[View, Command[Any], Grammar], Decision[Any] | Refusal | Needs]


def behind(vault: Vault, decide: Decide) -> Decide:
    """Return the law as a node with this vault applies it."""

    def sealing(view: View, command: Command[Any], grammar: Grammar) -> Decision[Any] | Refusal | Needs:
        verdict = decide(Opened(view, vault) if vault.keys else view, command, grammar)
        if not isinstance(verdict, Decision) or not verdict.rows:
            return verdict
        try:
            rows = tuple(sealed for row in verdict.rows for sealed in vault.seal(row, view))
        except Refusal as refusal:
            return refusal
        return verdict if rows == verdict.rows else replace(verdict, rows=tuple(dict.fromkeys(rows)))

    return sealing


class Opened:
    """A view whose sensitive values are opened."""

    __slots__ = ("_base", "_vault")

    def __init__(self, base: View, vault: Vault) -> None:
        """Show what the base shows, opened."""
        self._base = base
        self._vault = vault

    @property
    def sequence(self) -> int:
        """Sequence of the last commit shown."""
        return self._base.sequence

    def get(self, table: str, key: Key) -> Value | None:
        """Return the value of a row, opened, or None."""
        return self._vault.open(self._base.get(table, key))

    def find(self, index: str, entry: Key, head: Key = ()) -> Iterator[Key]:
        """Return the keys of rows that claim an index entry; no index is made of a sensitive value."""
        return self._base.find(index, entry, head)

    def count(self, table: str, entry: Key) -> int:
        """Return how many readable rows of a table fall under an entry."""
        return self._base.count(table, entry)

    def keys(self, table: str) -> Iterable[Key]:
        """Return all keys of a table."""
        return self._base.keys(table)

    def walk(self, order: str, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Key]:
        """Return the keys or entries of an order from `low` on and below `high`, up or down."""
        return self._base.walk(order, low, high, reverse=reverse)
