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
    message_class: Any = GetMessageClass(inner)
    read = make_message_reader(inner) if inner.full_name in JSON else message_class.FromString

    def shape(value: Any) -> bytes:
        message = read(value)
        return bytes(message.SerializeToString(deterministic=True))

    return lambda array: pa.array([None if one is None else shape(one) for one in array.to_pylist()], pa.binary())


def check_text(array: pa.Array) -> pa.Array:
    """Texts, of which none may be anything but UTF-8."""
    texts = array.cast(pa.string())
    texts.validate(full=True)
    return texts


def drop_zeros(kind: pa.DataType) -> Change:
    """Numbers with null for zero, but not for the negative one."""

    def change(array: pa.Array) -> pa.Array:
        numbers = array.cast(kind)
        return pc.if_else(pc.equal(numbers.view(BITS[kind]), 0), pa.scalar(None, kind), numbers)

    return change


def change_symbols(names: Mapping[str, int]) -> Change:
    """Numbers of an enum's values, by name."""

    def change(array: pa.Array) -> pa.Array:
        encoded = array.dictionary_encode()
        numbers = pa.array([read_symbol(names, one) for one in encoded.dictionary.to_pylist()], pa.int32())
        return numbers.take(encoded.indices)

    return change


def change_struct(parts: Sequence[tuple[str, int, Change]]) -> Change:
    """The fields of a message: the name of each in the outline, the place of its column, and its change."""

    def change(array: pa.Array) -> pa.Array:
        columns = array.flatten()
        changed = [one(columns[at]) for _, at, one in parts]
        fields = [pa.field(name, one.type) for (name, *_), one in zip(parts, changed, strict=True)]
        return pa.StructArray.from_arrays(changed, fields=fields, mask=array.is_null() if array.null_count else None)

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
        columns = [parts[one] for one in names]
        return pa.StructArray.from_arrays(columns, names=list(names.values()), mask=array.is_null())

    return change


def find_unscaled(array: pa.Array) -> pa.Array:
    """The digits of decimals as whole numbers, big end first, in as few bytes as hold them and their sign."""
    words = np.frombuffer(array.buffers()[1], "<i8").reshape(-1, 2)[array.offset : array.offset + len(array)]
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    low = np.where(valid, words[:, 0], 0)
    if (valid & ((words[:, 1] != low >> 63) | (low == np.iinfo(np.int64).min))).any():
        numbers = (int.from_bytes(one.tobytes(), "little", signed=True) for one in words)
        return pa.array([one.to_bytes(one.bit_length() // 8 + 1, "big", signed=True) for one in numbers], pa.binary())
    sizes = np.searchsorted(LONGER, np.abs(low), side="right") + 1
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    digits = low.astype(">i8").view(np.uint8).reshape(-1, 8)
    significant = digits[np.arange(8) >= 8 - sizes[:, None]]
    return pa.Array.from_buffers(pa.binary(), len(array), [None, pa.py_buffer(ends), pa.py_buffer(significant)])
