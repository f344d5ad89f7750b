"""ksqlDB's REST: statements that both have, in its shapes; what its clients send; and reasons for what is not there."""

import asyncio
import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.behaviours.served import served
from tests.facades.doors import Door, basic, door, write_passwords
from treaty.api.application import ServerParts, build_application
from treaty.api.protection import ProtectionSettings
from treaty.assemble import connect, open_node
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.sources import ImportedQuery, QueryPlan, SourceColumn, SourceRead
from treaty.metastore.ksqldb.sent_text import translate_text
from treaty.metastore.records.destinations import RecordDestinations

SENT = json.loads((Path(__file__).parents[1] / "cases" / "ksqldb" / "requests.json").read_text())
STREAM = "CREATE STREAM {0} (id INT KEY, item VARCHAR, price DECIMAL(8, 2)) WITH (KAFKA_TOPIC='{0}', VALUE_FORMAT='AVRO', PARTITIONS=3);"
TABLE = "CREATE TABLE {0} (id BIGINT PRIMARY KEY, home ADDRESS, tags ARRAY<VARCHAR>) WITH (KAFKA_TOPIC='{0}', VALUE_FORMAT='JSON_SR');"
ADDRESS = "CREATE TYPE address AS STRUCT<street VARCHAR, number INT>;"
INT = {"type": "INTEGER", "fields": None, "memberSchema": None}
TEXT = {"type": "STRING", "fields": None, "memberSchema": None}


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    with served("memory:") as running, httpx2.Client(base_url=running.url, timeout=60) as client:
        yield client


def post(http: httpx2.Client, ksql: str, **members: Any) -> httpx2.Response:
    return http.post("/ksql", json={"ksql": ksql, "streamsProperties": {}, **members})


def done(http: httpx2.Client, ksql: str, **members: Any) -> list[dict[str, Any]]:
    got = post(http, ksql, **members)
    assert got.status_code == 200, got.text
    return list(got.json())


def test_streams_are_created_listed_described_and_dropped_in_the_words_of_ksqldb(http: httpx2.Client) -> None:
    created, listed = done(http, f"{STREAM.format('pages')} LIST STREAMS;")
    assert created["@type"] == "currentStatus"
    assert created["commandId"] == "stream/PAGES/create"
    assert created["commandStatus"] == {"status": "SUCCESS", "message": "Stream PAGES created", "queryId": None}
    assert created["statementText"] == STREAM.format("pages")
    entry = {"type": "STREAM", "topic": "pages", "keyFormat": "KAFKA", "valueFormat": "AVRO", "isWindowed": False}
    assert {**entry, "name": "PAGES"} in listed["streams"]
    (described,) = done(http, "describe pages extended;")
    about = described["sourceDescription"]
    assert (described["@type"], about["name"], about["partitions"], about["extended"]) == (
        "sourceDescription", "PAGES", 3, True,
    )  # fmt: skip
    decimal = {"type": "DECIMAL", "fields": None, "memberSchema": None, "parameters": {"precision": 8, "scale": 2}}
    assert about["fields"] == [
        {"name": "ID", "schema": INT, "type": "KEY"},
        {"name": "ITEM", "schema": TEXT},
        {"name": "PRICE", "schema": decimal},
    ]
    (dropped,) = done(http, "DROP STREAM IF EXISTS pages;")
    assert dropped["commandId"].endswith("/drop")
    assert dropped["commandSequenceNumber"] > created["commandSequenceNumber"]
    assert http.get("/metastore/v1/sources/pages").status_code == 404


