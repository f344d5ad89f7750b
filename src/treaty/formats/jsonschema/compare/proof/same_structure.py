"""Schemas that mean the same because they are built the same way, wherever their references lead."""

from treaty.formats.budget import StepBudget
from treaty.formats.jsonschema.compare.exact import freeze, is_equal
from treaty.formats.jsonschema.compare.view import SchemaView, written_alike
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


Pair = tuple[int, int]


def is_same_structure(first: SchemaView, other: SchemaView, answers: dict[Pair, bool], budget: StepBudget) -> bool:
    """Whether two schemas demand the same by the same keywords; a circle of references counts as alike.

    `answers` remembers what was found about all pairs on the way, by the identities of their views.
    """
    start = (id(first), id(other))
    above: dict[Pair, Pair | None] = {start: None}
    waiting = [(first, other)]
    while waiting:
        left, right = waiting.pop()
        budget.spend(6 + 2 * len(left.words))
        pair = (id(left), id(right))
        if left is right or answers.get(pair):
            continue
        inner = None if answers.get(pair) is False or len(above) > _LIMIT else _pair_subschemas(left, right)
        if inner is None:
            pair_above: Pair | None = pair
            while pair_above is not None:
                answers[pair_above] = False
                pair_above = above[pair_above]
            return False
        budget.spend(2 * len(inner))
        for left_part, right_part in inner:
            below = (id(left_part), id(right_part))
            if below not in above:
                above[below] = pair
                waiting.append((left_part, right_part))
    answers.update(dict.fromkeys(above, True))
    return True


def _pair_subschemas(left: SchemaView, right: SchemaView) -> list[tuple[SchemaView, SchemaView]] | None:
    """The pairs of schemas that have to be alike; None if these two are not whatever is in them."""
    if not _has_same_keywords(left, right):
        return None
    pairs: list[tuple[SchemaView, SchemaView]] = []
    for word in left.words:
        if word in _PARTS:
            pairs.append((left.get_part(word), right.get_part(word)))  # type: ignore[arg-type]
        elif word in _SEVERAL:
            if set(left.names(word)) != set(right.names(word)):
                return None
            pairs += [
                (left.get_schema(word, name), right.get_schema(word, name))
                for name in left.names(word)
                if not written_alike(left.get_written(word, name), right.get_written(word, name))
            ]
        elif word in _REFERRING:
            pairs.append((left.target(), right.target()))  # type: ignore[arg-type]
    return pairs


def _has_same_keywords(left: SchemaView, right: SchemaView) -> bool:
    """Whether two schemas have the same keywords, and these the same values where they are not schemas."""
    words, other_words = left.words, right.words
    if left.never != right.never or words.keys() != other_words.keys():
        return False
    if left.node.draft.number != right.node.draft.number:
        # In draft 4, 1.0 is no integer, and since 2020-12 `contains` evaluates items.
        return False
    for word, value in words.items():
        if word in _PARTS or word in _SEVERAL or word in _REFERRING:
            continue
        if word in _SETS:
            if _as_set(value) != _as_set(other_words[word]):
                return False
        elif not is_equal(value, other_words[word]):
            return False
    return True


def _as_set(value: Json) -> frozenset[object]:
    return frozenset(map(freeze, value)) if isinstance(value, list) else frozenset({freeze(value)})
