"""Extracts the record of an envelope; values of hidden fields are converted and moved to their fields."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from treaty.arrow.avro.leaves import count_thousands
from treaty.arrow.avro.primitives import LostDigitsError
from treaty.plan.avro.converted_leaves import LeafConversion, Path, list_conversions, list_places, must_be_exact
from treaty.plan.avro.envelope import make_header
from treaty.plan.format_plans import AvroFormatPlan, CutUnion, FieldRepair

RepairRecord = Callable[[Any, bytes], Any]
"""From an envelope and the five bytes of its frame to the record."""
Change = Callable[[Any], Any]
"""From the value of a hidden field, as Arrow takes it, to that of the field that it stands for."""


def make_repair(format_plan: AvroFormatPlan) -> RepairRecord:
    """What takes the record out of an envelope. Hidden fields stay in it: Arrow passes over what has no column.

    It raises `WrongBytesError` for a value that its new unit has no room for, else `LostDigitsError` for one that would
    be cut.
    """
    conversions, places = list_conversions(format_plan), list_places(format_plan)
    by_head: dict[bytes, list[tuple[FieldRepair, Path, Change | None, list[Path]]]] = {}
    for repaired in sorted(format_plan.repairs, key=lambda one: -len(one.path)):
        exact = [leaf.path for leaf in conversions[repaired] if must_be_exact(format_plan, leaf)]
        for number in repaired.ids:
            by_head.setdefault(make_header(number), []).append(
                (repaired, places[repaired][number], _make_change(conversions[repaired]), exact)
            )

    drop = _make_drop(format_plan.cuts)

    def repair(envelope: Any, head: bytes) -> Any:
        record = envelope[format_plan.whole] if format_plan.whole else envelope
        has_lost = False
        for repaired, place, change, exact in by_head.get(head, ()):
            for owner in _list_parts(record, place):
                hidden = owner[repaired.hidden]
                owner[repaired.field] = hidden if change is None else change(hidden)
                has_lost = has_lost or any(leaf % 1000 for path in exact for leaf in _list_parts(hidden, path))
        if has_lost:
            raise LostDigitsError
        return record if drop is None else drop(record)

    return repair


def _list_parts(part: Any, path: Sequence[str]) -> Iterator[Any]:
    """The values at `path` that are not null."""
    if part is None:
        return
    if not path:
        yield part
    elif path[0] == "[]":
        for item in part:
            yield from _list_parts(item, path[1:])
    elif path[0] == "{}":
        for _, item in part:
            yield from _list_parts(item, path[1:])
    else:
        yield from _list_parts(part[path[0]], path[1:])


def _make_change(conversions: Iterable[LeafConversion], depth: int = 0) -> Change | None:
    """What makes the value of a hidden field, or a part of it at this depth, that of its field; None where both are one."""
    below: dict[str, list[LeafConversion]] = {}
    for conversion in conversions:
        if len(conversion.path) == depth:
            return _skip_null(_choose_change(conversion))
        below.setdefault(conversion.path[depth], []).append(conversion)
    steps = {step: made for step, some in below.items() if (made := _make_change(some, depth + 1)) is not None}
    if "[]" in steps:
        item = steps["[]"]
        return _skip_null(lambda value: [item(one) for one in value])
    if "{}" in steps:
        entry = steps["{}"]
        return _skip_null(lambda value: [(key, entry(one)) for key, one in value])
    return (
        _skip_null(lambda value: value | {step: made(value[step]) for step, made in steps.items()}) if steps else None
    )


def _make_drop(cuts: Iterable[CutUnion], depth: int = 0) -> Change | None:
    """What takes the members of unions that lie beyond the depth out of a value at this depth of the paths; None where none do."""
    own: CutUnion | None = None
    below: dict[str, list[CutUnion]] = {}
    for cut in cuts:
        if len(cut.path) == depth:
            own = cut
        else:
            below.setdefault(cut.path[depth], []).append(cut)
    steps = {step: change for step, some in below.items() if (change := _make_drop(some, depth + 1)) is not None}
    if "[]" in steps:
        item = steps["[]"]
        return _skip_null(lambda value: [item(one) for one in value])
    if "{}" in steps:
        entry = steps["{}"]
        return _skip_null(lambda value: [(key, entry(one)) for key, one in value])
    if own is None and not steps:
        return None
    members = [f"member{place}" for place in range(own.kept)] if own else []
    joined = own is not None and (own.kept == 1 or bool(own.number))

    def drop(value: Any) -> Any:
        value = value | {step: change(value[step]) for step, change in steps.items()}
        if not members:
            return value
        chosen = {name: value[name] for name in members if value[name] is not None}
        if joined or not chosen:
            return next(iter(chosen.values()), None)
        return dict.fromkeys(members) | chosen

    return _skip_null(drop)


def _skip_null(change: Change | None) -> Change | None:
    return None if change is None else lambda value: None if value is None else change(value)


def _choose_change(conversion: LeafConversion) -> Change | None:
    """None where the two are one to Arrow: decimals of two scales, timestamps of milliseconds and microseconds."""
    if conversion.old.name.startswith("time-"):
        return (lambda leaf: leaf * 1000) if conversion.new.name == "time-micros" else (lambda leaf: leaf // 1000)
    if conversion.divides:
        return lambda leaf: leaf // 1000
    return count_thousands if conversion.multiplies else None
