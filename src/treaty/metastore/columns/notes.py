"""What is worth to know about the columns of a source beside their types, for DESCRIBE EXTENDED."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from treaty.core.column_types.leaf_paths import print_path
from treaty.core.state.columns import Column, Columns
from treaty.metastore.columns.declared import list_casts
from treaty.metastore.columns.from_schema import list_hidden_pseudo_columns

NoteKind = Literal["cast", "loss", "left out", "hides"]


@dataclass(frozen=True, slots=True)
class ColumnNote:
    """Something about a column: it is cast, loses something, is in the schema alone, or hides a pseudo-column."""

    kind: NoteKind
    column: str
    text: str

    def __str__(self) -> str:
        return f"{self.column}: {self.text}"


def list_column_notes(columns: Sequence[Column], decoded: Columns) -> tuple[ColumnNote, ...]:
    """The notes about the columns of one half of a record, whose rows are decoded as `decoded`; see `columns_of_schema`."""
    return tuple(_list_notes(columns, decoded))


def _list_notes(columns: Sequence[Column], decoded: Columns) -> Iterator[ColumnNote]:
    names = {one.name for one in columns}
    for path, read, own in list_casts(columns, decoded.columns):
        yield ColumnNote("cast", path, f"rows have {read}, which is cast to {own}")
    for loss in decoded.losses:
        detail = f" ({loss.detail})" if loss.detail else ""
        if not decoded.whole and loss.column.partition(".")[0] in names:
            yield ColumnNote("loss", loss.column, f"{loss.sentence}{detail}")
        elif decoded.whole:
            yield ColumnNote("loss", columns[0].name if columns else loss.column, f"{loss.sentence}{detail}")
    for column in decoded if not decoded.whole else ():
        if column.name not in names:
            yield ColumnNote(
                "left out", print_path((column.name,)), "the schema has it, and the source has no column for it"
            )
    for name in list_hidden_pseudo_columns(columns):
        yield ColumnNote("hides", name, f"the column stands for the pseudo-column {name}, which can't be read here")
