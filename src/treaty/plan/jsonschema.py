"""Decode plans for JSON Schema: JSON contains member names, so rows of all versions have the same columns."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from treaty.core.limits import DECIMAL_DIGITS
from treaty.core.state.columns import Column, Columns, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.canonical import print_resolved
from treaty.formats.jsonschema.data.columns import derive_columns
from treaty.formats.jsonschema.drafts import DRAFT_3
from treaty.formats.jsonschema.format import FORMAT as JSON
from treaty.formats.jsonschema.model import JsonSchema, SchemaNode
from treaty.plan.ddl import columns_ddl, find_free_name, list_docs, parse_type, struct_ddl
from treaty.plan.errors import PlanError, nothing_readable, reject_schema
from treaty.plan.format_plans import RESTS, JsonFormatPlan
from treaty.plan.options import DecodeOptions
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import DecodePlan, RejectedSchema, WriterSchema

VARIANT = Scalar("variant")
FIRST_WITH_FRACTIONS = 6
"""The first draft to which a number with a fraction of zeros is an integer."""
WIDER = {
    frozenset(("int32", "int64")): "int64",
    frozenset(("float32", "float64")): "float64",
    frozenset(("int32", "float64")): "float64",
    frozenset(("int32", "float32")): "float64",
    frozenset(("int64", "float64")): "float64",
}
"""Scalars that both fit into a third; whole numbers beyond 53 bits are rounded where a schema says "number"."""


_IN_COLUMNS = frozenset(("boolean", "int32", "int64", "float64", "string", "date", "timestamp"))
"""Scalars of which pyarrow's reader of JSON makes columns."""


def union(versions: Sequence[RegisteredSchema], options: DecodeOptions) -> tuple[Columns, list[RejectedSchema]]:
    """The columns of all versions; a version that becomes no columns is left out."""
    derived, losers = [], []
    for version in versions:
        try:
            derived.append(
                version.schema if isinstance(version.schema, Columns) else derive_columns(version.schema, options.depth)
            )
        except InvalidSchemaError as error:
            losers.append(reject_schema(version, error))
    if not derived:
        raise nothing_readable(losers)
    return reduce(merge_columns, derived), losers


def find_base(
    before: DecodePlan, versions: Sequence[RegisteredSchema], options: DecodeOptions
) -> list[RegisteredSchema]:
    """The columns of a plan of a union as its oldest version, without that of members that have none."""
    del versions, options
    rest = before.recipe.rest if isinstance(before.recipe, JsonFormatPlan) else ""
    pairs = before.columns or (("value", before.type),)
    columns = tuple(Column(name, parse_type(kind)) for name, kind in pairs if not rest or name != rest)
    return [RegisteredSchema(-1, before.subject, 0, before.format, Columns(columns, whole=not before.columns))]


def compose(versions: Sequence[RegisteredSchema], reader: JsonSchema | Columns, options: DecodeOptions) -> DecodePlan:
    """The plan for these writers and the columns of the reader. Raises `PlanError` without a writer."""
    derived = reader if isinstance(reader, Columns) else derive_columns(reader, options.depth)
    writers = tuple(
        WriterSchema(version.schema_id, version.subject, version.version, _text(version.schema))
        for version in {version.schema_id: version for version in versions}.values()
    )
    if not writers:
        raise nothing_readable(())
    column_types = columns_ddl(derived)
    rest = _name_rest(options, column_types, is_value=derived.whole)
    column_types = (*column_types, (rest, RESTS[options.rest])) if rest else column_types
    return DecodePlan(
        subject="",
        format=JSON.name,
        reader_name="given",
        reader="" if isinstance(reader, Columns) else _text(reader),
        type=column_types[0][1] if derived.whole else struct_ddl(column_types),
        columns=() if derived.whole else column_types,
        writers=writers,
        rejected=(),
        recipe=JsonFormatPlan(
            derived.whole, checks=_checks(versions) if options.validate else (), rest=rest, plain=_list_plain(versions)
        ),
        engine="spark" if derived.whole or rest or not is_columnar(Struct(derived.columns)) else "arrow",
        depth=options.depth,
        docs=tuple(list_docs(derived)),
    )


def is_columnar(kind: ColumnType) -> bool:
    """Whether documents can be read into a column of this type in whole batches: maps and JSON texts of any value can't."""
    match kind:
        case Scalar(name):
            return name in _IN_COLUMNS
        case List(element):
            return is_columnar(element)
        case Struct(columns):
            return bool(columns) and all(is_columnar(one.type) for one in columns)
        case Map():
            return False
    return True


def _name_rest(options: DecodeOptions, columns: tuple[tuple[str, str], ...], *, is_value: bool) -> str:
    """The name of the column for members without one, or nothing."""
    if not options.rest:
        return ""
    if options.rest not in RESTS:
        raise PlanError(
            f"rest={options.rest!r} is no way to keep members without a column; there are {', '.join(RESTS)}"
        )
    if is_value:
        raise PlanError("the documents are no objects, so there is no rest of them; leave rest out")
    return find_free_name("rest", {name.lower() for name, _ in columns})


def _checks(versions: Sequence[RegisteredSchema]) -> tuple[tuple[int, str], ...]:
    return tuple({one.schema_id: (one.schema_id, print_resolved(one.schema)) for one in versions}.values())


def _list_plain(versions: Sequence[RegisteredSchema]) -> tuple[int, ...]:
    """The ids of drafts before 6, to which 1.0 is no integer (draft 4, Core, 3.5)."""
    return tuple(sorted({one.schema_id for one in versions if _is_plain(one.schema.root)}))


def _is_plain(root: SchemaNode) -> bool:
    named = root.value.get("$schema") if isinstance(root.value, dict) else None
    return root.draft.number < FIRST_WITH_FRACTIONS or DRAFT_3 in str(named)


def _text(schema: Any) -> str:
    return JSON.show(schema, False).canonical


def merge_columns(older: Columns, newer: Columns) -> Columns:
    """The columns of both; those of the older stand first, in its order, and the newer has the last word on docs."""
    if older.whole != newer.whole:
        return Columns((Column("value", VARIANT),), whole=True)
    return Columns(_columns(older.columns, newer.columns), (*older.losses, *newer.losses), whole=newer.whole)


def _columns(older: tuple[Column, ...], newer: tuple[Column, ...]) -> tuple[Column, ...]:
    by_name = {one.name: one for one in older}
    for column in newer:
        old = by_name.get(column.name)
        kind = column.type if old is None else merge_types(old.type, column.type)
        by_name[column.name] = Column(column.name, kind, True, column.doc or (old.doc if old else ""))
    return tuple(by_name.values())


def merge_types(first: ColumnType, other: ColumnType) -> ColumnType:
    """A type that holds values of both; the JSON text where there is none."""
    if first == other:
        return first
    match first, other:
        case Scalar("null"), _:
            return other
        case _, Scalar("null"):
            return first
        case Scalar(), Scalar():
            wider = WIDER.get(frozenset((first.name, other.name)))
            return Scalar(wider) if wider else VARIANT
        case Decimal(), Decimal():
            scale = max(first.scale, other.scale)
            digits = max(first.precision - first.scale, other.precision - other.scale) + scale
            return Decimal(digits, scale) if digits <= DECIMAL_DIGITS else VARIANT
        case List(), List():
            return List(merge_types(first.element, other.element), nullable=True)
        case Map(), Map() if first.key == other.key:
            return Map(first.key, merge_types(first.value, other.value), nullable=True)
        case Struct(), Struct():
            return Struct(_columns(first.columns, other.columns))
    return VARIANT
