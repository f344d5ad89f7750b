"""ksqlDB's REST for all values of what few requests have: command ids, sequence numbers, properties by either name, queries in any letters."""

from collections.abc import Iterator
from itertools import product
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from starlette.testclient import TestClient

from tests.behaviours.served import served
from tests.facades.twin import Fixed
from treaty.api.ksqldb import answers
from treaty.core.messages.metastore.sources import DescribeSource, ListSources, Sources
from treaty.core.refusals import NotFound

CREATE = (
    "CREATE {kind} {name} (id INT {key}KEY, x INT) WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='AVRO', KEY_FORMAT='AVRO');"
)
ACTIONS = ("create", "undrop", "alter", "resume", "pause", "drop", "execute")
OWN_KINDS = {"orders": ("stream", "query"), "prices": ("table", "query"), "address": ("type",)}
"""By name of what is there: the kinds of commands about it."""


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with served("memory:") as running, httpx2.Client(base_url=running.url, timeout=60) as client:
        sql = (
            CREATE.format(kind="STREAM", name="orders", key="")
            + CREATE.format(kind="TABLE", name="prices", key="PRIMARY ")
            + "CREATE TYPE address AS STRUCT<street VARCHAR>;"
        )
        assert client.post("/ksql", json={"ksql": sql}).status_code == 200
        yield client


def is_done(kind: str, name: str, action: str) -> bool:
    """Whether rows show what a command comes to; no query is paused. Types have names of their own."""
    own = OWN_KINDS.get(name, ())
    if action == "drop":
        return ("type" in own) is not (kind == "type") or not own
    return kind in own and action in (("create",) if kind == "type" else ("create", "undrop", "alter", "resume"))


@pytest.mark.parametrize(("kind", "action"), [*product(("stream", "table", "type", "query", "topic"), ACTIONS)])
def test_a_command_is_done_where_rows_show_it(client: httpx2.Client, kind: str, action: str) -> None:
    for name in ("nothing", *OWN_KINDS):
        expected = kind != "topic" and action != "execute" and is_done(kind, name, action)
        for written in (name, name.upper(), f"`{name.upper()}`"):
            for words in ((kind, action), (kind.upper(), action.upper())):
                answer = client.get(f"/status/{words[0]}/{written}/{words[1]}")
                assert (answer.status_code == 200) is expected, (words, written, answer.text)


@pytest.mark.parametrize(
    ("name", "written"), [("a`b", "`a``b`"), ("a`b", "a`b"), ("`a`", "```a```"), ("a", "`a`"), ("`", "`"), ("", "``")]
)
def test_a_name_in_back_quotes_has_each_of_its_own_twice(
    http: TestClient, member: Fixed, name: str, written: str
) -> None:
    member.answers[DescribeSource] = NotFound.of("SOURCE_NOT_FOUND", "none")
    http.get(f"/status/stream/{quote(written)}/create")
    assert member.asked == [DescribeSource(name)]


@pytest.mark.parametrize("number", [None, 0, 1, -1, 7])
def test_an_answer_is_as_new_as_the_log_where_a_sequence_is_named(
    http: TestClient, member: Fixed, number: int | None
) -> None:
    """Also where it is 0, that of an empty registry."""
    member.answers[ListSources] = Sources(())
    answer = http.post("/ksql", json={"ksql": "SHOW STREAMS;", "commandSequenceNumber": number})
    assert answer.status_code == 200, answer.text
    assert {call.consistency for call in member.calls} == {"" if number is None else "latest"}


@pytest.mark.parametrize("name", ["auto.offset.reset", "ksql.streams.auto.offset.reset", "AUTO.OFFSET.RESET", "other"])
@pytest.mark.parametrize("value", ["earliest", "latest", "never"])
def test_the_start_of_queries_is_read_by_either_name(client: httpx2.Client, name: str, value: str) -> None:
    body = {"ksql": "SHOW STREAMS; SHOW TABLES;", "streamsProperties": {name: value}}
    answer = client.post("/ksql", json=body)
    if name not in {"auto.offset.reset", "ksql.streams.auto.offset.reset"}:
        assert [len(one["warnings"]) for one in answer.json()] == [1, 0]
    elif value == "never":
        assert answer.json()["error_code"] == 40001
    else:
        assert [len(one["warnings"]) for one in answer.json()] == [0, 0]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders",
        "select 1",
        "PRINT orders",
        "print `orders` LIMIT 1",
        "/* a */ Select * from orders EMIT CHANGES",
    ],
)
@pytest.mark.parametrize("before", ["", "SHOW STREAMS; "])
def test_a_query_is_no_statement_wherever_it_stands(client: httpx2.Client, sql: str, before: str) -> None:
    error = client.post("/ksql", json={"ksql": f"{before}{sql};"}).json()
    assert (error["error_code"], error.get("entities", [])) == (40002, [])
    assert error["statementText"] == f"{sql};"


@pytest.mark.parametrize(
    "media",
    ["", "text/xml", "application/json", "application/vnd.ksql.v1+json", "application/vnd.ksqlapi.delimited.v1"],
)
@pytest.mark.parametrize("body", [b"", b'{"ksql":"SHOW STREAMS;"}'])
def test_a_type_of_content_is_refused_where_there_is_content(client: httpx2.Client, media: str, body: bytes) -> None:
    answer = client.post("/ksql", content=body, headers={"content-type": media} if media else {})
    assert answer.status_code == (415 if body and media == "text/xml" else 200 if body else 400)


@pytest.mark.parametrize(("most", "said"), [(1, True), (2, False), (3, False)])
def test_entries_that_are_left_out_are_counted(
    client: httpx2.Client, most: int, monkeypatch: pytest.MonkeyPatch, *, said: bool
) -> None:
    monkeypatch.setattr(answers, "RESULT_ROWS", most)
    rows = ["a", "b"]
    listed, warnings = answers._first_rows(rows)
    assert (list(listed), bool(warnings)) == (rows[:most], said)


@pytest.mark.parametrize("kind", ["STREAMS", "TABLES"])
@pytest.mark.parametrize("extended", ["", " EXTENDED"])
def test_sources_are_listed_with_their_columns_where_that_is_asked_for(
    client: httpx2.Client, kind: str, extended: str
) -> None:
    (entity,) = client.post("/ksql", json={"ksql": f"SHOW {kind}{extended};"}).json()
    listed: list[dict[str, Any]] = entity["sourceDescriptions" if extended else kind.lower()]
    assert [(one["name"], one.get("extended", False), "fields" in one) for one in listed] == [
        ("ORDERS" if kind == "STREAMS" else "PRICES", bool(extended), bool(extended))
    ]
