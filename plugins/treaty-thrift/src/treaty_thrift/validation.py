"""What makes a parsed document invalid, by rule and path."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from treaty.core.limits import SCHEMA_MEMBERS
from treaty_thrift.model import (
    NUMBERS,
    Constant,
    Container,
    Definition,
    Enum,
    Field,
    Named,
    Primitive,
    Record,
    Service,
    ThriftSchema,
    Type,
    Typedef,
    Value,
    resolve_type,
)

Fault = tuple[str, str, str, str]
"""Rule, path, what was found, what was expected."""

EXPECTED: Mapping[str, str] = {
    "SYNTAX": "a definition or a word of Thrift",
    "TOO_DEEP": "fewer levels",
    "NUMBER": "a finite number",
    "NAME_ILLEGAL": "a name without dots",
    "NAME_TWICE": "names that differ",
    "NAME_UNKNOWN": "a type of this text, or of an include under its prefix",
    "NOT_A_TYPE": "a typedef, enum, struct, union or exception",
    "TYPEDEF_CIRCLE": "a typedef that leads to a type",
    "FIELD_ID_MISSING": "an id before each field, such as 1:",
    "FIELD_ID_RANGE": "an id from 1 to 32767",
    "FIELD_ID_TWICE": "ids that differ",
    "UNION_REQUIRED": "fields of a union without required",
    "ENUM_RANGE": "numbers of 32 bits",
    "ENUM_NUMBER_TWICE": "numbers that differ",
    "DEFAULT_INVALID": "a value of the field's type",
    "INCLUDE_MISSING": "a reference that is called as the include",
    "INCLUDE_FORMAT": "a reference to a schema of Thrift",
    "INCLUDE_TWICE": "includes whose file names differ",
    "TOO_MANY": "fewer fields or symbols",
}
"""Rules of a valid schema, and what the text should have had instead."""


def find_faults(schema: ThriftSchema, *, strict: bool) -> Iterator[Fault]:
    """All faults; without `strict` two symbols may share a number, and defaults are not looked at."""
    yield from _twice("NAME_TWICE", "", (one.name for one in schema.document.definitions), "the name {}")
    broken = False
    for one in schema.document.definitions:
        for fault in _definition(schema, one, strict=strict):
            broken = True
            yield fault
    if strict and not broken:
        yield from _defaults(schema)


def _twice(rule: str, above: str, names: Iterable[object], what: str) -> Iterator[Fault]:
    for name, count in Counter(names).items():
        if count > 1:
            yield rule, f"{above}/{name}", f"{what.format(repr(name))} is there {count} times", EXPECTED[rule]


def _definition(schema: ThriftSchema, one: Definition, *, strict: bool) -> Iterator[Fault]:
    path = f"/{one.name}"
    match one:
        case Typedef() | Constant():
            yield from _type(schema, one.type, path)
            if isinstance(one, Typedef) and _is_circular(schema, one):
                yield "TYPEDEF_CIRCLE", path, f"{one.name} leads to itself", EXPECTED["TYPEDEF_CIRCLE"]
        case Enum():
            yield from _enum(one, path, strict=strict)
        case Record():
            yield from _fields(schema, one.fields, path)
            for field in one.fields if one.kind == "union" else ():
                if field.requiredness == "required":
                    said = f"the field {field.name!r} of a union is required"
                    yield "UNION_REQUIRED", f"{path}/{field.id}", said, EXPECTED["UNION_REQUIRED"]
        case Service():
            yield from _twice("NAME_TWICE", path, (each.name for each in one.functions), "the function {}")
            for each in one.functions:
                yield from _fields(schema, each.parameters, f"{path}/{each.name}")
                yield from _fields(schema, each.throws, f"{path}/{each.name}/throws")
                if each.result is not None:
                    yield from _type(schema, each.result, f"{path}/{each.name}")


def _enum(one: Enum, path: str, *, strict: bool) -> Iterator[Fault]:
    if len(one.symbols) > SCHEMA_MEMBERS:
        yield "TOO_MANY", path, f"{one.name} has more than {SCHEMA_MEMBERS} symbols", EXPECTED["TOO_MANY"]
    yield from _twice("NAME_TWICE", path, (each.name for each in one.symbols), "the symbol {}")
    for each in one.symbols:
        if not -(2**31) <= each.number < 2**31:
            yield "ENUM_RANGE", f"{path}/{each.name}", f"{each.number} has more than 32 bits", EXPECTED["ENUM_RANGE"]
    if strict:
        counts = Counter(each.number for each in one.symbols)
        for each in one.symbols:
            if counts[each.number] > 1:
                said = f"{each.name} shares its number {each.number}"
                yield "ENUM_NUMBER_TWICE", f"{path}/{each.name}", said, EXPECTED["ENUM_NUMBER_TWICE"]


def _fields(schema: ThriftSchema, fields: tuple[Field, ...], path: str) -> Iterator[Fault]:
    if len(fields) > SCHEMA_MEMBERS:
        yield "TOO_MANY", path, f"more than {SCHEMA_MEMBERS} fields", EXPECTED["TOO_MANY"]
    yield from _twice("FIELD_ID_TWICE", path, (one.id for one in fields if one.id), "the id {}")
    yield from _twice("NAME_TWICE", path, (one.name for one in fields), "the field {}")
    for one in fields:
        if one.id and not 1 <= one.id <= 32767:
            yield "FIELD_ID_RANGE", f"{path}/{one.id}", f"{one.id} is no id of a field", EXPECTED["FIELD_ID_RANGE"]
        yield from _type(schema, one.type, f"{path}/{one.id}")


def _type(schema: ThriftSchema, type_: Type, path: str) -> Iterator[Fault]:
    match type_:
        case Container():
            for part in type_.parts:
                yield from _type(schema, part, path)
        case Named(name):
            found = schema.find(name)
            if found is None:
                yield "NAME_UNKNOWN", path, f"no type is called {name!r}", EXPECTED["NAME_UNKNOWN"]
            elif isinstance(found[1], Constant | Service):
                yield "NOT_A_TYPE", path, f"{name!r} is no type", EXPECTED["NOT_A_TYPE"]


def _is_circular(schema: ThriftSchema, one: Typedef) -> bool:
    """Whether typedefs lead from this one back to it, through containers too, whose values would have no end."""
    seen: set[str] = set()
    left: list[Type] = [one.type]
    while left:
        type_ = left.pop()
        if isinstance(type_, Container):
            left += type_.parts
        elif isinstance(type_, Named) and type_.name not in seen:
            seen.add(type_.name)
            definition = schema.definitions.get(type_.name)
            if definition is one:
                return True
            if isinstance(definition, Typedef):
                left.append(definition.type)
    return False


def _defaults(schema: ThriftSchema) -> Iterator[Fault]:
    for record in schema.records():
        for field in record.fields:
            if field.default is not None and not is_value(schema, field.type, schema, field.default):
                said = f"the default of {field.name!r} is none of its type"
                yield "DEFAULT_INVALID", f"/{record.name}/{field.id}", said, EXPECTED["DEFAULT_INVALID"]
    for one in schema.document.definitions:
        if isinstance(one, Constant) and not is_value(schema, one.type, schema, one.value):
            yield "DEFAULT_INVALID", f"/{one.name}", f"{one.name} is none of its type", EXPECTED["DEFAULT_INVALID"]


def find_constant(schema: ThriftSchema, name: str) -> tuple[ThriftSchema, Value] | None:
    """What the name of a constant or of an enum's symbol stands for, and where names in it are looked up."""
    found = schema.find(name)
    if found is not None and isinstance(found[1], Constant):
        return found[0], found[1].value
    owner, _, symbol = name.rpartition(".")
    outer = schema.find(owner) if owner else None
    if outer is not None and isinstance(outer[1], Enum):
        number = next((one.number for one in outer[1].symbols if one.name == symbol), None)
        return None if number is None else (outer[0], Value("int", number))
    return None


