"""The page on features of Confluent's registry: what it calls not served answers 404, what it calls refused is refused."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from treaty.testing.registry import TreatyRegistry


@pytest.fixture
def url() -> Iterator[str]:
    with TreatyRegistry() as registry:
        yield registry.url


def ask(address: str, body: object = None) -> tuple[int, Any]:
    """The status and the body of an answer; with a body, of a POST."""
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(address, data, {"Content-Type": "application/json"})) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.parametrize("path", ["/dek-registry/v1/keks", "/exporters", "/catalog/v1/types/tagdefs"])
def test_what_is_not_served_answers_404(path: str, url: str) -> None:
    status, body = ask(url + path)
    assert (status, body["error_code"]) == (404, 404)


def test_an_id_outside_of_import_is_refused(url: str) -> None:
    status, body = ask(f"{url}/subjects/a/versions", {"schema": '"string"', "id": 7})
    assert (status, body["error_code"]) == (422, 42205)


def test_a_remote_reference_is_refused(url: str) -> None:
    text = '{"$ref": "https://example.org/order.json"}'
    status, body = ask(f"{url}/subjects/a/versions", {"schema": text, "schemaType": "JSON"})
    assert (status, body["error_code"]) == (422, 42201)


def test_rule_sets_are_kept(url: str) -> None:
    rule = {"name": "mask", "kind": "TRANSFORM", "type": "CEL_FIELD", "mode": "WRITE", "expr": "value"}
    assert ask(f"{url}/subjects/b/versions", {"schema": '"string"', "ruleSet": {"domainRules": [rule]}})[0] == 200
    (kept,) = ask(f"{url}/subjects/b/versions/1")[1]["ruleSet"]["domainRules"]
    assert {name: kept[name] for name in rule} == rule
