"""Private subjects: for callers who may not read them they do not exist."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from treaty.core.access.rights import Access
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Forbidden
from treaty.core.state import state_tables as t
from treaty.core.state.association_table import ASSOCIATION
from treaty.core.state.rows import Row, make_row
from treaty.core.state.schemaver_tables import DRAFT, SUPERSEDED, SUPERSEDED_BY
from treaty.core.state.state_tables import SUBJECT_PRIVATE
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.values import ConfigValue
from treaty.core.state.view import ALL_KEYS, View

OWNED: frozenset[t.AnyTable] = frozenset({t.SUBJECT, t.VERSION, t.NAME, t.ENCODING, t.CODEC, SUPERSEDED, DRAFT})
"""Tables whose keys begin with context and subject."""
_SCOPED: frozenset[t.AnyTable] = frozenset({t.CONFIG, t.MODE})
_ALIASES = ("alias", "alias_for_deks")
"""Members of a config that name a subject."""
_UNSET = ConfigValue()
_SUBJECT_AT: Mapping[t.AnyTable | t.AnyIndex, int] = {
    t.SUBJECT: 0, t.CODEC: 0, t.CONFIG: 1, t.MODE: 1, t.VERSION_BY_SUBJECT: 0, t.VERSION_BY_NUMBER: 1, t.VERSION_LISTED: 1,
    t.NAME_BY_VERSION: 0, t.ENCODING_BY_VERSION: 0, SUPERSEDED_BY: 0, t.COUNTER_OF_SUBJECT: 1,
}  # fmt: skip
"""The place of context and subject in a key or entry."""


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
    row = view.get(t.SUBJECT, subject)
    return row is not None and row.private


def hides_subjects(view: View, access: Access) -> bool:
    """Return whether there may be a private subject that a caller may not read."""
    return not access.sees_private and next(view.walk(SUBJECT_PRIVATE, *ALL_KEYS), None) is not None


def is_hidden(view: View, access: Access, subject: Subject) -> bool:
    """Return whether a subject is private, and hidden from a caller."""
    return not access.may("read", subject, private=True) and is_private(view, subject)


def hidden_aliases(view: View, access: Access, key: Key) -> dict[str, Any]:
    """Return the members of a config that name a subject which is hidden from a caller."""
    value, own = view.get(t.CONFIG, cast("t.ScopeKey", key)), Subject(str(key[1]), str(key[2]))
    named = {} if value is None else {member: getattr(value, member) for member in _ALIASES}
    return {member: name for member, name in named.items() if name and is_hidden(view, access, own.sibling(name))}


def shown_value(view: View, access: Access, table: Table[K, V], key: K) -> V | None:
    """Return the value of a row without the names of hidden subjects. A config that has nothing else is missing: the alias of
    a hidden subject is none.
    """
    value = view.get(table, key)
    if value is None or table is not t.CONFIG:
        return value
    hidden = hidden_aliases(view, access, key)
    if not hidden:
        return value
    nothing: dict[str, Any] = dict.fromkeys(hidden)
    visible_value = replace(cast("ConfigValue", value), **nothing)
    return None if visible_value == _UNSET else cast("V", visible_value)


class PublicView:
    """A view without the private subjects that a caller may not read, for commands.

    Their names are missing, as targets of aliases too; their schemas and who refers to whom are there, because ids and
    deletions depend on them.
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
        """Return the value of a row, or None. Associations are all there: a resource has one subject of each kind."""
        subject = subject_of_row(table, key)
        hidden = subject is not None and table is not ASSOCIATION and self.hides(subject)
        return None if hidden else shown_value(self._base, self._access, table, key)

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[K]:
        """Return the keys of rows that claim an index entry."""
        at = _SUBJECT_AT.get(index)
        if at is not None and self.hides(Subject(str(entry[at]), str(entry[at + 1]))):
            return iter(())
        keys = self._base.find(index, entry, head)
        if index is t.SUBJECT_ELSEWHERE:
            return (key for key in keys if not self.hides(Subject(*map(str, key))))
        return keys

    def count(self, table: Table[K, V], group: Key) -> int:
        """Return the number of rows in a group."""
        return self._base.count(table, group)

    def keys(self, table: Table[K, V]) -> Iterable[K]:
        """Return all keys of a table."""
        return self._base.keys(table)

    def walk(self, order: t.AnyTable | t.AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Return keys or entries in order."""
        keys = self._base.walk(order, low, high, reverse=reverse)
        at = _SUBJECT_AT.get(order)
        if at is None:
            return keys
        return (key for key in keys if not self.hides(Subject(str(key[at]), str(key[at + 1]))))

    def hides(self, subject: Subject) -> bool:
        """Return whether a subject is private, and hidden from the caller."""
        return is_hidden(self._base, self._access, subject)

    def hidden_aliases(self, key: Key) -> dict[str, Any]:
        """Return the members of a config that name a hidden subject."""
        return hidden_aliases(self._base, self._access, key)


def writable_view(view: View, access: Access | None) -> View:
    """Return the view that commands of a caller are decided on: hidden subjects are missing."""
    return PublicView(view, access) if access is not None and hides_subjects(view, access) else view


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


def refuse_private_changes(view: View, rows: Sequence[Row], access: Access | None, principal: str, name: str) -> None:
    """Raise `Forbidden` for a decision on a view that would make, change or name a private subject that the caller may not read."""
    if access is None:
        return
    _refuse_private_creation(rows, access, principal, name)
    if isinstance(view, PublicView):
        refuse_hidden_changes(view, rows, principal, name)


def refuse_hidden_changes(view: PublicView, rows: Iterable[Row], principal: str, name: str) -> None:
    """Raise `Forbidden` for a decision that would change a hidden subject, or make an alias of one."""
    for row in rows:
        table = t.TABLES[row.table]
        named = [subject_of_row(table, row.key), *_find_aliased(row)]
        for subject in named:
            if subject is not None and view.hides(subject):
                raise _make_refusal(principal, subject, name)


def _find_aliased(row: Row) -> Iterator[Subject]:
    """Return the subjects that a row of a config names."""
    if isinstance(row.value, ConfigValue):
        own = Subject(str(row.key[1]), str(row.key[2]))
        names = (getattr(row.value, member) for member in _ALIASES)
        yield from (own.sibling(name) for name in names if name)


def keep_hidden_aliases(view: PublicView, rows: Iterable[Row]) -> Iterator[Row]:
    """Return the rows of a decision, in which configs keep what the caller was not shown and did not replace."""
    for row in rows:
        hidden = view.hidden_aliases(row.key) if row.table == t.CONFIG.name else {}
        value = cast("ConfigValue | None", row.value) or _UNSET
        restored = {member: name for member, name in hidden.items() if getattr(value, member) is None}
        yield make_row(t.CONFIG, cast("t.ScopeKey", row.key), replace(value, **restored)) if restored else row


def touches_private(view: View, subject: Subject | None, rows: Iterable[Row]) -> bool:
    """Return whether a command is about a private subject: the one that it names, or one whose rows it writes."""
    if [row for row in rows if row.table == t.SUBJECT.name and getattr(row.value, "private", False)]:
        return True
    if next(view.walk(SUBJECT_PRIVATE, *ALL_KEYS), None) is None:
        return False
    touched = {subject, *(subject_of_row(t.TABLES[row.table], row.key) for row in rows)}
    return any(is_private(view, subject) for subject in touched if subject is not None)


def _refuse_private_creation(rows: Iterable[Row], access: Access, principal: str, name: str) -> None:
    """Raise `Forbidden` for a decision that makes a private subject, if its maker could not read it."""
    for row in rows:
        if row.table == t.SUBJECT.name and getattr(row.value, "private", False):
            refuse_unless_private_creator(access, principal, Subject(str(row.key[0]), str(row.key[1])), name)


def refuse_unless_private_creator(access: Access | None, principal: str, subject: Subject, name: str) -> None:
    """Raise `Forbidden` for who may not make a private subject of this name."""
    if access is not None and not access.may("create", subject, private=True):
        raise _make_refusal(principal, subject, name)


def _make_refusal(principal: str, subject: Subject, name: str) -> Forbidden:
    return Forbidden.of(
        "RIGHTS",
        f"{principal} is not allowed to do this: it needs a permission on subject '{subject}' that names its vendor",
        subject=str(subject),
        new=name,
        allowed="a key of the vendor, or a rule that names the vendor or says private = true",
    )