def is_value(schema: ThriftSchema, type_: Type, home: ThriftSchema, value: Value, depth: int = 0) -> bool:
    """Whether a constant, whose names are looked up in `home`, is a value of a type."""
    if value.kind == "name":
        found = find_constant(home, str(value.value)) if depth < 100 else None
        return found is not None and is_value(schema, type_, found[0], found[1], depth + 1)
    inner = resolve_type(schema, type_)
    match inner.type:
        case Primitive(name):
            return _is_primitive(name, value)
        case Enum(symbols=symbols):
            return value.kind == "int" and any(one.number == value.value for one in symbols)
        case Container(kind="map", parts=(key, held)):
            return value.kind == "map" and all(
                is_value(inner.schema, key, home, one, depth + 1) and is_value(inner.schema, held, home, two, depth + 1)
                for one, two in _pairs(value)
            )
        case Container(parts=(element,)):
            return value.kind == "list" and all(
                is_value(inner.schema, element, home, one, depth + 1) for one in _items(value)
            )
        case Record(fields=fields):
            by_name = {one.name: one for one in fields}
            return value.kind == "map" and all(
                one.kind == "text"
                and one.value in by_name
                and is_value(inner.schema, by_name[str(one.value)].type, home, two, depth + 1)
                for one, two in _pairs(value)
            )
    return False


def _is_primitive(name: str, value: Value) -> bool:
    if name in NUMBERS:
        edge = 1 << (NUMBERS[name] - 1)
        return value.kind == "int" and isinstance(value.value, int) and -edge <= value.value < edge
    kinds = {"bool": {"bool", "int"}, "double": {"double", "int"}, "string": {"text"}, "binary": {"text"}}
    return value.kind in kinds[name]


def _pairs(value: Value) -> tuple[tuple[Value, Value], ...]:
    assert isinstance(value.value, tuple)
    return value.value


def _items(value: Value) -> tuple[Value, ...]:
    assert isinstance(value.value, tuple)
    return value.value
