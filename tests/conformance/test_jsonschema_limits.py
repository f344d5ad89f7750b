"""Bombs and bounds: hostile JSON Schemas are refused by name or handled, whatever is done with them."""

import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.oracle.jsonschema_treaty import meaning
from treaty.core import limits
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.canonical import print_resolved, print_texts
from treaty.formats.jsonschema.data.columns import derive_columns
from treaty.formats.jsonschema.data.example import generate_example
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.jsonschema.format import LINTS
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.jsonschema.parser import find_references, parse_schema

MEGABYTE = 1_000_000
MANY = 10_000
NEW = "https://json-schema.org/draft/2020-12/schema"


def chain(count: int, link: Callable[[str], Any], last: Any) -> dict[str, Any]:
    """Definitions of which each leads to the next one by `link`."""
    definitions = {f"d{at}": link(f"#/definitions/d{at + 1}") for at in range(count)}
    return {"$ref": "#/definitions/d0", "definitions": {**definitions, f"d{count}": last}}


TEXT = {"type": "string"}
REFUSED: dict[str, tuple[str, str]] = {
    "open brackets": ("[" * MEGABYTE, "SCHEMA_TOO_DEEP"),
    "open braces": ('{"a":' * 100_000, "SCHEMA_TOO_DEEP"),
    "nesting of 100,000": ('{"items":' * 100_000 + "{}" + "}" * 100_000, "SCHEMA_TOO_DEEP"),
    "nesting of 201": ('{"items":' * 201 + "{}" + "}" * 201, "SCHEMA_TOO_DEEP"),
    "quotes": ('"' * MEGABYTE, "JSON_MALFORMED"),
    "an open text": ('{"title":"' + "a" * MEGABYTE, "JSON_MALFORMED"),
    "too many bytes": (json.dumps({"title": "é" * 530_000}, ensure_ascii=False), "SCHEMA_TOO_LARGE"),
    "a number of 100,000 digits": (f'{{"maximum":{"9" * 100_000}}}', "NUMBER_NOT_ALLOWED"),
    "100,000 digits after the point": (f'{{"maximum":0.{"9" * 100_000}}}', "NUMBER_NOT_ALLOWED"),
    "a huge exponent": ('{"maximum":1e999999999}', "NUMBER_NOT_ALLOWED"),
    "an exponent of 100,000 digits": (f'{{"maximum":1e{"9" * 100_000}}}', "NUMBER_NOT_ALLOWED"),
    "half a surrogate pair": ('{"title":"\\ud800"}', "TEXT_NOT_UNICODE"),
    "half a surrogate pair as it is": ('{"title":"\ud800"}', "TEXT_NOT_UNICODE"),
    "a control character": ('{"title":"\0"}', "JSON_MALFORMED"),
    "oneOf of 100,000": (json.dumps({"oneOf": [{}] * 100_000}), "TOO_MANY"),
    "an enum of 100,000": (json.dumps({"enum": list(range(100_000))}), "TOO_MANY"),
    "subschemas past the limit": (json.dumps({"items": [{"items": [{}] * 100}] * 600}), "TOO_MANY"),
    "20,000 references to nothing": (json.dumps({"allOf": [{"$ref": f"u{at}"} for at in range(20_000)]}), "REF_UNRESOLVED"),
    "a circle of 10,000": (
        json.dumps({"definitions": {f"d{at}": {"$ref": f"#/definitions/d{(at + 1) % MANY}"} for at in range(MANY)}}),
        "REF_CYCLE",
    ),
    "15,000 references in a schema whose URI another one has": (json.dumps({"definitions": {"a": {"$id": "c"}, "b": {"$id": "c", "properties": {f"p{at}": {"$ref": "#"} for at in range(15_000)}}}}), "REF_AMBIGUOUS"),
    "a pointer of 400,000 steps": (json.dumps({"$ref": "#" + "/a" * 400_000}), "REF_DANGLING"),
    "a URI of 200,000 steps": (json.dumps({"$id": "http://x/" + "a/" * 99, "items": {"$ref": "../" * 200_000}}), "REF_UNRESOLVED"),
    "300,000 names that are none": (json.dumps({"allOf": [{"required": [1] * 10_000}] * 30}), "KEYWORD_REPEATS"),
    "what is wrong lies deep": ('{"items":' * 199 + "3" + "}" * 199, "KEYWORD_TYPE_WRONG"),
    "what is wrong lies deep in dependencies": ('{"dependencies":{"a":' * 99 + "3" + "}}" * 99, "KEYWORD_TYPE_WRONG"),
    "an expression of 100,000": (json.dumps({"pattern": "a" * 100_000}), "REGEX_TOO_LONG"),
    "15,000 expressions": (json.dumps({"patternProperties": {f"^a{at}": {} for at in range(15_000)}}), "TOO_MANY"),
    "40,000 faults": (json.dumps({"properties": {f"p{at}": {"type": "strin"} for at in range(15_000)}}), "KEYWORD_VALUE_UNKNOWN"),
}  # fmt: skip

