"""Strict types of schemas of draft 4: whatever such a type takes is valid by the schema's validator."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.iglu import schemas
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.jsonschema.data.draft4 import compile_draft4, is_too_deep
from treaty.formats.jsonschema.data.strict_type import make_strict_type
from treaty.formats.registry import find_formats

Json = Any
NUMBERS = st.sampled_from(
    [-1, 0, 1, 2, 0.5, 1.5, -0.0, 2.0, 2**31, 2**53, 2**63 - 1, 2**63, 2**64, 10**30, 1e300, 1e15]
)
TEXTS = st.sampled_from(
    ["", "a", "ab", "ä", "😀", "b", "1", "2026-01-31", "2026-02-28", "2026-02-30", "2026-01-31T10:00:00Z", "2026-01-31T10:00:00",
     "2026-01-31T10:00:00.5+02:00", "2026-01-31T24:00:00Z", "10.0.0.1", "10.0.0.01", "256.0.0.1", "a\n",
     "8d3b1f4e-0000-4000-8000-000000000000", "8d3b1f4e-0000-4000-8000-000000000000\n"]
)  # fmt: skip
LEAVES = st.one_of(NUMBERS, TEXTS, st.booleans(), st.none())
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=6,
)
KINDS = ["string", "integer", "number", "boolean", "null", "array", "object"]
SIZES, BOUNDS = st.integers(0, 3), st.sampled_from([-1, 0, 1, 0.5, 2**31, 2**53, 2**60])
FORMATS = st.sampled_from(["uuid", "ipv4", "date", "date-time", "email"])
ODD: Mapping[str, st.SearchStrategy[Json]] = {
    "multipleOf": st.sampled_from([1, 2]), "pattern": st.just("a"), "uniqueItems": st.just(True), "description": TEXTS,
    "enum": st.lists(st.one_of(TEXTS, st.sampled_from([1, 2, 1.0, None, True])), min_size=1, max_size=3, unique_by=json.dumps),
    "maxProperties": SIZES, "not": st.just({"type": "null"}),
}  # fmt: skip
"""Keywords that no type checks, but for an enumeration alone and words about nothing."""


@st.composite
def schemas_over(draw: st.DrawFn, inner: st.SearchStrategy[Json]) -> Json:
    """A schema with keywords for its types, now and then one for another type, or one that no type checks."""
    words: dict[str, st.SearchStrategy[Json]] = {
        "minLength": SIZES, "maxLength": SIZES, "format": FORMATS, "minimum": BOUNDS, "maximum": BOUNDS,
        "items": inner, "minItems": SIZES, "maxItems": SIZES,
    }  # fmt: skip
    of_kind = {"string": ["minLength", "maxLength", "format"], "array": ["items", "minItems", "maxItems"]}
    bounds = {one: ["minimum", "maximum"] for one in ("integer", "number")}
    kinds = draw(
        st.one_of(st.sampled_from(KINDS), st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True))
    )
    schema: dict[str, Json] = {"type": kinds}
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        for word in (of_kind | bounds).get(kind, []):
            if draw(st.integers(0, 2)) == 0:
                schema[word] = draw(words[word])
        if kind == "object":
            schema["properties"] = draw(st.dictionaries(st.sampled_from("abc"), inner, max_size=3))
            schema["additionalProperties"] = draw(st.sampled_from([False, False, False, True]))
            if draw(st.booleans()):
                names = sorted(schema["properties"]) or ["c"]
                schema["required"] = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    for more in (words, ODD):
        if draw(st.integers(0, 9)) == 0:
            word = draw(st.sampled_from(sorted(more)))
            schema[word] = draw(more[word])
    for word in ("Minimum", "Maximum"):
        if word.lower() in schema and draw(st.booleans()):
            schema[f"exclusive{word}"] = draw(st.booleans())
    return schema


LEAF = st.fixed_dictionaries({"type": st.sampled_from(KINDS[:5])})
INNER = st.one_of(LEAF, schemas_over(LEAF))
SCHEMAS = st.one_of(schemas_over(LEAF), schemas_over(INNER))


def takes(schema: Json, text: str) -> bool:
    """Whether the strict type of a schema takes a text; False where the schema has none."""
    strict = make_strict_type(schema)
    if strict is None:
        return False
    try:
        msgspec.json.decode(text, type=strict.type)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    assert strict.depth is None or not is_too_deep(json.loads(text), strict.depth)
    return True


@given(SCHEMAS, st.lists(VALUES, min_size=5, max_size=30))
def test_what_the_type_of_a_schema_takes_is_valid(schema: Json, values: list[Json]) -> None:
    taken = [one for one in values if takes(schema, json.dumps(one))]
    event(f"{len(taken)} values are taken" if len(taken) < 3 else "more values are taken")
    assert not taken or [one for one in taken if compile_draft4(schema, 40).find_violations(one)] == []


CASES: Mapping[str, tuple[Json, str, bool]] = {
    "a number may be whole": ({"type": "number"}, "1", True),
    "a whole number is not written with a point": ({"type": "integer"}, "1.0", False),
    "true is no number": ({"type": "number"}, "true", False),
    "letters are counted, not bytes": ({"type": "string", "maxLength": 2}, '"ö😀"', True),
    "one letter too many": ({"type": "string", "maxLength": 1}, '"ö😀"', False),
    "null where it is allowed": ({"type": ["string", "null"]}, "null", True),
    "a member may be missing": ({"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False}, "{}", True),
    "a member must be there": (
        {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}, "{}", False,
    ),
    "values of an enumeration": ({"enum": ["a", 1, None]}, "1", True),
    "true is not 1": ({"enum": ["a", 1, None]}, "true", False),
    "a day that some months lack may be refused": ({"type": "string", "format": "date-time"}, '"2026-01-31T10:00:00Z"', False),
    "a day that each month has": ({"type": "string", "format": "date"}, '"2026-02-28"', True),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "text", "taken"), CASES.values(), ids=CASES)
def test_a_type_takes_nearly_all_that_its_schema_allows(schema: Json, text: str, *, taken: bool) -> None:
    assert takes(schema, text) is taken


def test_lists_beside_texts_of_a_format_have_no_type() -> None:
    """Ten decoders of such a union end the process (msgspec 0.22.0)."""
    for kinds in (["array", "string"], ["string", "null", "array"]):
        assert make_strict_type({"type": kinds, "format": "ipv4", "minItems": 1}) is None
        assert make_strict_type({"type": kinds, "minLength": 1}) is not None
    assert make_strict_type({"type": ["array", "null"], "format": "ipv4"}) is not None


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_a_bound_is_part_of_the_range_or_not(kind: str) -> None:
    schema = {"type": kind, "minimum": 1, "maximum": 3, "exclusiveMaximum": True}
    assert [takes(schema, str(one)) for one in range(5)] == [False, True, True, False, False]
    schema = {"type": kind, "minimum": 0.5, "exclusiveMinimum": True}
    assert [takes(schema, text) for text in ("0", "0.5", "1")] == [False, False, True]
    assert [takes({"type": "number", "minimum": 1, "exclusiveMinimum": True}, text) for text in ("1.0", "1.5")] == [
        False,
        True,
    ]


def test_values_of_published_schemas_that_a_type_takes_are_valid() -> None:
    form = find_formats()["JSON"]
    assert form.example is not None
    typed = taken = 0
    for text in schemas().values():
        document = json.loads(text)
        if make_strict_type(document) is None:
            continue
        typed += 1
        try:
            values = [form.example(form.parse(ResolvedSchema("JSON", text), False), seed) for seed in (1, 2)]
        except ValueError:
            continue
        for one in values:
            if takes(document, one):
                taken += 1
                assert compile_draft4(document, 40).find_violations(json.loads(one)) == ()
    print(f"{typed} of {len(schemas())} published schemas have a strict type; it takes {taken} made values")
    assert typed > 150
    assert taken > 100
