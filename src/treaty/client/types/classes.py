"""`class_of`: the other way, from a schema to a class whose values it describes."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

from treaty.client.types.avro_classes import avro_class
from treaty.client.types.errors import NoSchemaError
from treaty.client.types.json_classes import json_class
from treaty.core.schema import Draft

_MAKERS: Mapping[str, Callable[[Any, tuple[Any, ...]], Any]] = {
    "AVRO": avro_class,
    "JSON": lambda parsed, _: json_class(parsed),
}
"""How a class is made of a parsed schema and those that it refers to, by format."""


def class_of(schema: Draft | str, *referenced: str) -> Any:
    """Return a class for a schema: an Avro schema as a text, or a `Draft` of Avro or JSON Schema.

    A record or object becomes a dataclass whose fields are given by name; those with defaults, and properties that need
    not be there, may be left out. Other schemas become the types that say the same. `referenced` are the texts of Avro
    schemas that this one refers to, those that need nothing first. The class keeps the text, so that serializers write
    with this very schema. Raises `NoSchemaError` where the text is not a schema that this way can be gone.
    """
    draft = Draft(schema) if isinstance(schema, str) else schema
    make = _MAKERS.get(draft.format)
    if make is None:
        raise NoSchemaError("schema", f"classes are made of Avro and JSON schemas, not of {draft.format}")
    class_ = make(_parse_json(draft.text), tuple(map(_parse_json, referenced)))
    if isinstance(class_, type) and dataclasses.is_dataclass(class_) and not referenced and not draft.references:
        class_.__schema_text__ = (draft.format, draft.text)  # type: ignore[attr-defined]  # for those that derive schemas
    return class_


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoSchemaError("schema", f"not JSON: {error}") from error
