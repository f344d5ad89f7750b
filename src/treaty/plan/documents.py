"""Decode plans for JSON Schema: JSON contains member names, so rows of all versions have the same columns."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

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


def union(known: Sequence[RegisteredSchema], options: DecodeOptions) -> tuple[Columns, list[RejectedSchema]]:
    """The columns of all versions; a version that becomes no columns is left out."""
    made, losers = [], []
    for one in known:
        try:
            made.append(one.schema if isinstance(one.schema, Columns) else derive_columns(one.schema, options.depth))
        except InvalidSchemaError as wrong:
            losers.append(reject_schema(one, wrong))
    if not made:
        raise nothing_readable(losers)
    return reduce(merge_columns, made), losers


def find_base(before: DecodePlan, known: Sequence[RegisteredSchema], options: DecodeOptions) -> list[RegisteredSchema]:
    """The columns of a plan of a union as its oldest version, without that of members that have none."""
    del known, options
    rest = before.recipe.rest if isinstance(before.recipe, JsonFormatPlan) else ""
    found = before.columns or (("value", before.type),)
    made = tuple(Column(name, parse_type(kind)) for name, kind in found if not rest or name != rest)
    return [RegisteredSchema(-1, before.subject, 0, before.format, Columns(made, whole=not before.columns))]


def compose(known: Sequence[RegisteredSchema], reader: JsonSchema | Columns, options: DecodeOptions) -> DecodePlan:
    """The plan for these writers and the columns of the reader. Raises `PlanError` without a writer."""
    made = reader if isinstance(reader, Columns) else derive_columns(reader, options.depth)
    writers = tuple(
        WriterSchema(one.schema_id, one.subject, one.version, _text(one.schema))
        for one in {one.schema_id: one for one in known}.values()
    )
    if not writers:
        raise nothing_readable(())
    found = columns_ddl(made)
    rest = _rest(options, found, whole=made.whole)
    found = (*found, (rest, RESTS[options.rest])) if rest else found
    return DecodePlan(
        subject="",
        format=JSON.name,
        reader_name="given",
        reader="" if isinstance(reader, Columns) else _text(reader),
        type=found[0][1] if made.whole else struct_ddl(found),
        columns=() if made.whole else found,
        writers=writers,
        rejected=(),
        recipe=JsonFormatPlan(
            made.whole, checks=_checks(known) if options.validate else (), rest=rest, plain=_list_plain(known)
        ),
        engine="spark" if made.whole or rest or not is_columnar(Struct(made.columns)) else "arrow",
        depth=options.depth,
        docs=tuple(list_docs(made)),
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


def _rest(options: DecodeOptions, columns: tuple[tuple[str, str], ...], *, whole: bool) -> str:
    """The name of the column for members without one, or nothing."""
    if not options.rest:
        return ""
    if options.rest not in RESTS:
        raise PlanError(
            f"rest={options.rest!r} is no way to keep members without a column; there are {', '.join(RESTS)}"
        )
    if whole:
        raise PlanError("the documents are no objects, so there is no rest of them; leave rest out")
    return find_free_name("rest", {name.lower() for name, _ in columns})


def _checks(known: Sequence[RegisteredSchema]) -> tuple[tuple[int, str], ...]:
    return tuple({one.schema_id: (one.schema_id, print_resolved(one.schema)) for one in known}.values())


def _list_plain(known: Sequence[RegisteredSchema]) -> tuple[int, ...]:
    """The ids of drafts before 6, to which 1.0 is no integer (draft 4, Core, 3.5)."""
    return tuple(sorted({one.schema_id for one in known if _is_plain(one.schema.root)}))


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
    found = {one.name: one for one in older}
    for one in newer:
        old = found.get(one.name)
        kind = one.type if old is None else merge_types(old.type, one.type)
        found[one.name] = Column(one.name, kind, True, one.doc or (old.doc if old else ""))
    return tuple(found.values())


def merge_types(one: ColumnType, other: ColumnType) -> ColumnType:
    """A type that holds values of both; the JSON text where there is none."""
    if one == other:
        return one
    match one, other:
        case Scalar("null"), _:
            return other
        case _, Scalar("null"):
            return one
        case Scalar(), Scalar():
            wider = WIDER.get(frozenset((one.name, other.name)))
            return Scalar(wider) if wider else VARIANT
        case Decimal(), Decimal():
            scale = max(one.scale, other.scale)
            digits = max(one.precision - one.scale, other.precision - other.scale) + scale
            return Decimal(digits, scale) if digits <= 38 else VARIANT
        case List(), List():
            return List(merge_types(one.element, other.element), nullable=True)
        case Map(), Map() if one.key == other.key:
            return Map(one.key, merge_types(one.value, other.value), nullable=True)
        case Struct(), Struct():
            return Struct(_columns(one.columns, other.columns))
    return VARIANT
