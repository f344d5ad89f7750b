"""Laws of reading JSON Schemas: texts, references, values and columns, for schemas of every draft."""

import json
from typing import Any
from urllib.parse import urljoin

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.jsonschema_schemas import NUMBERS, broken, made
from tests.oracle.jsonschema_treaty import bindings, meaning, model
from treaty.core.schema import guid
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.canonical import print_resolved, print_texts, print_value
from treaty.formats.jsonschema.data.columns import derive_columns
from treaty.formats.jsonschema.data.example import generate_example, generate_sample
from treaty.formats.jsonschema.data.mutation import generate_junk
from treaty.formats.jsonschema.data.pattern import generate_match
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.jsonschema.drafts import DRAFTS
from treaty.formats.jsonschema.format import LINTS
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.jsonschema.parser import find_references, parse_schema
from treaty.formats.jsonschema.regex import is_match
from treaty.formats.jsonschema.uri import join_uri
from treaty.formats.seeded_random import SeededRandom

SEEDS = st.integers(0, 2**32 - 1)
DRAFT = st.sampled_from(NUMBERS)
CLASSES = {
    4: jsonschema_rs.Draft4Validator,
    6: jsonschema_rs.Draft6Validator,
    7: jsonschema_rs.Draft7Validator,
    2019: jsonschema_rs.Draft201909Validator,
    2020: jsonschema_rs.Draft202012Validator,
}


def some(seed: int, number: int) -> tuple[dict[str, Any], JsonSchema]:
    """A valid schema of a draft; of those that are not the next one is taken."""
    while True:
        schema = made(seed, number)
        try:
            return schema, model(json.dumps(schema))
        except InvalidSchemaError:
            seed += 1


@given(SEEDS, DRAFT)
def test_printing_is_the_same_for_every_layout_and_printing_what_was_printed_changes_nothing(
    seed: int, number: int
) -> None:
    schema, document = some(seed, number)
    shown, spread = print_texts(document, False), print_texts(model(json.dumps(schema, indent=3)), False)

    assert shown == spread == print_texts(model(shown.canonical), False)
    assert model(shown.canonical).root.value == document.root.value
    assert shown.resolved == shown.canonical
    assert guid(shown.canonical, (), None, None) == guid(spread.canonical, (), None, None)


def reordered(value: Any, draw: SeededRandom) -> Any:
    if isinstance(value, dict):
        names = list(value)
        names = names[(at := draw.below(len(names) + 1)) :] + names[:at]
        return {name: reordered(value[name], draw) for name in names}
    return [reordered(item, draw) for item in value] if isinstance(value, list) else value


@given(SEEDS, DRAFT)
def test_normal_texts_do_not_depend_on_the_order_of_keys(seed: int, number: int) -> None:
    schema, document = some(seed, number)
    normal = print_texts(document, True).canonical
    other = model(json.dumps(reordered(schema, SeededRandom(seed))), strict=False)

    assert print_texts(other, True).canonical == normal
    assert print_texts(model(normal), True).canonical == normal


@pytest.mark.parametrize("number", [4, 6, 7])
@pytest.mark.parametrize("lost", ["nowhere.json", "#nowhere", "#/definitions/nowhere"])
def test_what_stands_beside_a_reference_and_leads_nowhere_hinders_no_check_of_values(number: int, lost: str) -> None:
    beside = {"not": {"$ref": lost}, "items": [{"not": {"$ref": "#/definitions/a", "not": {"$ref": lost}}}]}
    schema = {"$ref": "#/definitions/a", "definitions": {"a": {"type": "null"}}, **beside}
    document = model(json.dumps({"$schema": DRAFTS[number].uri, "properties": {"x": schema}, "definitions": {"a": {}}}))
    other = model(json.dumps({"$schema": DRAFTS[number].uri, **schema}))

    assert check_value(document, '{"x": 1}') == check_value(other, "null") == ()
    assert [one.rule for one in check_value(other, "1")] == ["TYPE"]


def test_a_panic_of_the_validator_is_an_answer() -> None:
    """jsonschema-rs 0.60.3 panics where two schemas of a text have one URI, and a reference leads to an anchor in one."""
    twice = {"m": {"$id": "../c", "$anchor": "a"}, "n": {"$id": "c"}}
    other = {"$schema": DRAFTS[2019].uri, "$defs": {"n": {"$defs": twice}}}
    own = {"$schema": DRAFTS[7].uri, "properties": {"x": {"$ref": "../c#a"}}}

    (found,) = check_value(model(json.dumps(own), [{"name": "two", "schema": other}], strict=False), "{}")
    assert found.rule == "VALUE_NOT_JUDGED"
    assert "the validator failed" in found.message


