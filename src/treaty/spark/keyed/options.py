"""`KeyedTableOptions`: how a table has one row per key, and `DebeziumEnvelope`: rows that come in an envelope, as frozen values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DebeziumEnvelope:
    """Values are change events: `before` and `after` a row, and what happened.

    The operations are ``c`` (created), ``u`` (updated), ``r`` (read in a snapshot), ``d`` (deleted) and ``t`` (the
    whole table was emptied). The table has the columns of the row.
    """

    before: str = "before"
    after: str = "after"
    op: str = "op"


DEBEZIUM = DebeziumEnvelope()
OPS = ("c", "u", "r", "d", "t")


@dataclass(frozen=True, slots=True)
class KeyedTableOptions:
    """One row per key. A value that is null deletes the row; of several changes of a key the greatest wins.

    `key` names the key's columns: fields of the key's schema under `subject`, whose frames are in the source's column
    `column`; without a `subject` they are columns that the pipeline keeps, or fields of the value (which a delete
    marker does not have). With a subject and no names all fields of the key count; a key that is no record is one
    column, of the first name or ``key``.

    Changes are ordered by `version`, a field of the value with dots inside records (of the whole envelope, for
    Debezium), and where that is equal or not given by `order`, columns of the source that are kept in the table. A
    change without a version is as new as the newest one of its key before it. What comes late loses, after a delete
    too: a table beside (``…-deleted``) remembers.
    """

    key: tuple[str, ...] = ()
    subject: str = ""
    column: str = "key"
    version: str = ""
    order: tuple[str, ...] = ("offset",)
    envelope: DebeziumEnvelope | None = None

    def __post_init__(self) -> None:
        """Refuse what can't have an order, and a key that nothing names."""
        if not self.order:
            raise ValueError(
                "order names no column; changes of equal version need one that orders them, such as offset"
            )
        if not self.key and not self.subject:
            raise ValueError("there is no key: name its columns, or the subject of the keys' schema")

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of the source that are needed beside the values."""
        return (*self.order, *([self.column] if self.subject else []))
