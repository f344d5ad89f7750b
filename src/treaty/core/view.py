"""What the law sees: rows by key, and the indexes that follow from rows alone."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from treaty.core import values
from treaty.core.commit import Position
from treaty.core.counters import KINDS_OF_SUBJECT
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.rows import Alien, Encoded, Key, Row, Value


class View(Protocol):
    """Tables, or tables with an overlay. `sequence` is that of the last commit seen."""

    @property
    def sequence(self) -> int:
        """Sequence of the last commit that this view shows."""
        ...

    def get(self, table: str, key: Key) -> Value | None:
        """Return the value of a row, or None."""
        ...

    def find(self, index: str, entry: Key, head: Key = ()) -> Iterator[Key]:
        """Return the keys of the rows that claim an index entry, ascending; the first one wins.

        With `head` only those whose first parts are these, of which the last is a text. Only the keys that are taken cost; the view must not change
        meanwhile. An index with `key_of` is walked, never asked.
        """
        ...

    def count(self, table: str, entry: Key) -> int:
        """Return how many readable rows of a table fall under an entry (see `COUNTS`). No row is looked at for that."""
        ...

    def keys(self, table: str) -> Iterable[Key]:
        """Return all keys of a table, in no order."""
        ...

    def walk(self, order: str, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Key]:
        """Return the keys of a table, or the entries of an index, from `low` on and below `high`: ascending, or
        descending (`reverse`).

        `order` is one of `ORDERS`. Only what is taken costs; the view must not change meanwhile. See `span` for the bounds.
        """
        ...


class Tables(View, Protocol):
    """A node's state tables. Pure storage: no schema is parsed here, and no row is refused."""

    @property
    def position(self) -> Position:
        """The place in the log that these tables show."""
        ...

    @property
    def roots(self) -> Mapping[str, int]:
        """What each table adds to the state root: the sum of its rows' digests modulo 2**256, equal on all nodes; a table
        that adds nothing is missing. It changes with the tables.
        """
        ...

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row as it stands in the log; 0 where there is none."""
        ...

    def rows(self) -> Iterable[Encoded]:
        """Return all rows as they stand in the log, in no order."""
        ...

    @property
    def quarantine(self) -> Mapping[tuple[str, Key], str]:
        """Rows that this version can't read, and why; while there are any the node must not decide."""
        ...

    def entries(self, index: str) -> Iterable[Key]:
        """Return the entries of an index that are kept as such, in no order; not those that are worked out from rows."""
        ...

    @property
    def damaged(self) -> bool:
        """Whether what the tables stand on turned out damaged: load everything anew."""
        ...

    def apply(self, rows: Iterable[Encoded], position: Position, known: Mapping[Encoded, Row] | None = None) -> None:
        """Put rows in (tombstones take out) and move to `position`.

        `known` may hold what `decode_row` would return for some of them: a node has just encoded its own.
        """
        ...

    def advance(self, rows: Iterable[Encoded], position: Position, known: Mapping[Encoded, Row] | None = None) -> bool:
        """Apply rows if all rows then come to the root that `position` states; else change nothing, and return False."""
        ...

    def load(self, rows: Iterable[Encoded], position: Position) -> None:
        """Forget everything and hold just these rows; ends exactly as `apply` of the same rows would."""
        ...

    def ready(self, rows: Iterable[Encoded], position: Position) -> Callable[[], None]:
        """Do what takes long in `load`, on any thread, and change nothing; what is returned puts it in place."""
        ...


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index: which entries a row of its table claims."""

    table: str
    entries: Callable[[Key, Value], tuple[Key, ...]]
    ordered: bool = False
    """Whether its entries are kept in order too, to be walked."""
    of_key: bool = False
    """Whether its one entry is the head of the row's key, or all of it, so that the value need not be looked at."""
    key_of: Callable[[Key], Key] | None = None
    """The key of the one row that claims an entry, where the entry tells it. Such an index is only walked."""


def _schema_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((key[0], value.guid),) if isinstance(value, values.Schema) else ()


def _guid_entries(_key: Key, value: Value) -> tuple[Key, ...]:
    return ((value.guid,),) if isinstance(value, values.Schema) else ()


def _lookup_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((key[0], value.lookup_digest),) if isinstance(value, values.Schema) else ()


