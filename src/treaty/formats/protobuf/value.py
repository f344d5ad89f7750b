"""Check a value in Protobuf's JSON encoding against the first message of a schema."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS, VALUE_BYTES
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_pointer import ValuePath, find_positions, format_pointer
from treaty.formats.json_text import Json, print_json, read_json
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.runtime import create_message, get_first_message

VALUE_RULES: Mapping[str, str] = {
    "VALUE_TYPE_MISMATCH": "A value is one that Protobuf's JSON encoding has for the type of its field.",
    "VALUE_FIELD_UNKNOWN": "A message has no members beside its fields and extensions.",
    "VALUE_FIELD_TWICE": "A field is written once, under its JSON name or its own.",
    "VALUE_ONEOF_TWICE": "At most one field of a oneof is written.",
    "VALUE_FIELD_MISSING": "A message has all its required fields.",
    "VALUE_HAS_NO_TYPE": "Values are checked against the first message of a schema, so there is one.",
}
"""What a value can break, by identifier. A text that is no JSON has the faults of one."""

ENCODED = frozenset(
    f"google.protobuf.{name}"
    for name in (
        *("Any", "Timestamp", "Duration", "FieldMask", "Struct", "Value", "ListValue"),
        *("BoolValue", "Int32Value", "Int64Value", "UInt32Value", "UInt64Value"),
        *("FloatValue", "DoubleValue", "StringValue", "BytesValue"),
    )
)
"""Messages with an encoding of their own."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_REFUSED = (ParseError, TypeError, ValueError, AttributeError, OverflowError)
_AROUND = re.compile(r"^(?:Failed to parse \S+ field: )+|[\s.]+$|\sat \S+?\.*$")

Inside = list[tuple[Descriptor, Json, ValuePath]]
"""Messages that are still to be looked at."""

Unit = tuple[str, Json, FieldDescriptor, Json, ValuePath]
"""A value for the runtime to read: its field's JSON name, what to put there, and the scalar in it with its place."""

Violation = tuple[ValuePath, tuple[str, str, str]]
"""A place; a rule, what stands there, and what was expected."""


def check_value(schema: ProtoSchema, text: str) -> tuple[Diagnostic, ...]:
    """Faults of a value, at most `FAULTS` of them, each with its place; none if it is one of the first message.

    Fields stand under their JSON names or their own; null says that a field is not set.
    """
    try:
        value = read_json(text, VALUE_BYTES)
    except InvalidSchemaError as error:
        return error.faults
    descriptor = get_first_message(schema)
    if descriptor is None:
        return (Diagnostic("VALUE_HAS_NO_TYPE", "", "the schema has no message that the runtime takes", "a message"),)
    faults: list[Diagnostic] = []
    for path, (rule, message, expected) in _faults(descriptor, value):
        faults.append(Diagnostic(rule, format_pointer(path), message, expected))
        if len(faults) == FAULTS:
            break
    places = find_positions(text, {one.path for one in faults}) if faults else {}
    return tuple(replace(one, line=places[one.path][0], column=places[one.path][1]) for one in faults)


def _faults(root: Descriptor, value: Json) -> Iterator[Violation]:
    waiting: list[tuple[Descriptor, Json, ValuePath]] = [(root, value, None)]
    while waiting:
        descriptor, content, path = waiting.pop()
        if descriptor.full_name in ENCODED:
            if (why := _refusal(descriptor, content)) is not None:
                yield path, ("VALUE_TYPE_MISMATCH", why, f"the JSON encoding of {descriptor.full_name}")
        elif not isinstance(content, dict):
            yield (
                path,
                (
                    "VALUE_TYPE_MISMATCH",
                    _describe_value(content),
                    f"an object with the fields of {descriptor.full_name}",
                ),
            )
        else:
            inside: Inside = []
            yield from _members(descriptor, content, path, inside)
            waiting += reversed(inside)


def _members(descriptor: Descriptor, value: dict[str, Json], path: ValuePath, inside: Inside) -> Iterator[Violation]:
    """Faults of the members of an object; messages that are members go to `inside`."""
    names = {one.json_name: one for one in descriptor.fields} | {one.name: one for one in descriptor.fields}
    met: set[int] = set()
    oneofs: dict[str, str] = {}
    units: list[Unit] = []
    for name, member in value.items():
        field = names.get(name)
        member_path = (path, name)
        if field is None:
            if not name.startswith("["):
                field_names = ", ".join(one.json_name for one in descriptor.fields[:10])
                yield (
                    member_path,
                    ("VALUE_FIELD_UNKNOWN", f"{descriptor.full_name} has no field {name!r}", f"one of {field_names}"),
                )
            elif (why := _refusal(descriptor, {name: member})) is not None:
                yield (
                    member_path,
                    ("VALUE_FIELD_UNKNOWN", why, "an extension that the schema knows, and a value for it"),
                )
            continue
        if field.number in met:
            yield (
                member_path,
                ("VALUE_FIELD_TWICE", f"{field.name!r} a second time", "either name of a field, not both"),
            )
        if member is None and not (field.message_type and field.message_type.full_name == "google.protobuf.Value"):
            continue
        met.add(field.number)
        oneof = field.containing_oneof
        if oneof is not None:
            if oneof.name in oneofs:
                message = f"{name!r} beside {oneofs[oneof.name]!r} of the oneof {oneof.name!r}"
                yield member_path, ("VALUE_ONEOF_TWICE", message, "one field of a oneof")
                continue
            oneofs[oneof.name] = name
        yield from _field(field, member, member_path, (inside, units))
    yield from _find_unread(descriptor, units)
    for descriptor_field in descriptor.fields:
        if descriptor_field.is_required and descriptor_field.number not in met:
            message = f"the required field {descriptor_field.json_name!r} of {descriptor.full_name} is missing"
            yield path, ("VALUE_FIELD_MISSING", message, "a value for every required field")


