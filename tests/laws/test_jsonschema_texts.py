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
from treaty.formats.jsonschema.references import follow_reference, get_child, is_ambiguous


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
    assert min(by_texts, by_resolved) > 1000


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


def test_a_pointer_that_leads_nowhere_in_a_text_that_is_not_reached_hinders_nothing() -> None:
    """The URI is first that of a schema in `zero`, to which nothing leads; the text `one` meant that of `sub`."""
    head = {"$schema": DRAFTS[7].uri}

    def text(name: str, inner: dict[str, Any]) -> dict[str, Any]:
        return {**head, "$id": EXAMPLE + name, "definitions": {"n": {"$id": f"{EXAMPLE}n", **inner}}}

    sub = {"name": "sub", "schema": text("sub", {"definitions": {"q": {"type": "null"}}})}
    properties = {"p": {"$ref": f"{EXAMPLE}n#/definitions/q"}, "s": {"$ref": "sub"}}
    one = {"name": "one", "schema": {**head, "$id": f"{EXAMPLE}one", "properties": properties}, "references": [sub]}
    references: list[dict[str, Any]] = [{"name": "zero", "schema": text("zero", {})}, one]
    document = model(json.dumps({**head, "$id": f"{EXAMPLE}own", "$ref": "one"}), references)

    assert document.blocked == (f"{EXAMPLE}n#/definitions/q",)
    for each in (document, model(print_resolved(document))):
        assert [fault.rule for fault in check_value(each, '{"p": 1}')] == ["TYPE"]


@pytest.mark.parametrize("order", ["xy", "yx"])
def test_a_schema_that_only_a_pointer_leads_to_is_found_by_its_uri_in_any_order(order: str) -> None:
    """Its own text has it in an unknown keyword; another text has one of the same URI."""
    references = {"x": {"$ref": "b#/definitions/q"}, "y": {"$ref": "#/foo/b"}}
    inner = {"$id": f"{EXAMPLE}b", "definitions": {"q": {"type": "null"}}}
    one = {"$schema": DRAFTS[7].uri, "$id": f"{EXAMPLE}one", "definitions": {"b": inner}}
    properties = {**{name: references[name] for name in order}, "one": {"$ref": "one"}}
    own: dict[str, Any] = {"$schema": DRAFTS[7].uri, "$id": f"{EXAMPLE}own", "properties": properties}
    bound = [{"name": "one", "schema": one}]

    with pytest.raises(InvalidSchemaError, match="'b#/definitions/q' leads to a text that has no schema at"):
        model(json.dumps({**own, "foo": {"b": {"$id": "b"}}}), bound)
    foo = {"b": {"$id": "b", "definitions": {"q": {"type": "string"}}}}
    document = model(json.dumps({**own, "foo": foo}), bound)
    found = follow_reference(document, get_child(document.root, "properties", "x"))
    assert found is not None
    assert (found.text_number, found.value) == (0, {"type": "string"})


def test_relative_uris_in_a_resolved_text_lead_from_their_place() -> None:
    """They are relative where no text says where it is, and climb out of the directory of a name."""
    head = {"$schema": DRAFTS[2020].uri}
    item = {"name": "common/item.json", "schema": {**head, "type": "integer"}}
    order = {
        "name": "sales/order.json",
        "schema": {**head, "items": {"$ref": "common/item.json"}},
        "references": [item],
    }
    document = model(json.dumps({**head, "$ref": "sales/order.json"}), [order])
    resolved = print_resolved(document)

    assert '"$ref":"../common/item.json"' in resolved
    assert [fault.rule for fault in check_value(model(resolved), '["s"]')] == ["TYPE"]
