"""What a self-describing schema becomes in a table, as Snowplow's loaders map it to Parquet: the type of each property by its keywords,
its name in snake case; and two versions of it as one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from math import isfinite
from typing import Any, TypeGuard

from treaty.plan.ddl import quote_name

INT32, INT64 = 2**31 - 1, 2**63 - 1
LONGEST_DECIMAL = 38
"""Digits of the longest decimal of Spark and Parquet."""
STRING, BOOLEAN, INT, LONG, DOUBLE, DATE, TIMESTAMP, JSON = (
    "STRING", "BOOLEAN", "INT", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "JSON",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LeafType:
    """A type without parts: a Spark type, or ``JSON`` for values that are kept as JSON text in a ``STRING``."""

    kind: str


@dataclass(frozen=True, slots=True)
class ListType:
    """An array; elements may be null."""

    element: "FieldType"


@dataclass(frozen=True, slots=True)
class ObjectType:
    """An object with members of its own."""

    fields: tuple["EventField", ...]


FieldType = LeafType | ListType | ObjectType


@dataclass(frozen=True, slots=True)
class EventField:
    """A column of an object. `members` are the names of the object's members that it takes its value from, the first one
    that is there: several names may become one.
    """

    name: str
    type: FieldType
    nullable: bool
    members: tuple[str, ...]


class TypeChangeError(ValueError):
    """Two versions of a schema whose values can't share a column; `path` is the member."""

    def __init__(self, path: str, old: str, new: str) -> None:
        super().__init__(f"{path or 'the value'} was {old} and is {new} now")
        self.path, self.old, self.new = path, old, new


def derive_type(document: Mapping[str, Any]) -> FieldType | None:
    """The type of a schema's values; None for an object that can have no members."""
    return _type_of(document)


def merge_types(old: FieldType, new: FieldType, path: str = "") -> FieldType:
    """The type that values of both fit. Fields of the older one come first; a field that one of them lacks may be null.

    Raises `TypeChangeError` where a type has changed: no value is widened.
    """
    match old, new:
        case LeafType(), LeafType() if old == new:
            return old
        case ListType(), ListType():
            return ListType(merge_types(old.element, new.element, f"{path}[]"))
        case ObjectType(), ObjectType():
            return ObjectType((*_merge_fields(old, new, path),))
    raise TypeChangeError(path, show_type(old), show_type(new))


def _merge_fields(old: ObjectType, new: ObjectType, path: str) -> Iterator[EventField]:
    new_fields = {one.name: one for one in new.fields}
    for field in old.fields:
        other = new_fields.pop(field.name, None)
        if other is None:
            yield replace(field, nullable=True)
            continue
        kind = merge_types(field.type, other.type, f"{path}.{field.name}" if path else field.name)
        members = tuple(dict.fromkeys((*field.members, *other.members)))
        yield EventField(field.name, kind, field.nullable or other.nullable, members)
    for field in new.fields:
        if field.name in new_fields:
            yield replace(field, nullable=True)


def show_type(kind: FieldType) -> str:
    """A type as Spark's DDL; JSON text is shown as ``JSON``."""
    match kind:
        case LeafType():
            return kind.kind
        case ListType():
            return f"ARRAY<{show_type(kind.element)}>"
        case ObjectType():
            return f"STRUCT<{', '.join(f'{quote_name(one.name)}: {show_type(one.type)}' for one in kind.fields)}>"


def type_ddl(kind: FieldType) -> str:
    """A type as Spark's DDL."""
    match kind:
        case LeafType():
            return STRING if kind.kind == JSON else kind.kind
        case ListType():
            return f"ARRAY<{type_ddl(kind.element)}>"
        case ObjectType():
            return f"STRUCT<{', '.join(f'{quote_name(one.name)}: {type_ddl(one.type)}' for one in kind.fields)}>"


def column_name(name: str) -> str:
    """The name of a column for a member: snake case, other signs become underscores, and no digit comes first."""
    snake = re.sub(r"(?<=[a-z0-9])([A-Z])|(?<=[A-Z])([A-Z])(?=[a-z])", lambda found: f"_{found.group(0)}", name)
    plain = re.sub(r"[^0-9a-z_]", "_", snake.lower())
    return f"_{plain}" if not plain or plain[0].isdigit() else plain


