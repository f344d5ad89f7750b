"""Logical types written as an Avro schema."""

import json
from collections.abc import Mapping

from treaty.formats.avro.logical.reading import LENGTHS, PRECISION
from treaty.formats.json_printer import Json
from treaty.formats.logical.defaults import plain
from treaty.formats.logical.faults import fault
from treaty.formats.logical.model import Array, Enum, Map, Member, Scalar, Struct, Type
from treaty.formats.logical.parse import parse

_PLAIN: Mapping[str, Json] = {
    "BOOLEAN": "boolean",
    "TINYINT": {"type": "int", "connect.type": "int8"},
    "SMALLINT": {"type": "int", "connect.type": "int16"},
    "INT": "int",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "STRING": "string",
    "BYTES": "bytes",
    "DATE": {"type": "int", "logicalType": "date"},
}
_TEXTS = {"CHAR": "string", "VARCHAR": "string", "BINARY": "bytes", "VARBINARY": "bytes"}
_CLOCKS = {"TIME": "time", "TIMESTAMP": "local-timestamp", "TIMESTAMP_LTZ": "timestamp"}
_UNITS = ((3, "millis"), (6, "micros"), (9, "nanos"))


def written(text: str) -> str:
    """The Avro schema that a text of logical types describes. What has no name there is named after where it stands.

    Raises `InvalidSchemaError` for a text that is none, and for what Avro does not have.
    """
    struct = parse(text)
    if not struct.name:
        raise fault("LOGICAL_NAME", "", "the STRUCT has no name, and an Avro record needs one", "STRUCT Name (...)")
    writer = _Writer(struct.name.rpartition(".")[0])
    return json.dumps(writer.struct(struct, "", struct.name), ensure_ascii=False)


class _Writer:
    """Writes types; names that were defined already stand alone. `_space` is the namespace of names without one."""

    __slots__ = ("_known", "_space")

    def __init__(self, space: str) -> None:
        self._space = space
        self._known: set[str] = set()

    def _full(self, name: str) -> str:
        return name if "." in name or not self._space else f"{self._space}.{name}"

    def _named(self, name: str) -> dict[str, Json]:
        full = self._full(name)
        self._known.add(full)
        space, _, short = full.rpartition(".")
        return {"name": short, "namespace": space}

    def struct(self, struct: Struct, path: str, name: str) -> Json:
        """The record of a struct, under a name."""
        if struct.name and self._full(struct.name) in self._known:
            return self._full(struct.name)
        named = self._named(name)
        short = name.rpartition(".")[2]
        fields: list[Json] = [self._field(one, f"{path}/{one.name}", f"{short}_{one.name}") for one in struct.members]
        return {"type": "record", **named, "fields": fields}

    def _field(self, member: Member, path: str, name: str) -> Json:
        kind = self._type(member.type, path, name)
        default = member.default
        first = default is None or default.value is None
        if member.nullable:
            kind = ["null", kind] if first else [kind, "null"]
        found: dict[str, Json] = {"name": member.name, "type": kind}
        if member.comment:
            found["doc"] = member.comment
        if default is not None:
            found["default"] = plain(default.value, member.type)
        return found

    def _type(self, kind: Type, path: str, name: str) -> Json:
        match kind:
            case Array(element, nullable):
                items = self._type(element, path, name)
                return {"type": "array", "items": ["null", items] if nullable else items}
            case Map(key, value, nullable):
                if key.name != "STRING":
                    raise fault(
                        "LOGICAL_UNSUPPORTED", path, f"a MAP with keys of type {key.name}", "keys of type STRING"
                    )
                values = self._type(value, path, name)
                return {"type": "map", "values": ["null", values] if nullable else values}
            case Struct():
                return self.struct(kind, path, kind.name or name)
            case Enum(own, symbols):
                if own and self._full(own) in self._known:
                    return self._full(own)
                return {"type": "enum", **self._named(own or name), "symbols": list(symbols)}
        return _scalar(kind, path)


def _scalar(kind: Scalar, path: str) -> Json:
    if kind.name in _PLAIN:
        return _PLAIN[kind.name]
    if kind.name == "DECIMAL":
        return {"type": "bytes", "logicalType": "decimal", "precision": kind.numbers[0], "scale": kind.numbers[1]}
    number = kind.numbers[0]
    if kind.name in _TEXTS:
        exact = {LENGTHS[0]: number} if kind.name in ("CHAR", "BINARY") else {}
        return {"type": _TEXTS[kind.name], **exact, LENGTHS[1]: number}
    natural, unit = next(one for one in _UNITS if number <= one[0])
    if kind.name == "TIME" and natural == 9:
        raise fault("LOGICAL_UNSUPPORTED", path, f"a TIME of {number} digits", "TIME(6) or less")
    base = "int" if kind.name == "TIME" and natural == 3 else "long"
    more: dict[str, Json] = {} if number == natural else {PRECISION: number}
    return {"type": base, "logicalType": f"{_CLOCKS[kind.name]}-{unit}", **more}
