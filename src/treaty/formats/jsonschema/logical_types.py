"""Logical types of a JSON Schema, and the JSON Schema (draft 2020-12) of logical types."""

import json
from collections.abc import Mapping

from treaty.core.limits import DECIMAL_DIGITS, LOGICAL_DEPTH, LOGICAL_MEMBERS
from treaty.formats.json_text import Json as PlainJson
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import follow_reference, get_child
from treaty.formats.logical.defaults import make_default, to_json
from treaty.formats.logical.model import (
    LONGEST,
    LogicalArray,
    LogicalEnum,
    LogicalMap,
    LogicalScalar,
    LogicalStruct,
    LogicalType,
    StructMember,
    logical_error,
)
from treaty.formats.logical.parser import parse_struct
from treaty.formats.logical.printer import print_struct

CONNECT = "connect.type"
PARAMETERS = "connect.parameters"
PRECISION = "flink.precision"
FLINK = "flink.type"
DIGITS = "connect.decimal.precision"
LENGTHS = ("minLength", "maxLength")
BYTES = ("flink.minLength", "flink.maxLength")
"""Members for the least and the greatest length of text, and of bytes, which travel as text in base64."""

_DATA = "org.apache.kafka.connect.data."
DATE, TIME, INSTANT, DECIMAL = (f"{_DATA}{word}" for word in ("Date", "Time", "Timestamp", "Decimal"))
"""Titles that say what a number stands for."""

NUMBERS: Mapping[str, str] = {
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INT": "int32",
    "BIGINT": "int64",
    "FLOAT": "float32",
    "DOUBLE": "float64",
}
"""By type of numbers, Connect's."""
CLOCKS: Mapping[str, int] = {"TIME": 3, "TIMESTAMP": 3, "TIMESTAMP_LTZ": 3}
"""Digits after the seconds where nothing says how many: values are whole milliseconds."""


_OTHERS = ("allOf", "not", "if", "patternProperties", "prefixItems", "$dynamicRef", "$recursiveRef", "dependentSchemas")
"""Keywords that say more of a type than logical types can."""
_SIZES = {size: name for name, size in NUMBERS.items()}

Words = dict[str, Json]
NullableLogicalType = tuple[LogicalType, bool]
"""A type, and whether it may be null."""


def to_logical(document: JsonSchema) -> str:
    """The text of the logical types of a schema; raises `InvalidSchemaError` for one that they can't say."""
    kind, nullable = _LogicalTypeReader(document).type(document.root, "")
    if not isinstance(kind, LogicalStruct) or nullable:
        raise logical_error(
            "LOGICAL_UNSUPPORTED", "", "the schema is no object with properties", "an object with properties"
        )
    return print_struct(kind)


def _unsupported_error(path: str, message: str) -> Exception:
    return logical_error("LOGICAL_UNSUPPORTED", path, message)