def test_types_tables_and_topics_have_their_shapes(http: httpx2.Client) -> None:
    created, _, listed, tables, topics, queries = done(
        http, f"{ADDRESS} {TABLE.format('people')} SHOW TYPES; SHOW TABLES; SHOW TOPICS; SHOW QUERIES;"
    )
    assert created["commandId"] == "type/ADDRESS/create"
    street, number = {"name": "STREET", "schema": TEXT}, {"name": "NUMBER", "schema": INT}
    address = {"type": "STRUCT", "fields": [street, number], "memberSchema": None}
    assert listed["types"] == {"ADDRESS": address}
    assert [(one["name"], one["valueFormat"]) for one in tables["tables"]] == [("PEOPLE", "JSON_SR")]
    assert {"name": "people", "replicaInfo": []} in topics["topics"]
    assert (queries["@type"], queries["queries"]) == ("queries", [])
    (described,) = done(http, "DESCRIBE people;")
    fields = {one["name"]: one["schema"] for one in described["sourceDescription"]["fields"]}
    assert fields["HOME"] == address
    assert fields["TAGS"] == {"type": "ARRAY", "fields": None, "memberSchema": TEXT}
    refused = post(http, "DROP TYPE address;").json()
    assert (refused["@type"], refused["error_code"]) == ("statement_error", 40001)
    (extended,) = done(http, "SHOW TABLES EXTENDED;")
    assert [one["name"] for one in extended["sourceDescriptions"]] == ["PEOPLE"]
    (properties,) = done(http, "show properties;")
    assert "KAFKA_TOPIC" in [one["name"] for one in properties["properties"]]


BIG = "CREATE STREAM BIG AS SELECT V FROM SMALL EMIT CHANGES;"
COLUMNS = (SourceColumn("v", "INT"),)
READS = QueryPlan("SELECT v FROM pages", (SourceRead("pages", 0, "pages", columns=("v",)),))
WRITTEN: dict[str, tuple[dict[str, Any], str]] = {
    "no query": ({}, ""),
    "a planned query": ({"connector": "delta", "query": READS}, "SELECT v FROM pages"),
    "an imported query": ({"imported": ImportedQuery(BIG, id="CSAS_BIG_7")}, BIG),
}
"""What writes a stream, and the text of its query."""


@pytest.mark.parametrize("written", WRITTEN)
def test_the_query_that_writes_a_stream_is_the_same_wherever_it_is_shown(written: str) -> None:
    """In lists, in descriptions and in the status of a command; planned, or imported and not planned yet."""
    members, text = WRITTEN[written]
    with served("memory:") as running, httpx2.Client(base_url=running.url, timeout=60) as http:
        with connect(running.url) as connection:
            source = SourceDefinition("pages", "STREAM", "", COLUMNS, place="pages")
            generation = connection.ask(CreateSource(source)).answer.generation
            if "query" in members:
                members = {**members, "query": replace(READS, reads=(replace(READS.reads[0], generation=generation),))}
            connection.ask(CreateSource(SourceDefinition("sink", "STREAM", "", COLUMNS, place="sink", **members)))
        listed, described, read = done(http, "SHOW QUERIES; DESCRIBE sink; DESCRIBE pages;")
        status = http.get("/status/stream/sink/create").json()
    shown = listed["queries"]
    assert described["sourceDescription"]["writeQueries"] == shown
    assert read["sourceDescription"]["readQueries"] == (shown if "query" in members else [])
    assert [(query["queryString"], query["sinks"]) for query in shown] == ([(text, ["sink"])] if text else [])
    assert status["queryId"] == "".join(query["id"] for query in shown)


def test_the_status_of_a_command_is_what_rows_show(http: httpx2.Client) -> None:
    def status(command: str) -> tuple[int, str]:
        got = http.get(f"/status/{command}")
        return got.status_code, got.json().get("status") or got.json()["message"]

    created = done(http, f"{STREAM.format('kept2')} CREATE TYPE kind2 AS INT;")
    for one in created:
        assert status(one["commandId"])[0] == 200
    assert http.get("/status/stream/`KEPT2`/create").json() == {
        "status": "SUCCESS", "message": "KEPT2 is there", "queryId": "",
    }  # fmt: skip
    for command, words in (
        ("stream/KEPT2/drop", "KEPT2 is there"),
        ("table/KEPT2/create", "KEPT2 is a stream"),
        ("stream/NOBODY/create", "there is no stream or table NOBODY"),
        ("query/KEPT2/pause", "is to be RUNNING"),
        ("type/NOBODY/create", "there is no type"),
        ("terminate/CSAS_X_7/execute", "no statement here"),
    ):
        code, message = status(command)
        assert (code, words in message) == (404, True), (command, message)
    for one in done(http, "DROP STREAM kept2; DROP TYPE kind2;"):
        assert status(one["commandId"]) == (200, "SUCCESS")
    assert status("stream/KEPT2/create")[0] == 404
    assert http.get("/status/stream/KEPT2").json()["error_code"] == 40400


