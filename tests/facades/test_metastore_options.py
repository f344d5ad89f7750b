"""The metastore's API for all values of its options: kinds and flags in any letter case, limits of each list, and what `If-Match` may be."""

from typing import Any

import pytest
from starlette.requests import Request as HttpRequest
from starlette.testclient import TestClient

from tests.facades.twin import Fixed
from treaty.api.metastore.endpoints import MetastoreExchange
from treaty.core.limits import SOURCES_PAGE
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import Invalid

HOME = "/metastore/v1"
LISTS = ("sources", "queries", "types")


@pytest.fixture
def member() -> Fixed:
    member = Fixed()
    member.answers |= {m.ListSources: m.Sources(()), m.ListTypes: m.Types(()), m.ListDependents: m.Dependents(())}
    return member


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("after", ["", "a", "a b"])
def test_each_list_begins_after_a_name_and_has_as_many_as_are_asked_for(
    http: TestClient, member: Fixed, path: str, after: str
) -> None:
    numbers = {"": 100, "limit=1": 1, "limit=7": 7, f"limit={SOURCES_PAGE}": SOURCES_PAGE}
    for query in numbers:
        assert (
            http.get(
                f"{HOME}/{path}?{query}", params={**dict([query.split("=")] if query else []), "after": after}
            ).status_code
            == 200
        )
    pages = [(getattr(request, "limit", None), getattr(request, "after", None)) for request in member.asked]
    assert pages == [(number, after) for number in numbers.values()]
    assert {getattr(request, "queries", False) for request in member.asked} == {path == "queries"}


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("word", ["0", "-1", "", "1.0", " 1", str(SOURCES_PAGE + 1), "100000", "٣"])
def test_a_limit_out_of_its_range_is_refused_by_each_list(
    http: TestClient, member: Fixed, path: str, word: str
) -> None:
    answer = http.get(f"{HOME}/{path}", params={"limit": word})
    assert (answer.status_code, answer.json()["code"], member.asked) == (400, "LIMIT", [])


@pytest.mark.parametrize(
    ("word", "kind"),
    [("", ""), ("stream", "STREAM"), ("Table", "TABLE"), ("TABLE", "TABLE"), ("view", None), ("streams", None)],
)
def test_a_kind_is_a_word_in_any_letter_case(http: TestClient, member: Fixed, word: str, kind: str | None) -> None:
    answer = http.get(f"{HOME}/sources?kind={word}")
    assert answer.status_code == (400 if kind is None else 200)
    assert [getattr(request, "kind", None) for request in member.asked] == ([] if kind is None else [kind])


@pytest.mark.parametrize(
    ("word", "recursive"), [("", False), ("true", True), ("TRUE", True), ("True", True), ("false", False), ("1", False)]
)
@pytest.mark.parametrize(("name", "written"), [("a", "a"), ("a b", "a%20b"), ("a/b", "a%2Fb")])
def test_dependents_of_dependents_are_listed_where_they_are_asked_for(
    http: TestClient, member: Fixed, word: str, name: str, written: str, *, recursive: bool
) -> None:
    http.get(f"{HOME}/dependencies/{written}?recursive={word}")
    assert member.asked == [m.ListDependents(name, recursive=recursive)]


@pytest.mark.parametrize(
    ("header", "expected"),
    [(None, None), ('"7.1"', m.ExpectedSource(7, 1)), (' "0.0" ', m.ExpectedSource(0, 0)), ('"7.12"\\t', m.ExpectedSource(7, 12)),
     *((word, "refused") for word in ("", "*", "7.1", 'W/"7.1"', '"7"', '"7.1", "8.1"', '"7.-1"', f'"{"9" * 16}.1"'))],
)  # fmt: skip
def test_a_source_is_expected_by_one_strong_tag(header: str | None, expected: Any) -> None:
    headers = [] if header is None else [(b"if-match", header.replace("\\t", "\t").encode())]
    request: Any = HttpRequest({"type": "http", "headers": headers})
    exchange = MetastoreExchange(None, request, (), {})  # type: ignore[arg-type]  # nothing is asked
    if expected == "refused":
        with pytest.raises(Invalid) as refusal:
            exchange.read_expected()
        assert refusal.value.reason.rule == "IF_MATCH"
    else:
        assert exchange.read_expected() == expected
