"""Rules of messages and enums: numbers and names that are taken, illegal or reserved (`_check_reserved`), ranges that overlap, first
values.
"""

from bisect import bisect_right
from collections.abc import Iterable

from treaty.formats.protobuf.linker.diagnostics import DiagnosticList
from treaty.formats.protobuf.linker.features import Features
from treaty.formats.protobuf.model import Enum, IdentifierValue, Message, ProtoOption, ReservedStatement, SourceLocation
from treaty.formats.protobuf.syntax.ranges import MAX_NUMBER
from treaty.formats.protobuf.validation import names

MAX_IN_SET = 2**31 - 2
"""The highest number of an extension of a message set."""
KEPT = range(19000, 20000)
"""Numbers that Protobuf keeps for itself."""
_Span = tuple[int, int, SourceLocation]


def is_enabled(options: Iterable[ProtoOption], name: str) -> bool:
    """Whether an option is set to true."""
    return any(one.name == (name,) and one.value == IdentifierValue("true") for one in options)


def check_numbers(message: Message, full: str, faults: DiagnosticList) -> None:
    """Numbers and names of fields, ranges and reserved names."""
    used: dict[int, str] = {}
    for field in message.all_fields:
        number = field.number
        if not 1 <= number <= MAX_NUMBER or number in KEPT:
            faults.add("NUMBER_ILLEGAL", f"{full}.{field.name}", f"the number {number}", field.place)
        other = used.setdefault(number, field.name)
        if other != field.name:
            message_ = f"{field.name!r} has the number {number} of {other!r}"
            faults.add("NUMBER_DUPLICATE", f"{full}.{field.name}", message_, field.place)
    if message.reserved or message.extensions:
        _check_reserved(message, full, faults)


def _check_reserved(message: Message, full: str, faults: DiagnosticList) -> None:
    top = MAX_IN_SET if is_enabled(message.options, "message_set_wire_format") else MAX_NUMBER
    reserved = [(one.start, one.end, kept.place) for kept in message.reserved for one in kept.ranges]
    extensions = [(one.start, one.end, kept.place) for kept in message.extensions for one in kept.ranges]
    for start, end, place in reserved:
        if start < 1 or start > end or end > MAX_IN_SET:
            expected = f"numbers from 1 to {MAX_IN_SET}, the smaller one first"
            faults.add("RANGE_ILLEGAL", full, f"the range {start} to {end}", place, expected)
    for start, end, place in extensions:
        if start < 1 or start > end or end > top:
            faults.add("RANGE_ILLEGAL", full, f"the range {start} to {end}", place)
    check_overlaps(reserved, full, faults)
    check_overlaps(extensions, full, faults)
    _check_reserved_overlaps(extensions, reserved, full, faults)
    names = _names(message.reserved, full, faults)
    reserved_spans, left = sorted(reserved), sorted(extensions)
    for field in message.all_fields:
        path = f"{full}.{field.name}"
        if field.name in names:
            faults.add("NAME_RESERVED", path, f"the name {field.name!r}", field.place)
        if is_in_ranges(reserved_spans, field.number):
            faults.add("NUMBER_RESERVED", path, f"the number {field.number} of {field.name!r}", field.place)
        if is_in_ranges(left, field.number):
            message_ = f"the number {field.number} of {field.name!r} is left to extensions"
            faults.add("NUMBER_RESERVED", path, message_, field.place)


def _names(statements: Iterable[ReservedStatement], full: str, faults: DiagnosticList) -> set[str]:
    names: set[str] = set()
    for statement in statements:
        for name in statement.names:
            if name in names:
                faults.add("RESERVED_TWICE", full, f"the name {name!r} is reserved twice", statement.place)
            names.add(name)
    return names


def check_overlaps(spans: list[_Span], full: str, faults: DiagnosticList) -> None:
    """Ranges of one kind that share a number."""
    last: _Span | None = None
    for span in sorted(spans):
        if last is not None and span[0] <= last[1]:
            message = f"{span[0]} to {span[1]} overlaps with {last[0]} to {last[1]}"
            faults.add("RANGE_OVERLAP", full, message, span[2])
        if last is None or span[1] > last[1]:
            last = span


def _check_reserved_overlaps(extensions: list[_Span], reserved: list[_Span], full: str, faults: DiagnosticList) -> None:
    """Ranges for extensions that share a number with reserved ones."""
    kinds = sorted([(*one, False) for one in extensions] + [(*one, True) for one in reserved])
    tops = {False: 0, True: 0}
    for start, end, place, kind in kinds:
        if start <= tops[not kind]:
            message = f"{start} to {end} is both reserved and left to extensions"
            faults.add("RANGE_OVERLAP", full, message, place)
        tops[kind] = max(tops[kind], end)


def is_in_ranges(spans: list[_Span], number: int) -> bool:
    """Whether one of some sorted ranges, which share no number, holds it."""
    at = bisect_right(spans, number, key=lambda span: span[0])
    return at > 0 and spans[at - 1][1] >= number


def check_reserved_values(
    reserved: Iterable[ReservedStatement], full: str, faults: DiagnosticList
) -> tuple[list[_Span], set[str]]:
    """The ranges and names that an enum sets aside, checked."""
    statements = list(reserved)
    spans = [(one.start, one.end, statement.place) for statement in statements for one in statement.ranges]
    for start, end, place in spans:
        if start > end:
            faults.add("RANGE_ILLEGAL", full, f"the range {start} to {end}", place, "the smaller number first")
    check_overlaps(spans, full, faults)
    return sorted(spans), _names(statements, full, faults)


def check_enum(enum: Enum, full: str, features: Features, faults: DiagnosticList, *, proto2: bool) -> None:
    """All rules of an enum but those of its options; `features` are the enum's own."""
    if not enum.values:
        faults.add("ENUM_EMPTY", full, f"the enum {enum.name!r} without values", enum.place)
        return
    first = enum.values[0]
    if features["enum_type"] != "CLOSED" and first.number != 0:
        faults.add("ENUM_FIRST_VALUE", f"{full}.{first.name}", f"{first.name!r} = {first.number}", first.place)
    if not is_enabled(enum.options, "allow_alias"):
        used: dict[int, str] = {}
        for value in enum.values:
            other = used.setdefault(value.number, value.name)
            if other != value.name:
                message = f"{value.name!r} has the number {value.number} of {other!r}"
                faults.add("ENUM_NUMBER_DUPLICATE", f"{full}.{value.name}", message, value.place)
    if not (proto2 and is_enabled(enum.options, "deprecated_legacy_json_field_conflicts")):
        names.check_alike_names(enum, faults, full)
    if enum.reserved:
        spans, reserved_names = check_reserved_values(enum.reserved, full, faults)
        for value in enum.values:
            path = f"{full}.{value.name}"
            if value.name in reserved_names:
                faults.add("NAME_RESERVED", path, f"the name {value.name!r}", value.place)
            if is_in_ranges(spans, value.number):
                message = f"the number {value.number} of {value.name!r}"
                faults.add("NUMBER_RESERVED", path, message, value.place, "a number that is not reserved")
