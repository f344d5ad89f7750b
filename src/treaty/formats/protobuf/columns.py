"""Which column type each type of a Protobuf message becomes, and what that loses: `derive_columns`, with the rule of each loss."""

from collections.abc import Mapping

from treaty.core.limits import COLUMN_RECURSION, COLUMNS, DECIMAL_DIGITS, SCHEMA_DEPTH
from treaty.core.state import columns as table
from treaty.core.state.columns import Column, ColumnLoss, Columns, ColumnType, Decimal, Scalar, Struct
from treaty.formats.json_text import text_error
from treaty.formats.protobuf.linker.features import get_features, inherit_features
from treaty.formats.protobuf.model import AggregateValue, Enum, Field, Message, ProtoOption, ProtoSchema, ProtoSymbol
from treaty.formats.protobuf.recursion import find_recursive_messages

PLAIN: Mapping[str, ColumnType] = {
    "bool": Scalar("boolean"),
    **dict.fromkeys(("int32", "sint32", "sfixed32"), Scalar("int32")),
    **dict.fromkeys(("uint32", "fixed32", "int64", "sint64", "sfixed64"), Scalar("int64")),
    **dict.fromkeys(("uint64", "fixed64"), Decimal(20, 0)),
    "float": Scalar("float32"),
    "double": Scalar("float64"),
    "string": Scalar("string"),
    "bytes": Scalar("binary"),
}
"""By Protobuf's type, the type of a column that holds it."""

WRAPPED: Mapping[str, str] = {
    "google.protobuf.BoolValue": "bool",
    "google.protobuf.Int32Value": "int32",
    "google.protobuf.Int64Value": "int64",
    "google.protobuf.UInt32Value": "uint32",
    "google.protobuf.UInt64Value": "uint64",
    "google.protobuf.FloatValue": "float",
    "google.protobuf.DoubleValue": "double",
    "google.protobuf.StringValue": "string",
    "google.protobuf.BytesValue": "bytes",
    "google.type.Decimal": "string",
}
"""Messages that stand for one scalar, which may be missing; a decimal of any size is its text."""

KNOWN: Mapping[str, tuple[ColumnType, str]] = {
    "google.protobuf.Timestamp": (Scalar("timestamp"), "NANOS_CUT"),
    "google.protobuf.Any": (Scalar("variant"), "ANY_AS_VARIANT"),
    "google.protobuf.Struct": (Scalar("variant"), "ANY_AS_VARIANT"),
    "google.protobuf.Value": (Scalar("variant"), "ANY_AS_VARIANT"),
    "google.protobuf.ListValue": (Scalar("variant"), "ANY_AS_VARIANT"),
    "google.type.Date": (Scalar("date"), "DATE_PARTIAL"),
}
"""Messages with a column type of their own, and what it loses."""

DECIMAL = "confluent.type.Decimal"
"""A decimal whose precision and scale are in the options of its field."""


def derive_columns(schema: ProtoSchema, name: str = "", recursion: int = COLUMN_RECURSION) -> Columns:
    """The columns of a message, the first one of the file unless it is named (from its package on), and their losses.

    Fields that know whether they are set may be null, others are never. Messages that contain themselves are opened
    `recursion` levels deep. Raises `InvalidSchemaError` where there is no such message, and past limits of columns.
    """
    full = name.removeprefix(".") or _find_first_message(schema)
    symbol = schema.symbols.get(full) or schema.symbols.get(f"{schema.file.package}.{full}")
    if symbol is None or not isinstance(symbol.node, Message):
        raise text_error("MESSAGE_MISSING", f"there is no message {full!r}" if full else "there is no message")
    builder = _ColumnBuilder(schema, recursion)
    struct = builder.message(schema, symbol, "", 1)
    return Columns(struct.columns if struct is not None else (), tuple(builder.losses))


def _find_first_message(schema: ProtoSchema) -> str:
    if not schema.file.messages:
        return ""
    package, name = schema.file.package, schema.file.messages[0].name
    return f"{package}.{name}" if package else name


def is_nullable(home: ProtoSchema, full: str, field: Field) -> bool:
    """Whether a field of the message `full`, outside of oneofs, knows that it is not set."""
    if field.label or field.key:
        return field.label == "optional"
    presence = inherit_features(get_features(home, full), field.options)["field_presence"]
    if presence == "IMPLICIT" and field.type not in PLAIN:
        symbol = home.resolve(full, field.type)
        return symbol is not None and isinstance(symbol.node, Message)
    return presence == "EXPLICIT"


