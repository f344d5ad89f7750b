"""What the law sees: rows by key, and the indexes that follow from rows alone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from treaty.core import values
from treaty.core.commit import Position
from treaty.core.names import Subject
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

    def find(self, index: str, entry: Key) -> tuple[Key, ...]:
        """Return the keys of all rows that claim an index entry, ascending; the first one wins."""
        ...

    def keys(self, table: str) -> Iterable[Key]:
        """Return all keys of a table, in no order."""
        ...


class Tables(View, Protocol):
    """A node's state tables. Pure storage: no schema is parsed here, and no row is refused."""

    @property
    def position(self) -> Position:
        """The place in the log that these tables show."""
        ...

    @property
    def digest(self) -> int:
        """The state digest: the sum of all live rows' digests modulo 2**256, in no order, equal on all nodes."""
        ...

    @property
    def quarantine(self) -> Mapping[tuple[str, Key], str]:
        """Rows that this version can't read, and why; while there are any the node must not decide."""
        ...

    def apply(self, rows: Iterable[Encoded], position: Position, known: Mapping[Encoded, Row] | None = None) -> None:
        """Put rows in (tombstones take out) and move to `position`.

        `known` may hold what `decode_row` would return for some of them: a node has just encoded its own.
        """
        ...

    def load(self, rows: Iterable[Encoded], position: Position) -> None:
        """Forget everything and hold just these rows; ends exactly as `apply` of the same rows would."""
        ...


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index: which entries a row of its table claims."""

    table: str
    entries: Callable[[Key, Value], tuple[Key, ...]]


def _schema_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((key[0], value.guid),) if isinstance(value, values.Schema) else ()


def _guid_entries(_key: Key, value: Value) -> tuple[Key, ...]:
    return ((value.guid,),) if isinstance(value, values.Schema) else ()


def _likeness_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((key[0], value.likeness),) if isinstance(value, values.Schema) else ()


def _referrer_entries(key: Key, value: Value) -> tuple[Key, ...]:
    if not isinstance(value, values.Schema):
        return ()
    here = Subject(str(key[0]), "")
    return tuple(dict.fromkeys((str(here.sibling(used.subject)), used.version) for used in value.references))


def _subject_entries(key: Key, _value: Value) -> tuple[Key, ...]:
    return ((key[0], key[1]),)


def _number_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((key[0], key[1], value.number),) if isinstance(value, values.Version) else ()


def _content_entries(_key: Key, value: Value) -> tuple[Key, ...]:
    return ((value.content,),) if isinstance(value, values.Version) and value.content else ()


def _named_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((key[0], key[1], value.ordinal),) if isinstance(value, values.Name) else ()


def _use_entries(key: Key, value: Value) -> tuple[Key, ...]:
    return ((key[0], value.schema_id),) if isinstance(value, values.Version) and value.state != "purged" else ()


def _outcome_entries(_key: Key, value: Value) -> tuple[Key, ...]:
    return ((value.sequence,),) if isinstance(value, values.Outcome) else ()


INDEXES: Mapping[str, Index] = {
    "schema.guid": Index("schema", _schema_entries),
    "schema.everywhere": Index("schema", _guid_entries),
    "schema.likeness": Index("schema", _likeness_entries),
    "schema.referrers": Index("schema", _referrer_entries),
    "version.subject": Index("version", _subject_entries),
    "version.number": Index("version", _number_entries),
    "version.schema": Index("version", _use_entries),
    "version.content": Index("version", _content_entries),
    "name.version": Index("name", _named_entries),
    "outcome.sequence": Index("outcome", _outcome_entries),
}
"""Every index, with its entries: (context, guid) · (guid) · (context, likeness) · (qualified target, number) ·
(context, subject) · (context, subject, number) · (context, schema id) · (SHA-256) · (context, subject, ordinal) ·
(sequence)."""

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