def _referrer_entries(key: Key, value: Value) -> tuple[Key, ...]:
    if not isinstance(value, values.Schema):
        return ()
    here = Subject(str(key[0]), "")
    return tuple(dict.fromkeys((str(here.sibling(used.subject)), used.version) for used in value.references))


def _subject_entries(key: Key, _value: Value) -> tuple[Key, ...]:
    return ((key[0], key[1]),)


def _elsewhere_entries(key: Key, _value: Value) -> tuple[Key, ...]:
    """An unqualified name is looked for in the default context first; the others are found by this."""
    return () if key[0] == DEFAULT_CONTEXT else ((key[1],),)


def _number_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((_state(value), key[0], key[1], value.number, *key[2:]),) if isinstance(value, values.Version) else ()


def _numbered_key(entry: Key) -> Key:
    return (entry[1], entry[2], entry[4], entry[5])


def _state(value: values.Version) -> str:
    """A state that this version of Treaty does not know counts as purged: it is neither listed nor told."""
    return value.state if value.state in VERSION_STATES else "purged"


def _listed_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((_state(value), key[0], key[1]),) if isinstance(value, values.Version) else ()


def _content_entries(_key: Key, value: Value) -> tuple[Key, ...]:
    return ((value.content,),) if isinstance(value, values.Version) and value.content else ()


def _named_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((*key[:3], value.ordinal),) if isinstance(value, values.Name) else ()


def _use_entries(key: Key, value: Value) -> tuple[Key, ...]:
    used = isinstance(value, values.Version) and value.state != "purged"
    return ((_use_state(value), key[0], value.schema_id),) if used and isinstance(value, values.Version) else ()


def _use_state(value: values.Version) -> str:
    """A state that this version of Treaty does not know keeps its schema in use, as a hidden version does."""
    return value.state if value.state in VERSION_STATES else "hidden"


def _encoded_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((key[0], key[1], value.generation, value.ordinal),) if isinstance(value, values.Encoding) else ()


def _counter_entries(key: Key, _value: Value) -> tuple[Key, ...]:
    """Counters that go with their subject are found by its name."""
    return (key,) if key[0] in KINDS_OF_SUBJECT else ()


def _associated_entries(_key: Key, value: Value) -> tuple[Key, ...]:
    return (tuple(subject_of(value.subject)),) if isinstance(value, values.Association) else ()


def _named_resource_entries(_key: Key, value: Value) -> tuple[Key, ...]:
    """A resource is found by its namespace and name, and by its name in any namespace."""
    if not isinstance(value, values.Association):
        return ()
    return tuple(dict.fromkeys(((value.namespace, value.resource), ("-", value.resource))))


def _place_entries(_key: Key, value: Value) -> tuple[Key, ...]:
    """The place of an association in a list of all, and what lists are narrowed by."""
    if not isinstance(value, values.Association):
        return ()
    subject = subject_of(value.subject)
    return ((value.namespace, value.resource, value.kind, *subject, value.lifecycle, value.type),)


def _association_entries(_key: Key, value: Value) -> tuple[Key, ...]:
    return ((value.guid,),) if isinstance(value, values.Association) and value.guid else ()


def _resource_entries(key: Key, _value: Value) -> tuple[Key, ...]:
    return ((key[0],),)


def _alias_entries(key: Key, value: Value) -> tuple[Key, ...]:
    """The subject that another one stands for."""
    if not isinstance(value, values.ConfigValue) or not value.alias or key[0] != "subject":
        return ()
    return (tuple(Subject(str(key[1]), str(key[2])).sibling(value.alias)),)


def _outcome_entries(key: Key, value: Value) -> tuple[Key, ...]:
    """An order's entries begin with a text, so that all of them have the same bounds."""
    return (("", value.sequence, *key),) if isinstance(value, values.Outcome) else ()