def test_names_are_sorted_as_java_sorts_them() -> None:
    text = '{"\ufb01":1,"\U0001f600":2,"b":3,"B":4,"":5}'

    assert print_texts(model(text), True).canonical == '{"":5,"B":4,"b":3,"\U0001f600":2,"\ufb01":1}'


def cut(schema: dict[str, Any], number: int, draw: SeededRandom) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A schema, some parts of it moved into texts of their own, and some of those into further ones."""
    texts: list[dict[str, Any]] = []

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            value = {name: moved(held) for name, held in value.items()}
            if (
                "type" in value
                and "$ref" not in json.dumps(value)
                and "id" not in json.dumps(value)
                and draw.chance(50)
            ):
                name = draw.pick(
                    (f"part{len(texts)}.json", f"http://example.org/dir/part{len(texts)}", f"dir/p{len(texts)}")
                )
                texts.append({"name": name, "schema": {"$schema": DRAFTS[number].uri, **value}})
                return {"$ref": name}
            return value
        return [moved(item) for item in value] if isinstance(value, list) else value

    whole = {"$schema": DRAFTS[number].uri, "type": "object", "properties": {"x": moved(schema), "y": schema}}
    for at, one in enumerate(texts):  # each text knows those that were cut out of it
        one["references"] = texts[:at]
    return whole, texts


TYPED = st.sampled_from(("string", "integer", "object", "array", "null"))


@given(SEEDS, DRAFT, st.lists(TYPED, min_size=1, max_size=4))
def test_a_schema_cut_into_references_means_the_same_and_its_resolved_text_needs_no_other(
    seed: int, number: int, kinds: list[str]
) -> None:
    schema: dict[str, Any] = {"type": kinds[0], "minLength": 2, "minimum": 3}
    for kind in kinds[1:]:
        schema = {"type": kind, "items": schema, "properties": {"a": schema}, "maxItems": 2}
    whole, texts = cut(schema, number, SeededRandom(seed))
    document = parse_schema(ResolvedSchema("JSON", json.dumps(whole), bindings(texts)), strict=True)
    alone = CLASSES[number](json.loads(print_resolved(document)), offline=True, validate_formats=False)
    plain = CLASSES[number]({**whole, "properties": {"x": schema, "y": schema}}, offline=True, validate_formats=False)

    assert not document.blocked
    assert model(print_resolved(document)).blocked == ()
    assert {one.name for one in find_references(json.dumps(whole))} <= {one["name"] for one in texts}
    for at in range(6):
        draw = SeededRandom(seed + at)
        inner = (
            generate_sample(model(json.dumps({"$schema": whole["$schema"], **schema})), at)
            if at < 3
            else generate_junk(draw)
        )
        for value in ({"x": inner}, {"y": inner, "x": generate_junk(draw)}):
            verdict = plain.is_valid(value)
            assert alone.is_valid(value) == verdict
            assert (check_value(document, print_value(value)) == ()) == verdict


@given(SEEDS, DRAFT)
def test_values_are_judged_as_the_plain_library_judges_them(seed: int, number: int) -> None:
    schema, document = some(seed, number)
    plain = CLASSES[number](schema, offline=True, validate_formats=False)
    draw = SeededRandom(seed)
    for _ in range(10):
        value = (
            {"a": generate_junk(draw), "b": [generate_junk(draw), generate_junk(draw)]}
            if draw.chance(40)
            else generate_junk(draw)
        )
        found = check_value(document, print_value(value))
        assert (found == ()) == plain.is_valid(value)
        assert all(one.line == 1 and one.message and one.expected for one in found)


@given(SEEDS, DRAFT)
def test_examples_are_valid_and_the_same_for_the_same_seed(seed: int, number: int) -> None:
    schema, document = some(seed, number)
    plain = CLASSES[number](schema, offline=True, validate_formats=False)
    try:
        text = generate_example(document, seed)
        value = generate_sample(document, seed)
    except ValueError:
        return  # many random schemas have no value at all; how many have is counted below
    assert plain.is_valid(json.loads(text))
    assert plain.is_valid(value)
    assert check_value(document, text) == check_value(document, print_value(value)) == ()
    assert generate_example(model(json.dumps(schema)), seed) == text
    assert generate_sample(model(json.dumps(schema)), seed) == value


def test_most_schemas_that_have_a_value_get_one(figure: Any) -> None:
    found, missed = 0, 0
    for seed in range(600):
        schema, document = some(seed, NUMBERS[seed % 5])
        try:
            generate_sample(document, seed)
            found += 1
        except ValueError:
            tried = (generate_junk(SeededRandom(at)) for at in range(100))
            judge = CLASSES[NUMBERS[seed % 5]](schema, offline=True, validate_formats=False)
            missed += any(judge.is_valid(value) for value in tried)

    figure(f"{found} of 600 random schemas get a value, {missed} others have one that was not found")
    assert found > 400
    assert missed < 0.05 * found


@pytest.mark.parametrize(
    "regex",
    ["^[A-Z]{2}-\\d+$", "^(a|bc)*d?$", "^\\w+@\\w+\\.[a-z]{2,3}$", "x{3,}", "^[^a-z]{4}$", "^\\u0041\\x42$", "^(?:a(?=b))b$", "^$", "\\S\\s\\S"],
)  # fmt: skip
def test_texts_are_made_for_expressions(regex: str) -> None:
    made_ = {generate_match(regex, SeededRandom(seed)) for seed in range(20)}

    assert all(is_match(regex, text) for text in made_)
    assert len(made_) > 1 or regex in ("^$", "^\\u0041\\x42$", "^(?:a(?=b))b$")


@given(SEEDS, DRAFT)
def test_columns_and_advice_do_not_depend_on_the_layout(seed: int, number: int) -> None:
    schema, document = some(seed, number)
    spread = model(json.dumps(schema, indent=2))

    assert derive_columns(document) == derive_columns(spread)
    for lint in LINTS.values():
        told = [[(one.rule, one.path, one.message) for one in lint.find(each)] for each in (document, spread)]
        assert sorted(told[0]) == sorted(told[1])


@given(SEEDS, DRAFT, st.integers(1, 8))
def test_whatever_is_broken_is_refused_with_a_place_and_never_fails_otherwise(
    seed: int, number: int, times: int
) -> None:
    schema = broken(made(seed, number), SeededRandom(seed), times)
    text = json.dumps(schema, indent=1)
    lines = text.split("\n")
    try:
        model(text)
    except InvalidSchemaError as wrong:
        found = wrong.faults
    else:
        found = ()
    for one in found:
        assert one.expected
        assert lines[one.line - 1][one.column - 1 :]

    stored = model(text, strict=False)
    find_references(text)
    print_texts(stored, True)
    print_resolved(stored)
    deep: set[str] = set()
    try:
        derive_columns(stored)
    except InvalidSchemaError as no:  # what leads to itself and nowhere else has no end
        deep = {one.rule for one in no.faults}
    assert deep <= {"SCHEMA_TOO_DEEP"}
    check_value(stored, '{"a": 1}')
    for lint in LINTS.values():
        lint.find(stored)


@given(st.text(alphabet='{}[]",:\\ud8001e.-+tfnab $ref', max_size=60))
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    for strict in (True, False):
        try:
            document = parse_schema(meaning(text), strict)
        except InvalidSchemaError:
            continue
        assert json.loads(print_texts(document, False).canonical) == json.loads(text)


# RFC 3986, 5.4: references against http://a/b/c/d;p?q
RESOLVED = {
    "g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g",
    "//g": "http://g", "?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q", "": "http://a/b/c/d;p?q",
    ";x": "http://a/b/c/;x", ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/", "../g": "http://a/b/g",
    "../..": "http://a/", "../../g": "http://a/g", "../../../g": "http://a/g", "/./g": "http://a/g", "/../g": "http://a/g",
    "g.": "http://a/b/c/g.", "..g": "http://a/b/c/..g", "./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/../h": "http://a/b/c/h",
}  # fmt: skip


@pytest.mark.parametrize(("relative", "absolute"), RESOLVED.items())
def test_uris_are_joined_as_the_standard_says(relative: str, absolute: str) -> None:
    assert join_uri("http://a/b/c/d;p?q", relative) == absolute
    assert absolute == urljoin("http://a/b/c/d;p?q", relative).partition("#")[0]


def test_uris_of_any_scheme_are_bases() -> None:
    assert join_uri("iglu:com.acme/a/jsonschema/1-0-0", "#x") == "iglu:com.acme/a/jsonschema/1-0-0"
    assert join_uri("iglu://host/a/b", "c") == "iglu://host/a/c"
    assert join_uri("urn:x:y", "urn:x:z") == "urn:x:z"
    assert join_uri("json-schema:///", "dir/a.json") == "json-schema:///dir/a.json"
    assert join_uri("json-schema:///dir/a.json", "../b.json") == "json-schema:///b.json"