HANDLED: dict[str, str] = {
    "nesting of 200": '{"items":' * 199 + "{}" + "}" * 199,
    "allOf nested": '{"allOf":[' * 99 + "{}" + "]}" * 99,
    "not nested": '{"not":' * 199 + "{}" + "}" * 199,
    "if nested": '{"if":' * 199 + "{}" + "}" * 199,
    "a name of 1 MB": json.dumps({"properties": {"a" * MEGABYTE: {}}}),
    "a required name of 1 MB": json.dumps({"required": ["a" * MEGABYTE]}),
    "white space": " " * MEGABYTE + "{}",
    "oneOf of 10,000": json.dumps({"oneOf": [{"const": at} for at in range(MANY)]}),
    "oneOf of 10,000 references": json.dumps({"oneOf": [{"$ref": f"#/definitions/{at}"} for at in range(MANY)], "definitions": {str(at): {"required": [f"a{at}"]} for at in range(MANY)}}),
    "an enum of 20,000 objects": json.dumps({"enum": [{"a": at} for at in range(20_000)]}),
    "2^100 ways through allOf": json.dumps(chain(100, lambda to: {"allOf": [{"$ref": to}, {"$ref": to}]}, TEXT)),
    "2^40 ways through anyOf": json.dumps(chain(40, lambda to: {"anyOf": [{"$ref": to}, {"$ref": to}]}, TEXT)),
    "2^100 ways through properties": json.dumps(chain(100, lambda to: {"properties": {"a": {"$ref": to}, "b": {"$ref": to}}}, TEXT)),
    "ways that double with every level": json.dumps({"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}),
    "a chain of 10,000 references": json.dumps(chain(MANY, lambda to: {"$ref": to}, TEXT)),
    "a chain of 10,000 branches": json.dumps(chain(MANY, lambda to: {"allOf": [{"$ref": to}]}, TEXT)),
    "a chain of 10,000 properties": json.dumps(chain(MANY, lambda to: {"properties": {"a": {"$ref": to}}, "required": ["a"]}, TEXT)),
    "5,000 ways into a chain of 5,000": json.dumps({**chain(5_000, lambda to: {"$ref": to}, TEXT), "$ref": "#/x", "x": {"type": "object", "properties": {f"p{at}": {"$ref": "#/definitions/d0"} for at in range(5_000)}}}),
    "15,000 ids": json.dumps({"$schema": NEW, "$defs": {f"d{at}": {"$id": f"http://example.org/{at}"} for at in range(15_000)}}),
    "15,000 times one id": json.dumps({"$schema": NEW, "$defs": {f"d{at}": {"$id": "http://example.org/x"} for at in range(15_000)}}),
    "ids inside each other": '{"$id":"a/","items":' * 150 + "{}" + "}" * 150,
    "copies with 100 ids inside each other": json.dumps({"items": {"$ref": "i0"}, "definitions": {name: json.loads("".join(f'{{"$id":"i{at}","not":' for at in range(100)) + json.dumps({"enum": list(range(20_000))}) + "}" * 100) for name in "ab"}}),
    "a long id": json.dumps({"$id": "http://e/" + "a/../" * 100_000}),
    "15,000 anchors": json.dumps({"$schema": NEW, "$defs": {f"d{at}": {"$anchor": f"a{at}"} for at in range(15_000)}}),
    "5,000 dynamic anchors": json.dumps({"$schema": NEW, "$defs": {f"d{at}": {"$id": f"i{at}", "$dynamicAnchor": "a", "items": {"$dynamicRef": "#a"}} for at in range(5_000)}}),
    "a catastrophic expression": json.dumps({"pattern": "^(a+)+$"}),
    "one with looks around and backward references": json.dumps({"pattern": "^(?=(a+)+$)(a+)\\2+b$"}),
    "one with huge counts": json.dumps({"pattern": "((a{1000}){1000}){1000}"}),
    "one with deep groups": json.dumps({"pattern": "(" * 2000 + ")" * 2000}),
    "one with large sets": json.dumps({"pattern": "[\\w\\W\\d\\D]{1000}" * 200}),
    "1,000 expressions": json.dumps({"patternProperties": {f"^a{at}(b|c)*\\p{{L}}$": {} for at in range(1_000)}}),
    "the largest exponents": '{"multipleOf":1e-1000,"maximum":1e1000,"minimum":-1e1000,"type":"number"}',
    "the most digits": '{"type":"number","multipleOf":0.' + "1" * 990 + "}",
    "1,000 long numbers": '{"enum":[' + ",".join(["9" * 900] * 1_000) + "]}",
    "20,000 unknown keywords": json.dumps({f"maxLengt{at}": 1 for at in range(20_000)}),
    "20,000 required names": json.dumps({"required": [f"p{at}" for at in range(20_000)], "properties": {}}),
    "many items at least": json.dumps({"type": "array", "minItems": 10**9}),
    "a long text at least": '{"type":"string","minLength":1e1000}',
    "many members at least": json.dumps({"type": "object", "minProperties": 10**9}),
    "200 ways back": json.dumps({"type": "object", "properties": {f"p{at}": {"$ref": "#"} for at in range(200)}}),
    "no finite value": json.dumps({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}),
    "15,000 dependencies": json.dumps({"dependencies": {f"p{at}": [f"p{at + 1}"] for at in range(15_000)}}),
}  # fmt: skip
VALUES = ('"' + "a" * 60 + 'b"', '["' + "a" * 60 + 'b"]', '{"a":' * 40 + "1" + "}" * 40, "[" * 100_000, "9" * 100_000)


def ways(document: JsonSchema) -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that is done with a schema."""
    yield "show", lambda: print_texts(document, True)
    yield "resolved", lambda: print_resolved(document)
    for at, value in enumerate(VALUES):
        yield f"check {at}", lambda value=value: check_value(document, value)  # type: ignore[misc]  # bound early
    yield "columns", lambda: derive_columns(document)
    yield "example", lambda: generate_example(document, 1)
    yield "lints", lambda: [lint.find(document) for lint in LINTS.values()]


@pytest.mark.parametrize(("text", "rule"), [pytest.param(*bomb, id=name) for name, bomb in REFUSED.items()])
def test_a_bomb_is_refused_by_name(text: str, rule: str, figure: Callable[[str], None]) -> None:
    start = time.process_time()
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(meaning(text), strict=True)
    spent = time.process_time() - start

    first = refused.value.faults[0]
    assert first.rule == rule
    assert first.expected
    assert len(refused.value.faults) <= limits.FAULTS
    assert all(len(one.message) < 300 for one in refused.value.faults)
    if spent > 0.3:
        figure(f"refused after {spent:.2f} s CPU")


@pytest.mark.slow
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HANDLED.items()])
def test_what_is_hostile_and_legal_is_handled_or_refused_by_name(text: str, figure: Callable[[str], None]) -> None:
    spent: dict[str, float] = {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        start = time.process_time()
        try:
            return call()
        except ValueError:  # a refusal, which is a faulty schema too
            return None
        finally:
            spent[name] = time.process_time() - start

    document = timed("parse", lambda: parse_schema(meaning(text), strict=True))
    timed("references", lambda: find_references(text))
    for name, way in ways(document):
        timed(name, way)
    tracemalloc.start()
    parse_schema(meaning(text), strict=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 100 * MEGABYTE
    worst = max(spent, key=lambda name: spent[name])
    if spent[worst] > 0.3:
        figure(f"{worst} took {spent[worst]:.2f} s CPU, of {len(spent)} ways; reading took {peak // MEGABYTE} MB")


@pytest.mark.slow
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, (text, _) in REFUSED.items()])
def test_a_bomb_among_stored_schemas_is_refused_or_read(text: str) -> None:
    try:
        document = parse_schema(meaning(text), strict=False)
    except InvalidSchemaError:
        return
    assert print_texts(document, False).canonical
    for value in VALUES[:3]:
        check_value(document, value)


def links(count: int, width: int = 1) -> ResolvedSchema:
    """A schema at the end of a chain of references, each used `width` times."""
    here = ResolvedSchema("JSON", '{"type":"null"}')
    for at in range(1, count):
        bound = tuple(ResolvedReference(f"r{at - 1}.json", f"s{at}", 1, here) for _ in range(width))
        here = ResolvedSchema("JSON", json.dumps({"items": {"$ref": f"r{at - 1}.json"}}), bound)
    return here


def test_chains_and_numbers_of_references_are_bounded() -> None:
    assert (
        print_resolved(parse_schema(links(limits.REFERENCE_DEPTH + 1, width=3), strict=True)).count('"items"')
        == limits.REFERENCE_DEPTH
    )
    with pytest.raises(InvalidSchemaError, match="REFERENCE_DEPTH"):
        parse_schema(links(limits.REFERENCE_DEPTH + 2), strict=True)
    bound = tuple(
        ResolvedReference(f"r{at}", "s", at, ResolvedSchema("JSON", "true")) for at in range(limits.REFERENCES + 1)
    )
    assert (
        len(parse_schema(ResolvedSchema("JSON", '{"$ref":"r7"}', bound[:-1]), strict=True).names) == limits.REFERENCES
    )
    with pytest.raises(InvalidSchemaError, match="limit REFERENCES"):
        parse_schema(ResolvedSchema("JSON", '{"$ref":"r7"}', bound), strict=True)


def test_of_two_references_with_one_name_the_first_counts() -> None:
    texts = ('{"type":"null"}', '{"type":"string"}')
    bound = tuple(ResolvedReference("r.json", "s", at, ResolvedSchema("JSON", text)) for at, text in enumerate(texts))
    document = parse_schema(ResolvedSchema("JSON", '{"$ref":"r.json"}', bound), strict=True)

    assert check_value(document, "null") == ()
    assert check_value(document, '""')


def test_a_value_that_doubles_the_steps_with_every_level_is_not_judged() -> None:
    document = parse_schema(meaning(HANDLED["ways that double with every level"]), strict=True)

    assert check_value(document, '{"a":' * 5 + "1" + "}" * 5) == ()
    assert [one.rule for one in check_value(document, VALUES[2])] == ["VALUE_NOT_JUDGED"]
