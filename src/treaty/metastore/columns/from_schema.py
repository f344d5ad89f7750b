"""Columns of a source from a schema: what DESCRIBE shows is what a decoded row has."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from treaty.core.column_types.leaf_paths import ELEMENT, VALUE, LeafPath, print_path
from treaty.core.refusals import Invalid, InvalidSchema, Reason
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, Columns, ColumnType, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.metastore.columns.plan_functions import derive_decoded_columns
from treaty.plan.errors import PlanError

Side = Literal["key", "value"]
"""A half of a record."""

PSEUDO_COLUMNS = ("_topic", "_partition", "_offset", "_timestamp", "_headers", "_schema_id")
"""Columns that every source has beside its own. A column of the same name takes the place of one."""


def columns_of_schema(schema: ResolvedSchema, *, side: Side = "value", message: str = "") -> Columns:
    """The columns that rows of this half of a record have, when they are decoded with the schema as the reader.

    Names, types and docs are those of the decode plan; a column is not nullable where the schema allows no null. A schema
    that is no record has one column, called as the half: ``key`` or ``value``. `message` names a Protobuf message; without
    it the file's first is read. Framings don't matter: they say which schema wrote a row, not what a row has.

    Raises `InvalidSchema` for a text that is no schema, and `Invalid` for one that makes no table: a format whose rows
    can't be decoded, names that differ in case alone, no columns at all.
    """
    try:
        derived = derive_decoded_columns(schema, message=message)
    except InvalidSchemaError as error:
        reason = Reason(
            "SOURCE_SCHEMA", f"the {side}'s schema makes no columns: {error}", allowed="a schema of records"
        )
        raise InvalidSchema(reason, error.faults) from error
    except PlanError as error:
        raise Invalid.of("SOURCE_SCHEMA", f"the {side}'s schema makes no columns: {error}") from error
    if derived.whole:
        derived = replace(derived, columns=(replace(derived.columns[0], name=side),))
    if not derived.columns:
        raise Invalid.of(
            "SOURCE_SCHEMA",
            f"the {side}'s schema has no field, and a source has at least one column: name another schema, or write the columns",
            allowed="a schema with a field",
        )
    refuse_twins(derived.columns, f"the {side}'s schema")
    return derived


def refuse_twins(columns: Sequence[Column], place: str) -> None:
    """Raise `Invalid` where two columns, or two fields of one struct, have one name, or names that differ in case alone."""
    twins = next(_list_twins(columns, ()), None)
    if twins is None:
        return
    first, second = map(print_path, twins)
    same = f"{first} is there twice" if first == second else f"{first} and {second} differ in case alone"
    raise Invalid.of(
        "COLUMN_TWICE",
        f"{place}: {same}, and to SQL that is one name: rename one of them",
        path=second,
        old=first,
        new=second,
        allowed="names that differ in more than upper and lower case",
    )


def _list_twins(columns: Sequence[Column], way: LeafPath) -> Iterator[tuple[LeafPath, LeafPath]]:
    first: dict[str, LeafPath] = {}
    for column in columns:
        path, name = (*way, column.name), column.name.lower()
        if name in first:
            yield first[name], path
        else:
            first[name] = path
        if not isinstance(column.type, Scalar):
            yield from _list_twins_inside(column.type, path)


def _list_twins_inside(kind: ColumnType, way: LeafPath) -> Iterator[tuple[LeafPath, LeafPath]]:
    match kind:
        case Struct(columns):
            yield from _list_twins(columns, way)
        case List(element):
            yield from _list_twins_inside(element, (*way, ELEMENT))
        case Map(_, value):
            yield from _list_twins_inside(value, (*way, VALUE))


def list_hidden_pseudo_columns(columns: Sequence[Column]) -> tuple[str, ...]:
    """The pseudo-columns in whose place a source has a column of its own."""
    names = {one.name.lower() for one in columns}
    return tuple(one for one in PSEUDO_COLUMNS if one in names)
