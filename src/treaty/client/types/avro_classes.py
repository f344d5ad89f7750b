"""From an Avro schema to a class: a dataclass for a record, an `Enum` for an enum, another type for the rest."""

import dataclasses
import datetime as dt
import enum
import functools
import json
import keyword
import uuid
from decimal import Decimal
from typing import Annotated, Any, Union

from treaty.client.compiled.logical import READERS
from treaty.client.types.annotations import (
    DecimalDigits,
    FieldAliases,
    FieldDoc,
    FieldName,
    FixedSize,
    StoredAs,
    TypeName,
)
from treaty.client.types.errors import NoSchemaError

_PRIMITIVES: dict[str, Any] = {
    "null": None,
    "boolean": bool,
    "int": Annotated[int, StoredAs("int")],
    "long": int,
    "float": Annotated[float, StoredAs("float")],
    "double": float,
    "bytes": bytes,
    "string": str,
}
_LOGICAL: dict[tuple[str, str], Any] = {
    ("int", "date"): dt.date,
    ("int", "time-millis"): Annotated[dt.time, StoredAs("millis")],
    ("long", "time-micros"): dt.time,
    ("long", "timestamp-millis"): Annotated[dt.datetime, StoredAs("millis")],
    ("long", "timestamp-micros"): dt.datetime,
    ("long", "local-timestamp-millis"): Annotated[dt.datetime, StoredAs("local-millis")],
    ("long", "local-timestamp-micros"): Annotated[dt.datetime, StoredAs("local")],
    ("long", "timedelta-micros"): dt.timedelta,
    ("string", "uuid"): uuid.UUID,
}

_TAKEN = frozenset({"mro", "name", "value"})
"""What members of an enum can't be called."""


def avro_class(schema: Any, referenced: tuple[Any, ...] = ()) -> Any:
    """Return the type of a parsed schema; `referenced` are those that it refers to. Raises `NoSchemaError`."""
    maker = _AvroClassBuilder()
    for other in referenced:
        maker.make_type(other, "", "schema")
    return maker.make_type(schema, "", "schema")


