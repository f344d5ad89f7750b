"""How logical types are written in a JSON Schema: the members that Kafka Connect and Flink put beside the type."""

from collections.abc import Mapping

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