class _LogicalTypeReader:
    """Reads types. `_open` are the places around one, `_count` the properties so far."""

    __slots__ = ("_count", "_document", "_open")

    def __init__(self, document: JsonSchema) -> None:
        self._document = document
        self._open: list[tuple[int, str]] = []
        self._count = 0

    def type(self, node: SchemaNode, path: str) -> NullableLogicalType:
        """The type of a place, and whether it may be null."""
        if node.key in self._open:
            raise logical_error("LOGICAL_RECURSIVE", path, "an object is used inside itself")
        if len(self._open) > 2 * LOGICAL_DEPTH + 2:  # null and the type are two places
            raise logical_error(
                "LOGICAL_DEPTH", path, f"the types nest deeper than the limit LOGICAL_DEPTH of {LOGICAL_DEPTH}"
            )
        self._open.append(node.key)
        logical_type = self._place(node, path)
        self._open.pop()
        return logical_type

    def _place(self, node: SchemaNode, path: str) -> NullableLogicalType:
        words = node.value
        if not isinstance(words, dict):
            raise _unsupported_error(path, "a place that takes any value, or none")
        if "$ref" in words:
            target = follow_reference(self._document, node, "$ref")
            if target is None:
                raise _unsupported_error(path, "a reference that leads nowhere")
            return self.type(target, path)
        other = next((word for word in _OTHERS if word in words), None)
        if other is not None:
            raise _unsupported_error(path, f"a schema with {other}")
        for word in ("oneOf", "anyOf"):
            if word in words:
                return self._choice(node, word, path)
        kinds = words.get("type")
        if isinstance(kinds, list):
            rest = [one for one in kinds if one != "null"]
            if len(rest) != 1:
                raise _unsupported_error(path, f"a place of {len(rest)} types")
            return self._convert_type(node, words, str(rest[0]), path), len(rest) < len(kinds)
        return self._convert_type(node, words, str(kinds or ("object" if "properties" in words else "")), path), False

    def _choice(self, node: SchemaNode, word: str, path: str) -> NullableLogicalType:
        """One of two branches is null."""
        assert isinstance(node.value, dict)
        branches = node.value[word]
        if not isinstance(branches, list):  # a reference may lead to what is no schema
            raise _unsupported_error(path, f"a schema whose {word} is no list")
        nodes = [get_child(node, word, at) for at in range(len(branches))]
        rest = [one for one in nodes if not isinstance(one.value, dict) or one.value.get("type") != "null"]
        if len(rest) != 1 or "type" in node.value or "properties" in node.value:
            raise _unsupported_error(path, f"a choice of {len(rest)} types")
        kind, nullable = self.type(rest[0], path)
        return kind, nullable or len(nodes) > 1

    def _convert_type(self, node: SchemaNode, words: Words, kind: str, path: str) -> LogicalType:
        title = words.get("title")
        name = title if isinstance(title, str) else ""
        match kind:
            case "object":
                return self._object(node, words, name, path)
            case "array":
                if not isinstance(words.get("items"), dict):
                    raise _unsupported_error(path, "an array without one schema for its items")
                return LogicalArray(*self.type(get_child(node, "items"), path))
            case "string":
                listed = words.get("enum")
                self._count += len(listed) if isinstance(listed, list) else 0
                return _read_text(words, name, path)
            case "boolean":
                return LogicalScalar("BOOLEAN")
            case "integer" | "number":
                return _read_number(words, kind, name)
        raise _unsupported_error(path, "a place without a type, or of null alone")

    def _object(self, node: SchemaNode, words: Words, name: str, path: str) -> LogicalType:
        properties = words.get("properties", {})
        if not isinstance(properties, dict):
            raise _unsupported_error(path, "a schema whose properties are no object")
        more = words.get("additionalProperties", True)
        if not properties and isinstance(more, dict):
            return LogicalMap(LogicalScalar("STRING"), *self.type(get_child(node, "additionalProperties"), path))
        if not properties and more is not False:
            raise _unsupported_error(path, "an object without properties")
        required = words.get("required")
        needed = set(map(str, required)) if isinstance(required, list) else set()
        return LogicalStruct(name, tuple(self._member(node, one, needed, f"{path}/{one}") for one in properties))

    def _member(self, node: SchemaNode, name: str, needed: set[str], path: str) -> StructMember:
        self._count += 1
        if self._count > LOGICAL_MEMBERS:
            raise logical_error(
                "LOGICAL_MEMBERS", path, f"more members than the limit LOGICAL_MEMBERS of {LOGICAL_MEMBERS}"
            )
        if not name:
            raise logical_error("LOGICAL_NAME", path, "a property with an empty name")
        place = get_child(node, "properties", name)
        kind, nullable = self.type(place, path)
        nullable = nullable or name not in needed
        words = place.value if isinstance(place.value, dict) else {}
        default = make_default(kind, nullable=nullable, value=words["default"]) if "default" in words else None
        doc = words.get("description")
        return StructMember(name, kind, nullable, default, doc if isinstance(doc, str) else "")


def _read_length(words: Words, names: tuple[str, str], kinds: tuple[str, str, str]) -> LogicalScalar:
    """Of exactly so many characters or bytes, of at most so many, or of any number."""
    minimum, maximum = (words.get(one) for one in names)
    if type(maximum) is int and 0 < maximum < LONGEST:
        return LogicalScalar(kinds[0] if minimum == maximum else kinds[1], (maximum,))
    return LogicalScalar(kinds[2])


def _read_text(words: Words, name: str, path: str) -> LogicalType:
    if words.get(CONNECT) == "bytes":
        return _read_length(words, BYTES, ("BINARY", "VARBINARY", "BYTES"))
    listed = words.get("enum")
    if isinstance(listed, list):
        symbols = tuple(one for one in listed if isinstance(one, str))
        if len(symbols) < len(listed) or not symbols:
            raise _unsupported_error(path, "an enum with more than texts")
        return LogicalEnum(name, tuple(dict.fromkeys(symbols)))
    return _read_length(words, LENGTHS, ("CHAR", "VARCHAR", "STRING"))


def read_connect_decimal(words: Words) -> tuple[int, int] | None:
    """Precision and scale of a number that is a decimal by the words of Kafka Connect and ksqlDB; None for any other."""
    parameters = words.get(PARAMETERS)
    if words.get("title") != DECIMAL or words.get(CONNECT) != "bytes" or not isinstance(parameters, dict):
        return None
    digits = (str(parameters.get(DIGITS, "")), str(parameters.get("scale", "0")))
    if not all(number.isascii() and number.isdigit() and len(number) < 3 for number in digits):
        return None
    precision, scale = map(int, digits)
    return (precision, min(scale, precision)) if 0 < precision <= DECIMAL_DIGITS else None


