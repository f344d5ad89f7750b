"""From columns of a message's bare fields to the columns of a plan: whole arrays at once.

A change is a function from an array and a `Blame` to an array. It blames the places whose value only Protobuf's own
runtime may decide: those that are wrong, and those that say something twice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.message_factory import GetMessageClass

from treaty.arrow.protobuf.values import MICROS, SECONDS, Shape, UnreadableValueError

Mask = np.ndarray[Any, np.dtype[np.bool_]]
Blame = Callable[[Mask], None]
Change = Callable[[pa.Array, Blame], pa.Array]


def keep_array(array: pa.Array, blame: Blame) -> pa.Array:
    """The array itself."""
    del blame
    return array


def widen_unsigned(kind: pa.DataType) -> Change:
    """Unsigned numbers, which Spark has not, as the next wider type."""
    return lambda array, _: array.cast(kind)


def fill_default(inner: Change, default: Any) -> Change:
    """The default where a field is not set."""
    return lambda array, blame: inner(array, blame).fill_null(default)


def name_symbols(enum: EnumDescriptor) -> Change:
    """Names of an enum's numbers; a number without a name is blamed in a closed enum, and its text in an open one."""
    numbers = pa.array(sorted(enum.values_by_number), pa.int32())
    names = pa.array([enum.values_by_number[number].name for number in sorted(enum.values_by_number)], pa.string())
    is_closed = bool(enum.is_closed)

    def change(array: pa.Array, blame: Blame) -> pa.Array:
        positions = pc.index_in(array, numbers)
        symbols = names.take(positions)
        if symbols.null_count == array.null_count:
            return symbols
        if is_closed:
            blame(_mask(pc.and_(array.is_valid(), positions.is_null())))
        return pc.coalesce(symbols, array.cast(pa.string()))

    return change


def unwrap_message(inner: Change) -> Change:
    """The one field of a message that stands for a scalar."""

    def change(array: pa.Array, blame: Blame) -> pa.Array:
        changed = inner(array.field(0), blame)
        return pc.if_else(array.is_valid(), changed, pa.scalar(None, changed.type)) if array.null_count else changed

    return change


def change_timestamp(kind: pa.DataType) -> Change:
    """Seconds and nanoseconds as microseconds."""

    def change(array: pa.Array, blame: Blame) -> pa.Array:
        seconds, nanos = _numbers(array.field(0)), _numbers(array.field(1)).astype(np.int64)
        valid = _mask(array.is_valid())
        far = ((seconds > SECONDS) | (seconds < -SECONDS)) & valid
        if far.any():
            blame(far)
            seconds = np.where(far, 0, seconds)
        micros = seconds * MICROS + nanos // 1000
        return pa.array(micros, pa.int64(), mask=~valid).view(kind)

    return change


def change_date(array: pa.Array, blame: Blame) -> pa.Array:
    """Year, month and day as a date; null where they are none."""
    del blame
    year, month, day = (_numbers(array.field(position)).astype(np.int64) for position in range(3))
    right = _mask(array.is_valid()) & (year >= 1) & (year <= 9999) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(right, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.int64)
    right &= day <= (months + np.timedelta64(1, "M")).astype("datetime64[D]").astype(np.int64) - days
    return pa.array((days + np.where(right, day, 1) - 1).astype(np.int32), mask=~right).view(pa.date32())


def change_messages(descriptor: Descriptor, make_value: Shape, kind: pa.DataType, *, in_lists: bool) -> Change:
    """Values of messages that are read one by one, from their bytes.

    A cell has the bytes of a message, or null where there is none. With `in_lists` it has a list of all that the payload
    has for the field, which are one message when they are joined, and an empty list or null where there is none.
    """
    message_class = GetMessageClass(descriptor)

    def change(array: pa.Array, blame: Blame) -> pa.Array:
        values, unreadable = [], np.zeros(len(array), bool)
        for row, cell in enumerate(array.to_pylist()):
            payload = b"".join(cell) if in_lists and cell else cell
            is_absent = not cell if in_lists else cell is None
            try:
                values.append(None if is_absent else make_value(message_class.FromString(payload)))
            except UnreadableValueError:
                unreadable[row] = True
                values.append(None)
        if unreadable.any():
            blame(unreadable)
        return pa.array(values, kind)

    return change