def test_statements_before_an_error_stay_and_are_in_its_entities(http: httpx2.Client) -> None:
    got = post(http, f"{STREAM.format('kept')} DROP STREAM nobody; SHOW STREAMS;")
    assert got.status_code == 400
    body = got.json()
    assert (body["@type"], body["error_code"], body["statementText"]) == (
        "statement_error",
        40001,
        "DROP STREAM nobody;",
    )
    assert [one["commandId"] for one in body["entities"]] == ["stream/KEPT/create"]
    assert http.get("/metastore/v1/sources/kept").json()["name"] == "KEPT"


@pytest.mark.parametrize(
    ("ksql", "code", "words"),
    [
        ("SELECT * FROM pages EMIT CHANGES;", 40002, "LIMIT n"),
        ("print 'pages' from beginning;", 40002, "treaty sql"),
        ("TERMINATE CSAS_X_1;", 40001, "DROP ends a query"),
        ("CREATE STREAM x (a INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON');", 40001, "JSON_SR"),
        ("CREATE STREAM x (a INT) WITH (KAFKA_TOPIC='x', FORMAT='delimited');", 40001, "DELIMITED"),
        ("CREATE STREAM x (a INT KEY) WITH (KAFKA_TOPIC='x', KEY_FORMAT='JSON', VALUE_FORMAT='AVRO');", 40001, "keys are JSON"),
        ("CREATE SOURCE CONNECTOR c WITH ('a'='b');", 40001, "Kafka Connect stays beside Treaty"),
        ("INSERT INTO x SELECT * FROM y;", 40001, "UNION ALL"),
        ("SHOW FUNCTIONS;", 40001, "Spark"),
        ("SHOW SUBJECTS;", 40001, "/metastore/v1/statements"),
        ("CREATE STREAM x (a INT;", 40001, "line 1"),
        ("ASSERT SCHEMA SUBJECT 'nobody';", 41700, "nobody"),
        ("CREATE STREAM x AS SELECT 1 AS a;", 50300, "planner"),
    ],
)  # fmt: skip
def test_what_is_not_taken_says_why_and_what_does_the_same(
    http: httpx2.Client, ksql: str, code: int, words: str
) -> None:
    got = post(http, f"SHOW TYPES; {ksql}")
    body = got.json()
    assert (got.status_code, body["@type"], body["error_code"]) == (code // 100, "statement_error", code)
    assert words in body["message"]
    assert ksql in body["statementText"]


def test_nothing_is_carried_out_where_a_later_statement_has_no_result(http: httpx2.Client) -> None:
    got = post(http, f"{STREAM.format('never')} SHOW SUBJECTS;")
    assert (got.status_code, got.json()["entities"]) == (400, [])
    assert http.get("/metastore/v1/sources/never").status_code == 404


@pytest.mark.parametrize("path", ["/query", "/query-stream", "/inserts-stream", "/close-query"])
def test_what_is_no_statement_is_refused_with_the_reason(http: httpx2.Client, path: str) -> None:
    got = http.post(path, json={"sql": "SELECT * FROM pages;"})
    assert (got.status_code, got.json()["@type"], got.json()["error_code"]) == (400, "generic_error", 40000)
    assert "Allowed: " in got.json()["message"]


def test_errors_of_http_have_the_shape_too(http: httpx2.Client) -> None:
    for body in (b"{", b"[]", b'{"ksql": 1}', b"\xff", b'{"streamsProperties": {}}'):
        got = http.post("/ksql", content=body, headers={"content-type": "application/vnd.ksql.v1+json"})
        assert (got.status_code, got.json()["error_code"]) == (400, 40000), body
    assert http.get("/ksql").json()["error_code"] == 40500
    assert http.get("/info/more").json()["error_code"] == 40400
    assert http.post("/ksql", content=b"x", headers={"content-type": "text/xml"}).json()["error_code"] == 41500


def test_the_media_type_is_ksqldbs_where_a_request_names_it(http: httpx2.Client) -> None:
    named = {"accept": "application/vnd.ksql.v1+json"}
    assert http.get("/info", headers=named).headers["content-type"] == "application/vnd.ksql.v1+json"
    assert http.get("/info").headers["content-type"] == "application/json"
    assert http.get("/ksql", headers=named).headers["content-type"] == "application/vnd.ksql.v1+json"


def test_variables_and_properties_of_a_request_are_read(http: httpx2.Client) -> None:
    sql = "CREATE STREAM ${name} (a INT) WITH (KAFKA_TOPIC='${topic}', VALUE_FORMAT='AVRO');"
    properties = {"auto.offset.reset": "earliest", "ksql.streams.num.stream.threads": 4}
    (created,) = done(http, sql, sessionVariables={"name": "varied", "topic": "t1"}, streamsProperties=properties)
    assert http.get("/metastore/v1/sources/varied").json()["place"] == "t1"
    assert [one["message"] for one in created["warnings"]] == [
        "the property ksql.streams.num.stream.threads of streamsProperties has no meaning here"
    ]
    wrong = post(http, sql, sessionVariables={"name": "v", "topic": "t"}, streamsProperties={"auto.offset.reset": "x"})
    assert wrong.json()["error_code"] == 40001


def test_a_request_that_comes_again_with_its_command_id_is_the_same_commands(http: httpx2.Client) -> None:
    body = {"ksql": f"{STREAM.format('again1')} SHOW STREAMS; {STREAM.format('again2')}"}
    first, again = (http.post("/ksql", json=body, headers={"treaty-command": "k-ksql"}).json() for _ in range(2))
    assert [one["@type"] for one in first] == ["currentStatus", "streams", "currentStatus"]
    assert [one.get("commandStatus") for one in first] == [one.get("commandStatus") for one in again]


@pytest.mark.parametrize(
    ("ksql", "text", "sent"),
    [
        ("create stream `a;b` (x int)", "CREATE STREAM `a;b` (X INT)", ["create stream `a;b` (x int)"]),
        ('describe "a""b`"', 'DESCRIBE `a"b```', ['describe "a""b`"']),
        ("insert into x values ('C:\\new; it''s')", "INSERT INTO X VALUES ('C:\\\\new; it''s')", ["insert into x values ('C:\\new; it''s')"]),
        (";; show tables -- a;b\n;/* c;\n */ show types", ";; SHOW TABLES       \n;     \n    SHOW TYPES", ["show tables -- a;b", "/* c;\n */ show types"]),
        ("drop ${name}; é", "DROP ${name}; é", ["drop ${name}", "é"]),
        ("show 'open;", "SHOW 'open;", ["show 'open;"]),
        ("-- nothing", "", []),
    ],
)  # fmt: skip
def test_a_text_of_ksqldb_is_translated_and_split(ksql: str, text: str, sent: list[str]) -> None:
    translated, statements = translate_text(ksql)
    assert translated.strip() == text.strip()
    assert [one.sent for one in statements] == sent


def test_what_clients_send_is_answered() -> None:
    """The requests that three clients in Python sent, byte for byte, to one server, one after the other."""
    with served("memory:") as running:
        url = httpx2.URL(running.url)
        for one in SENT:
            with socket.create_connection((url.host, url.port)) as connection:
                connection.sendall(one["sent"].replace("keep-alive", "close").encode())
                answer = b"".join(iter(lambda link=connection: link.recv(65536), b""))  # type: ignore[misc]
            head, _, body = answer.partition(b"\r\n\r\n")
            told = json.loads(body)
            kind = told.get("@type", "") if isinstance(told, dict) else told[0]["@type"]
            assert (int(head.split()[1]), kind) == (one["status"], one["answer"]), (one["client"], one["sent"], body)


def test_insert_writes_records_and_has_no_entity(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_node("memory:") as node:
            parts = ServerParts(destination=RecordDestinations(files=tmp_path))
            app = build_application(node, parts=parts)
            transport = httpx2.ASGITransport(app=app.dispatcher)
            async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
                made = "CREATE TABLE t (id BIGINT PRIMARY KEY, name VARCHAR) WITH (CONNECTOR='files', PATH='t', VALUE_FORMAT='AVRO');"
                rows = "INSERT INTO t VALUES (1, 'tea'); insert into t (name, id) values ('it''s', 2);"
                got = await http.post("/ksql", json={"ksql": made + rows})
                assert (got.status_code, [one["@type"] for one in got.json()]) == (200, ["currentStatus"]), got.text
                wrong = await http.post("/ksql", json={"ksql": "INSERT INTO t VALUES (1, 2);"})
                assert (wrong.status_code, wrong.json()["error_code"]) == (400, 40001)

    asyncio.run(run())
    assert len([*tmp_path.rglob("*.parquet")]) == 2


RULES = """
[basic]
file = "passwords"
[[rule]]
who = "user:root"
may = "admin"
[[rule]]
who = "user:reader"
may = "read"
sources = ["OPEN*", "open*"]
"""


def test_rights_are_those_of_statements(tmp_path: Path) -> None:
    write_passwords(tmp_path / "passwords", root="secret", reader="secret")
    (tmp_path / "rights.toml").write_text(RULES)

    async def ask(it: Door, who: str, ksql: str) -> tuple[int, Any]:
        return await it.ask("POST", "/ksql", basic(who) if who else None, {"ksql": ksql})

    async def run() -> None:
        async with door(ProtectionSettings(tmp_path / "rights.toml")) as it:
            status, body = await ask(it, "", "SHOW STREAMS;")
            assert (status, body["@type"], body["error_code"]) == (401, "generic_error", 40100)
            assert (await ask(it, "root", STREAM.format("open1") + STREAM.format("shut1")))[0] == 200
            status, body = await ask(it, "reader", "SHOW STREAMS;")
            assert [one["name"] for one in body[0]["streams"]] == ["OPEN1"]
            status, body = await ask(it, "reader", STREAM.format("open2"))
            assert (status, body["@type"], body["error_code"]) == (403, "statement_error", 40300)
            shown = await it.ask("POST", "/metastore/v1/statements", basic("reader"), {"sql": "DESCRIBE shut1"})
            assert (await ask(it, "reader", "DESCRIBE shut1;"))[1]["message"].startswith(shown[1]["message"])
            assert (await ask(it, "reader", "DROP STREAM open1;"))[0] == 403
            assert await it.code("GET", "/healthcheck", basic("reader")) == 200

    asyncio.run(run())


@pytest.mark.parametrize(
    ("settings", "code"), [(ProtectionSettings(ddl=False), 40300), (ProtectionSettings(read_only=True), 40001)]
)
def test_a_server_without_changes_refuses_them_and_answers_questions(settings: ProtectionSettings, code: int) -> None:
    async def run() -> None:
        async with door(settings) as it:
            for ksql in (STREAM.format("s"), ADDRESS):
                status, body = await it.ask("POST", "/ksql", None, {"ksql": ksql})
                assert (status, body["@type"], body["error_code"]) == (code // 100, "statement_error", code)
            assert await it.code("POST", "/ksql", None, {"ksql": "SHOW STREAMS; SHOW TYPES;"}) == 200

    asyncio.run(run())
