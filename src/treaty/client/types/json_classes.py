"""From a JSON Schema to a class: a dataclass for an object with properties, another type for the rest.

What a class can't say (patterns, bounds, conditions) is left to validation by the schema itself.
"""

import copy
import dataclasses
import datetime as dt
import keyword
import re
import uuid
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union

from treaty.client.types.annotations import FieldDoc, FieldName, OptionalField
from treaty.client.types.derive import derive
from treaty.client.types.errors import NoSchemaError
from treaty.client.types.shapes import ABSENT
from treaty.client.types.unions import JSON
from treaty.client.types.values import ConverterBuilder

_TYPES: Mapping[str, Any] = {"null": None, "boolean": bool, "integer": int, "number": float, "string": str}
_FORMATS: Mapping[str, Any] = {"date-time": dt.datetime, "date": dt.date, "uuid": uuid.UUID, "duration": dt.timedelta}
_PLACES = ("#/$defs/", "#/definitions/")


def json_class(schema: Any) -> Any:
    """Return the type of a parsed schema. Raises `NoSchemaError` for a reference that leads out of it."""
    return _JsonClassBuilder(schema).make_type(schema, "value")


class _JsonClassBuilder:
    """Makes types; those that have a place of their own once."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._made: dict[int, Any] = {}
        self._names: set[str] = set()

    def make_type(self, schema: Any, path: str) -> Any:
        """The type of a schema."""
        if not isinstance(schema, dict):
            return Any
        if isinstance(schema.get("$ref"), str):
            return self._place(schema["$ref"], path)
        for word in ("anyOf", "oneOf"):
            if isinstance(schema.get(word), list):
                return self._union([self.make_type(each, path) for each in schema[word]])
        parts = schema.get("allOf")
        if isinstance(parts, list) and len(parts) == 1:
            return self.make_type(parts[0], path)
        words = schema.get("enum", [schema["const"]] if "const" in schema else [])
        if words and all(isinstance(each, (str, int)) or each is None for each in words):
            return Literal[tuple(words)]
        kinds = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kinds, list):
            return self._union([self._make_of_kind(schema, kind, path) for kind in kinds])
        return self._make_of_kind(schema, kinds, path)

    def _make_of_kind(self, schema: dict[str, Any], kind: Any, path: str) -> Any:
        if kind == "string":
            if schema.get("contentEncoding") == "base64":
                return bytes
            return _FORMATS.get(str(schema.get("format")), str)
        if kind == "array":
            first = schema.get("prefixItems", schema.get("items"))
            if isinstance(first, list) and first:
                return tuple[tuple(self.make_type(each, f"{path}[{at}]") for at, each in enumerate(first))]  # type: ignore[misc]  # made at run time
            return list[self.make_type(schema.get("items"), f"{path}[]")]  # type: ignore[misc]  # made at run time
        if kind == "object":
            return self._object(schema, path)
        return _TYPES.get(str(kind), Any)

    def _union(self, kinds: list[Any]) -> Any:
        if Any in kinds or not kinds:
            return Any
        return Union[tuple(kinds)]  # noqa: UP007 (of as many as there are)

    def _place(self, reference: str, path: str) -> Any:
        if reference == "#":
            return self.make_type(self._root, path)
        start = next((each for each in _PLACES if reference.startswith(each)), None)
        inner = self._root.get(start.strip("#/"), {}) if start else {}
        target = inner.get(reference.removeprefix(start or "")) if isinstance(inner, dict) else None
        if target is None:
            raise NoSchemaError(path, f"the reference {reference} leads to nothing inside the schema")
        return self.make_type(target, reference.rpartition("/")[2])

    def _object(self, schema: dict[str, Any], path: str) -> Any:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            more = schema.get("additionalProperties")
            return dict[str, self.make_type(more, f"{path}{{}}")]  # type: ignore[misc]  # made at run time
        if id(schema) in self._made:
            return self._made[id(schema)]
        full = str(schema.get("title") or path.rpartition(".")[2])
        name = _identifier(full.rpartition(".")[2], self._names)
        cls: Any = type(name, (), {"__doc__": schema.get("description", ""), "__module__": __name__})
        cls.__schema_name__ = name if name != full.rpartition(".")[2] else full
        self._made[id(schema)] = cls
        required, used, hints = set(schema.get("required", ())), set[str](), {}
        for called, inner in properties.items():
            kind = self.make_type(inner, f"{path}.{called}" if path != "value" else called)
            attribute = _identifier(called, used)
            marks: list[Any] = [FieldName(called)] if attribute != called else []
            description = inner.get("description") if isinstance(inner, dict) else None
            marks += [FieldDoc(description)] if isinstance(description, str) and description else []
            default = inner.get("default", ABSENT) if isinstance(inner, dict) else ABSENT
            if default is not ABSENT:
                setattr(cls, attribute, dataclasses.field(default_factory=_Default(kind, default)))
            elif called not in required:
                marks.append(OptionalField())
                setattr(cls, attribute, None)
                kind = kind if kind is Any else Union[kind, None]  # noqa: UP007 (may be any type)
            for mark in marks:
                kind = Annotated[kind, mark]
            hints[attribute] = kind
        cls.__annotations__ = hints
        return dataclasses.dataclass(kw_only=True)(cls)


class _Default:
    """Returns a function that makes a default, as a new value each time."""

    def __init__(self, kind: Any, default: Any) -> None:
        self._kind = kind
        self._default = default
        self._busy = False

    def __call__(self) -> Any:
        default = copy.deepcopy(self._default)
        if default in (None, [], {}) or self._busy:  # a class may have itself in its own default: its shape asks for it
            return default
        self._busy = True
        try:
            derived = derive(self._kind)
            return ConverterBuilder(derived, JSON).make_converters(derived.shape).make(default)
        finally:
            self._busy = False


def _identifier(name: str, used: set[str]) -> str:
    """A name as Python may have it, and nothing else here has."""
    identifier = re.sub(r"\W", "_", name) or "_"
    identifier = f"_{identifier}" if identifier[0].isdigit() or identifier.startswith("__") else identifier
    identifier = f"{identifier}_" if keyword.iskeyword(identifier) else identifier
    while identifier in used:
        identifier += "_"
    used.add(identifier)
    return identifier