@dataclass(frozen=True, slots=True)
class OneofGroup:
    """Members of a oneof, of which the last one counts; `many` are those whose bytes are in lists."""

    members: tuple[str, ...]
    many: frozenset[str]


def change_struct(changes: Sequence[tuple[str, Change]], kind: pa.StructType, groups: Sequence[OneofGroup]) -> Change:
    """The fields of a message that have columns, by their names in the outline; two members of a oneof are blamed."""
    fields = [kind.field(position) for position in range(kind.num_fields)]

    def change(array: pa.Array, blame: Blame) -> pa.Array:
        for group in groups:
            count = np.zeros(len(array), np.int8)
            for name in group.members:
                column = array.field(name)
                is_set = pc.greater(pc.list_value_length(column), 0) if name in group.many else column.is_valid()
                count += _mask(is_set.fill_null(False))
            if len(count) and count.max() > 1:
                blame(count > 1)
        columns = [change_field(array.field(name), blame) for name, change_field in changes]
        absent = array.is_null() if array.null_count else None
        if not columns:
            return pa.array([None if is_null else {} for is_null in _mask(array.is_null()).tolist()], kind)
        return pa.StructArray.from_arrays(columns, fields=fields, mask=absent)

    return change


def change_items(inner: Change, kind: pa.DataType) -> Change:
    """The items of a repeated field."""

    def change(array: pa.Array, blame: Blame) -> pa.Array:
        items = inner(array.values, _blame_lists(array, blame))
        return pa.ListArray.from_arrays(array.offsets, items, type=kind)

    return change


def change_entries(key: Change, value: Change, kind: pa.DataType, *, message: bool) -> Change:
    """The entries of a map; a key that comes twice is blamed, and a message that is missing where it should be empty."""

    def change(array: pa.Array, blame: Blame) -> pa.Array:
        entries, blame_map = array.values, _blame_lists(array, blame)
        keys = key(entries.field(0), blame_map)
        values = entries.field(1)
        in_lists = pa.types.is_list(values.type)
        missing = _mask(pc.equal(pc.list_value_length(values), 0) if in_lists else values.is_null())
        if message and missing.any():
            blame_map(missing)
        codes = _numbers(keys.dictionary_encode().indices).astype(np.int64)
        owners = _owners(array) * (len(keys) + 1) + codes
        _, first, counts = np.unique(owners, return_inverse=True, return_counts=True)
        if len(counts) < len(owners):
            blame_map(counts[first] > 1)
        return pa.MapArray.from_arrays(array.offsets, keys, value(values, blame_map), type=kind)

    return change


def _owners(array: pa.Array) -> Any:
    """For each item of a list array the place of its list."""
    return np.repeat(np.arange(len(array)), np.diff(_numbers(array.offsets)))


def _blame_lists(array: pa.Array, blame: Blame) -> Blame:
    """Blame for the items of lists: the lists are blamed."""

    def blame_lists(mask: Mask) -> None:
        lists = np.zeros(len(array), bool)
        lists[_owners(array)[mask]] = True
        blame(lists)

    return blame_lists


def _numbers(array: pa.Array) -> Any:
    return array.fill_null(0).to_numpy(zero_copy_only=False) if array.null_count else array.to_numpy()


def _mask(array: pa.Array) -> Mask:
    mask: Mask = array.to_numpy(zero_copy_only=False)
    return mask


KNOWN: Mapping[str, Callable[[pa.DataType], Change]] = {
    "google.protobuf.Timestamp": change_timestamp,
    "google.type.Date": lambda _: change_date,
}
"""Messages with a column type of their own whose fields are read at once."""
PARTS: Mapping[str, int] = {"google.protobuf.Timestamp": 2, "google.type.Date": 3}
"""How many fields those have, numbered from 1."""
