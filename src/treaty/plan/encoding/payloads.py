"""What the columns of a plug-in's format want at each place, as its function `PayloadEncoding.write` takes values."""

from typing import Any

from treaty.core.state.columns import Columns, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import Format, InvalidSchemaError
from treaty.formats.registry import find_formats
from treaty.plan.encoding.target import FieldTarget, FindTarget, LeafTarget, ListTarget, MapTarget, RecordTarget, Target
from treaty.plan.errors import PlanError


def find_writable(name: str) -> Format[Any]:
    """The format whose rows can be encoded by what its record has. Raises `PlanError` with what it lacks."""
    form = find_formats().find(name)
    if form is None:
        raise PlanError(f"rows can't be encoded as {name}: no package here offers the format")
    lacking = [member for member, there in (("payloads", form.payloads), ("columns", form.columns)) if not there]
    if lacking:
        raise PlanError(f"rows can't be encoded as {name}: the record of the format has no {' and no '.join(lacking)}")
    return form


def derive_columns(form: Format[Any], schema: Any) -> Columns:
    """The columns of a schema. Raises `PlanError` for one that becomes none."""
    assert form.columns is not None, "a format whose rows can be encoded has columns"
    try:
        return form.columns(schema)
    except InvalidSchemaError as error:
        raise PlanError(f"the schema has no columns: {error}") from error


def make_targets(columns: Columns) -> tuple[FindTarget, ColumnType]:
    """The places of columns, each its own type, and the first of them."""
    return _find_target, columns.columns[0].type if columns.whole else Struct(columns.columns)


def _find_target(kind: ColumnType) -> Target:
    match kind:
        case Struct(columns):
            return RecordTarget("", tuple(FieldTarget(one.name, one.type, one.nullable) for one in columns))
        case List(element, nullable):
            return ListTarget(element, nullable)
        case Map(key, value, nullable):
            if not isinstance(key, Scalar | Decimal):
                raise PlanError("a map whose keys have parts can't be encoded")
            return MapTarget(LeafTarget(key), value, nullable)
        case Scalar() | Decimal():
            return LeafTarget(kind)
