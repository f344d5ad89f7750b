"""The metastore's HTTP API: statements in, results out, errors as data, pages, entity tags and position tokens."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.behaviours.served import served

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"
STATEMENTS = "/metastore/v1/statements"


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with served("memory:") as running, httpx2.Client(base_url=running.url) as client:
        yield client


def post(http: httpx2.Client, sql: str, *, headers: dict[str, str] | None = None, **members: Any) -> httpx2.Response:
    return http.post(STATEMENTS, json={"sql": sql, **members}, headers=headers or {})


def test_statements_are_carried_out_in_order_and_each_says_its_sequence(http: httpx2.Client) -> None:
    got = post(http, f"{STREAM.format('Alpha')}; SHOW CREATE STREAM alpha; DROP STREAM alpha")
    assert got.status_code == 200
    created, shown, dropped = got.json()["results"]
    assert (created["kind"], created["name"], created["message"]) == ("CREATE STREAM", "Alpha", "Stream Alpha created")
    assert shown["rows"][0][0].startswith("CREATE STREAM Alpha (")
    assert created["sequence"] == shown["sequence"] < dropped["sequence"]
    assert got.headers["treaty-position"].split(".")[1] == str(dropped["sequence"])


@pytest.mark.parametrize(
    ("sql", "status", "code"),
    [
        ("CREATE STREAM b1", 400, "PROPERTY_MISSING"),
        ("CREATE STREAM b1 (a INT) WITH (KAFKA_TOPIC = 'b1', VALUE_FORMAT = 'DELIMITED')", 400, "PROPERTY_VALUE"),
        ("CREATE STREAM b1 WITH (KAFKA_TOPIC = 'nobody')", 404, "SUBJECT_NOT_FOUND"),
        ("DROP STREAM nobody", 404, "SOURCE_NOT_FOUND"),
        ("DESCRIBE TYPE nobody", 404, "TYPE_NOT_FOUND"),
        ("ASSERT SCHEMA SUBJECT 'nobody'", 417, "ASSERT_FAILED"),
        ("CREATE STREAM b1 AS SELECT 1", 503, "unavailable"),
        ("SELECT nothing FROM treaty.sources", 400, "COLUMN_UNKNOWN"),
    ],
)
def test_errors_have_a_code_a_status_and_the_statement(http: httpx2.Client, sql: str, status: int, code: str) -> None:
    got = post(http, sql, planningSeconds=1)
    assert (got.status_code, got.json()["code"]) == (status, code)
    assert got.json()["message"]
    assert got.json().get("failed") == (None if "diagnostics" in got.json() else sql)


def test_all_errors_of_a_text_are_answered_with_their_places(http: httpx2.Client) -> None:
    got = post(http, "SHOW STREAMS;\nSHO TABLES;\nDROP x")
    assert got.status_code == 400
    places = [(one["code"], one["line"], one["column"], one["start"]) for one in got.json()["diagnostics"]]
    assert places == [("STATEMENT_UNKNOWN", 2, 1, 14), ("SYNTAX", 3, 6, 31)]
    assert "results" not in got.json()


def test_what_was_done_before_an_error_stays_and_is_told(http: httpx2.Client) -> None:
    got = post(http, f"{STREAM.format('kept')}; DROP STREAM nobody; SHOW STREAMS")
    assert (got.status_code, [one["name"] for one in got.json()["results"]]) == (404, ["kept"])
    assert got.json()["failed"] == "DROP STREAM nobody"
    assert http.get("/metastore/v1/sources/KEPT").json()["name"] == "kept"


def test_cascade_says_what_would_go_and_takes_its_digest(http: httpx2.Client) -> None:
    post(http, STREAM.format("c1")[:-1] + ", BAD_ROWS = true)")
    asked = post(http, "DROP STREAM c1 CASCADE")
    assert (asked.status_code, asked.json()["code"]) == (409, "CASCADE_DIGEST")
    wrong = post(http, "DROP STREAM c1 CASCADE DIGEST 'ffffffffffffffff'")
    assert (wrong.status_code, wrong.json()["code"]) == (409, "CASCADE_DIGEST")
    dropped = post(http, asked.json()["allowed"].replace("the statement with", "DROP STREAM c1"))
    assert dropped.json()["results"][0]["message"] == "c1_bad, c1 dropped"


def test_a_change_may_say_which_source_it_expects(http: httpx2.Client) -> None:
    post(http, STREAM.format("d1"))
    tag = http.get("/metastore/v1/sources/d1").headers["etag"]
    assert post(http, "ALTER STREAM d1 ADD COLUMN n INT", headers={"if-match": tag}).status_code == 200
    late = post(http, "DROP STREAM d1", headers={"if-match": tag})
    assert (late.status_code, late.json()["code"]) == (412, "SOURCE_EXPECTED")
    both = post(http, "SHOW STREAMS; DROP STREAM d1", headers={"if-match": tag})
    assert (both.status_code, both.json()["code"]) == (400, "IF_MATCH")
    assert post(http, "DROP STREAM d1", headers={"if-match": "*"}).status_code == 400


def test_a_script_that_comes_twice_is_the_same_commands(http: httpx2.Client) -> None:
    script = f"{STREAM.format('e1')}; {STREAM.format('e2')}"
    first, again = (post(http, script, headers={"treaty-command": "script-1"}) for _ in range(2))
    assert first.status_code == again.status_code == 200
    assert [one["message"] for one in first.json()["results"]] == [one["message"] for one in again.json()["results"]]
    names = [source["name"] for source in http.get("/metastore/v1/sources?limit=1000").json()["sources"]]
    assert names.count("e1") == names.count("e2") == 1


def test_a_command_id_is_for_one_text(http: httpx2.Client) -> None:
    replaced = STREAM.format("g1").replace("CREATE", "CREATE OR REPLACE")
    assert post(http, replaced, headers={"treaty-command": "k-1"}).status_code == 200
    other = post(http, replaced.replace("carrier STRING", "carrier STRING, n INT"), headers={"treaty-command": "k-1"})
    assert (other.status_code, other.json()["code"]) == (400, "COMMAND_ID_USED")
    assert [one["name"] for one in http.get("/metastore/v1/sources/g1").json()["columns"]] == ["id", "carrier"]


def test_a_script_that_comes_again_is_the_same_where_a_statement_needs_no_command(http: httpx2.Client) -> None:
    first = STREAM.format("h1").replace("STREAM", "STREAM IF NOT EXISTS", 1)
    script = f"{first}; {STREAM.format('h2')}; ALTER STREAM h1 REFRESH SCHEMA; ALTER STREAM h2 SET COMMENT = 'x'"
    told = [post(http, script, headers={"treaty-command": "script-2"}) for _ in range(2)]
    assert [got.status_code for got in told] == [200, 200]
    assert [got.json()["results"][3]["message"] for got in told] == ["Stream h2 changed", "Stream h2 changed"]
    long = post(http, f"SHOW STREAMS; {STREAM.format('h3')}", headers={"treaty-command": "x" * 128})
    assert (long.status_code, long.json()["code"]) == (400, "COMMAND_ID")


def test_what_expects_no_revision_says_so(http: httpx2.Client) -> None:
    for sql in ("CREATE TYPE i1 AS INT", "SHOW STREAMS", "ALTER STREAM kept REFRESH SCHEMA"):
        got = post(http, sql, headers={"if-match": '"999.7"'})
        assert (got.status_code, got.json()["code"]) == (400, "IF_MATCH"), sql


def test_warnings_of_the_parser_are_in_the_result_of_their_statement(http: httpx2.Client) -> None:
    post(http, STREAM.format("j1"))
    got = post(http, "SHOW TYPES; CREATE STREAM IF NOT EXISTS j1 AS SELECT 1 FROM STREAM x EMIT CHANGES")
    first, second = got.json()["results"]
    assert first["warnings"] == []
    assert any("EMIT CHANGES" in warning for warning in second["warnings"])


@pytest.mark.parametrize(
    "properties",
    [
        "KAFKA_TOPIC = 't', PATH = '/x', VALUE_FORMAT = 'AVRO'",
        "CONNECTOR = 'delta', PATH = '/x', VALUE_FORMAT = 'AVRO'",
    ],
)
def test_a_property_that_its_connector_does_not_take_is_refused(http: httpx2.Client, properties: str) -> None:
    got = post(http, f"CREATE STREAM k1 (a INT) WITH ({properties})")
    assert (got.status_code, got.json()["code"]) == (400, "PROPERTY_MISPLACED")


def test_lists_come_in_pages_and_by_kind(http: httpx2.Client) -> None:
    post(http, "; ".join(STREAM.format(f"page{number}") for number in range(5)))
    post(http, "CREATE TABLE paget (k STRING PRIMARY KEY, v INT) WITH (KAFKA_TOPIC = 'paget', VALUE_FORMAT = 'JSON')")
    names, after = [], ""
    while True:
        page = http.get("/metastore/v1/sources", params={"limit": 2, "after": after, "kind": "stream"}).json()
        names += [source["name"] for source in page["sources"]]
        after = page.get("next", "")
        if not after:
            break
    assert [name for name in names if name.startswith("page")] == [f"page{number}" for number in range(5)]
    tables = http.get("/metastore/v1/sources?kind=table").json()["sources"]
    assert {source["kind"] for source in tables} == {"TABLE"}
    assert http.get("/metastore/v1/queries").json() == {"sources": []}
    assert http.get("/metastore/v1/sources?limit=x").status_code == 400


def test_a_schema_that_is_pinned_stays_through_confluents_api(http: httpx2.Client) -> None:
    post(http, STREAM.format("f1"))
    assert http.get("/metastore/v1/dependencies/f1").json()["upstreams"][0]["name"] == "f1-value version 1"
    assert http.delete("/subjects/f1-value").json() == [1]
    gone = http.delete("/subjects/f1-value?permanent=true")
    assert (gone.status_code, gone.json()["error_code"]) == (422, 42206)
    assert gone.json()["message"] == "Subject 'f1-value' Version 1 is pinned by f1"
    post(http, "DROP STREAM f1")
    assert http.delete("/subjects/f1-value?permanent=true").json() == [1]


def test_a_body_that_is_none_is_refused(http: httpx2.Client) -> None:
    for body in (b"{", b"[]", b'{"sql": 1}', b'{"sql": "SHOW STREAMS", "more": 1}', b"\xff"):
        got = http.post(STATEMENTS, content=body, headers={"content-type": "application/json"})
        assert (got.status_code, got.json()["code"]) == (400, "BODY"), body
    assert http.get(STATEMENTS).status_code == 405
    assert http.get("/metastore/v1/nothing").status_code == 404
