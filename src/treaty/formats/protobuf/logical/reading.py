"""A Protobuf file read as logical types: its first message."""

from treaty.core.limits import LOGICAL_DEPTH
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
from treaty.formats.logical.printer import print_struct
from treaty.formats.protobuf.columns import DECIMAL, DECIMAL_DIGITS, WRAPPED, nullable, read_digits, read_parameters
from treaty.formats.protobuf.logical.words import CONNECT, FLINK, LENGTHS, MESSAGES, NANOS, NOT_NULL, PRECISION, SMALL
from treaty.formats.protobuf.model import AggregateValue, Enum, Field, Message, ProtoOption, ProtoSchema, ProtoSymbol

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


def logical_view(schema: ProtoSchema) -> str:
    """The text of the logical types of the first message; raises `InvalidSchemaError` for what they can't say."""
    package = schema.file.package
    if not schema.file.messages:
        raise logical_error("LOGICAL_UNSUPPORTED", "", "the file has no message", "a message")
    name = schema.file.messages[0].name
    full = f"{package}.{name}" if package else name
    return print_struct(_Reader(schema).struct(schema, schema.symbols[full], "", full))


class _Reader:
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
        free = chosen or nullable(home, full, field)
        if field.key:
            key = _scalar(field.key, {})
            kind, free = LogicalMap(key, kind, nullable=False), False
        elif field.label == "repeated":
            kind, free = LogicalArray(kind, nullable=False), False
        elif read_parameters(field.options).get(NOT_NULL) == "true":
            free = False
        return StructMember(field.name, kind, free, None, _doc(field.options))

    def _type(self, home: ProtoSchema, full: str, field: Field, path: str) -> LogicalType:
        said = read_parameters(field.options)
        if field.type in _PLAIN or field.type in ("uint64", "fixed64"):
            return _scalar(field.type, said)
        symbol = home.resolve(full, field.type)
        if symbol is None or symbol.full in _VARIANTS:
            raise logical_error("LOGICAL_UNSUPPORTED", path, f"a field of type {field.type}")
        if isinstance(symbol.node, Enum):
            return Words(symbol.node.name, tuple(one.name for one in symbol.node.values))
        if symbol.full in WRAPPED:
            return _scalar(WRAPPED[symbol.full], said)
        if symbol.full == DECIMAL and (found := read_digits(field.options)) and found[0] <= DECIMAL_DIGITS:
            return LogicalScalar("DECIMAL", found)
        clock = _clock(symbol.full, said)
        if clock is not None:
            return clock
        assert isinstance(symbol.node, Message)
        return self.struct(self._schema.files.get(symbol.path, home), symbol, path, symbol.node.name)


def _clock(full: str, said: dict[str, str]) -> LogicalScalar | None:
    """A day or a time, if a message stands for one."""
    given = said.get(PRECISION, "")
    numbers = (int(given) if len(given) == 1 and given in "0123456789" else NANOS,)
    if full == MESSAGES["DATE"][0]:
        return LogicalScalar("DATE")
    if full == MESSAGES["TIME"][0]:
        return LogicalScalar("TIME", numbers)
    if full == MESSAGES["TIMESTAMP"][0]:
        return LogicalScalar("TIMESTAMP" if said.get(FLINK) == "timestamp" else "TIMESTAMP_LTZ", numbers)
    return None


def _scalar(kind: str, said: dict[str, str]) -> LogicalScalar:
    if kind not in _PLAIN:
        return _UNSIGNED
    name = _PLAIN[kind]
    if name == "INT":
        return LogicalScalar(next((small for small, size in SMALL.items() if said.get(CONNECT) == size), name))
    most = said.get(LENGTHS[1], "")
    if name in ("STRING", "BYTES") and most.isascii() and most.isdigit() and len(most) < 11 and 0 < int(most) < LONGEST:
        names = ("CHAR", "VARCHAR") if name == "STRING" else ("BINARY", "VARBINARY")
        return LogicalScalar(names[said.get(LENGTHS[0]) != most], (int(most),))
    return LogicalScalar(name)


def _doc(options: tuple[ProtoOption, ...]) -> str:
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
