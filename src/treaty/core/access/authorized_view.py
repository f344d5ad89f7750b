"""A view that shows only what may be read: what is hidden looks as if it were not there."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from treaty.core.access.rights import Access
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, subject_of
from treaty.core.state import state_tables as t
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.values import Counter
from treaty.core.state.view import View, span

How = Literal["entry", "rows", "schemas", "associated", "settings"]

FOUND: Mapping[t.AnyIndex, How] = {
    t.SUBJECT_ELSEWHERE: "rows",
    t.VERSION_BY_SUBJECT: "entry",
    t.NAME_BY_VERSION: "entry",
    t.ENCODING_BY_VERSION: "entry",
    t.VERSION_LISTED: "rows",
    t.VERSION_BY_SCHEMA: "rows",
    t.VERSION_BY_CONTENT: "rows",
    t.SCHEMA_BY_GUID: "schemas",
    t.SCHEMA_EVERYWHERE: "schemas",
    t.SCHEMA_BY_LOOKUP_DIGEST: "schemas",
    t.SCHEMA_BY_TARGET: "schemas",
    t.ASSOCIATION_BY_SUBJECT: "entry",
    t.ASSOCIATION_BY_NAME: "associated",
    t.ASSOCIATION_LISTED: "associated",
    t.ASSOCIATION_OF_RESOURCE: "associated",
    t.ASSOCIATION_BY_GUID: "associated",
    t.CONFIG_BY_ALIAS: "settings",
}
"""Where an index says whose rows it finds: in the entry, in the keys of the rows (associated: at their end), or
(schemas) in who uses them.

An index that is not here finds nothing for somebody whose rights are bounded.
"""
WALKED: Mapping[t.AnyTable | t.AnyIndex, int] = {
    t.SUBJECT: 0, t.VERSION_BY_NUMBER: 1, t.VERSION_LISTED: 1, t.CONFIG: 1, t.MODE: 1, t.ASSOCIATION_LISTED: 3,
}  # fmt: skip
"""Where in a key or entry of an order context and subject begin. What is not here shows nothing of itself."""
OWNED: frozenset[t.AnyTable] = frozenset({t.SUBJECT, t.VERSION, t.NAME, t.ENCODING})
"""Tables whose keys begin with context and subject."""


class AuthorizedView:
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
    def base(self) -> View:
        """The view with everything that may not be read, for who asks `reads` of each key: that is how a walk pauses."""
        return self._base

    @property
    def sequence(self) -> int:
        """Sequence of the last commit shown."""
        return self._base.sequence

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Return the value of a row, or None; of the highest id of a context only what may be read shows."""
        if table is t.COUNTER and key[0] == t.IDS and not self._access.may_whole("read", str(key[1])):
            return Counter(self._highest(str(key[1])))  # type: ignore[return-value]  # the table's value
        return self._base.get(table, key)

    def _highest(self, context: str) -> int:
        subjects = self.walk(t.SUBJECT, *span((context,)))
        versions = (self._base.get(t.VERSION, key) for one in subjects for key in self.find(t.VERSION_BY_SUBJECT, one))
        return max((one.schema_id for one in versions if one is not None), default=0)

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[K]:
        """Return the keys of rows that claim an index entry, begin with `head` and may be read, ascending."""
        how = FOUND.get(index)
        if how is None or (how == "entry" and not self.reads(entry)):
            return iter(())
        keys = self._base.find(index, entry, head)
        if how == "rows":
            return filter(self.reads, keys)
        if how == "settings":
            return (key for key in keys if self.reads(key[1:]))
        if how == "associated":
            return (key for key in keys if self.reads(subject_of(str(key[-1]))))
        if how == "schemas":
            return filter(self._uses, keys)
        return keys

    def _uses(self, schema: Key) -> bool:
        """Whether a schema is used where it may be read."""
        context, schema_id = schema
        used = (self.find(t.VERSION_BY_SCHEMA, (state, str(context), int(schema_id))) for state in t.USED_STATES)
        return any(map(any, used))

    def count(self, table: Table[K, V], group: Key) -> int:
        """Return how many readable rows of a table are in a group; a number says nothing of who they are."""
        return self._base.count(table, group)

    def keys(self, table: Table[K, V]) -> Iterable[K]:
        """Return the keys of a table that may be read; a context is shown to who may read something that fits it."""
        keys = self._base.keys(table)
        if table in OWNED:
            return (key for key in keys if self.reads(key))
        if table is t.ASSOCIATION:
            return (key for key in keys if self.reads(subject_of(str(key[-1]))))
        if table is t.CONTEXT:
            return (key for key in keys if self._access.enters(str(key[0])))
        return ()

    def walk(self, order: t.AnyTable | t.AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
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
        return self.reads(key[at:])

    def reads(self, key: Key) -> bool:
        """Return whether a subject may be read, by a key that begins with its context and name."""
        return self._access.may("read", Subject(str(key[0]), str(key[1])))


def without_filter(view: View) -> tuple[View, Callable[[Key], bool]]:
    """Return a view that also has what may not be read, and who tells by context and name what may.

    For work that pauses: a filter walks past what is hidden without a pause.
    """
    if isinstance(view, AuthorizedView):
        return view.base, view.reads
    return view, lambda _key: True
