"""Schemas that mean the same because they are built the same way, wherever their references lead."""

from treaty.formats.jsonschema.compare.exact import frozen, same
from treaty.formats.jsonschema.compare.view import View
from treaty.formats.jsonschema.model import Json

_PARTS = frozenset(
    {
        "not",
        "if",
        "then",
        "else",
        "items",
        "contains",
        "additionalProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_SEVERAL = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "properties", "patternProperties", "dependentSchemas"})
_REFERRING = frozenset({"$ref", "$recursiveRef", "$dynamicRef"})
_SETS = frozenset({"required", "enum", "type"})
_LIMIT = 5_000
"""Pairs of schemas that are looked at; with more, two schemas do not count as alike."""


def alike(one: View, other: View) -> bool:
    """Whether two schemas demand the same by the same keywords; a circle of references counts as alike."""
    seen: set[tuple[int, int]] = set()
    waiting = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        pair = (id(left), id(right))
        if left is right or pair in seen:
            continue
        seen.add(pair)
        if len(seen) > _LIMIT or not _matching(left, right):
            return False
        for word in left.words:
            if word in _PARTS:
                waiting.append((left.part(word), right.part(word)))  # type: ignore[arg-type]
            elif word in _SEVERAL:
                held, others = left.named(word), right.named(word)
                if held.keys() != others.keys():
                    return False
                waiting += [(view, others[name]) for name, view in held.items()]
            elif word in _REFERRING:
                waiting.append((left.target(), right.target()))  # type: ignore[arg-type]
    return True


def _matching(left: View, right: View) -> bool:
    """Whether two schemas have the same keywords, and these the same values where they are not schemas."""
    words, others = left.words, right.words
    if left.never != right.never or words.keys() != others.keys():
        return False
    for word, value in words.items():
        if word in _PARTS or word in _SEVERAL or word in _REFERRING:
            continue
        if word in _SETS:
            if _set(value) != _set(others[word]):
                return False
        elif not same(value, others[word]):
            return False
    older = (left.node.draft.number == 4) != (right.node.draft.number == 4)
    if older and "type" in words and "integer" in _set(words["type"]):
        return False  # in draft 4, 1.0 is no integer
    evaluates = (left.node.draft.number < 2020) != (right.node.draft.number < 2020)
    return not (evaluates and "contains" in words)  # since 2020-12, `contains` evaluates items


def _set(value: Json) -> frozenset[object]:
    return frozenset(map(frozen, value)) if isinstance(value, list) else frozenset({frozen(value)})
