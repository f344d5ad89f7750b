"""From columns of fitted rows to the bare fields of a message's outline: whole arrays at once.

A value that Protobuf's own runtime would refuse raises one of `REFUSED`; its row is not determined.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.descriptor import Descriptor
from google.protobuf.message_factory import GetMessageClass

from treaty.arrow.encoding.rows import JSON, make_message_reader, read_symbol

Change = Callable[[pa.Array], pa.Array]
BITS: Mapping[pa.DataType, pa.DataType] = {pa.float64(): pa.int64(), pa.float32(): pa.int32()}
"""Numbers with a negative zero, and whole numbers of as many bits."""
LONGER = np.array([1 << (8 * size - 1) for size in range(1, 8)], np.int64)
"""The least numbers that need one more byte than the place in the list says."""


def change_messages(inner: Descriptor) -> Change:
    """A message's bytes from JSON text, or from bytes that are looked at, one by one."""
    made: Any = GetMessageClass(inner)
    read = make_message_reader(inner) if inner.full_name in JSON else made.FromString

    def shape(value: Any) -> bytes:
        found = read(value)
        return bytes(found.SerializeToString(deterministic=True))

    return lambda array: pa.array([None if one is None else shape(one) for one in array.to_pylist()], pa.binary())


def check_text(array: pa.Array) -> pa.Array:
    """Texts, of which none may be anything but UTF-8."""
    found = array.cast(pa.string())
    found.validate(full=True)
    return found


def drop_zeros(kind: pa.DataType) -> Change:
    """Numbers with null for zero, but not for the negative one."""

    def change(array: pa.Array) -> pa.Array:
        found = array.cast(kind)
        return pc.if_else(pc.equal(found.view(BITS[kind]), 0), pa.scalar(None, kind), found)

    return change


def change_symbols(names: Mapping[str, int]) -> Change:
    """Numbers of an enum's values, by name."""

    def change(array: pa.Array) -> pa.Array:
        found = array.dictionary_encode()
        numbers = pa.array([read_symbol(names, one) for one in found.dictionary.to_pylist()], pa.int32())
        return numbers.take(found.indices)

    return change


def change_struct(parts: Sequence[tuple[str, int, Change]]) -> Change:
    """The fields of a message: the name of each in the outline, the place of its column, and its change."""

    def change(array: pa.Array) -> pa.Array:
        columns = array.flatten()
        made = [one(columns[at]) for _, at, one in parts]
        fields = [pa.field(name, one.type) for (name, *_), one in zip(parts, made, strict=True)]
        return pa.StructArray.from_arrays(made, fields=fields, mask=array.is_null() if array.null_count else None)

    return change


def change_items(inner: Change) -> Change:
    """The items of a repeated field."""
    return lambda array: pa.ListArray.from_arrays(array.offsets, inner(array.values))


def change_entries(key: Change, value: Change) -> Change:
    """The entries of a map as items."""

    def change(array: pa.Array) -> pa.Array:
        inside = pa.StructArray.from_arrays([key(array.keys), value(array.items)], names=["f1", "f2"])
        return pa.ListArray.from_arrays(array.offsets, inside)

    return change


def change_decimals(kind: pa.DataType, names: Mapping[str, str]) -> Change:
    """Decimals as messages; `names` are those of the outline for ``value``, ``precision`` and ``scale``, in its order."""

    def change(array: pa.Array) -> pa.Array:
        parts = {
            "value": find_unscaled(array),
            "precision": pa.array(np.full(len(array), kind.precision, np.uint32)),
            "scale": pa.array(np.full(len(array), kind.scale, np.int32)),
        }
        made = [parts[one] for one in names]
        return pa.StructArray.from_arrays(made, names=list(names.values()), mask=array.is_null())

    return change


def find_unscaled(array: pa.Array) -> pa.Array:
    """The digits of decimals as whole numbers, big end first, in as few bytes as hold them and their sign."""
    words = np.frombuffer(array.buffers()[1], "<i8").reshape(-1, 2)[array.offset : array.offset + len(array)]
    there = array.is_valid().to_numpy(zero_copy_only=False)
    low = np.where(there, words[:, 0], 0)
    if (there & ((words[:, 1] != low >> 63) | (low == np.iinfo(np.int64).min))).any():
        whole = (int.from_bytes(one.tobytes(), "little", signed=True) for one in words)
        return pa.array([one.to_bytes(one.bit_length() // 8 + 1, "big", signed=True) for one in whole], pa.binary())
    sizes = np.searchsorted(LONGER, np.abs(low), side="right") + 1
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    digits = low.astype(">i8").view(np.uint8).reshape(-1, 8)
    kept = digits[np.arange(8) >= 8 - sizes[:, None]]
    return pa.Array.from_buffers(pa.binary(), len(array), [None, pa.py_buffer(ends), pa.py_buffer(kept)])
