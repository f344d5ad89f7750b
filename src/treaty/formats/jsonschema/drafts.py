"""The drafts of the standard: which one a text is written in, what its keywords hold, and its meta-schemas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import jsonschema_rs

from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.formats.jsonschema.model import Json, JsonSchemaDraft

DRAFTS: Mapping[int, JsonSchemaDraft] = {
    number: JsonSchemaDraft(number, uri)
    for number, uri in (
        (4, "http://json-schema.org/draft-04/schema"),
        (6, "http://json-schema.org/draft-06/schema"),
        (7, "http://json-schema.org/draft-07/schema"),
        (2019, "https://json-schema.org/draft/2019-09/schema"),
        (2020, "https://json-schema.org/draft/2020-12/schema"),
    )
}
"""The drafts by their numbers."""

DRAFT_3 = "json-schema.org/draft-03/schema"
"""What the URI of draft 3 has in it, however it begins and ends. Its meta-schema is known by name alone: a reference to it is
valid, and nothing is compared with it.
"""
DEFAULT = DRAFTS[7]
"""The draft of a text that names none, or one that is not known here."""

Holds = Literal["schema", "schemas", "map", "items", "dependencies", "value"]


@dataclass(frozen=True, slots=True)
class SchemaKeyword:
    """A keyword of the standard.

    `holds` says what stands there: a ``schema``, a list of ``schemas``, a ``map`` from names to schemas, a schema or a
    list (``items``), a map from names to schemas or lists of names (``dependencies``), or something else (``value``).
    `first` and `last` are the drafts that know it. `on` is the JSON type that it looks at, or "" for all. `here` is
    true if its schemas check the same value as the schema around it.
    """

    name: str
    holds: Holds = "value"
    first: int = 4
    last: int = 2020
    on: str = ""
    here: bool = False


def _rows() -> Iterator[SchemaKeyword]:
    yield from (
        SchemaKeyword("id", last=4),
        SchemaKeyword("$id", first=6),
        SchemaKeyword("$schema"),
        SchemaKeyword("$ref"),
    )
    yield from (
        SchemaKeyword("$comment", first=7),
        SchemaKeyword("$vocabulary", first=2019),
        SchemaKeyword("$anchor", first=2019),
    )
    yield from (SchemaKeyword(name, first=2019, last=2019) for name in ("$recursiveRef", "$recursiveAnchor"))
    yield from (SchemaKeyword(name, first=2020) for name in ("$dynamicRef", "$dynamicAnchor"))
    yield from (SchemaKeyword("definitions", "map"), SchemaKeyword("$defs", "map", 2019))
    yield from (SchemaKeyword(name) for name in ("title", "description", "default", "format", "type", "enum"))
    yield from (
        SchemaKeyword("const", first=6),
        SchemaKeyword("examples", first=6),
        SchemaKeyword("deprecated", first=2019),
    )
    yield from (SchemaKeyword(name, first=7) for name in ("readOnly", "writeOnly"))
    yield from (SchemaKeyword(name, first=7, on="string") for name in ("contentMediaType", "contentEncoding"))
    yield SchemaKeyword("contentSchema", "schema", 2019, on="string")
    numbers = ("multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum")
    yield from (SchemaKeyword(name, on="number") for name in numbers)
    yield from (SchemaKeyword(name, on="string") for name in ("maxLength", "minLength", "pattern"))
    yield from (SchemaKeyword(name, on="array") for name in ("maxItems", "minItems", "uniqueItems"))
    yield from (SchemaKeyword(name, first=2019, on="array") for name in ("maxContains", "minContains"))
    yield from (
        SchemaKeyword("items", "items", last=2019, on="array"),
        SchemaKeyword("items", "schema", 2020, on="array"),
    )
    yield from (
        SchemaKeyword("prefixItems", "schemas", 2020, on="array"),
        SchemaKeyword("contains", "schema", 6, on="array"),
    )
    yield SchemaKeyword("additionalItems", "schema", last=2019, on="array")
    yield SchemaKeyword("unevaluatedItems", "schema", 2019, on="array")
    yield from (SchemaKeyword(name, on="object") for name in ("maxProperties", "minProperties", "required"))
    yield SchemaKeyword("dependentRequired", first=2019, on="object")
    yield from (SchemaKeyword(name, "map", on="object") for name in ("properties", "patternProperties"))
    yield SchemaKeyword("additionalProperties", "schema", on="object")
    yield SchemaKeyword("unevaluatedProperties", "schema", 2019, on="object")
    yield SchemaKeyword("propertyNames", "schema", 6, on="object")
    yield SchemaKeyword("dependencies", "dependencies", on="object", here=True)
    yield SchemaKeyword("dependentSchemas", "map", 2019, on="object", here=True)
    yield from (SchemaKeyword(name, "schemas", here=True) for name in ("allOf", "anyOf", "oneOf"))
    yield SchemaKeyword("not", "schema", here=True)
    yield from (SchemaKeyword(name, "schema", 7, here=True) for name in ("if", "then", "else"))


KEYWORDS: Mapping[int, Mapping[str, SchemaKeyword]] = {
    number: {row.name: row for row in _rows() if row.first <= number <= row.last} for number in DRAFTS
}
"""The keywords of every draft."""

HOLDING: Mapping[int, Mapping[str, SchemaKeyword]] = {
    number: {name: row for name, row in rows.items() if row.holds != "value"}
    | ({} if "$defs" in rows else {"$defs": SchemaKeyword("$defs", "map")})
    for number, rows in KEYWORDS.items()
}
"""Those that hold schemas, and ``$defs`` in the older drafts too: tools write it there."""


def find_draft(uri: Json) -> JsonSchemaDraft | None:
    """The draft whose meta-schema has this URI, however its scheme and its end are written."""
    if not isinstance(uri, str):
        return None
    return _BY_NAME.get(uri.removesuffix("#").removeprefix("https:").removeprefix("http:"))


_BY_NAME = {
    **{draft.uri.partition(":")[2]: draft for draft in DRAFTS.values()},
    SELF_DESCRIBING.removesuffix("#").partition(":")[2]: DRAFTS[4],
}


def get_draft(value: Json, default: JsonSchemaDraft = DEFAULT) -> JsonSchemaDraft:
    """The draft that a schema says it is written in; `default` where it says none, or one that is not known."""
    return (find_draft(value.get("$schema")) or default) if isinstance(value, dict) else default


@lru_cache(maxsize=len(DRAFTS))
def meta_schemas(draft: JsonSchemaDraft) -> Mapping[str, Json]:
    """The meta-schemas of a draft by their URIs without fragment, as the validator library has them built in."""
    bundle: Mapping[str, Any] = jsonschema_rs.bundle({"$schema": draft.uri, "$ref": draft.uri}, offline=True)
    by_uri: Mapping[str, Json] = bundle[draft.definitions]
    return by_uri


def meta_schema(uri: str) -> JsonSchemaDraft | None:
    """The draft that has a meta-schema of this URI, the vocabularies of newer drafts included."""
    if "//json-schema.org/" not in uri:
        return None
    named_draft = find_draft(uri)
    if named_draft is not None:
        return named_draft
    return next((draft for draft in DRAFTS.values() if draft.number >= 2019 and uri in meta_schemas(draft)), None)
