"""Subjects on a bench: rows given by hand, subjects without versions, and what carries a subject's generation."""

from typing import Any

from tests.laws.toy import Bench, S
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject
from treaty.core.state import values
from treaty.core.state.commit import Position
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.state_tables import SUBJECT, TABLES
from treaty.core.state.table import Key


def given_by_hand(bench: Bench, *rows: Row) -> None:
    bench.position = Position(b"i" * 16, bench.position.sequence + 1, b"d" * 32)
    bench.tables.apply([encode_row(row) for row in rows], bench.position)


def empty(bench: Bench, subject: Subject = S, **members: Any) -> int:
    """Put a subject without versions; its generation."""
    generation = bench.position.sequence + 1
    given_by_hand(bench, Row("subject", tuple(subject), values.SubjectValue(generation, **members)))
    return generation


def home(bench: Bench, subject: Subject = S) -> values.SubjectValue:
    row = bench.tables.get(SUBJECT, subject)
    assert isinstance(row, values.SubjectValue)
    return row


def purge(bench: Bench, subject: Subject = S) -> None:
    bench.do(DeleteSubject(subject))
    bench.do(DeleteSubject(subject, permanent=True))


def keys_of(bench: Bench, subject: Subject = S) -> set[tuple[str, Key]]:
    """The rows that carry a generation of a subject."""
    tables = {"version": 0, "name": 0, "counter": 1}
    return {
        (table, key)
        for table, at in tables.items()
        for key in bench.tables.keys(TABLES[table])
        if key[at : at + 2] == tuple(subject) and key[at + 2]
    }
