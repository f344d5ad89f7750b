"""Columns of several versions as one set: columns added, whole numbers widened, what can't be one type kept as JSON text."""

from treaty.core.state.columns import Column, Columns, ColumnType, Decimal, List, Map, Scalar, Struct

VARIANT = Scalar("variant")
WIDER = {
    frozenset(("int32", "int64")): "int64",
    frozenset(("float32", "float64")): "float64",
    frozenset(("int32", "float64")): "float64",
    frozenset(("int32", "float32")): "float64",
    frozenset(("int64", "float64")): "float64",
}
"""Scalars that both fit into a third; whole numbers beyond 53 bits are rounded where a schema says "number"."""


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