VERSION_STATES = ("live", "soft", "hidden", "purged")
"""States of a version, by which indexes tell versions apart."""
USED_STATES = VERSION_STATES[:3]
"""States of versions that keep their schema in use."""
INDEXES: Mapping[str, Index] = {
    "schema.guid": Index("schema", _schema_entries),
    "schema.everywhere": Index("schema", _guid_entries),
    "schema.lookup_digest": Index("schema", _lookup_entries),
    "schema.referrers": Index("schema", _referrer_entries),
    "subject.elsewhere": Index("subject", _elsewhere_entries),
    "version.subject": Index("version", _subject_entries, of_key=True),
    "version.number": Index("version", _number_entries, ordered=True, key_of=_numbered_key),
    "version.listed": Index("version", _listed_entries, ordered=True),
    "version.schema": Index("version", _use_entries),
    "version.content": Index("version", _content_entries),
    "name.version": Index("name", _named_entries),
    "encoding.version": Index("encoding", _encoded_entries),
    "counter.subject": Index("counter", _counter_entries, ordered=True, of_key=True, key_of=lambda entry: entry),
    "association.subject": Index("association", _associated_entries),
    "association.name": Index("association", _named_resource_entries),
    "association.listed": Index("association", _place_entries, ordered=True),
    "association.resource": Index("association", _resource_entries, of_key=True),
    "association.guid": Index("association", _association_entries),
    "config.alias": Index("config", _alias_entries),
    "outcome.sequence": Index("outcome", _outcome_entries, ordered=True, key_of=lambda entry: entry[2:]),
}
"""Every index, with its entries: (context, guid) · (guid) · (context, lookup_digest) · (qualified target, number) ·
(name of a subject outside the default context) · (context, subject) · (state, context, subject, number, generation,
ordinal) · (state, context, subject) · (state, context, schema id) · (SHA-256) · (context, subject, generation, ordinal) ·
(context, subject, generation, ordinal) · (kind, context, subject, generation, part) · (context, subject) · (namespace or
``-`` for any, name) · (namespace, name, kind, context, subject, lifecycle, type) · (resource id) · (guid) · (context,
subject) · (an empty text, sequence, command)."""

_LAST = chr(0x10FFFF)
ALL_KEYS: tuple[Key, Key] = ((), (_LAST,))
"""Bounds of all keys of subjects: no context is named higher."""
ORDERED_TABLES = frozenset({"subject", "config", "mode"})
"""Tables whose keys are kept in order; rows that can't be read are left out."""
ORDERS = ORDERED_TABLES | {name for name, one in INDEXES.items() if one.ordered}
"""All that can be walked: tables by their keys, indexes by their entries."""

COUNTS: Mapping[str, Callable[[Key, Value], Key | None]] = {
    "context": lambda _key, _value: (),
    "subject": lambda key, _value: key[:1],
    "schema": lambda key, _value: key[:1],
    "version": lambda key, value: (_state(value), *key[:2]) if isinstance(value, values.Version) else None,
}
"""Tables whose rows are counted, and the entry under which a row falls: (), (context), (context), (state, context,
subject)."""
BY_TABLE: Mapping[str, tuple[tuple[str, Index], ...]] = {
    table: tuple((name, one) for name, one in INDEXES.items() if one.table == table)
    for table in {one.table for one in INDEXES.values()}
}


def index_entries(row: Row) -> tuple[tuple[str, Key], ...]:
    """Return the (index, entry) pairs that a row claims; what can't be read claims none."""
    if row.value is None or isinstance(row.value, Alien):
        return ()
    return tuple(
        (name, entry) for name, one in BY_TABLE.get(row.table, ()) for entry in one.entries(row.key, row.value)
    )


def counted(row: Row) -> tuple[str, Key] | None:
    """Return the table and the entry under which a row is counted; None for a tombstone and for what can't be read."""
    entry_of = COUNTS.get(row.table)
    if entry_of is None or row.value is None or isinstance(row.value, Alien):
        return None
    entry = entry_of(row.key, row.value)
    return None if entry is None else (row.table, entry)


def subject_span(*head: str | int) -> tuple[Key, Key]:
    """Return the bounds of all entries whose first parts are `head`, of which the last is a subject's name."""
    return head, (*head[:-1], f"{head[-1]}\0")


def span(head: Key, prefix: str = "") -> tuple[Key, Key]:
    """Return the bounds of all keys whose first parts are `head`, and whose next one begins with `prefix`.

    The last part of `head` is a text.
    """
    high = past(prefix)
    return (*head, prefix), (*head[:-1], f"{head[-1]}\0") if high is None else (*head, high)


def past(prefix: str) -> str | None:
    """Return the least text above all that begin with a prefix; None where there is none."""
    cut = prefix.rstrip(_LAST)
    return cut[:-1] + chr(ord(cut[-1]) + 1) if cut else None


def after(key: Key) -> Key:
    """Return the bound from which a walk goes on behind a key and all that begin with it part by part."""
    return (*key[:-1], f"{key[-1]}\0") if isinstance(key[-1], str) else (*key[:-1], key[-1] + 1)