class _ColumnBuilder:
    """Makes the types of one schema. `level` counts the messages around a place that contain themselves."""

    __slots__ = ("_circular", "_count", "_level", "_recursion", "_schema", "losses")

    def __init__(self, schema: ProtoSchema, recursion: int) -> None:
        self._schema = schema
        self._circular = find_recursive_messages(schema)
        self._recursion = recursion
        self._level = 0
        self._count = 0
        self.losses: list[ColumnLoss] = []

    def _add_loss(self, rule: str, path: str, detail: str = "") -> None:
        self.losses.append(ColumnLoss(rule, path, detail))

    def message(self, home: ProtoSchema, symbol: ProtoSymbol, path: str, depth: int) -> Struct | None:
        """The columns of a message at a path; None where recursion is cut. `depth` is its nesting, which SCHEMA_DEPTH limits."""
        node = symbol.node
        assert isinstance(node, Message)
        if depth > SCHEMA_DEPTH:
            message = f"messages nest deeper than the limit SCHEMA_DEPTH of {SCHEMA_DEPTH} once names are resolved"
            raise text_error("SCHEMA_TOO_DEEP", message, f"at most {SCHEMA_DEPTH} levels")
        turns = symbol.full in self._circular
        if turns and self._level >= self._recursion:
            self._add_loss("RECURSION_CUT", path, f"{symbol.full} at depth {self._recursion}")
            return None
        self._level += turns
        if node.extensions:
            self._add_loss("UNKNOWN_FIELDS", path, "extensions")
        inside: list[Column] = []
        single = {one.number for oneof in node.oneofs for one in oneof.fields}
        for field in sorted(node.all_fields, key=lambda one: one.place):
            field_path = f"{path}.{field.name}" if path else field.name
            self._grow()
            column_type = self._field(home, symbol.full, field, field_path, depth)
            if column_type is not None:
                free = field.number in single or is_nullable(home, symbol.full, field)
                inside.append(Column(field.name, column_type, free, field.doc))
        self._level -= turns
        return Struct(tuple(inside))

    def _field(self, home: ProtoSchema, full: str, field: Field, path: str, depth: int) -> ColumnType | None:
        if field.key:
            value = self._type(home, full, field, f"{path}.value", depth)
            key = self._scalar(field.key, f"{path}.key")
            return table.Map(key, value) if value is not None else None
        repeated = field.label == "repeated"
        column_type = self._type(home, full, field, f"{path}.element" if repeated else path, depth)
        return table.List(column_type) if repeated and column_type is not None else column_type

    def _type(self, home: ProtoSchema, full: str, field: Field, path: str, depth: int) -> ColumnType | None:
        if field.type in PLAIN:
            return self._scalar(field.type, path)
        symbol = home.resolve(full, field.type)
        if symbol is None or not isinstance(symbol.node, Message | Enum):
            return Scalar("binary")
        if isinstance(symbol.node, Enum):
            self._add_loss("ENUM_AS_STRING", path, f"{len(symbol.node.values)} values of {symbol.full}")
            return Scalar("string")
        if symbol.full in WRAPPED:
            return self._scalar(WRAPPED[symbol.full], path)
        if symbol.full in KNOWN:
            column_type, loss = KNOWN[symbol.full]
            self._add_loss(loss, path, symbol.full)
            return column_type
        if symbol.full == DECIMAL and (digits := read_digits(field.options)):
            if digits[0] <= DECIMAL_DIGITS:
                return Decimal(*digits)
            self._add_loss("DECIMAL_TOO_WIDE", path, f"{digits[0]} digits")
        return self.message(self._schema.files.get(symbol.path, home), symbol, path, depth + 1)

    def _scalar(self, kind: str, path: str) -> ColumnType:
        if kind in ("uint64", "fixed64"):
            self._add_loss("UNSIGNED_AS_DECIMAL", path, kind)
        return PLAIN[kind]

    def _grow(self) -> None:
        """Count a field, also one that recursion cuts."""
        self._count += 1
        if self._count > COLUMNS:
            message = f"the schema becomes more columns than the limit COLUMNS of {COLUMNS}, those left out included"
            raise text_error("COLUMNS_TOO_MANY", message, f"at most {COLUMNS}, those inside others included")


def read_parameters(options: tuple[ProtoOption, ...]) -> dict[str, str]:
    """The parameters in Confluent's option for fields."""
    parameters: dict[str, str] = {}
    for option in options:
        if option.name[0] in ("(confluent.field_meta)", "(.confluent.field_meta)"):
            parts: list[object] = [option.value]
            while parts:
                part = parts.pop()
                if isinstance(part, tuple):
                    parts += part
                elif isinstance(part, AggregateValue):
                    members = dict(part.members)
                    key, value = members.get("key"), members.get("value")
                    if isinstance(key, bytes) and isinstance(value, bytes):
                        parameters[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
                    parts += (one for _, one in part.members)
    return parameters


def read_digits(options: tuple[ProtoOption, ...]) -> tuple[int, int] | None:
    """Precision and scale that stand among the parameters of Confluent's option for fields; None without them."""
    parameters = read_parameters(options)
    precision, scale = parameters.get("precision", ""), parameters.get("scale", "0")
    if not (precision.isdecimal() and scale.isdecimal() and len(precision) < 6 and len(scale) < 6):
        return None
    return (int(precision), int(scale)) if 0 <= int(scale) <= int(precision) != 0 else None
