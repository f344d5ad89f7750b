"""`TypedSchema`: a Python type with its schema, and the ways between its values and what a codec writes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.client.types.avro import avro_schema
from treaty.client.types.derive import derive
from treaty.client.types.jsonschema import DraftName, json_schema
from treaty.client.types.shapes import Convert, RecordUse
from treaty.client.types.unions import AVRO, JSON
from treaty.client.types.values import ConverterBuilder, as_is
from treaty.core.schema import Draft


@dataclass(frozen=True, slots=True)
class TypedSchema:
    """A type made ready for one format. `take` and `make` raise `MisfitError`; `name` is the record's full name, or ""."""

    kind: Any
    draft: Draft
    name: str
    take: Convert
    make: Convert


def typed_avro(kind: Any, namespace: str = "") -> TypedSchema:
    """Derive an Avro schema from a type: a class with fields, or any annotation.

    Names without a namespace get `namespace`. A class that `class_of` made has the schema it was made of. Raises `NoSchemaError` with the path to what Avro has no type for.
    """
    derived = derive(kind, namespace)
    text = _find_class_text(kind, "AVRO")
    if text is None:
        text = json.dumps(avro_schema(derived), ensure_ascii=False, separators=(",", ":"))
    ways = ConverterBuilder(derived, AVRO).make_converters(derived.shape)
    name = derived.shape.name if isinstance(derived.shape, RecordUse) else ""
    return TypedSchema(kind, Draft(text), name, ways.take, ways.make)


def typed_json(kind: Any, namespace: str = "", *, draft: DraftName = "2020-12", open_: bool = False) -> TypedSchema:
    """Derive a JSON Schema from a type. Objects have no other properties than those of their class, unless `open_`.

    A class that `class_of` made has the schema it was made of. Raises `NoSchemaError` with the path to what JSON has no
    form for.
    """
    derived = derive(kind, namespace)
    text = _find_class_text(kind, "JSON")
    if text is None:
        text = json.dumps(json_schema(derived, draft, open_=open_), ensure_ascii=False, separators=(",", ":"))
    ways = ConverterBuilder(derived, JSON).make_converters(derived.shape)
    name = derived.shape.name if isinstance(derived.shape, RecordUse) else ""
    return TypedSchema(kind, Draft(text, "JSON"), name, ways.take, ways.make)


def _find_class_text(kind: Any, format_: str) -> str | None:
    """The text that a class was made of, where it was made of one of this format."""
    made_of, text = getattr(kind, "__dict__", {}).get("__schema_text__", ("", None))
    return text if made_of == format_ else None


def as_typed(schema: Any, format_: str) -> TypedSchema | None:
    """A schema however it was given: as a text, a `Draft`, a `TypedSchema`, a Python type, or not at all."""
    if schema is None or isinstance(schema, TypedSchema):
        return schema
    if isinstance(schema, str):
        return TypedSchema(None, Draft(schema, format_), "", as_is, as_is)
    if isinstance(schema, Draft):
        return TypedSchema(None, schema, "", as_is, as_is)
    return _DERIVERS[format_](schema)


_DERIVERS: Mapping[str, Callable[[Any], TypedSchema]] = {"AVRO": typed_avro, "JSON": typed_json}
