"""Converts defaults of one version to a merged schema: its names, units and types.

Avro's resolver reads a default by the *reader's* type. In a merged reader that type may have the names of one version
and the default of another.
"""

import json
from dataclasses import replace
from typing import Any

from treaty.core.limits import DEFAULT_CHARACTERS
from treaty.formats.avro.defaults import DefaultChecker
from treaty.formats.avro.model import (
    ABSENT,
    AbsentDefault,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
)
from treaty.formats.avro.resolution import AvroSide, find_branch, pair_fields
from treaty.formats.json_text import Json
from treaty.plan.avro.columns import has_one_column
from treaty.plan.avro.logical_types import INSTANTS, TIMES, WALLS, find_column_logical, find_logical

Leaf = AvroPrimitive | AvroFixed
SHORT_DEFAULT = 64
"""Characters of a default, as JSON, that is not counted."""


class UncarriedError(ValueError):
    """A default that the merged schema has no value for."""


def translate_default(default: Json, source: AvroSide, target: AvroSide) -> Json | AbsentDefault:
    """The default of a `source` type as the `target` type has it.

    `ABSENT` where it is none for the source, where the target has no value for it, and where that value would be one of
    another type of the target's union.
    """
    try:
        translated = _translate_member(default, source, target)
    except UncarriedError:
        return ABSENT
    return translated if _allows(target, target.node, translated) else ABSENT


def drop_wrong_defaults(schema: AvroSchema) -> tuple[AvroSchema, tuple[str, ...]]:
    """The schema without defaults that no row can have, and a sentence for each.

    Such a default does not fit its type or its column: it is no symbol of an enum, has not the size of a fixed, or more
    digits than a decimal. A default of a record that leaves out a field without one is another such.
    """
    dropped: list[str] = []
    while True:
        names: dict[str, NamedType] = {}
        for full, named in schema.names.items():
            wrong_names = _list_wrong(schema, named)
            dropped += [
                f"the default of {full}/{name}: it is no value of the field's type" for name in sorted(wrong_names)
            ]
            names[full] = named
            if wrong_names and isinstance(named, AvroRecord):
                fields = tuple(replace(one, default=ABSENT) if one.name in wrong_names else one for one in named.fields)
                names[full] = replace(named, fields=fields)
        if all(names[full] is named for full, named in schema.names.items()):
            return schema, tuple(dropped)
        schema = replace(schema, names=names)


def drop_long_defaults(schema: AvroSchema) -> tuple[AvroSchema, tuple[str, ...]]:
    """The schema without its longest defaults, so that all long ones have DEFAULT_CHARACTERS together, and a sentence for each that
    is gone. Each row may have them again.
    """
    lengths = {
        (full, field.name): length
        for full, named in schema.names.items()
        for field in (named.fields if isinstance(named, AvroRecord) else ())
        if not isinstance(field.default, AbsentDefault) and (length := len(json.dumps(field.default))) > SHORT_DEFAULT
    }
    total, long = sum(lengths.values()), set[tuple[str, str]]()
    for key in sorted(lengths, key=lambda each: (-lengths[each], each)):
        if total <= DEFAULT_CHARACTERS:
            break
        total -= lengths[key]
        long.add(key)
    names = {
        full: replace(
            named, fields=tuple(_drop_default(one) if (full, one.name) in long else one for one in named.fields)
        )
        if isinstance(named, AvroRecord)
        else named
        for full, named in schema.names.items()
    }
    sentences = tuple(
        f"the default of {full}/{name}: it has {lengths[full, name]:,} characters, and all long defaults of a reader may have "
        f"{DEFAULT_CHARACTERS:,} (limit DEFAULT_CHARACTERS)"
        for full, name in sorted(long)
    )
    return (replace(schema, names=names) if long else schema), sentences


def _drop_default(field: Field) -> Field:
    return replace(field, default=ABSENT)


def _list_wrong(schema: AvroSchema, named: NamedType) -> set[str]:
    """The fields of a record whose defaults no row can have."""
    return {
        field.name
        for field in (named.fields if isinstance(named, AvroRecord) else ())
        if not isinstance(field.default, AbsentDefault)
        and not (
            DefaultChecker(schema.names, ()).allows(field.type, field.default)
            and _has_room(field.default, AvroSide(schema, field.type))
        )
    }


MOST_MILLIS = (2**63 - 1) // 1000
"""Milliseconds beyond these have no microseconds of 64 bits, in which timestamps are read."""


