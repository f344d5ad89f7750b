"""A shape becomes a JSON Schema of draft 2020-12 or 7."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from treaty.client.types.errors import MisfitError, NoSchemaError
from treaty.client.types.shapes import (
    ABSENT,
    AnyShape,
    DerivedType,
    EnumShape,
    FieldShape,
    FixedShape,
    LiteralShape,
    MapShape,
    RecordShape,
    RecordUse,
    ScalarShape,
    SequenceShape,
    Shape,
    TupleShape,
    UnionShape,
)
from treaty.client.types.unions import JSON
from treaty.client.types.values import ConverterBuilder

DraftName = Literal["2020-12", "07"]
URLS: Mapping[DraftName, str] = {
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "07": "http://json-schema.org/draft-07/schema#",
}


def json_schema(derived: DerivedType, draft: DraftName = "2020-12", *, open_: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a shape. Raises `NoSchemaError` for what JSON can't say.

    Objects have the properties of their class and no others, so that a new optional property is compatible; `open_`
    allows others.
    """
    printer = _Printer(derived, draft, open_=open_)
    head: dict[str, Any] = {"$schema": URLS[draft]}
    if isinstance(derived.shape, RecordUse):
        printed = printer.record(derived.records[derived.shape.name])
    else:
        printed = printer.print_shape(derived.shape, "value")
    rest = {name: printer.record(record) for name, record in derived.records.items() if name != printer.root}
    rest = {name: each for name, each in rest.items() if name in printer.used}
    return {**head, **printed, **({printer.word: rest} if rest else {})}


class _Printer:
    """Prints shapes; records other than the root are in ``$defs`` (in draft 7 ``definitions``)."""

    def __init__(self, derived: DerivedType, draft: DraftName, *, open_: bool) -> None:
        self.root = derived.shape.name if isinstance(derived.shape, RecordUse) else None
        self.word = "$defs" if draft == "2020-12" else "definitions"
        self.used: set[str] = set()
        self._draft = draft
        self._open = open_
        self._records = derived.records
        self._ways = ConverterBuilder(derived, JSON)

    def print_shape(self, shape: Shape, path: str) -> dict[str, Any]:
        """The schema of a shape."""
        match shape:
            case ScalarShape():
                return dict(shape.json)
            case SequenceShape():
                printed = {"type": "array", "items": self.print_shape(shape.item, f"{path}[]")}
                return {**printed, "uniqueItems": True} if shape.make in {set, frozenset} else printed
            case TupleShape():
                return self._row([self.print_shape(each, f"{path}[{at}]") for at, each in enumerate(shape.items)])
            case MapShape():
                return {"type": "object", "additionalProperties": self.print_shape(shape.value, f"{path}{{}}")}
            case UnionShape():
                return _any_of([self.print_shape(each, path) for each in shape.branches])
            case LiteralShape():
                return {"type": shape.scalar.json["type"], "enum": _json(list(shape.values), path)}
            case EnumShape():
                printed = {"title": shape.name.rpartition(".")[2]}
                printed |= {"description": shape.doc} if shape.doc else {}
                return printed | {"enum": _json([member.value for _, member in shape.members], path)}
            case FixedShape():
                size = -(-shape.size // 3) * 4
                return {"type": "string", "contentEncoding": "base64", "minLength": size, "maxLength": size}
            case RecordUse():
                self.used.add(shape.name)
                return {"$ref": "#" if shape.name == self.root else f"#/{self.word}/{shape.name}"}
            case AnyShape():
                return {}

    def record(self, record: RecordShape) -> dict[str, Any]:
        """The schema of a class with fields."""
        short = record.name.rpartition(".")[2]
        printed: dict[str, Any] = {"title": record.name, "type": "object"}
        if record.doc:
            printed["description"] = record.doc
        printed["properties"] = {part.name: self._property(part, f"{short}.{part.name}") for part in record.parts}
        required = [part.name for part in record.parts if not part.defaulted]
        if record.tag is not None:
            printed["properties"] = {record.tag[0]: {"const": record.tag[1]}, **printed["properties"]}
            required = [record.tag[0], *required]
        if required:
            printed["required"] = required
        return printed if self._open else {**printed, "additionalProperties": False}

    def _property(self, part: FieldShape, path: str) -> dict[str, Any]:
        printed = self.print_shape(part.shape, path)
        annotations: dict[str, Any] = {"description": part.doc} if part.doc else {}
        if part.default is not ABSENT and not part.optional:
            annotations["default"] = self._default(part.shape, part.default, path)
        if annotations and "$ref" in printed and self._draft == "07":
            printed = {"allOf": [printed]}  # what stands beside a $ref counts only since 2019
        return {**printed, **annotations}

    def _default(self, shape: Shape, value: Any, path: str) -> Any:
        try:
            return _json(self._ways.make_converters(shape).take(value), path)
        except (MisfitError, AttributeError, TypeError, ValueError) as error:
            raise NoSchemaError(path, f"the default {value!r:.60} has no form in the schema: {error}") from error

    def _row(self, items: list[dict[str, Any]]) -> dict[str, Any]:
        words = ("prefixItems", "items") if self._draft == "2020-12" else ("items", "additionalItems")
        size = {"minItems": len(items), "maxItems": len(items)}
        return {"type": "array", **({words[0]: items, words[1]: False} if items else {}), **size}


def _any_of(branches: list[dict[str, Any]]) -> dict[str, Any]:
    """A union; of bare types in one word."""
    if all(set(each) == {"type"} for each in branches):
        return {"type": [each["type"] for each in branches]}
    return {"anyOf": branches}


def _json(value: Any, path: str) -> Any:
    """The value, if JSON has it."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise NoSchemaError(path, f"{value!r:.60} is nothing that JSON has: {error}") from error
    return value
