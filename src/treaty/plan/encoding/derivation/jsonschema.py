"""JSON Schemas from columns: not null is required, content is closed unless it is wanted open."""

import json
from collections.abc import Sequence
from typing import Any

from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.jsonschema.format import FORMAT
from treaty.formats.jsonschema.logical_types import write_connect_decimal
from treaty.plan.encoding.derivation.containment import is_held
from treaty.plan.encoding.jsonschema import make_targets
from treaty.plan.encoding.options import DeriveOptions
from treaty.plan.encoding.target import FindTarget, Handle, RecordTarget
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema

DRAFTS = {2020: "https://json-schema.org/draft/2020-12/schema", 7: "http://json-schema.org/draft-07/schema#"}
INT32 = {"minimum": -(2**31), "maximum": 2**31 - 1}
PLAIN: dict[str, dict[str, Any]] = {
    "null": {"type": "null"},
    "boolean": {"type": "boolean"},
    "int32": {"type": "integer", **INT32},
    "int64": {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    "float32": {"type": "number"},
    "float64": {"type": "number"},
    "string": {"type": "string"},
    "binary": {"type": "string", "contentEncoding": "base64"},
    "date": {"type": "string", "format": "date"},
    "timestamp": {"type": "string", "format": "date-time"},
    "variant": {},
}
"""By scalar; a timestamp on a local clock has no format in JSON Schema."""


def text(columns: Sequence[Column], name: str, options: DeriveOptions, latest: RegisteredSchema | None) -> str:
    """The text of an object with these columns as properties."""
    have = Struct(tuple(columns))
    maker = _JsonSchemaBuilder(options)
    if latest is None:
        return json.dumps(
            {"$schema": DRAFTS[options.draft], "title": name, **maker.object(have, "")}, ensure_ascii=False
        )
    old = json.loads(FORMAT.show(latest.schema, False).canonical)
    find_target, root = make_targets(latest.schema)
    if not isinstance(old, dict) or not isinstance(find_target(root), RecordTarget):
        raise PlanError("the latest version is not about objects, and a frame's rows are objects")
    schema = maker.grow_object(have, old, find_target, root, "")
    return json.dumps({**schema, "title": options.name} if options.name else schema, ensure_ascii=False)


class _JsonSchemaBuilder:
    """Makes schemas of types."""

    __slots__ = ("_wish",)

    def __init__(self, options: DeriveOptions) -> None:
        self._wish = options

    def object(self, have: Struct, path: str) -> dict[str, Any]:
        """The schema of a struct."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {one.name: self._property(one, f"{path}/{one.name}") for one in have.columns},
        }
        if required := [one.name for one in have.columns if not one.nullable]:
            schema["required"] = required
        return schema if self._wish.open_content else {**schema, "additionalProperties": False}

    def grow_object(
        self, have: Struct, old: dict[str, Any], find_target: FindTarget, handle: Handle, path: str
    ) -> dict[str, Any]:
        """The schema of an object of the latest version: its properties that hold or need no column, and the columns."""
        target = find_target(handle)
        members = {one.name: one.handle for one in target.members} if isinstance(target, RecordTarget) else {}
        by_name = {one.name: one for one in have.columns}
        properties = dict(old.get("properties", {}))
        required = [name for name in old.get("required", ()) if name in by_name]
        for name, column in by_name.items():
            member_path = f"{path}/{name}"
            inner = properties.get(name)
            if name in members and is_held(find_target, members[name], column):
                continue
            if isinstance(inner, dict) and "properties" in inner and isinstance(column.type, Struct):
                properties[name] = self.grow_object(column.type, inner, find_target, members[name], member_path)
                continue
            properties[name] = self._property(column, member_path)
            if name not in members and not column.nullable:
                required.append(name)
        schema = {**old, "properties": properties, "required": required}
        if not required:
            del schema["required"]
        return schema

    def _property(self, column: Column, path: str) -> dict[str, Any]:
        schema = self._type(column.type, path)
        return {**schema, "description": column.doc} if column.doc else schema

    def _type(self, have: ColumnType, path: str) -> dict[str, Any]:
        match have:
            case Struct():
                return self.object(have, path)
            case List(element, nullable):
                return {"type": "array", "items": self._part(element, f"{path}/[]", nullable=nullable)}
            case Map(_, value, nullable):
                part = self._part(value, f"{path}/{{}}", nullable=nullable)
                return {"type": "object", "additionalProperties": part}
            case Decimal(precision, scale):
                beyond = 10 ** (precision - scale)
                bounds = {"exclusiveMinimum": -beyond, "exclusiveMaximum": beyond}
                return {**write_connect_decimal(precision, scale), **bounds}
            case Scalar(name) if name in PLAIN:
                return dict(PLAIN[name])
        raise PlanError(f"{path} is a timestamp without a time zone, which JSON Schema has no format for: cast it")

    def _part(self, have: ColumnType, path: str, *, nullable: bool) -> dict[str, Any]:
        schema = self._type(have, path)
        if not nullable or not schema:
            return schema
        return {**schema, "type": [schema["type"], "null"]}