# ------------------------------------------------------------------------------------------------- types of schemas


def _type_of(schema: Any) -> FieldType | None:
    """The type of a schema's values; None for an object that can have no members. Alternatives are kept as JSON text."""
    if not isinstance(schema, Mapping) or {"oneOf", "anyOf", "allOf", "$ref", "not"} & set(schema):
        return LeafType(JSON)
    kinds = _kinds(schema)
    if kinds is None or len(kinds) != 1:
        return LeafType(DOUBLE) if kinds == {"integer", "number"} else LeafType(JSON)
    (kind,) = kinds
    match kind:
        case "object":
            return _object(schema)
        case "array":
            items = schema.get("items")
            element = _type_of(items) if isinstance(items, Mapping) else LeafType(JSON)
            return ListType(element or LeafType(JSON))
        case "string":
            return LeafType({"date": DATE, "date-time": TIMESTAMP}.get(str(schema.get("format")), STRING))
        case "boolean":
            return LeafType(BOOLEAN)
        case "integer":
            return _integer(schema)
        case "number":
            return _number(schema)
    return LeafType(JSON)


def _kinds(schema: Mapping[str, Any]) -> set[str] | None:
    """The types of a schema's values without null, from its keyword or from its enumeration; None where they are not said."""
    named = schema.get("type")
    if named is not None:
        return {one for one in (named if isinstance(named, list) else [named]) if one != "null"}
    values = schema.get("enum")
    return {_kind_of(one) for one in values if one is not None} if isinstance(values, list) else None


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = ((str, "string"), (int, "integer"), (float, "number"), (list, "array"))
    return next((name for kind, name in names if isinstance(value, kind)), "object")


def _object(schema: Mapping[str, Any]) -> FieldType | None:
    properties = schema.get("properties")
    required = schema.get("required") or ()
    fields: dict[str, EventField] = {}
    for member, inner in properties.items() if isinstance(properties, Mapping) else ():
        kind = _type_of(inner)
        if kind is None:
            continue
        nullable = member not in required or _takes_null(inner)
        field = EventField(column_name(member), kind, nullable, (member,))
        twin = fields.get(field.name)
        if twin is not None:  # several members become one column
            shared = kind if twin.type == kind else LeafType(JSON)
            field = EventField(field.name, shared, True, (*twin.members, member))
        fields[field.name] = field
    if fields:
        return ObjectType(tuple(fields.values()))
    return None if schema.get("additionalProperties") is False else LeafType(JSON)


def _takes_null(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return True
    named = schema.get("type")
    if named is not None:
        return "null" in (named if isinstance(named, list) else [named])
    values = schema.get("enum")
    return None in values if isinstance(values, list) else True


def _integer(schema: Mapping[str, Any]) -> LeafType:
    values = schema.get("enum")
    bounds = [value for value in values if isinstance(value, int)] if isinstance(values, list) else _find_bounds(schema)
    if bounds is None:
        return LeafType(LONG)
    highest = max((abs(one) for one in bounds), default=0)
    if highest <= INT32:
        return LeafType(INT)
    if highest <= INT64:
        return LeafType(LONG)
    return LeafType(f"DECIMAL({LONGEST_DECIMAL}, 0)") if highest < 10**LONGEST_DECIMAL else LeafType(DOUBLE)


def _find_bounds(schema: Mapping[str, Any]) -> list[float] | None:
    """The least and the largest value; None where one is not said, or is no number, as in a document that is no schema."""
    low, high = schema.get("minimum"), schema.get("maximum")
    return [low, high] if _is_number(low) and _is_number(high) else None


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a value of JSON is a number that Python has: its integers may be beyond every float."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and isfinite(value))


def _number(schema: Mapping[str, Any]) -> LeafType:
    step, bounds = schema.get("multipleOf"), _find_bounds(schema)
    if not isinstance(step, float) or not isfinite(step) or bounds is None:
        return LeafType(DOUBLE)
    scale = max(0, -int(Decimal(str(step)).normalize().as_tuple().exponent))
    digits = len(str(int(max(map(abs, bounds))))) + scale
    size = next((one for one in (9, 18, LONGEST_DECIMAL) if digits <= one), 0)
    return LeafType(f"DECIMAL({size}, {scale})") if size else LeafType(DOUBLE)
