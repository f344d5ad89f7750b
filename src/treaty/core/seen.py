"""A view that shows only what may be read: what is hidden looks as if it were not there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from treaty.core.counters import IDS
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, subject_of
from treaty.core.rights import Access
from treaty.core.rows import Key, Value
from treaty.core.values import Counter, Version
from treaty.core.view import USED_STATES, View, span

How = Literal["entry", "rows", "schemas", "associated", "settings"]

FOUND: Mapping[str, How] = {
    "subject.elsewhere": "rows",
    "version.subject": "entry",
    "name.version": "entry",
    "encoding.version": "entry",
    "version.listed": "rows",
    "version.schema": "rows",
    "version.content": "rows",
    "schema.guid": "schemas",
    "schema.everywhere": "schemas",
    "schema.lookup_digest": "schemas",
    "schema.referrers": "schemas",
    "association.subject": "entry",
    "association.name": "associated",
    "association.listed": "associated",
    "association.resource": "associated",
    "association.guid": "associated",
    "config.alias": "settings",
}
"""Where an index says whose rows it finds: in the entry, in the keys of the rows (associated: at their end), or
(schemas) in who uses them.

An index that is not here finds nothing for somebody whose rights are bounded.
"""
WALKED: Mapping[str, int] = {
    "subject": 0, "version.number": 1, "version.listed": 1, "config": 1, "mode": 1, "association.listed": 3,
}  # fmt: skip
"""Where in a key or entry of an order context and subject begin. What is not here shows nothing of itself."""
OWNED = frozenset({"subject", "version", "name", "encoding"})
"""Tables whose keys begin with context and subject."""


class Seen:
    """What somebody may read of a view.

    A row whose key is known is shown, because the law follows references of schemas that may be read; keys come from
    indexes and lists alone, and these are filtered.
    """

    __slots__ = ("_access", "_base")

    def __init__(self, base: View, access: Access) -> None:
        """Show of the base what may be read."""
        self._base = base
        self._access = access

    @property
    def sequence(self) -> int:
        """Sequence of the last commit shown."""
        return self._base.sequence

    def get(self, table: str, key: Key) -> Value | None:
        """Return the value of a row, or None; of the highest id of a context only what may be read shows."""
        if table == "counter" and key[0] == IDS and not self._access.may_whole("read", str(key[1])):
            return Counter(self._highest(str(key[1])))
        return self._base.get(table, key)

    def _highest(self, context: str) -> int:
        subjects = self.walk("subject", *span((context,)))
        versions = (self._base.get("version", key) for each in subjects for key in self.find("version.subject", each))
        return max((one.schema_id for one in versions if isinstance(one, Version)), default=0)

    def find(self, index: str, entry: Key, head: Key = ()) -> Iterator[Key]:
        """Return the keys of rows that claim an index entry, begin with `head` and may be read, ascending."""
        how = FOUND.get(index)
        if how is None or (how == "entry" and not self._reads(entry)):
            return iter(())
        keys = self._base.find(index, entry, head)
        if how == "rows":
            return filter(self._reads, keys)
        if how == "settings":
            return (key for key in keys if self._reads(key[1:]))
        if how == "associated":
            return (key for key in keys if self._reads(subject_of(str(key[-1]))))
        if how == "schemas":
            return filter(self._uses, keys)
        return keys

    def _uses(self, schema: Key) -> bool:
        """Whether a schema is used where it may be read."""
        return any(any(self.find("version.schema", (state, *schema))) for state in USED_STATES)

    def count(self, table: str, entry: Key) -> int:
        """Return how many readable rows of a table fall under an entry; a number says nothing of who they are."""
        return self._base.count(table, entry)

    def keys(self, table: str) -> Iterable[Key]:
        """Return the keys of a table that may be read; a context is shown to who may read something that fits it."""
        keys = self._base.keys(table)
        if table in OWNED:
            return (key for key in keys if self._reads(key))
        if table == "association":
            return (key for key in keys if self._reads(subject_of(str(key[-1]))))
        if table == "context":
            return (key for key in keys if self._access.enters(str(key[0])))
        return ()

    def walk(self, order: str, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Key]:
        """Return in order, up or down, the keys or entries of subjects that may be read.

        A setting above subjects is shown as a context is.
        """
        keys = self._base.walk(order, low, high, reverse=reverse)
        if self._access.sees_all:
            return keys
        at = WALKED.get(order)
        if at is None:
            return iter(())
        return (key for key in keys if self._shows(key, at))

    def _shows(self, key: Key, at: int) -> bool:
        if at == 1 and key[0] in {"context", "everywhere"}:
            return key[1] in {EVERYWHERE, DEFAULT_CONTEXT} or self._access.enters(str(key[1]))
        return self._reads(key[at:])

    def _reads(self, key: Key) -> bool:
        return self._access.may("read", Subject(str(key[0]), str(key[1])))
