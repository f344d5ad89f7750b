"""Logical types of the first message of a Protobuf file, and the Protobuf file of logical types."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from treaty.core.limits import DECIMAL_DIGITS, LOGICAL_DEPTH
from treaty.formats.logical.model import (
    LONGEST,
    LogicalArray,
    LogicalMap,
    LogicalScalar,
    LogicalStruct,
    LogicalType,
    StructMember,
    logical_error,
)
from treaty.formats.logical.model import LogicalEnum as Words
from treaty.formats.logical.parser import parse_struct
from treaty.formats.logical.printer import print_struct
from treaty.formats.protobuf.columns import DECIMAL, WRAPPED, is_nullable, read_digits, read_parameters
from treaty.formats.protobuf.model import AggregateValue, Enum, Field, Message, ProtoOption, ProtoSchema, ProtoSymbol
from treaty.formats.protobuf.syntax.constants import quote_bytes

SCALARS: Mapping[str, str] = {
    "BOOLEAN": "bool",
    "TINYINT": "int32",
    "SMALLINT": "int32",
    "INT": "int32",
    "BIGINT": "int64",
    "FLOAT": "float",
    "DOUBLE": "double",
    "STRING": "string",
    "CHAR": "string",
    "VARCHAR": "string",
    "BYTES": "bytes",
    "BINARY": "bytes",
    "VARBINARY": "bytes",
}
"""By logical type, the scalar type that holds it."""

MESSAGES: Mapping[str, tuple[str, str]] = {
    "DECIMAL": ("confluent.type.Decimal", "confluent/type/decimal.proto"),
    "DATE": ("google.type.Date", "google/type/date.proto"),
    "TIME": ("google.type.TimeOfDay", "google/type/timeofday.proto"),
    "TIMESTAMP": ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
    "TIMESTAMP_LTZ": ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
}
"""By logical type, the message that holds it, and the file that defines that."""

CONNECT = "connect.type"
SMALL: Mapping[str, str] = {"TINYINT": "int8", "SMALLINT": "int16"}
LENGTHS = ("flink.minLength", "flink.maxLength")
PRECISION = "flink.precision"
NANOS = 9
"""Digits after the seconds where nothing says how many."""
FLINK = "flink.type"
NOT_NULL = "flink.notNull"
"""Says of a field with a message that it is always set."""


_PLAIN = {
    "bool": "BOOLEAN",
    **dict.fromkeys(("int32", "sint32", "sfixed32"), "INT"),
    **dict.fromkeys(("uint32", "fixed32", "int64", "sint64", "sfixed64"), "BIGINT"),
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "bytes": "BYTES",
}
_UNSIGNED = LogicalScalar("DECIMAL", (20, 0))
_VARIANTS = frozenset(f"google.protobuf.{one}" for one in ("Any", "LogicalStruct", "Value", "ListValue"))


def to_logical(schema: ProtoSchema) -> str:
    """The text of the logical types of the first message; raises `InvalidSchemaError` for what they can't say."""
    package = schema.file.package
    if not schema.file.messages:
        raise logical_error("LOGICAL_UNSUPPORTED", "", "the file has no message", "a message")
    name = schema.file.messages[0].name
    full = f"{package}.{name}" if package else name
    return print_struct(_LogicalTypeReader(schema).struct(schema, schema.symbols[full], "", full))