def _has_room(value: Any, side: AvroSide) -> bool:
    """Whether a default, which fits its type, and all that is inside it are values of their columns."""
    match side.resolved:
        case AvroUnion():
            return _has_room(value, side.at(choose_branch(side, value)))
        case AvroRecord() as record:
            return all(_has_room(value[one.name], side.at(one.type)) for one in record.fields if one.name in value)
        case AvroArray(items=items):
            return all(_has_room(one, side.at(items)) for one in value)
        case AvroMap(values=values):
            return all(_has_room(one, side.at(values)) for one in value.values())
        case AvroEnum() as enum:
            return value in enum.symbols
        case leaf:
            return _is_value(value, leaf)


def _is_value(value: Any, leaf: AvroPrimitive | AvroFixed) -> bool:
    logical = find_column_logical(leaf)
    if leaf.kind in {"bytes", "fixed"}:
        if max(value, default="") > "\xff" or (isinstance(leaf, AvroFixed) and len(value) != leaf.size):
            return False
        number = int.from_bytes(value.encode("latin-1"), "big", signed=True)
        return logical is None or (value != "" and abs(number) < 10**logical.precision)
    return logical is None or not logical.name.endswith("timestamp-millis") or abs(value) <= MOST_MILLIS


def choose_branch(side: AvroSide, value: Json) -> AvroType:
    """The type that a default is a value of: of a union the first branch that it fits, as Java's library has it."""
    resolved = side.resolved
    branch = next((one for one in _branches(side) if _allows(side, one, value)), None)
    if branch is None:
        raise UncarriedError
    return branch if isinstance(resolved, AvroUnion) else side.node


def _branches(side: AvroSide) -> tuple[AvroType, ...]:
    return side.resolved.branches if isinstance(side.resolved, AvroUnion) else (side.node,)


def _allows(side: AvroSide, node: AvroType, value: Json) -> bool:
    return DefaultChecker(side.schema.names, ()).allows(node, value)


def _pair_branch(source: AvroSide, target: AvroSide) -> int:
    place = find_branch(source, [target.at(one) for one in _branches(target)])
    if place is None:
        raise UncarriedError
    return place


def _value(value: Any, source: AvroSide, target: AvroSide) -> Any:
    """A value of a type that is no union as a value of the other."""
    old, new = source.resolved, target.resolved
    if isinstance(old, AvroRecord) and isinstance(new, AvroRecord):
        pairs = pair_fields(old, new)
        members = ((field, value.get(field.name, field.default)) for field in old.fields if field.name in pairs)
        return {
            pairs[field.name].name: _translate_member(member, source.at(field.type), target.at(pairs[field.name].type))
            for field, member in members
        }
    if isinstance(old, AvroArray) and isinstance(new, AvroArray):
        return [_translate_member(item, source.at(old.items), target.at(new.items)) for item in value]
    if isinstance(old, AvroMap) and isinstance(new, AvroMap):
        return {
            key: _translate_member(item, source.at(old.values), target.at(new.values)) for key, item in value.items()
        }
    if isinstance(old, Leaf) and isinstance(new, Leaf):
        return _leaf(value, old, new)
    return value


def _translate_member(value: Any, source: AvroSide, target: AvroSide) -> Any:
    """A value of a default, or inside it. Its branch has its place in the union, so it must be the first that the value
    fits.
    """
    source = source.at(choose_branch(source, value))
    union = target.resolved
    if not isinstance(union, AvroUnion):
        return _value(value, source, target)
    part = target.at(union.branches[_pair_branch(source, target)])
    translated = _value(value, source, part)
    first = target.at(choose_branch(target, translated)).resolved
    if first != part.resolved and not has_one_column(union, target.schema.names):
        raise UncarriedError
    return translated


def _leaf(value: Any, old: Leaf, new: Leaf) -> Any:
    """A leaf's value as that of the other leaf."""
    if old.kind == "string" and new.kind == "bytes":
        return value.encode("utf-8", "replace").decode("latin-1")
    before, after = find_logical(old), find_logical(new)
    if before is None or after is None or before == after:
        return value
    if before.name == after.name == "decimal":
        return _rescale(value, after.scale - before.scale, new.size if isinstance(new, AvroFixed) else 0)
    for family in (INSTANTS, WALLS, TIMES):
        if before.name in family and after.name in family and family[after.name] >= family[before.name]:
            return value * 10 ** (family[after.name] - family[before.name])
    raise UncarriedError


def _rescale(text: str, digits: int, size: int) -> str:
    """The bytes of a decimal with so many digits more behind its point."""
    number = int.from_bytes(text.encode("latin-1", "replace"), "big", signed=True)
    if digits < 0:
        raise UncarriedError
    grown: int = number * 10**digits
    length = size or (grown.bit_length() // 8 + 1)
    try:
        raw = grown.to_bytes(length, "big", signed=True)
    except OverflowError:
        raise UncarriedError from None
    return raw.decode("latin-1")
