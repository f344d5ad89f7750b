"""Private subjects: for callers who may not read them they do not exist."""

from collections.abc import Iterable, Iterator
from typing import Any

from treaty.core.access.rights import Access
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Forbidden
from treaty.core.state import state_tables as t
from treaty.core.state.api_key_table import SUBJECT_PRIVATE
from treaty.core.state.association_table import ASSOCIATION
from treaty.core.state.rows import Row
from treaty.core.state.schemaver_tables import DRAFT, SUPERSEDED, SUPERSEDED_BY
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.view import ALL_KEYS, View

OWNED: frozenset[t.AnyTable] = frozenset({t.SUBJECT, t.VERSION, t.NAME, t.ENCODING, t.CODEC, SUPERSEDED, DRAFT})
"""Tables whose keys begin with context and subject."""
_SCOPED: frozenset[t.AnyTable] = frozenset({t.CONFIG, t.MODE})
_ENTRIES: frozenset[t.AnyIndex] = frozenset(
    {t.VERSION_BY_SUBJECT, t.NAME_BY_VERSION, t.ENCODING_BY_VERSION, SUPERSEDED_BY}
)
"""Indexes whose entries begin with context and subject."""
_WALKED: dict[t.AnyTable | t.AnyIndex, int] = {t.SUBJECT: 0, t.CODEC: 0, t.VERSION_BY_NUMBER: 1, t.VERSION_LISTED: 1}
"""The place of context and subject in a key or entry of an order."""


def may_read(view: View, access: Access | None, subject: Subject) -> bool:
    """Return whether a caller may read a subject, private or not. `view` shows private subjects."""
    if access is None:
        return True
    if not access.may("read", subject):
        return False
    base = view.base if isinstance(view, PublicView) else view
    return access.may("read", subject, private=True) or not is_private(base, subject)


def is_private(view: View, subject: Subject) -> bool:
    """Return whether a subject is private."""
    there = view.get(t.SUBJECT, subject)
    return there is not None and there.private


def hides_subjects(view: View, access: Access) -> bool:
    """Return whether there may be a private subject that a caller may not read."""
    return not access.sees_private and next(view.walk(SUBJECT_PRIVATE, *ALL_KEYS), None) is not None


class PublicView:
    """A view without the private subjects that a caller may not read, for commands.

    Their names are missing; their schemas and who refers to whom are there, because ids and deletions depend on them.
    """

    __slots__ = ("_access", "_base")

    def __init__(self, base: View, access: Access) -> None:
        """Hide private subjects of the base from a caller."""
        self._base = base
        self._access = access

    @property
    def base(self) -> View:
        """The view that shows all subjects."""
        return self._base

    @property
    def sequence(self) -> int:
        """Sequence of the last commit shown."""
        return self._base.sequence

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Return the value of a row, or None."""
        subject = subject_of_row(table, key)
        return None if subject is not None and self.hides(subject) else self._base.get(table, key)

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[K]:
        """Return the keys of rows that claim an index entry."""
        if index in _ENTRIES and self.hides(Subject(str(entry[0]), str(entry[1]))):
            return iter(())
        return self._base.find(index, entry, head)

    def count(self, table: Table[K, V], group: Key) -> int:
        """Return the number of rows in a group."""
        return self._base.count(table, group)

    def keys(self, table: Table[K, V]) -> Iterable[K]:
        """Return all keys of a table."""
        return self._base.keys(table)

    def walk(self, order: t.AnyTable | t.AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Return keys or entries in order."""
        keys = self._base.walk(order, low, high, reverse=reverse)
        at = _WALKED.get(order)
        if at is None:
            return keys
        return (key for key in keys if not self.hides(Subject(str(key[at]), str(key[at + 1]))))

    def hides(self, subject: Subject) -> bool:
        """Return whether a subject is private, and hidden from the caller."""
        return not self._access.may("read", subject, private=True) and is_private(self._base, subject)


def subject_of_row(table: t.AnyTable, key: Key) -> Subject | None:
    """Return the subject that a row belongs to; None for rows of schemas, contexts and of the registry."""
    if table in OWNED:
        return Subject(str(key[0]), str(key[1]))
    if table in _SCOPED:
        return Subject(str(key[1]), str(key[2])) if key[0] == "subject" else None
    if table is t.COUNTER:
        return Subject(str(key[1]), str(key[2])) if key[2] else None
    if table is ASSOCIATION:
        return subject_of(str(key[-1]))
    return None


def refuse_hidden_changes(view: PublicView, rows: Iterable[Row], principal: str, name: str) -> None:
    """Raise `Forbidden` for a decision that would change a hidden subject."""
    for row in rows:
        table = t.TABLES[row.table]
        subject = subject_of_row(table, row.key)
        if subject is not None and view.hides(subject):
            raise _forbidden(principal, subject, name)


def refuse_private_creation(rows: Iterable[Row], access: Access, principal: str, name: str) -> None:
    """Raise `Forbidden` for a decision that makes a private subject, if its maker could not read it."""
    for row in rows:
        if row.table == t.SUBJECT.name and getattr(row.value, "private", False):
            refuse_unless_private_creator(access, principal, Subject(str(row.key[0]), str(row.key[1])), name)


def refuse_unless_private_creator(access: Access | None, principal: str, subject: Subject, name: str) -> None:
    """Raise `Forbidden` for who may not make a private subject of this name."""
    if access is not None and not access.may("create", subject, private=True):
        raise _forbidden(principal, subject, name)


def _forbidden(principal: str, subject: Subject, name: str) -> Forbidden:
    return Forbidden.of(
        "RIGHTS",
        f"{principal} is not allowed to do this: it needs a permission on subject '{subject}' that names its vendor",
        subject=str(subject),
        new=name,
        allowed="a key of the vendor, or a rule that names the vendor or says private = true",
    )
