"""Laws of JSON Schemas of several texts: the model, the validator and the resolved text mean the same."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.jsonschema_bundles import is_meant, make_bundle, make_values
from tests.oracle.jsonschema_schemas import NUMBERS
from tests.oracle.jsonschema_treaty import model
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.canonical import print_resolved
from treaty.formats.jsonschema.compare.compatibility import compare
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.jsonschema.drafts import DRAFTS
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.jsonschema.references import get_child, is_ambiguous


def judge_alike(seed: int) -> tuple[int, int]:
    """How many values of a bundle were judged by the validator and by the resolved text; each as the model means it."""
    bundle = make_bundle(seed)
    try:
        document = model(json.dumps(bundle.own), bundle.references)
    except InvalidSchemaError:
        return 0, 0
    if document.blocked:  # a reference of another text, which was good alone, leads nowhere here
        return 0, 0
    resolved, refusals = None, set[str]()
    try:
        resolved = model(print_resolved(document))
    except InvalidSchemaError as wrong:
        refusals = {one.rule for one in wrong.faults}
    assert refusals <= {"REF_AMBIGUOUS"}  # as inside one of the other texts
    judged = [0, 0]
    for value in make_values(seed):
        meant = is_meant(document, document.root, value)
        for at, one in enumerate((document, resolved)):
            faults = () if one is None else check_value(one, json.dumps(value))
            if one is not None and [fault.rule for fault in faults] != ["VALUE_NOT_JUDGED"]:
                judged[at] += 1
                assert (faults == ()) is meant, (at, value)
    return judged[0], judged[1]


@given(st.integers(0, 2**32 - 1))
def test_a_value_is_judged_as_the_model_means_it_also_by_the_resolved_text(seed: int) -> None:
    judge_alike(seed)


def test_most_values_are_judged(figure: Callable[[str], None]) -> None:
    judged = [judge_alike(seed) for seed in range(60)]
    by_texts, by_resolved = sum(one for one, _ in judged), sum(other for _, other in judged)
    figure(f"of {60 * 20} values {by_texts} are judged by their texts, {by_resolved} by the resolved text")
    assert min(by_texts, by_resolved) > 800


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("named", ["one", "two", "own"])
def test_texts_that_have_the_same_uri_stay_apart(number: int, named: str) -> None:
    """Values are judged by the text that is meant, also by the resolved text, and fragments stay in it."""
    draft = DRAFTS[number]
    head = {"$schema": draft.uri, draft.identifier: "http://example.org/c"}

    def text(kind: str) -> dict[str, Any]:
        return {"properties": {"p": {"$ref": "#/definitions/z"}}, "definitions": {"z": {"type": kind}}}

    references = [
        {"name": name, "schema": {**head, **text(kind)}} for name, kind in (("one", "null"), ("two", "string"))
    ]
    own = {**head, **text("integer")}
    own["properties"] |= {"one": {"$ref": "one"}, "two": {"$ref": "two"}}
    document = model(json.dumps(own), references)
    resolved = model(print_resolved(document))

    for meant, value in {"own": 1, "one": None, "two": "s"}.items():
        whole = {"p": value} if named == "own" else {named: {"p": value}}
        for one in (document, resolved):
            assert (check_value(one, json.dumps(whole)) == ()) is (meant == named)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("uri", ["http://example.org/b", "http://example.org/two"])
def test_schemas_of_one_uri_inside_several_texts_stay_apart(number: int, uri: str) -> None:
    """Each text means its own, as versions of a bundle do; also where another text has the URI."""
    draft = DRAFTS[number]

    def text(name: str, kind: str) -> dict[str, Any]:
        deep = {draft.identifier: "deep/", "properties": {"r": {"$ref": "../z"}}, "type": ["object", kind]}
        named = "http://example.org/b" if name == "two" else uri
        inner = {draft.identifier: named, "properties": {"q": {"$ref": "#/definitions/m"}}, "definitions": {"m": deep}}
        kept = {"n": inner, "z": {draft.identifier: "z", "type": kind}}
        head = {"$schema": draft.uri, draft.identifier: f"http://example.org/{name}"}
        return {**head, "properties": {"p": {"$ref": named}}, "definitions": kept}

    kinds = {"own": ("integer", 1), "one": ("null", None), "two": ("string", "s")}
    references = [{"name": name, "schema": text(name, kinds[name][0])} for name in ("one", "two")]
    own = text("own", "integer")
    own["properties"] |= {"one": {"$ref": "one"}, "2": {"$ref": "#/definitions/second"}}
    own["definitions"]["second"] = {draft.identifier: "http://example.com/", "properties": {"2": {"$ref": "two"}}}
    document = model(json.dumps(own), references)
    resolved = model(print_resolved(document))

    for one in (document, resolved):
        for named, way in (("own", ("p",)), ("one", ("one", "p")), ("two", ("2", "2", "p"))):
            for _, value in kinds.values():
                for inner in ({"q": value}, {"q": {"r": value}}):
                    whole: Any = inner
                    for name in reversed(way):
                        whole = {name: whole}
                    assert (check_value(one, json.dumps(whole)) == ()) is (value == kinds[named][1]), (named, whole)


EXAMPLE = "http://example.org/"


def test_a_dynamic_reference_with_a_uri_means_the_schema_of_its_own_text() -> None:
    def text(name: str, kind: str) -> dict[str, Any]:
        inner = {"$id": f"{EXAMPLE}b", "$defs": {"z": {"$anchor": "node", "type": kind}}}
        head = {"$schema": DRAFTS[2020].uri, "$id": EXAMPLE + name}
        return {**head, "properties": {"p": {"$dynamicRef": f"{EXAMPLE}b#node"}}, "$defs": {"n": inner}}

    own = text("own", "integer")
    own["properties"]["one"] = {"$ref": "one"}
    document = model(json.dumps(own), [{"name": "one", "schema": text("one", "null")}])

    for one in (document, model(print_resolved(document))):
        for value, is_valid in (({"p": 1}, True), ({"p": None}, False)):
            assert (check_value(one, json.dumps(value)) == ()) is is_valid
            assert (check_value(one, json.dumps({"one": value})) == ()) is not is_valid


@pytest.mark.parametrize("number", [2019, 2020])
def test_dynamic_anchors_of_one_uri_in_two_texts_are_two(number: int) -> None:
    anchor: dict[str, Any] = {"$recursiveAnchor": True} if number == 2019 else {"$dynamicAnchor": "node"}
    reference = {2019: {"$recursiveRef": "#"}, 2020: {"$dynamicRef": "#node"}}[number]

    def text(name: str) -> dict[str, Any]:
        inner = {"$id": f"{EXAMPLE}b", **anchor, "properties": {"x": reference, "one": {"$ref": "one"}}}
        return {"$schema": DRAFTS[number].uri, "$id": EXAMPLE + name, "$ref": "b", "$defs": {"n": inner}}

    document = model(json.dumps(text("own")), [{"name": "one", "schema": text("one")}])
    inner = get_child(document.root, "$defs", "n", "properties", "x")

    assert is_ambiguous(document, inner)


@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_branches_written_alike_in_two_texts_are_two(word: str) -> None:
    """Each refers to another schema of the same URI, which its own text has."""

    def document(*kinds: str) -> JsonSchema:
        def text(name: str, kind: str) -> dict[str, Any]:
            inner = {"$id": f"{EXAMPLE}b", "type": "object", "properties": {"x": {"$ref": "c"}}}
            head = {"$schema": DRAFTS[2020].uri, "$id": EXAMPLE + name, "$ref": "b"}
            return {**head, "$defs": {"b": inner, "c": {"$id": f"{EXAMPLE}c", "type": kind}}}

        named = {f"t{at}": kind for at, kind in enumerate(kinds)}
        references = [{"name": name, "schema": text(name, kind)} for name, kind in named.items()]
        head = {"$schema": DRAFTS[2020].uri, "$id": f"{EXAMPLE}own"}
        return model(json.dumps({**head, word: [{"$ref": name} for name in named]}), references)

    old, same, new = document("string", "null"), document("string", "null"), document("string", "integer")
    assert compare(same, old) == ()
    assert [one.rule for one in compare(new, old)] == ["COMBINED_TYPE_SUBSCHEMAS_CHANGED"]


def test_a_text_that_nothing_leads_to_gives_no_names_to_others() -> None:
    """The pointer leads nowhere in a text that is bound and not reached."""
    nested = {"$id": f"{EXAMPLE}n"}
    head = {"$schema": DRAFTS[7].uri}
    bound = [{"name": f"{EXAMPLE}n", "schema": {**head, "definitions": {"q": {"type": "null"}}}}]
    reference = {"$ref": f"{EXAMPLE}n#/definitions/q"}
    one = {**head, "$id": f"{EXAMPLE}one", "properties": {"p": reference}}
    references: list[dict[str, Any]] = [
        {"name": "zero", "schema": {**head, "$id": f"{EXAMPLE}zero", "definitions": {"n": nested}}},
        {"name": "one", "schema": one, "references": bound},
    ]
    document = model(json.dumps({**head, "$id": f"{EXAMPLE}own", "$ref": "one"}), references)

    assert [one.rule for one in check_value(document, '{"p": 1}')] == ["TYPE"]
    assert print_resolved(document)
