"""Enums: their first value, equal numbers, names that are too much alike."""

from treaty.formats.protobuf.judging import names
from treaty.formats.protobuf.judging.messages import holds, switched, values_aside
from treaty.formats.protobuf.linking.faults import Faults
from treaty.formats.protobuf.linking.features import Features
from treaty.formats.protobuf.model import Enum


def judge(enum: Enum, full: str, features: Features, faults: Faults, *, proto2: bool) -> None:
    """All rules of an enum but those of its options; `features` are the enum's own."""
    if not enum.values:
        faults.add("ENUM_EMPTY", full, f"the enum {enum.name!r} without values", enum.place)
        return
    first = enum.values[0]
    if features["enum_type"] != "CLOSED" and first.number != 0:
        faults.add("ENUM_FIRST_VALUE", f"{full}.{first.name}", f"{first.name!r} = {first.number}", first.place)
    if not switched(enum.options, "allow_alias"):
        used: dict[int, str] = {}
        for value in enum.values:
            other = used.setdefault(value.number, value.name)
            if other != value.name:
                message = f"{value.name!r} has the number {value.number} of {other!r}"
                faults.add("ENUM_NUMBER_DUPLICATE", f"{full}.{value.name}", message, value.place)
    if not (proto2 and switched(enum.options, "deprecated_legacy_json_field_conflicts")):
        names.alike(enum, faults, full)
    if enum.reserved:
        spans, taken = values_aside(enum.reserved, full, faults)
        for value in enum.values:
            path = f"{full}.{value.name}"
            if value.name in taken:
                faults.add("NAME_RESERVED", path, f"the name {value.name!r}", value.place)
            if holds(spans, value.number):
                message = f"the number {value.number} of {value.name!r}"
                faults.add("NUMBER_RESERVED", path, message, value.place, "a number that is not reserved")
