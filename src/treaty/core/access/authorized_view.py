"""A view that shows only what the caller may read; hidden rows look as if they did not exist."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from treaty.core.access.private_subjects import (
    OWNED,
    PublicView,
    hides_subjects,
    is_hidden,
    may_read,
    shown_value,
    subject_of_row,
)
from treaty.core.access.rights import Access
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, subject_of
from treaty.core.state import association_table, schemaver_tables
from treaty.core.state import state_tables as t
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.values import Counter
from treaty.core.state.view import View, span

How = Literal["entry", "rows", "schemas", "associated", "settings"]

FOUND: Mapping[t.AnyIndex, How] = {
    t.SUBJECT_ELSEWHERE: "rows",
    t.VERSION_BY_SUBJECT: "entry",
    t.NAME_BY_VERSION: "entry",
    schemaver_tables.SUPERSEDED_BY: "entry",
    t.ENCODING_BY_VERSION: "entry",
    t.VERSION_LISTED: "rows",
    t.VERSION_BY_SCHEMA: "rows",
    t.VERSION_BY_CONTENT: "rows",
    t.VERSION_BY_IDENTITY: "rows",
    t.SCHEMA_BY_GUID: "schemas",
    t.SCHEMA_EVERYWHERE: "schemas",
    t.SCHEMA_BY_LOOKUP_DIGEST: "schemas",
    t.SCHEMA_BY_TARGET: "schemas",
    association_table.ASSOCIATION_BY_SUBJECT: "entry",
    association_table.ASSOCIATION_BY_NAME: "associated",
    association_table.ASSOCIATION_LISTED: "associated",
    association_table.ASSOCIATION_OF_RESOURCE: "associated",
    association_table.ASSOCIATION_BY_GUID: "associated",
    t.CONFIG_BY_ALIAS: "settings",
    t.CONFIG_BY_POLICY: "settings",
}
"""Where an index has the subject of its rows: in the entry, in the keys of the rows (associated: at their end), or
(schemas) in the versions that use them. Any other index finds nothing for a caller with limited rights.
"""
WALKED: Mapping[t.AnyTable | t.AnyIndex, int] = {
    t.SUBJECT: 0, t.CODEC: 0, t.VERSION_BY_NUMBER: 1, t.VERSION_LISTED: 1, t.CONFIG: 1, t.MODE: 1, association_table.ASSOCIATION_LISTED: 3,
}  # fmt: skip
"""The place of context and subject in a key or entry of an order. Any other order shows nothing."""


class AuthorizedView:
    """A view with only the rows that a caller may read.

    A row is returned for any known key, because handlers follow the references of readable schemas; keys come only from
    indexes and lists, which are filtered. Rows of private subjects are hidden from all who may not read them.
    """

    __slots__ = ("_access", "_base", "_hiding")

    def __init__(self, base: View, access: Access) -> None:
        """Filter the base by the access of the caller."""
        self._base = base.base if isinstance(base, PublicView) else base
        self._access = access
        self._hiding = hides_subjects(self._base, access)

    @property
    def base(self) -> View:
        """The unfiltered view, for callers that filter by `reads` themselves, with pauses."""
        return self._base

    @property
    def sequence(self) -> int:
        """Sequence of the last commit shown."""
        return self._base.sequence

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Return the value of a row, or None; the highest id of a context is that of readable schemas."""
        if table is t.COUNTER and key[0] == t.IDS and (self._hiding or not self._access.may_whole("read", str(key[1]))):
            return Counter(self._find_highest(str(key[1])))  # type: ignore[return-value]  # the table's value
        if self._hiding:
            subject = subject_of_row(table, key)
            if subject is not None and is_hidden(self._base, self._access, subject):
                return None
            return shown_value(self._base, self._access, table, key)
        return self._base.get(table, key)

    def _find_highest(self, context: str) -> int:
        subjects = self.walk(t.SUBJECT, *span((context,)))
        versions = (
            self._base.get(t.VERSION, key) for subject in subjects for key in self.find(t.VERSION_BY_SUBJECT, subject)
        )
        return max((version.schema_id for version in versions if version is not None), default=0)

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
        """Return whether a schema is used by a readable version."""
        context, schema_id = schema
        used = (self.find(t.VERSION_BY_SCHEMA, (state, str(context), int(schema_id))) for state in t.USED_STATES)
        return any(map(any, used))

    def count(self, table: Table[K, V], group: Key) -> int:
        """Return the number of valid rows of a table in a group; counts are not filtered."""
        return self._base.count(table, group)

    def keys(self, table: Table[K, V]) -> Iterable[K]:
        """Return the readable keys of a table; a context is readable for a caller who may read something in it."""
        keys = self._base.keys(table)
        if table in OWNED:
            return (key for key in keys if self.reads(key))
        if table is association_table.ASSOCIATION:
            return (key for key in keys if self.reads(subject_of(str(key[-1]))))
        if table is t.CONTEXT:
            return (key for key in keys if self._access.enters(str(key[0])))
        return ()

    def walk(self, order: t.AnyTable | t.AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Return in order, up or down, the keys or entries of readable subjects. A setting above subjects is readable
        like a context.
        """
        keys = self._base.walk(order, low, high, reverse=reverse)
        if self._access.sees_all and not self._hiding:
            return keys
        at = WALKED.get(order)
        if at is None:
            return iter(())
        visible_keys = (key for key in keys if self._shows(key, at))
        if order is t.CONFIG and self._hiding:
            return (key for key in visible_keys if self.get(t.CONFIG, key) is not None)
        return visible_keys

    def _shows(self, key: Key, at: int) -> bool:
        if at == 1 and key[0] in {"context", "everywhere"}:
            return key[1] in {EVERYWHERE, DEFAULT_CONTEXT} or self._access.enters(str(key[1]))
        return self.reads(key[at:])

    def reads(self, key: Key) -> bool:
        """Return whether the subject of a key, which begins with context and name, is readable."""
        subject = Subject(str(key[0]), str(key[1]))
        return may_read(self._base, self._access, subject) if self._hiding else self._access.may("read", subject)


def readable_view(view: View, access: Access | None) -> View:
    """Return a view with what a caller may read."""
    if access is None or (access.sees_all and not hides_subjects(view, access)):
        return view
    return AuthorizedView(view, access)


def without_filter(view: View) -> tuple[View, Callable[[Key], bool]]:
    """Return the unfiltered view, and a filter by context and name. For work that pauses: a filtered walk skips hidden
    rows without a pause.
    """
    if isinstance(view, AuthorizedView):
        return view.base, view.reads
    return view, lambda _key: True