def write_connect_decimal(precision: int, scale: int) -> dict[str, PlainJson]:
    """The schema of a decimal in the words of Kafka Connect and ksqlDB."""
    parameters: PlainJson = {"scale": str(scale), DIGITS: str(precision)}
    return {"type": "number", CONNECT: "bytes", "title": DECIMAL, PARAMETERS: parameters}


def _read_number(words: Words, kind: str, title: str) -> LogicalScalar:
    size = words.get(CONNECT)
    digits = words.get(PRECISION)
    clock = {TIME: "TIME", INSTANT: "TIMESTAMP_LTZ"}.get(title) or (
        "TIMESTAMP" if words.get(FLINK) == "timestamp" else ""
    )
    if clock:
        return LogicalScalar(clock, (digits if type(digits) is int and 0 <= digits <= 9 else CLOCKS[clock],))
    if title == DATE:
        return LogicalScalar("DATE")
    decimal = read_connect_decimal(words)
    if decimal is not None:
        return LogicalScalar("DECIMAL", decimal)
    return LogicalScalar(_SIZES.get(str(size), "BIGINT" if kind == "integer" else "DOUBLE"))


DRAFT = "https://json-schema.org/draft/2020-12/schema"


def from_logical(text: str) -> str:
    """The JSON Schema that a text of logical types describes.

    Names are titles. What may not be null is required. Raises `InvalidSchemaError` for a text that is none, and for
    what JSON does not have.
    """
    return json.dumps({"$schema": DRAFT, **_write_struct(parse_struct(text), "")}, ensure_ascii=False)


def _write_struct(struct: LogicalStruct, path: str) -> dict[str, PlainJson]:
    schema: dict[str, PlainJson] = {"title": struct.name} if struct.name else {}
    schema["type"] = "object"
    schema["properties"] = {one.name: _write_member(one, f"{path}/{one.name}") for one in struct.members}
    required: list[PlainJson] = [one.name for one in struct.members if not one.nullable]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema


def _write_member(member: StructMember, path: str) -> PlainJson:
    schema = _write_place(member.type, path, nullable=member.nullable)
    if member.comment:
        schema["description"] = member.comment
    if member.default is not None:
        schema["default"] = to_json(member.default.value, member.type)
    return schema


def _write_place(kind: LogicalType, path: str, *, nullable: bool) -> dict[str, PlainJson]:
    schema = _write_type(kind, path)
    return {"oneOf": [{"type": "null"}, schema]} if nullable else schema


def _write_type(kind: LogicalType, path: str) -> dict[str, PlainJson]:
    match kind:
        case LogicalArray(element, nullable):
            return {"type": "array", "items": _write_place(element, path, nullable=nullable)}
        case LogicalMap(key, value, nullable):
            if key.name != "STRING":
                raise logical_error(
                    "LOGICAL_UNSUPPORTED", path, f"a MAP with keys of type {key.name}", "keys of type STRING"
                )
            values = _write_place(value, path, nullable=nullable)
            return {"type": "object", CONNECT: "map", "additionalProperties": values}
        case LogicalStruct():
            return _write_struct(kind, path)
        case LogicalEnum(name, symbols):
            named: dict[str, PlainJson] = {"title": name} if name else {}
            return {**named, "type": "string", "enum": list(symbols)}
    return _write_scalar(kind)


def _write_scalar(kind: LogicalScalar) -> dict[str, PlainJson]:
    if kind.name in NUMBERS:
        return {"type": "number", CONNECT: NUMBERS[kind.name]}
    if kind.name in CLOCKS:
        digits: dict[str, PlainJson] = {} if kind.numbers == (CLOCKS[kind.name],) else {PRECISION: kind.numbers[0]}
        if kind.name == "TIMESTAMP":
            return {"type": "number", CONNECT: "int64", FLINK: "timestamp", **digits}
        title, size = (TIME, "int32") if kind.name == "TIME" else (INSTANT, "int64")
        return {"type": "number", CONNECT: size, "title": title, **digits}
    match kind.name:
        case "BOOLEAN":
            return {"type": "boolean"}
        case "DATE":
            return {"type": "number", CONNECT: "int32", "title": DATE}
        case "DECIMAL":
            return write_connect_decimal(*kind.numbers)
    schema: dict[str, PlainJson] = {"type": "string"}
    names = LENGTHS
    if kind.name in ("BYTES", "BINARY", "VARBINARY"):
        schema[CONNECT] = "bytes"
        names = BYTES
    if kind.name in ("CHAR", "BINARY"):
        schema[names[0]] = kind.numbers[0]
    if kind.numbers:
        schema[names[1]] = kind.numbers[0]
    return schema