class _LogicalTypeReader:
    """Reads messages; each is read once. `_open` are those around a place."""

    __slots__ = ("_known", "_open", "_schema")

    def __init__(self, schema: ProtoSchema) -> None:
        self._schema = schema
        self._known: dict[str, LogicalStruct] = {}
        self._open: list[str] = []

    def struct(self, home: ProtoSchema, symbol: ProtoSymbol, path: str, name: str) -> LogicalStruct:
        """The struct of a message."""
        if symbol.full in self._known:
            return self._known[symbol.full]
        if symbol.full in self._open:
            raise logical_error("LOGICAL_RECURSIVE", path, f"{symbol.full} is used inside itself")
        if len(self._open) >= LOGICAL_DEPTH:
            raise logical_error(
                "LOGICAL_DEPTH", path, f"the types nest deeper than the limit LOGICAL_DEPTH of {LOGICAL_DEPTH}"
            )
        node = symbol.node
        assert isinstance(node, Message)
        self._open.append(symbol.full)
        single = {one.number for oneof in node.oneofs for one in oneof.fields}
        members = tuple(
            self._member(home, symbol.full, field, f"{path}/{field.name}", chosen=field.number in single)
            for field in sorted(node.all_fields, key=lambda one: one.place)
        )
        self._open.pop()
        return self._known.setdefault(symbol.full, LogicalStruct(name, members))

    def _member(self, home: ProtoSchema, full: str, field: Field, path: str, *, chosen: bool) -> StructMember:
        kind = self._type(home, full, field, path)
        free = chosen or is_nullable(home, full, field)
        if field.key:
            key = _read_scalar(field.key, {})
            kind, free = LogicalMap(key, kind, nullable=False), False
        elif field.label == "repeated":
            kind, free = LogicalArray(kind, nullable=False), False
        elif read_parameters(field.options).get(NOT_NULL) == "true":
            free = False
        return StructMember(field.name, kind, free, None, _read_doc(field.options))

    def _type(self, home: ProtoSchema, full: str, field: Field, path: str) -> LogicalType:
        parameters = read_parameters(field.options)
        if field.type in _PLAIN or field.type in ("uint64", "fixed64"):
            return _read_scalar(field.type, parameters)
        symbol = home.resolve(full, field.type)
        if symbol is None or symbol.full in _VARIANTS:
            raise logical_error("LOGICAL_UNSUPPORTED", path, f"a field of type {field.type}")
        if isinstance(symbol.node, Enum):
            return Words(symbol.node.name, tuple(one.name for one in symbol.node.values))
        if symbol.full in WRAPPED:
            return _read_scalar(WRAPPED[symbol.full], parameters)
        if symbol.full == DECIMAL and (digits := read_digits(field.options)) and digits[0] <= DECIMAL_DIGITS:
            return LogicalScalar("DECIMAL", digits)
        clock = _read_clock(symbol.full, parameters)
        if clock is not None:
            return clock
        assert isinstance(symbol.node, Message)
        return self.struct(self._schema.files.get(symbol.path, home), symbol, path, symbol.node.name)


def _read_clock(full: str, parameters: dict[str, str]) -> LogicalScalar | None:
    """A day or a time, if a message stands for one."""
    precision = parameters.get(PRECISION, "")
    numbers = (int(precision) if len(precision) == 1 and precision in "0123456789" else NANOS,)
    if full == MESSAGES["DATE"][0]:
        return LogicalScalar("DATE")
    if full == MESSAGES["TIME"][0]:
        return LogicalScalar("TIME", numbers)
    if full == MESSAGES["TIMESTAMP"][0]:
        return LogicalScalar("TIMESTAMP" if parameters.get(FLINK) == "timestamp" else "TIMESTAMP_LTZ", numbers)
    return None


def _read_scalar(kind: str, parameters: dict[str, str]) -> LogicalScalar:
    if kind not in _PLAIN:
        return _UNSIGNED
    name = _PLAIN[kind]
    if name == "INT":
        return LogicalScalar(next((small for small, size in SMALL.items() if parameters.get(CONNECT) == size), name))
    max_length = parameters.get(LENGTHS[1], "")
    if (
        name in ("STRING", "BYTES")
        and max_length.isascii()
        and max_length.isdigit()
        and len(max_length) < 11
        and 0 < int(max_length) < LONGEST
    ):
        names = ("CHAR", "VARCHAR") if name == "STRING" else ("BINARY", "VARBINARY")
        return LogicalScalar(names[parameters.get(LENGTHS[0]) != max_length], (int(max_length),))
    return LogicalScalar(name)


