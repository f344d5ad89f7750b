"""`/openapi.json` and `/docs`: what they tell, and that routes ask for no parameter that is not described."""

import json
import re
from html import unescape
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.facades.twin import Fixed
from treaty.api.application import build_application
from treaty.api.confluent.query import Query
from treaty.api.confluent.routes import TABLE
from treaty.api.dialects.description import ApiOperation
from treaty.api.openapi.document import document, name_segments
from treaty.api.openapi.table import CONSISTENCY, EVERYTHING
from treaty.cli.main import group

ROUTES = [(path, method, one) for path, methods in TABLE.items() for method, one in methods.items()]


def test_it_is_a_document_of_openapi_3_1() -> None:
    described = json.loads(json.dumps(document()))
    schemathesis.openapi.from_dict(described).validate()
    described["paths"]["/subjects"]["get"]["responses"] = []
    with pytest.raises(jsonschema_rs.ValidationError):
        schemathesis.openapi.from_dict(described).validate()


def test_the_document_is_served_and_printed(http: TestClient) -> None:
    got = http.get("/openapi.json")
    assert (got.status_code, got.headers["content-type"]) == (200, "application/json")
    assert got.json() == json.loads(json.dumps(document()))
    assert (got.headers["content-encoding"], got.headers["vary"]) == ("gzip", "accept-encoding")
    plain = http.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    assert (plain.json(), "content-encoding" in plain.headers) == (got.json(), False)
    assert int(got.headers["content-length"]) * 5 < len(plain.content)
    assert json.loads(CliRunner().invoke(group, ["openapi"]).output) == got.json()


def test_the_page_needs_nothing_from_anywhere(http: TestClient) -> None:
    got = http.get("/docs")
    assert (got.status_code, got.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "://" not in got.text
    assert not re.search(r"""(src|srcset|@import|url\()\s*=?\s*["'(]""", got.text)
    links = re.findall(r'href="([^"]*)"', got.text)
    targets = set(re.findall(r'\bid="([^"]*)"', got.text))
    assert [link for link in links if link.removeprefix("#") not in targets] == ["openapi.json"]
    policy = got.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; connect-src 'self'")
    assert "unsafe" not in policy
    assert CliRunner().invoke(group, ["openapi", "--html"]).output == got.text


def test_a_browser_at_the_root_is_led_to_the_page(http: TestClient) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    sent = http.get("/", headers=browser, follow_redirects=False)
    assert (sent.status_code, sent.headers["location"], sent.headers["vary"]) == (303, "/docs", "accept")
    assert "<title>Treaty</title>" in http.get("/", headers=browser).text
    for accept in ("*/*", "application/json", "text/html, application/json"):
        assert http.get("/", headers={"Accept": accept}, follow_redirects=False).json() == {}


def test_every_route_is_on_the_page(http: TestClient) -> None:
    text = unescape(re.sub(r"<script>.*</script>", "", http.get("/docs").text, flags=re.DOTALL))
    for path, methods in EVERYTHING.items():
        for method, one in methods.items():
            assert f"{method}</code> <code>{name_segments(path, one)}</code>" in text
            for each in (*one.path, *one.query):
                assert f"<td><code>{each.name}</code></td>" in text
    for name in document()["components"]["schemas"]:
        assert f'id="schema-{name}"' in text


def test_it_is_for_reading_alone(http: TestClient) -> None:
    for path in ("/docs", "/openapi.json"):
        assert (http.post(path).status_code, http.post(path).headers["allow"]) == (405, "GET, HEAD")
        assert http.head(path).content == b""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of query members that are asked for."""
    found: set[str] = set()
    get, all_ = Query.get, Query.get_all

    def spying_get(self: Query, *names: str) -> str | None:
        found.update(names)
        return get(self, *names)

    def spying_all(self: Query, name: str) -> list[str]:
        found.add(name)
        return all_(self, name)

    monkeypatch.setattr(Query, "get", spying_get)
    monkeypatch.setattr(Query, "get_all", spying_all)
    return found


@pytest.mark.parametrize(("path", "method", "one"), ROUTES, ids=[f"{method} {path}" for path, method, _ in ROUTES])
def test_a_route_asks_for_the_parameters_that_are_described(
    member: Fixed, path: str, method: str, one: ApiOperation, asked: set[str]
) -> None:
    """What it reads of the query is what its entry names, under all its spellings, and nothing else."""
    http = TestClient(build_application(member).dispatcher)
    target = name_segments(path, one)
    for each in one.path:
        target = target.replace(f"{{{each.name}}}", str(each.example))
    query: dict[str, Any] = {each.name: each.default if each.example is None else each.example for each in one.query}
    got = http.request(method, target, json=one.sent_example, params=query)
    assert got.status_code == one.answer.status, got.text
    names = {name for each in one.query for name in (each.name, *each.also)}
    before = {CONSISTENCY.name} | ({"subject"} if path.startswith("/schemas/ids/") else set())
    assert asked - (before - names) == names
