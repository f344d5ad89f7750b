"""The keywords of a schema in the words of draft 2020-12, whatever draft it is written in.

What a draft does not know is left out, and so is what has not the form that the standard asks for: a text that a
reference leads to may never have been checked.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal

from treaty.formats.jsonschema.model import Json, SchemaNode
from treaty.formats.jsonschema.references import ignores_siblings

Steps = tuple[str | int, ...]
"""The way from a schema to a part of it."""


def _schema(value: Json) -> bool:
    return isinstance(value, bool | dict)


def _schemas(value: Json) -> bool:
    return isinstance(value, list) and bool(value)


def _map(value: Json) -> bool:
    return isinstance(value, dict)


def _count(value: Json) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | Decimal)


def _text(value: Json) -> bool:
    return isinstance(value, str)


def _list(value: Json) -> bool:
    return isinstance(value, list)


def _types(value: Json) -> bool:
    return isinstance(value, str | list)


def _any(value: Json) -> bool:
    return True


def _yes(value: Json) -> bool:
    return value is True


Form = Callable[[Json], bool]
_ROWS: tuple[tuple[str, int, int, Form], ...] = (
    *((name, 4, 2020, _schemas) for name in ("allOf", "anyOf", "oneOf")),
    *((name, 4, 2020, _map) for name in ("properties", "patternProperties")),
    *((name, 4, 2020, _schema) for name in ("not", "additionalProperties")),
    *((name, 4, 2020, _count) for name in ("maximum", "minimum", "multipleOf", "maxLength", "minLength")),
    *((name, 4, 2020, _count) for name in ("maxItems", "minItems", "maxProperties", "minProperties")),
    *((name, 6, 2020, _count) for name in ("exclusiveMaximum", "exclusiveMinimum")),
    *((name, 6, 2020, _schema) for name in ("contains", "propertyNames")),
    *((name, 7, 2020, _schema) for name in ("if", "then", "else")),
    *((name, 6, 7, _text) for name in ("contentEncoding", "contentMediaType")),
    *((name, 2019, 2020, _schema) for name in ("unevaluatedItems", "unevaluatedProperties")),
    *((name, 2019, 2020, _count) for name in ("maxContains", "minContains")),
    ("$ref", 4, 2020, _text),
    ("$recursiveRef", 2019, 2019, _text),
    ("$dynamicRef", 2020, 2020, _text),
    ("type", 4, 2020, _types),
    ("enum", 4, 2020, _list),
    ("const", 6, 2020, _any),
    ("pattern", 4, 2020, _text),
    ("format", 4, 7, _text),
    ("required", 4, 2020, _list),
    ("uniqueItems", 4, 2020, _yes),
    ("items", 2020, 2020, _schema),
    ("prefixItems", 2020, 2020, _schemas),
)
_KNOWN: Mapping[int, Mapping[str, Form]] = {
    draft: {name: form for name, first, last, form in _ROWS if first <= draft <= last}
    for draft in (4, 6, 7, 2019, 2020)
}
_RENAMED = frozenset(
    {"items", "dependencies", "dependentRequired", "dependentSchemas", "exclusiveMaximum", "exclusiveMinimum"}
)


def normalize_keywords(node: SchemaNode) -> tuple[dict[str, Json], dict[str, Steps]]:
    """What a schema demands: keywords that check values, and the steps to those that stand elsewhere than their name.

    A boolean ``exclusiveMaximum`` (draft 4) becomes the number beside the ``maximum`` that it sharpens; lists of items
    become ``prefixItems`` and ``items``; ``dependencies`` become ``dependentRequired`` and ``dependentSchemas``.
    """
    value = node.value
    if not isinstance(value, dict):
        return {}, {}
    if ignores_siblings(node):
        return {"$ref": value["$ref"]}, {}
    value_checks = _KNOWN[node.draft.number]
    words = {name: held for name, held in value.items() if (form := value_checks.get(name)) is not None and form(held)}
    steps: dict[str, Steps] = {}
    if not _RENAMED.isdisjoint(value):
        if node.draft.number == 4:
            _exclusive(value, words)
        if node.draft.number < 2020:
            _items(value, words, steps)
        _dependencies(node, value, words, steps)
    if "contains" not in words:
        words.pop("minContains", None)
        words.pop("maxContains", None)
    if "if" not in words:
        words.pop("then", None)
        words.pop("else", None)
    elif "then" not in words and "else" not in words:
        del words["if"]
    return words, steps


def _exclusive(value: Mapping[str, Json], words: dict[str, Json]) -> None:
    for word, limit in (("exclusiveMaximum", "maximum"), ("exclusiveMinimum", "minimum")):
        if value.get(word) is True and limit in words:
            words[word] = words[limit]


def _items(value: Mapping[str, Json], words: dict[str, Json], steps: dict[str, Steps]) -> None:
    items = value.get("items")
    if isinstance(items, list):
        words["prefixItems"] = items
        steps["prefixItems"] = ("items",)
        further = value.get("additionalItems")
        if isinstance(further, bool | dict):
            words["items"] = further
            steps["items"] = ("additionalItems",)
    elif isinstance(items, bool | dict):
        words["items"] = items


def _dependencies(node: SchemaNode, value: Mapping[str, Json], words: dict[str, Json], steps: dict[str, Steps]) -> None:
    """Split what depends on a property; `dependencies` still counts in newer drafts, for validators obey it there."""
    names: dict[str, Json] = {}
    schemas: dict[str, Json] = {}
    newer = ("dependentRequired", "dependentSchemas") if node.draft.number >= 2019 else ()
    for word in ("dependencies", *newer):
        held = value.get(word)
        for name, needed in held.items() if isinstance(held, dict) else ():
            if isinstance(needed, list) and word != "dependentSchemas":
                before = names.get(name, [])
                assert isinstance(before, list)
                names[name] = [*before, *needed]
            elif isinstance(needed, bool | dict) and word != "dependentRequired":
                key = name if name not in schemas else f"{name}\0"
                schemas[key] = needed
                steps[f"dependentSchemas/{key}"] = (word, name)
    if names:
        words["dependentRequired"] = names
    if schemas:
        words["dependentSchemas"] = schemas
