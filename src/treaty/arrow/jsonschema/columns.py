"""Which columns pyarrow's reader of JSON can fill, and what its columns become.

It has no dates and times as Spark reads them, so those are read as texts and converted here. A value that is not surely the
same as the row reader's (`values`) raises `UnlikeError`: its row is then read by that one.
"""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

Convert = Callable[[pa.Array], pa.Array]
"""From a column as it is read to the column of the record. Raises `UnlikeError`, or what Arrow raises."""

_ALIKE = (
    pa.types.is_boolean,
    pa.types.is_int32,
    pa.types.is_int64,
    pa.types.is_float64,
    pa.types.is_decimal128,
    pa.types.is_string,
    pa.types.is_null,
)
_INSTANT = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-](0\d|1[0-7]):[0-5]\d)$"
_UTC = pa.timestamp("us", tz="UTC")
_FIRST_DAY, _FIRST_INSTANT = -719_162, -62_135_596_800_000_000
"""The first day of the year 1, in days and in microseconds: Python has no day before it."""


class UnlikeError(ValueError):
    """A column holds a value that pyarrow's reader may read in another way than Spark."""


def find_read_type(kind: pa.DataType) -> pa.DataType | None:
    """The type as which a column is read; None where pyarrow's reader can't fill it, or a part of it."""
    if any(is_kind(kind) for is_kind in _ALIKE):
        return kind
    if pa.types.is_date32(kind) or kind == _UTC:
        return pa.string()
    if pa.types.is_list(kind):
        inside = find_read_type(kind.value_type)
        return None if inside is None else pa.list_(kind.value_field.with_type(inside))
    if pa.types.is_struct(kind) and kind.num_fields:
        fields = [kind.field(place) for place in range(kind.num_fields)]
        read_types = [find_read_type(one.type) for one in fields]
        readable = [one for one in read_types if one is not None]
        if len(readable) == len(fields):
            return pa.struct([one.with_type(read) for one, read in zip(fields, readable, strict=True)])
    return None


def make_conversion(kind: pa.DataType) -> Convert:
    """What makes a column as it was read the column of this type, and proves its values."""
    if pa.types.is_float64(kind):
        return _require_finite
    if pa.types.is_decimal128(kind):
        return _require_digits
    if pa.types.is_date32(kind):
        return _convert_days
    if kind == _UTC:
        return _convert_instants
    if pa.types.is_list(kind):
        return _list_conversion(kind)
    if pa.types.is_struct(kind):
        return _struct_conversion(kind)
    return lambda column: column


def _require_finite(column: pa.Array) -> pa.Array:
    """A number beyond all doubles is infinity here or an error; the row reader says which."""
    if pc.all(pc.is_finite(column)).as_py() is False:
        raise UnlikeError
    return column


def _require_digits(column: pa.Array) -> pa.Array:
    column.validate(full=True)
    return column


def _convert_days(column: pa.Array) -> pa.Array:
    days = pc.cast(column, pa.date32())
    _require_least(days.view(pa.int32()), _FIRST_DAY)
    return days


def _convert_instants(column: pa.Array) -> pa.Array:
    if pc.all(pc.match_substring_regex(column, _INSTANT)).as_py() is False:
        raise UnlikeError
    instants = pc.cast(column, _UTC)
    _require_least(instants.view(pa.int64()), _FIRST_INSTANT)
    return instants


def _require_least(numbers: pa.Array, minimum: int) -> None:
    lowest = pc.min(numbers).as_py()
    if lowest is not None and lowest < minimum:
        raise UnlikeError


def _list_conversion(kind: pa.DataType) -> Convert:
    inside = make_conversion(kind.value_type)

    def convert(column: pa.Array) -> pa.Array:
        values = inside(column.values)
        if values is column.values and column.type == kind:
            return column
        offsets = column.offsets
        return pa.ListArray.from_arrays(offsets, values, type=kind, mask=column.is_null())

    return convert


def _struct_conversion(kind: pa.DataType) -> Convert:
    fields = [kind.field(place) for place in range(kind.num_fields)]
    parts = [make_conversion(one.type) for one in fields]

    def convert(column: pa.Array) -> pa.Array:
        converted = [part(column.field(place)) for place, part in enumerate(parts)]
        return pa.StructArray.from_arrays(
            converted, fields=fields, mask=column.is_null() if column.null_count else None
        )

    return convert