def _read_doc(options: tuple[ProtoOption, ...]) -> str:
    """What Confluent's option for fields says of one."""
    for option in options:
        if option.name[0] in ("(confluent.field_meta)", "(.confluent.field_meta)"):
            value = option.value
            if len(option.name) == 1 and isinstance(value, AggregateValue):
                value = dict(value.members).get("doc", b"")
            elif option.name[1:] != ("doc",):
                continue
            if isinstance(value, bytes) and value:
                return value.decode("utf-8", "replace")
    return ""


_META = "confluent/meta.proto"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYS = frozenset(("STRING", "INT", "BIGINT", "BOOLEAN"))
_RESERVED = range(19_000, 20_000)
"""Numbers that no field may have."""
_ALWAYS = "NOT NULL, which repeated fields and maps always are in Protobuf"

Parameters = tuple[tuple[str, str], ...]


def from_logical(text: str) -> str:
    """The Protobuf file that a text of logical types describes; members are numbered in their order.

    Structs and enums stand inside the message that names them first. Raises `InvalidSchemaError` for a text that is
    none, and for what Protobuf does not have.
    """
    struct = parse_struct(text)
    if not struct.name:
        raise logical_error("LOGICAL_NAME", "", "the STRUCT has no name, and a message needs one", "STRUCT Name (...)")
    package, _, name = struct.name.rpartition(".")
    for part in package.split(".") if package else ():
        _check_name(part, "")
    writer = _LogicalTypeWriter("." if re.search(r"(?i)google|confluent", text) else "")
    lines = writer.message(struct, name, "", "", "")
    head = ['syntax = "proto3";', *([f"package {package};"] if package else [])]
    return "\n".join([*head, *(f'import "{one}";' for one in sorted(writer.imports)), *lines, ""])


def _check_name(name: str, path: str) -> str:
    if not _NAME.fullmatch(name):
        raise logical_error(
            "LOGICAL_NAME", path, f"{name[:100]!r} is no name in Protobuf", "letters, digits and underscores"
        )
    return name


@dataclass(frozen=True, slots=True)
class _MemberPlace:
    """Where a member stands: the message around it, its full name there, and the lines that are written so far."""

    message: str
    inside: str
    path: str
    lines: list[str]
    pad: str

    def member_place(self, name: str) -> "_MemberPlace":
        """The place of a member of this name."""
        return replace(self, path=f"{self.path}/{name}")


