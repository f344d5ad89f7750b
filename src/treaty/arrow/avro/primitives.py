"""Functions that generated programs call: long varints, and conversions of raw values."""

import copy
from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any

from treaty.client.compiled.program import ProgramBuilder


class WrongBytesError(ValueError):
    """Bytes that are no value of their schema."""


class LostDigitsError(ValueError):
    """A value has digits that the type of its column has no place for."""


def make_varint_reader(bits: int) -> Callable[[bytes, int, int], tuple[int, int]]:
    """A function that reads the rest of a varint, from the position behind its first byte and that byte.

    It returns the number, without zig-zag decoding, and the next position. Bits beyond the number's are dropped, as
    Java's library drops them; a byte too many raises `WrongBytesError`. Its steps are written out: a loop takes half as
    much again.
    """
    code, mask, width = ProgramBuilder(), 2**bits - 1, -(-bits // 7)
    code.constants["wrong"] = WrongBytesError
    with code.block("def more(data, at, value):"):
        for place in range(1, width):
            more = f"value += (byte << {7 * place}) - {1 << 7 * place}"  # less the mark of the byte before
            code.add(f"byte = data[at + {place - 1}]", more)
            code.add(f"if byte < 128: return value{f' & {mask}' if place == width - 1 else ''}, at + {place}")
        code.add("raise wrong")
    read_rest: Callable[[bytes, int, int], tuple[int, int]] = code.compile_function("more")
    return read_rest


def single(number: int) -> float:
    """A double from which a float is made in one rounding: what a double can't hold of the number decides ties."""
    size = number.bit_length() - 53
    if size <= 0:
        return float(number)
    bits = abs(number)
    significant = bits >> size | bool(bits & ((1 << size) - 1))
    return float(significant << size) if number > 0 else -float(significant << size)


def entries(mapping: Mapping[bytes, Any]) -> list[tuple[str, Any]]:
    """A map as Arrow takes it."""
    return [(str(key, "utf-8"), value) for key, value in mapping.items()]


def entries_or_wrong(mapping: Mapping[bytes, Any]) -> Any:
    """The same, or what stands for a wrong value where a key is no text."""
    try:
        return entries(mapping)
    except UnicodeDecodeError:
        return WrongBytesError


def raw_entries(mapping: Mapping[bytes, Any]) -> list[tuple[str, Any]]:
    """The same for keys that need be no text."""
    return [(str(key, "utf-8", "replace"), value) for key, value in mapping.items()]


def holds_wrong(value: Any) -> bool:
    """Whether something in a value stands for a wrong one."""
    if isinstance(value, dict):
        return any(map(holds_wrong, value.values()))
    return any(map(holds_wrong, value)) if isinstance(value, list | tuple) else value is WrongBytesError


NAMES: Mapping[str, Any] = {
    "more_int": make_varint_reader(32),
    "more_long": make_varint_reader(64),
    "wrong": WrongBytesError,
    "float_": Struct("<f").unpack_from,
    "double_": Struct("<d").unpack_from,
    "single": single,
    "entries": entries,
    "copied": copy.deepcopy,
}
"""By the names in programs."""
DEFERRING_NAMES: Mapping[str, Any] = {**NAMES, "entries": entries_or_wrong, "holds_wrong": holds_wrong}
RAW_NAMES: Mapping[str, Any] = {**NAMES, "entries": raw_entries}
