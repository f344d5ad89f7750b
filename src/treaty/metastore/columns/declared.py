"""Declared columns beside those that a decoded row has: what of a statement's types a source keeps, and where they differ.

The row of a source has the types of its statement where a format can't say them: in JSON the width of numbers and bytes
as Base64. Rows are then cast to the declared type when they are read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from treaty.core.column_types.leaf_paths import ELEMENT, KEY, VALUE, LeafPath, print_path
from treaty.core.state.columns import Column, ColumnType, List, Map, Scalar, Struct
from treaty.metastore.columns.sql_types import print_bare_type

KEPT_SCALARS: Mapping[str, Mapping[str, str]] = {"JSON": {"int32": "int64", "float32": "float64", "binary": "string"}}
"""By format, declared scalars that a decoded row has as another one; the source keeps the declared type."""


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """A place that is declared otherwise than a decoded row has it.

    `decoded` is "" where the schema does not have the column. `is_null` says that both have one type, and the decoded one
    may be null, which was declared NOT NULL.
    """

    path: str
    declared: str
    decoded: str
    is_null: bool = False


@dataclass(frozen=True, slots=True)
class SettledColumns:
    """The columns of a source that declared some, in their order, and where they differ from the decoded ones."""

    columns: tuple[Column, ...]
    differences: tuple[ColumnDifference, ...] = ()

    @property
    def clashes(self) -> tuple[ColumnDifference, ...]:
        """Columns that are missing, or that no decoded row has as they are declared."""
        return tuple(one for one in self.differences if not one.is_null)


def settle_columns(declared: Sequence[Column], decoded: Sequence[Column], format_: str) -> SettledColumns:
    """The declared columns as the source has them.

    A column may be null where either says so; its doc is the declared one, else that of the schema. Where the types clash
    the decoded one is taken.
    """
    walk = _ColumnSettlement(format_)
    columns = walk.settle_struct(tuple(declared), tuple(decoded), ())
    return SettledColumns(columns, tuple(walk.found))


def refresh_columns(old: Sequence[Column], decoded: Sequence[Column], format_: str) -> tuple[Column, ...]:
    """The columns of a source after a refresh: those of the schema, with the types that the source keeps where the format
    can't say them. The schema has the last word on docs.
    """
    return _ColumnSettlement(format_, takes_all=True).settle_struct(tuple(old), tuple(decoded), ())


def list_casts(columns: Sequence[Column], decoded: Sequence[Column]) -> Iterator[tuple[str, str, str]]:
    """Path, decoded and own type of each column that a source has in another type than its decoded rows."""
    decoded_columns = {one.name: one for one in decoded}
    for column in columns:
        now = decoded_columns.get(column.name)
        if now is not None and print_bare_type(now.type) != print_bare_type(column.type):
            yield print_path((column.name,)), print_bare_type(now.type), print_bare_type(column.type)


@dataclass(slots=True)
class _ColumnSettlement:
    """Walks declared columns and decoded ones side by side, and keeps where they differ.

    With `takes_all` the columns are those of the decoded row, and its docs count first.
    """

    format: str
    takes_all: bool = False
    found: list[ColumnDifference] = field(default_factory=list)

    def settle_struct(
        self, declared: tuple[Column, ...], decoded: tuple[Column, ...], way: LeafPath
    ) -> tuple[Column, ...]:
        """The columns of a struct as the source has them."""
        by_decoded_name, by_declared_name = {one.name: one for one in decoded}, {one.name: one for one in declared}
        settled = []
        for column in (by_declared_name.get(now.name, now) for now in decoded) if self.takes_all else declared:
            path = (*way, column.name)
            now = by_decoded_name.get(column.name)
            if now is None:
                self.found.append(ColumnDifference(print_path(path), print_bare_type(column.type), ""))
                continue
            kind = self._settle_type(column.type, now.type, path)
            if now.nullable and not column.nullable:
                self.found.append(ColumnDifference(print_path(path), "NOT NULL", "NULL", is_null=True))
            doc = now.doc or column.doc if self.takes_all else column.doc or now.doc
            settled.append(Column(column.name, kind, column.nullable or now.nullable, doc))
        return tuple(settled)

    def _settle_type(self, declared: ColumnType, decoded: ColumnType, path: LeafPath) -> ColumnType:
        match declared, decoded:
            case Struct(), Struct():
                return Struct(self.settle_struct(declared.columns, decoded.columns, path))
            case List(), List():
                element = self._settle_type(declared.element, decoded.element, (*path, ELEMENT))
                return List(element, decoded.nullable)
            case Map(), Map():
                key = self._settle_type(declared.key, decoded.key, (*path, KEY))
                value = self._settle_type(declared.value, decoded.value, (*path, VALUE))
                return Map(key, value, decoded.nullable)
            case Scalar(), Scalar() if KEPT_SCALARS.get(self.format, {}).get(declared.name) == decoded.name:
                return declared
        if declared != decoded:
            self.found.append(ColumnDifference(print_path(path), print_bare_type(declared), print_bare_type(decoded)))
        return decoded