class _LogicalTypeWriter:
    """Writes messages; `_known` says where the types with a name stand. `_point` begins names of other packages."""

    __slots__ = ("_known", "_point", "imports")

    def __init__(self, point: str) -> None:
        self._point = point
        self._known: dict[str, str] = {}
        self.imports: set[str] = set()

    def message(self, struct: LogicalStruct, name: str, outer: str, path: str, pad: str) -> list[str]:
        """The lines of a message."""
        inside = f"{outer}.{_check_name(name, path)}" if outer else _check_name(name, path)
        lines: list[str] = []
        spot = _MemberPlace(name, inside, path, lines, pad + "  ")
        for place, member in enumerate(struct.members, 1):
            number = place if place < _RESERVED[0] else place + len(_RESERVED)
            member_spot = spot.member_place(member.name)
            kind, parameters = self._field(member, member_spot)
            options = self._options(member.comment, parameters)
            lines.append(f"{pad}  {kind} {_check_name(member.name, member_spot.path)} = {number}{options};")
        return [f"{pad}message {name} {{", *lines, f"{pad}}}"]

    def _options(self, comment: str, parameters: Parameters) -> str:
        if not comment and not parameters:
            return ""
        self.imports.add(_META)
        members = [f"doc: {quote_bytes(comment.encode('utf-8', 'replace'))}"] if comment else []
        pairs = ", ".join(f'{{key: "{key}", value: "{value}"}}' for key, value in parameters)
        members += [f"params: [{pairs}]"] if parameters else []
        return f" [({self._point}confluent.field_meta) = {{{', '.join(members)}}}]"

    def _field(self, member: StructMember, spot: _MemberPlace) -> tuple[str, Parameters]:
        """Label and type of a field, and its parameters; what is to be defined before it goes to the lines."""
        path = spot.path
        if member.default is not None and member.default.value is not None:
            raise logical_error("LOGICAL_UNSUPPORTED", path, "a default", "no DEFAULT: fields of proto3 have none")
        kind = member.type
        own = f"{spot.message}_{member.name}"
        if isinstance(kind, LogicalArray | LogicalMap):
            part = kind.element if isinstance(kind, LogicalArray) else kind.value
            if member.nullable or kind.nullable:
                raise logical_error("LOGICAL_UNSUPPORTED", path, "an ARRAY or MAP that is null or holds null", _ALWAYS)
            if isinstance(part, LogicalArray | LogicalMap):
                raise logical_error(
                    "LOGICAL_UNSUPPORTED", path, "an ARRAY or MAP inside another", "a STRUCT around the inner one"
                )
            type_name = self._type(part, own, spot)
            return (
                f"repeated {type_name}" if isinstance(kind, LogicalArray) else _write_map(kind, type_name, path)
            ), _list_parameters(part)
        type_name = self._type(kind, own, spot)
        if isinstance(kind, LogicalStruct) or kind.name in MESSAGES:
            return type_name, _list_parameters(kind) + (() if member.nullable else ((NOT_NULL, "true"),))
        return f"optional {type_name}" if member.nullable else type_name, _list_parameters(kind)

    def _type(self, kind: LogicalType, own: str, spot: _MemberPlace) -> str:
        assert not isinstance(kind, LogicalArray | LogicalMap)
        if isinstance(kind, LogicalScalar):
            if kind.name in SCALARS:
                return SCALARS[kind.name]
            message, home = MESSAGES[kind.name]
            self.imports.add(home)
            return self._point + message
        if kind.name in self._known:
            return self._known[kind.name]
        name = _check_name(kind.name or own, spot.path)
        if kind.name:
            self._known[kind.name] = f"{spot.inside}.{name}"
        if isinstance(kind, LogicalStruct):
            spot.lines.extend(self.message(kind, name, spot.inside, spot.path, spot.pad))
        else:
            symbols = [f"{spot.pad}  {_check_name(one, spot.path)} = {at};" for at, one in enumerate(kind.symbols)]
            spot.lines.extend([f"{spot.pad}enum {name} {{", *symbols, f"{spot.pad}}}"])
        return name


def _write_map(kind: LogicalMap, value: str, path: str) -> str:
    if kind.key.name not in _KEYS:
        expected = "keys of type STRING, INT, BIGINT or BOOLEAN"
        raise logical_error("LOGICAL_UNSUPPORTED", path, f"a MAP with keys of type {kind.key.name}", expected)
    return f"map<{SCALARS[kind.key.name]}, {value}>"


def _list_parameters(kind: LogicalType) -> Parameters:
    """What the type in Protobuf does not say."""
    if not isinstance(kind, LogicalScalar):
        return ()
    if kind.name in SMALL:
        return ((CONNECT, SMALL[kind.name]),)
    if kind.name == "DECIMAL":
        return ("precision", str(kind.numbers[0])), ("scale", str(kind.numbers[1]))
    if kind.name in MESSAGES:
        local: Parameters = ((FLINK, "timestamp"),) if kind.name == "TIMESTAMP" else ()
        return (*local, *((PRECISION, str(one)) for one in kind.numbers if one != NANOS))
    names = LENGTHS if kind.name in ("CHAR", "BINARY") else LENGTHS[1:]
    return tuple((name, str(kind.numbers[0])) for name in names) if kind.numbers else ()
