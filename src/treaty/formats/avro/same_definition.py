"""When two definitions of one named type, in a text and its references, are the same; else the name is defined twice (`NAME_REDEFINED`)."""

from collections.abc import Collection, Mapping

from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    Props,
)
from treaty.formats.budget import spend
from treaty.formats.json_text import print_json


def is_same_type(first: AvroType, other: AvroType, names: Mapping[str, NamedType], late: Collection[str]) -> bool:
    """Return whether two types are equal to the Java library, which ignores docs, aliases and defaults of enums.

    A type that was used before its definition (`late`) equals nothing there.
    """
    spend(3)
    if type(first) is AvroReference and type(other) is AvroReference:
        return first.full == other.full and first.full not in late
    left = names.get(first.full, first) if type(first) is AvroReference else first
    right = names.get(other.full, other) if type(other) is AvroReference else other
    match left, right:
        case (AvroPrimitive(), AvroPrimitive()):
            return left.kind == right.kind and _are_same_props(left.props, right.props)
        case (AvroArray(), AvroArray()):
            return _are_same_props(left.props, right.props) and is_same_type(left.items, right.items, names, late)
        case (AvroMap(), AvroMap()):
            return _are_same_props(left.props, right.props) and is_same_type(left.values, right.values, names, late)
        case (AvroUnion(), AvroUnion()):
            pairs = zip(left.branches, right.branches, strict=False)
            return len(left.branches) == len(right.branches) and all(is_same_type(a, b, names, late) for a, b in pairs)
        case (AvroFixed(), AvroFixed()):
            return (left.full, left.size) == (right.full, right.size) and _are_same_props(left.props, right.props)
        case (AvroEnum(), AvroEnum()):
            return (left.full, left.symbols) == (right.full, right.symbols) and _are_same_props(left.props, right.props)
        case (AvroRecord(), AvroRecord()):
            return (
                left.full == right.full
                and len(left.fields) == len(right.fields)
                and _are_same_props(left.props, right.props)
                and all(_is_same_field(a, b, names, late) for a, b in zip(left.fields, right.fields, strict=True))
            )
    return False


def _is_same_field(first: Field, other: Field, names: Mapping[str, NamedType], late: Collection[str]) -> bool:
    return (
        (first.name, first.order) == (other.name, other.order)
        and _default(first) == _default(other)
        and _are_same_props(first.props, other.props)
        and is_same_type(first.type, other.type, names, late)
    )


def _default(field: Field) -> str | None:
    # As text, because 1, 1.0 and true are equal values in Python and different ones in a schema.
    text = None if field.default is ABSENT else print_json(field.default)
    spend(len(text or "") >> 3)
    return text


def _are_same_props(first: Props, other: Props) -> bool:
    return not (first or other) or {name: print_json(v) for name, v in first} == {
        name: print_json(v) for name, v in other
    }
