"""How logical types are written in Protobuf: its types, and parameters in Confluent's option for fields."""

from collections.abc import Mapping

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