class _AvroClassBuilder:
    """Makes types; named ones once."""

    def __init__(self) -> None:
        self._named: dict[str, Any] = {}
        self._records: dict[Any, tuple[dict[str, Any], str]] = {}

    def make_type(self, schema: Any, space: str, path: str) -> Any:
        """The type of a schema in a namespace."""
        if isinstance(schema, str):
            return self._find_type(schema, space, path)
        if isinstance(schema, list):
            types = [self.make_type(branch, space, f"{path}[{at}]") for at, branch in enumerate(schema)]
            if not types:
                raise NoSchemaError(path, "a union without branches")
            return Union[tuple(types)]  # noqa: UP007 (of as many as there are)
        if not isinstance(schema, dict) or not isinstance(schema.get("type"), str):
            raise NoSchemaError(path, f"{json.dumps(schema)[:60]} is no schema")
        match schema["type"]:
            case "record" | "error":
                return self._record(schema, space, path)
            case "enum":
                return self._enum(schema, space)
            case "fixed":
                return self._fixed(schema, space, path)
            case "array":
                return list[self.make_type(schema.get("items"), space, f"{path}[]")]  # type: ignore[misc]  # made at run time
            case "map":
                return dict[str, self.make_type(schema.get("values"), space, f"{path}{{}}")]  # type: ignore[misc]  # made at run time
            case kind:
                return self._scalar(schema, kind, space, path)

    def _scalar(self, schema: dict[str, Any], kind: str, space: str, path: str) -> Any:
        logical = schema.get("logicalType")
        if logical == "decimal" and kind == "bytes" and isinstance(schema.get("precision"), int):
            return Annotated[Decimal, DecimalDigits(schema["precision"], schema.get("scale", 0))]
        return _LOGICAL.get((kind, str(logical))) or self._find_type(kind, space, path)

    def _find_type(self, name: str, space: str, path: str) -> Any:
        if name in _PRIMITIVES:
            return _PRIMITIVES[name]
        named = self._named.get(f"{space}.{name}" if space and "." not in name else name) or self._named.get(name)
        if named is None:
            raise NoSchemaError(path, f"the type {name} is not known; give its schema too")
        return named

    def _enum(self, schema: dict[str, Any], space: str) -> Any:
        full = _full_name(schema, space)
        members = {f"{each}_" if each in _TAKEN or each.startswith("_") else each: each for each in schema["symbols"]}
        enum_class = enum.Enum(full.rpartition(".")[2], members)  # type: ignore[misc]  # made at run time
        enum_class.__schema_name__ = full  # type: ignore[attr-defined]  # looked for by `derive`
        enum_class.__doc__ = schema.get("doc")
        self._named[full] = enum_class
        return enum_class

    def _fixed(self, schema: dict[str, Any], space: str, path: str) -> Any:
        full = _full_name(schema, space)
        if schema.get("logicalType") == "decimal":
            fixed_type: Any = Annotated[
                Decimal, DecimalDigits(schema.get("precision", 0), schema.get("scale", 0)), TypeName(full)
            ]
        else:
            fixed_type = Annotated[bytes, FixedSize(schema["size"]), TypeName(full)]
        self._named[full] = fixed_type
        return fixed_type

    def _record(self, schema: dict[str, Any], space: str, path: str) -> Any:
        full = _full_name(schema, space)
        inner, _, short = full.rpartition(".")
        cls: Any = type(short, (), {"__schema_name__": full, "__doc__": schema.get("doc", ""), "__module__": __name__})
        self._named[full] = cls
        self._records[cls] = (schema, inner)
        hints: dict[str, Any] = {}
        for field in schema.get("fields", ()):
            name = str(field["name"])
            kind = self.make_type(field["type"], inner, f"{path}.{name}" if path != "schema" else name)
            attribute = _identifier(name)
            marks: list[Any] = [FieldName(name)] if attribute != name else []
            marks += [FieldDoc(field["doc"])] if field.get("doc") else []
            marks += [FieldAliases(*field["aliases"])] if field.get("aliases") else []
            for mark in marks:
                kind = Annotated[kind, mark]
            hints[attribute] = kind
            if "default" in field:
                make = functools.partial(self._value, field["type"], field["default"], inner)
                setattr(cls, attribute, dataclasses.field(default_factory=make))
        cls.__annotations__ = hints
        return dataclasses.dataclass(kw_only=True)(cls)

    def _value(self, schema: Any, default: Any, space: str) -> Any:
        """Return a default as a new value."""
        if isinstance(schema, list):
            null = default is None and "null" in schema
            return None if null else self._value(schema[0], default, space)
        kind = schema["type"] if isinstance(schema, dict) else schema
        if kind in _PRIMITIVES:
            raw = default.encode("latin-1") if kind == "bytes" else default
            raw = float(raw) if kind in {"float", "double"} else raw
            logical = f"{kind}-{schema.get('logicalType')}" if isinstance(schema, dict) else ""
            if logical == "long-timedelta-micros":
                return dt.timedelta(microseconds=raw)
            return READERS[logical](raw, schema) if logical in READERS else raw
        if kind == "array":
            return [self._value(schema["items"], each, space) for each in default]
        if kind == "map":
            return {key: self._value(schema["values"], each, space) for key, each in default.items()}
        if kind == "fixed" and schema.get("logicalType") == "decimal":
            return READERS["fixed-decimal"](default.encode("latin-1"), schema)
        named = self._find_type(_full_name(schema, space) if isinstance(schema, dict) else kind, space, "default")
        if dataclasses.is_dataclass(named):
            return self._make_default(named, default)
        return named(default) if isinstance(named, type) else default.encode("latin-1")

    def _make_default(self, cls: Any, default: dict[str, Any]) -> Any:
        """A record's default: an object, whose members are of its fields' types."""
        schema, space = self._records[cls]
        values = {
            _identifier(field["name"]): self._value(field["type"], default[field["name"]], space)
            for field in schema["fields"]
            if field["name"] in default
        }
        return cls(**values)


def _full_name(schema: dict[str, Any], space: str) -> str:
    name = str(schema.get("name", ""))
    inside = schema.get("namespace", space)
    return f"{inside}.{name}" if inside and "." not in name else name


def _identifier(name: str) -> str:
    """The name as Python may have it: keywords, and what Python names itself, get a line behind them."""
    return f"{name}_" if keyword.iskeyword(name) or name.startswith("__") else name
