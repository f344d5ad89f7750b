"""What makes a parsed document invalid, by rule and path."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from treaty.core.limits import SCHEMA_DEPTH, SCHEMA_MEMBERS
from treaty.formats.budget import spend
from treaty_thrift.constants import ConstantChecker
from treaty_thrift.model import (
    NAME_STEPS,
    Constant,
    Definition,
    Enum,
    Field,
    Record,
    Service,
    ThriftSchema,
    Type,
    Typedef,
    Value,
)
from treaty_thrift.typedefs import count_levels, list_names, measure_typedefs

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
    yield from _twice("NAME_TWICE", "", (definition.name for definition in schema.document.definitions), "the name {}")
    broken = False
    circular = measure_typedefs(schema)
    for definition in schema.document.definitions:
        if isinstance(definition, Typedef) and definition.name in circular:
            broken = True
            yield (
                "TYPEDEF_CIRCLE",
                f"/{definition.name}",
                f"{definition.name} leads to itself",
                EXPECTED["TYPEDEF_CIRCLE"],
            )
        for fault in _definition(schema, definition, strict=strict):
            broken = True
            yield fault
    if strict and not broken:
        yield from _defaults(schema)


def _twice(rule: str, above: str, names: Iterable[object], what: str) -> Iterator[Fault]:
    for name, count in Counter(names).items():
        if count > 1:
            yield rule, f"{above}/{name}", f"{what.format(repr(name))} is there {count} times", EXPECTED[rule]


def _definition(schema: ThriftSchema, definition: Definition, *, strict: bool) -> Iterator[Fault]:
    path = f"/{definition.name}"
    match definition:
        case Typedef() | Constant():
            yield from _type(schema, definition.type, path)
        case Enum():
            yield from _enum(definition, path, strict=strict)
        case Record():
            yield from _fields(schema, definition.fields, path)
            for field in definition.fields if definition.kind == "union" else ():
                if field.requiredness == "required":
                    said = f"the field {field.name!r} of a union is required"
                    yield "UNION_REQUIRED", f"{path}/{field.id}", said, EXPECTED["UNION_REQUIRED"]
        case Service():
            yield from _twice("NAME_TWICE", path, (each.name for each in definition.functions), "the function {}")
            for each in definition.functions:
                yield from _fields(schema, each.parameters, f"{path}/{each.name}")
                yield from _fields(schema, each.throws, f"{path}/{each.name}/throws")
                if each.result is not None:
                    yield from _type(schema, each.result, f"{path}/{each.name}")


def _enum(enum: Enum, path: str, *, strict: bool) -> Iterator[Fault]:
    if len(enum.symbols) > SCHEMA_MEMBERS:
        yield "TOO_MANY", path, f"{enum.name} has more than {SCHEMA_MEMBERS} symbols", EXPECTED["TOO_MANY"]
    yield from _twice("NAME_TWICE", path, (each.name for each in enum.symbols), "the symbol {}")
    for each in enum.symbols:
        if not -(2**31) <= each.number < 2**31:
            yield "ENUM_RANGE", f"{path}/{each.name}", f"{each.number} has more than 32 bits", EXPECTED["ENUM_RANGE"]
    if strict:
        counts = Counter(each.number for each in enum.symbols)
        for each in enum.symbols:
            if counts[each.number] > 1:
                said = f"{each.name} shares its number {each.number}"
                yield "ENUM_NUMBER_TWICE", f"{path}/{each.name}", said, EXPECTED["ENUM_NUMBER_TWICE"]


def _fields(schema: ThriftSchema, fields: tuple[Field, ...], path: str) -> Iterator[Fault]:
    if len(fields) > SCHEMA_MEMBERS:
        yield "TOO_MANY", path, f"more than {SCHEMA_MEMBERS} fields", EXPECTED["TOO_MANY"]
    yield from _twice("FIELD_ID_TWICE", path, (field.id for field in fields if field.id), "the id {}")
    yield from _twice("NAME_TWICE", path, (field.name for field in fields), "the field {}")
    for field in fields:
        if field.id and not 1 <= field.id <= 32767:
            yield "FIELD_ID_RANGE", f"{path}/{field.id}", f"{field.id} is no id of a field", EXPECTED["FIELD_ID_RANGE"]
        yield from _type(schema, field.type, f"{path}/{field.id}")


def _type(schema: ThriftSchema, type_: Type, path: str) -> Iterator[Fault]:
    if count_levels(schema, type_) > SCHEMA_DEPTH:
        yield "TOO_DEEP", path, f"more than {SCHEMA_DEPTH} containers inside each other", EXPECTED["TOO_DEEP"]
        return
    for name in dict.fromkeys(name for name, _ in list_names(type_)):
        if name:
            spend(NAME_STEPS)
            definition = schema.find(name)
            if definition is None:
                yield "NAME_UNKNOWN", path, f"no type is called {name!r}", EXPECTED["NAME_UNKNOWN"]
            elif isinstance(definition[1], Constant | Service):
                yield "NOT_A_TYPE", path, f"{name!r} is no type", EXPECTED["NOT_A_TYPE"]


def _defaults(schema: ThriftSchema) -> Iterator[Fault]:
    checker = ConstantChecker(schema)
    for record in schema.records():
        for field in record.fields:
            if field.default is not None:
                yield from _constant(checker, f"/{record.name}/{field.id}", field.type, field.default, field.name)
    for definition in schema.document.definitions:
        if isinstance(definition, Constant):
            yield from _constant(checker, f"/{definition.name}", definition.type, definition.value, definition.name)


def _constant(checker: ConstantChecker, path: str, type_: Type, value: Value, name: str) -> Iterator[Fault]:
    """A constant, or the default of the field that is called `name`."""
    size = checker.measure(checker.schema, value)
    checker.size += size if path.count("/") > 1 else 0
    if max(size, checker.size) > SCHEMA_MEMBERS:
        said = f"{name} brings more than {SCHEMA_MEMBERS} values, those of constants in it counted"
        yield "TOO_MANY", path, said, "fewer values in constants and defaults"
    elif not checker.is_value(checker.schema, type_, checker.schema, value):
        yield "DEFAULT_INVALID", path, f"{name} is none of its type", EXPECTED["DEFAULT_INVALID"]
