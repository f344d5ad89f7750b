"""Extracts the record of an envelope; values of hidden fields are converted and moved to their fields."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from treaty.arrow.avro.leaves import count_thousands
from treaty.arrow.avro.primitives import LostDigitsError
from treaty.plan.avro.envelope import make_header
from treaty.plan.format_plans import AvroFormatPlan, FieldRepair

RepairRecord = Callable[[Any, bytes], Any]
"""From an envelope and the five bytes of its frame to the record."""


def make_repair(format_plan: AvroFormatPlan) -> RepairRecord:
    """What takes the record out of an envelope. Hidden fields stay in it: Arrow passes over what has no column.

    It raises `WrongBytesError` for a value that its new unit has no room for, else `LostDigitsError` for one that would
    be cut.
    """
    exact = frozenset(format_plan.exact_repairs)
    by_head: dict[bytes, list[FieldRepair]] = {}
    for one in sorted(format_plan.repairs, key=lambda one: -len(one.path)):
        for number in one.ids:
            by_head.setdefault(make_header(number), []).append(one)

    def repair(envelope: Any, head: bytes) -> Any:
        record = envelope[format_plan.whole] if format_plan.whole else envelope
        has_lost = False
        for one in by_head.get(head, ()):
            for owner in _owners(record, one.path):
                hidden = owner[one.hidden]
                owner[one.field] = _convert(hidden, one)
                has_lost = has_lost or (one in exact and _has_rest(hidden))
        if has_lost:
            raise LostDigitsError
        return record

    return repair


def _owners(part: Any, path: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The records at `path`."""
    if part is None:
        return
    if not path:
        yield part
    elif path[0] == "[]":
        for item in part:
            yield from _owners(item, path[1:])
    elif path[0] == "{}":
        for _, item in part:
            yield from _owners(item, path[1:])
    else:
        yield from _owners(part[path[0]], path[1:])


def _convert(hidden: Any, one: FieldRepair) -> Any:
    """The value of a hidden field, as Arrow takes it, in the unit of the field that it stands for."""
    old, new = one.how.split(",")[0].split(":")[:2]
    change = _change(old, new)
    return hidden if change is None else _each(hidden, one.type, change)


def _each(value: Any, kind: str, change: Callable[[int], int]) -> Any:
    if value is None:
        return None
    if kind.startswith("ARRAY<"):
        return [_each(item, kind[6:-1], change) for item in value]
    if kind.startswith("MAP<STRING, "):
        return [(key, _each(item, kind[12:-1], change)) for key, item in value]
    return change(value)


def _has_rest(value: Any) -> bool:
    """Whether a number of a value is no multiple of a thousand. Entries of a map come as pairs."""
    if isinstance(value, int):
        return value % 1000 != 0
    items = (item[1] if isinstance(item, tuple) else item for item in value or ())
    return any(map(_has_rest, items))


def _change(old: str, new: str) -> Callable[[int], int] | None:
    """None where the two are one to Arrow: decimals of two scales, timestamps of milliseconds and microseconds."""
    if old.startswith("time-"):
        return (lambda leaf: leaf * 1000) if new == "time-micros" else (lambda leaf: leaf // 1000)
    if old.endswith("nanos"):
        return None if new.endswith("nanos") else (lambda leaf: leaf // 1000)
    return count_thousands if new.endswith("nanos") else None