def _field(
    field: FieldDescriptor, member: Json, path: ValuePath, places: tuple[Inside, list[Unit]]
) -> Iterator[Violation]:
    """Put what a field holds where it is looked at: messages inside, everything else among the units."""
    inside, units = places
    target, name = field.message_type, field.json_name
    if target is not None and target.GetOptions().map_entry:
        if not isinstance(member, dict):
            yield path, ("VALUE_TYPE_MISMATCH", _describe_value(member), "an object: keys and values of a map")
            return
        held = target.fields_by_name["value"]
        opened = held.message_type is not None and held.message_type.full_name not in ENCODED
        for key, item in member.items():
            units.append((name, {key: {} if opened else item}, held, key if opened else item, (path, key)))
            if opened:
                assert held.message_type is not None
                inside.append((held.message_type, item, (path, key)))
    elif field.is_repeated:
        if not isinstance(member, list):
            yield path, ("VALUE_TYPE_MISMATCH", _describe_value(member), "an array")
            return
        for index, item in enumerate(member):
            if target is not None:
                inside.append((target, item, (path, index)))
            else:
                units.append((name, [item], field, item, (path, index)))
    elif target is not None:
        inside.append((target, member, path))
    else:
        units.append((name, member, field, member, path))


def _find_unread(descriptor: Descriptor, units: list[Unit]) -> Iterator[Violation]:
    """Units that the runtime does not read, in their order: all at once first, then by halves.

    The runtime is more generous with bytes than JSON's encoding of them is, so those are looked at here too.
    """
    waiting = [units] if units else []
    while waiting:
        some = waiting.pop()
        why = _refusal(descriptor, _merge_units(some))
        if why is not None and len(some) > 1:
            half = len(some) // 2
            waiting += (some[half:], some[:half])
            continue
        for _, _, kind, item, path in some:
            bad = kind.type == FieldDescriptor.TYPE_BYTES and isinstance(item, str) and not _BASE64.fullmatch(item)
            if why is not None or bad:
                message = why if why is not None and kind.message_type is not None else _describe_value(item)
                yield path, ("VALUE_TYPE_MISMATCH", message, _describe_expected(kind))


def _merge_units(units: list[Unit]) -> dict[str, Json]:
    """One object with all of the units."""
    merged: dict[str, Json] = {}
    for name, value, *_ in units:
        held = merged.get(name)
        if isinstance(held, list) and isinstance(value, list):
            held += value
        elif isinstance(held, dict) and isinstance(value, dict):
            held.update(value)
        else:
            merged[name] = list(value) if isinstance(value, list) else dict(value) if isinstance(value, dict) else value
    return merged


def _refusal(descriptor: Descriptor, value: Json) -> str | None:
    """What the runtime has against a value of a message; None if it takes it."""
    try:
        ParseDict(value, create_message(descriptor), descriptor_pool=descriptor.file.pool)  # type: ignore[arg-type]
    except _REFUSED as error:
        first_line = (str(error).splitlines() or [type(error).__name__])[0]
        return _AROUND.sub("", first_line) or _describe_value(value)
    return None


def _describe_expected(field: FieldDescriptor) -> str:
    if field.enum_type is not None:
        names = ", ".join(one.name for one in field.enum_type.values[:10])
        return f"a value of {field.enum_type.full_name} by its name or number: {names}"
    if field.message_type is not None:
        return f"the JSON encoding of {field.message_type.full_name}"
    return _WANTED[field.type]


_WHOLE = "a whole number of 32 bits, as a number or a string"
_LONG = "a whole number of 64 bits, as a number or a string"
_FRACTION = 'a number, its text, or "NaN", "Infinity", "-Infinity"'
_WANTED: Mapping[int, str] = {
    **dict.fromkeys(
        (
            *(FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32),
            *(FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32),
        ),
        _WHOLE,
    ),
    **dict.fromkeys(
        (
            *(FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64),
            *(FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64),
        ),
        _LONG,
    ),
    FieldDescriptor.TYPE_FLOAT: _FRACTION,
    FieldDescriptor.TYPE_DOUBLE: _FRACTION,
    FieldDescriptor.TYPE_BOOL: "true or false",
    FieldDescriptor.TYPE_STRING: "a string",
    FieldDescriptor.TYPE_BYTES: "a string of base64",
}


def _describe_value(value: Json) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return print_json(value)[:60]
