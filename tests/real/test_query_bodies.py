"""Bodies of queries planned by Spark: what is planned, what is refused, and which states are the same."""

import json
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from tests.query_bodies import NAMES, SOURCES, describe, list_led, list_refused, make_body, read_body
from treaty.client.connection import Connection
from treaty.core.limits import PLANNER_BODY_BYTES
from treaty.core.sources import SourceColumn
from treaty.metastore import Metastore, PlanningOptions
from treaty.spark import planner as planner_room
from treaty.spark.planner.bodies import BodyPlanner, parse_body
from treaty.spark.planner.codes import BODY_CODES
from treaty.spark.planner.functions import ALLOWED_FUNCTIONS, LAMBDA_FUNCTIONS, REFUSED_FUNCTIONS
from treaty.spark.planner.questions import BodyRefusedError, QueryBody, ReadableSource
from treaty.spark.planner.service.statements import StatementPlanner

pytestmark = pytest.mark.jvm
DEEP = {
    "parentheses": f"SELECT {'(' * 500}id{')' * 500} AS x FROM flights",
    "terms": f"SELECT {' + '.join(['id'] * 3000)} AS x FROM flights",
    "subqueries": "SELECT * FROM (" * 300 + "SELECT id FROM flights" + ")" * 300,
    "functions": f"SELECT {'upper(' * 400}carrier{')' * 400} AS x FROM flights",
    "bytes": f"SELECT id FROM flights WHERE carrier = '{'x' * PLANNER_BODY_BYTES}'",
    "names": f"SELECT id FROM flights WHERE carrier IN ({', '.join(map(repr, map(str, range(12_000))))})",
    "unions": " UNION ALL ".join(["SELECT id FROM flights"] * 2500),
    "doubled definitions": "WITH t0 AS (SELECT id FROM flights)"
    + "".join(f", t{n + 1} AS (SELECT * FROM t{n} UNION ALL SELECT * FROM t{n})" for n in range(40))
    + " SELECT * FROM t40",
}
"""Shapes that are large for their meaning."""
COUNT = "SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier"


@pytest.fixture(scope="module")
def planner(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> BodyPlanner:
    return BodyPlanner(spark, tmp_path_factory.mktemp("views"))


@pytest.mark.parametrize("name", NAMES)
def test_a_body_has_its_plan(planner: BodyPlanner, name: str) -> None:
    query, wanted = read_body(name)
    planned = planner.plan(query)
    assert describe(planned) == {member: wanted[member] for member in describe(planned)}
    assert planned.plan.body == query.text
    assert dict(planned.plan.settings)["spark.sql.session.timeZone"] == "UTC"


def list_names(spark: SparkSession) -> list[tuple[object, ...]]:
    """Databases, tables and views of the session, which other tests have used."""
    return [tuple(row) for words in ("DATABASES", "TABLES") for row in spark.sql(f"SHOW {words}").collect()]


def test_what_must_not_run_is_refused_before_anything_runs(planner: BodyPlanner, spark: SparkSession) -> None:
    wrong, before = [], list_names(spark)
    for one in list_refused():
        try:
            planner.plan(make_body(one.text, one.kind))
        except BodyRefusedError as refused:
            # Iceberg has a parser of its own, which parses commands too.
            codes = {one.code, "BODY_REFUSED"} if one.code == "BODY_SYNTAX" else {one.code}
            if refused.code not in codes or not refused.message:
                wrong.append((one, refused.code, refused.message))
        else:
            wrong.append((one, "planned", ""))
    assert not wrong
    assert list_names(spark) == before, "a body has made a table or a database, or left a view"


def test_words_of_other_systems_lead_to_the_form_that_works(planner: BodyPlanner) -> None:
    wrong = []
    for one in list_led():
        kind = "TABLE" if "GROUP BY" in one.text else "STREAM"
        with pytest.raises(BodyRefusedError) as refused:
            planner.plan(make_body(one.text, kind))
        error = refused.value
        is_there = one.text[error.start :].startswith(one.place) if error.start >= 0 else False
        if not (is_there and one.hint in error.hint and one.message in error.message):
            wrong.append((one.text, error.message, error.hint, one.text[error.start : error.end]))
    assert not wrong, "\n".join(map(str, wrong))


def test_a_refusal_has_no_trees_of_spark(planner: BodyPlanner) -> None:
    for text in (
        "SELECT id -> id AS x FROM flights",
        "SELECT transform(arr, (a, b, c) -> a) AS x FROM flights",
        "SELECT upper(e -> e) AS x FROM flights",
        "SELECT aggregate(arr, 0, x -> x) AS x FROM flights",
        "SELECT CASE WHEN id THEN e -> e END AS x FROM flights",
        "SELECT id FROM flights WHERE exists(arr, e -> e)",
        "SELECT id, (SELECT max(id) FROM carriers WHERE n > f.nobody) AS x FROM flights AS f",
    ):
        with pytest.raises(BodyRefusedError) as refused:
            planner.plan(make_body(text, "STREAM"))
        said = f"{refused.value.message} {refused.value.hint}"
        assert not re.search(r"#\d+|lambdafunction|unresolved operator|'Project|org\.apache", said), (text, said)


@pytest.mark.parametrize("shape", DEEP)
def test_what_is_too_large_is_refused(planner: BodyPlanner, shape: str) -> None:
    with pytest.raises(BodyRefusedError) as refused:
        planner.plan(make_body(DEEP[shape], "STREAM"))
    assert refused.value.code in {"BODY_TOO_LARGE", "BODY_SYNTAX"}
    planner.plan(make_body("SELECT id FROM flights", "STREAM"))


def test_a_refusal_says_where_it_is(planner: BodyPlanner) -> None:
    for text, part in (
        ("SELECT '😀' AS x, nobody AS y FROM flights", "nobody"),
        ("SELECT id FROM STREAM flihgts", "flihgts"),
        ("SELECT id,\n  now() AS y\nFROM flights", "now"),
        ("SELECT id\nFROM flights\nGROUPED BY id", "BY"),
        ("SELECT id, max(id) OVER (PARTITION BY id) AS x FROM flights", "OVER"),
        ("SELECT id FROM flights ORDER BY id", "ORDER BY"),
        ("SELECT id FROM flights LIMIT 3", "LIMIT"),
        ("SELECT id FROM flights WHERE carrier = :name", ":name"),
        ("SELECT id FROM flights JOIN text.`/etc/passwd` AS p ON true", "text.`/etc/passwd`"),
        ("SELECT id FROM flights WHERE carrier = CURRENT_USER", "CURRENT_USER"),
        ("SELECT id FROM flights WHERE ts > 'today'", "'today'"),
        ("SELECT id, repeat(carrier, 2000000000) AS x FROM flights", "repeat"),
        ("WITH RECURSIVE r AS (SELECT id FROM flights) SELECT * FROM r", "RECURSIVE"),
    ):
        with pytest.raises(BodyRefusedError) as refused:
            planner.plan(make_body(text, "STREAM"))
        assert text[refused.value.start :].startswith(part), (text, refused.value.message, refused.value.start)


def test_the_names_that_a_body_reads_are_those_of_sources(planner: BodyPlanner) -> None:
    text = "WITH late AS (SELECT * FROM STREAM Flights) SELECT * FROM late JOIN `odd names` AS o ON late.id = o.id WHERE id IN (SELECT id FROM x)"
    assert planner.list_reads(text) == ("Flights", "odd names", "x")


def test_states_are_the_same_where_the_plans_below_them_mean_the_same(planner: BodyPlanner) -> None:
    def state(text: str) -> tuple[str, str]:
        kind = "TABLE" if "GROUP" in text else "STREAM"
        found = planner.plan(make_body(text, kind)).plan.fingerprint
        return found.plan, found.stores

    same = (
        COUNT,
        "SELECT carrier, n + 1 AS n FROM (SELECT carrier, count(*) AS n FROM flights GROUP BY carrier)",
        "WITH c AS (SELECT carrier, count(1) AS x FROM STREAM flights GROUP BY 1) SELECT upper(carrier) AS u, carrier, x FROM c",
    )
    assert len({state(text) for text in same}) == 1
    others = (
        COUNT,
        "SELECT carrier, count(delay) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT carrier, count(*) AS n FROM STREAM flights WHERE delay > 1 GROUP BY carrier",
        "SELECT carrier, count(*) AS n FROM STREAM flights WHERE delay > 2 GROUP BY carrier",
        "SELECT upper(carrier) AS carrier, count(*) AS n FROM STREAM flights GROUP BY upper(carrier)",
        "SELECT carrier, sum(delay + 1) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT carrier, sum(try_add(delay, 1)) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT carrier, max(hash(carrier, 1)) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT carrier, max(hash(carrier, 1L)) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT carrier, max(hash(carrier, '1')) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT carrier, max(concat_ws('-', s.b, 'a, b')) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT carrier, max(concat_ws('-', s.b, 'a', 'b')) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT carrier, max(to_timestamp(s.b)) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT carrier, max(try_to_timestamp(s.b)) AS n FROM STREAM flights GROUP BY carrier",
        "SELECT window.start AS w, count(*) AS n FROM STREAM gates GROUP BY window(ts, '1 minute')",
        "SELECT window.start AS w, count(*) AS n FROM STREAM gates GROUP BY window(ts, '2 minutes')",
    )
    states = [state(text) for text in others]
    assert len(set(states)) == len(others), [text for text in others if states.count(state(text)) > 1]
    assert state("SELECT id FROM flights") == ("", "")
    spellings = (
        "SELECT carrier, sum(try_add(delay, 1)) AS n FROM STREAM flights WHERE try_add(delay, 1) > 2 GROUP BY carrier",
        "WITH a AS (SELECT * FROM flights WHERE 2 < try_add(delay, 1)) SELECT upper(carrier) AS u, carrier, sum(try_add(delay, 1)) AS x FROM a GROUP BY carrier",
    )
    assert len({state(text) for text in spellings}) == 1, "another spelling is the same state beside try_ too"
    modes = [
        f"SELECT carrier, max({call}) AS n FROM STREAM flights GROUP BY carrier"
        for call in (
            "delay * 2", "try_multiply(delay, 2)", "delay - 2", "try_subtract(delay, 2)", "delay % 2", "try_mod(delay, 2)", "delay / 2",
            "try_divide(delay, 2)", "int(carrier)", "try_cast(carrier AS INT)", "arr[delay].x", "try_element_at(arr, delay).x",
            "try_add(delay * 2, 1)", "try_add(try_multiply(delay, 2), 1)",
        )
    ]  # fmt: skip
    assert len({state(text) for text in modes}) == len(modes), "an error that becomes null is another state"
    tried = "SELECT {0}.carrier, sum(try_add({0}.delay, 1)) AS n FROM STREAM flights AS {0} GROUP BY {0}.carrier"
    assert state(tried.format("f")) == state(tried.format("other")), "names are no part of a state, also beside try_"


OTHER_VALUES = {
    "an array": ("array_contains(array('a,b'), carrier)", "array_contains(array('a', 'b'), carrier)"),
    "a null": ("array_contains(array('null', NULL), carrier)", "array_contains(array(NULL, 'null'), carrier)"),
    "a struct": ("s = struct(1, 'p')", "s = struct(2, 'p')"),
    "fields": ("struct(carrier, s.b) = struct('p,q', 'b')", "struct(carrier, s.b) = struct('p', 'q,b')"),
    "a set": (f"carrier IN ('a, b', 'c', {str([*'defghijklm'])[1:-1]})", f"carrier IN ('a', 'b, c', {str([*'defghijklm'])[1:-1]})"),
    "ids": tuple(f"carrier IN ('123e4567-e89b-12d3-a456-42661417400{last}', {str([*'defghijklm'])[1:-1]})" for last in (0, 1)),
    "patterns": ("carrier LIKE ANY ('a_b, c_d')", "carrier LIKE ANY ('a_b', 'c_d')"),
    "bytes": ("encode(carrier, 'utf-8') = X'01'", "encode(carrier, 'utf-8') = X'02'"),
    "arrays of bytes": tuple(f"array_contains(array(X'01', X'0{last}'), encode(carrier, 'utf-8'))" for last in (2, 3)),
    "rows": tuple(f"carrier IN (SELECT c FROM VALUES ('a'), ('{last}') AS t(c))" for last in "bc"),
}  # fmt: skip
"""Conditions that differ in a constant that Spark prints as another one, or not at all."""


def test_states_of_other_constants_are_other_ones_and_the_same_in_another_session(
    planner: BodyPlanner, spark: SparkSession, tmp_path: Path
) -> None:
    def states(by: BodyPlanner, pair: tuple[str, ...]) -> list[str]:
        texts = (f"SELECT carrier, count(*) AS n FROM flights WHERE {one} GROUP BY carrier" for one in pair)
        return [by.plan(make_body(text, "TABLE")).plan.fingerprint.plan for text in texts]

    found = {name: states(planner, pair) for name, pair in OTHER_VALUES.items()}
    assert [name for name, (one, other) in found.items() if one == other] == []
    again = BodyPlanner(spark.newSession(), tmp_path)
    assert {name: states(again, pair) for name, pair in OTHER_VALUES.items()} == found


def test_what_is_not_large_and_what_can_be_compared_is_planned(planner: BodyPlanner) -> None:
    many = " AND ".join(f"delay <> {number}" for number in range(40))
    chain = ", ".join(
        f"t{number} AS (SELECT * FROM {f't{number - 1}' if number else 'flights'} WHERE {many})" for number in range(20)
    )
    for text in (
        f"WITH {chain} SELECT id FROM t19",
        f"WITH `on` AS (SELECT id FROM flights WHERE {many} AND {many}) SELECT id FROM `on`",
        "SELECT format_string('%%2000000 %s', carrier) AS x FROM flights",
        "SELECT lpad(rpad(carrier, 2000, ' '), 2000, ' ') AS x FROM flights",
    ):
        planner.plan(make_body(text, "STREAM"))
    for key in ("named_struct('VARIANT_ID', carrier)", "named_struct('VARIANT', carrier, 'MAP', delay)"):
        assert planner.plan(
            make_body(f"SELECT {key} AS k, count(*) AS n FROM flights GROUP BY {key}", "TABLE")
        ).plan.key == ("k",)
    with pytest.raises(BodyRefusedError) as refused:
        planner.plan(make_body("SELECT array(m) AS k, count(*) AS n FROM flights GROUP BY array(m)", "TABLE"))
    assert refused.value.code == "OUTPUT_TYPE"


def test_a_state_does_not_depend_on_columns_that_the_body_does_not_need(
    planner: BodyPlanner, spark: SparkSession, tmp_path: Path
) -> None:
    more = tuple(replace(one, columns=(SourceColumn("first", "DATE"), *reversed(one.columns))) for one in SOURCES)
    other = BodyPlanner(spark, tmp_path)
    query = make_body(COUNT, "TABLE")
    assert other.plan(replace(query, sources=more)).plan.fingerprint == planner.plan(query).plan.fingerprint
    again = tuple(replace(one, generation=one.generation + 10) for one in SOURCES)
    assert other.plan(replace(query, sources=again)).plan.fingerprint != planner.plan(query).plan.fingerprint


def test_every_function_of_the_lists_is_one_of_spark(spark: SparkSession) -> None:
    there = {row[0].lower() for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    words = {"extract", "timestampadd", "timestampdiff", "localtime"}  # which the parser of Spark knows
    assert ALLOWED_FUNCTIONS - there - words == set()
    assert set(REFUSED_FUNCTIONS) - there - words == set()
    assert not ALLOWED_FUNCTIONS & set(REFUSED_FUNCTIONS)


def test_every_function_of_the_list_passes_the_check_of_a_parsed_body(spark: SparkSession) -> None:
    refused = []
    for name in sorted(ALLOWED_FUNCTIONS):
        for arguments in ("id", "id, 1", "*", *(["id, x -> x"] if name in LAMBDA_FUNCTIONS else ())):
            with suppress(ParseException):  # some have words between their arguments
                try:
                    parse_body(spark, f"SELECT {name}({arguments}) AS x FROM flights")
                except BodyRefusedError as error:
                    refused.append((name, arguments, error.message))
    assert not refused


def test_every_code_of_a_refusal_is_on_the_page() -> None:
    folder = Path(planner_room.__file__).parent
    texts = [one.read_text() for one in folder.rglob("*.py") if one.name != "codes.py"]
    raised = {code for text in texts for code in re.findall(r'BodyRefusedError\(\s*"([A-Z_]+)"', text)}
    assert raised | {one.code for one in list_refused()} <= set(BODY_CODES)
    assert [code for code in BODY_CODES if not any(f'"{code}"' in text for text in texts)] == []


ORDERS = ReadableSource(
    "orders", "STREAM", 90, (SourceColumn("id", "BIGINT", nullable=False), SourceColumn("total", "INT", nullable=False), SourceColumn("note", "STRING"))
)  # fmt: skip
NAMES_OF = ReadableSource("names", "TABLE", 91, (SourceColumn("code", "BIGINT", nullable=False, role="key"), SourceColumn("name", "STRING", nullable=False)), is_joinable=True)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "text", "required"),
    [
        ("STREAM", "SELECT id, id + 1 AS next, note, coalesce(note, '') AS text FROM STREAM orders WHERE total > 1", "id next text"),
        ("STREAM", "SELECT o.id AS id, n.name AS name FROM STREAM orders AS o LEFT JOIN names AS n ON o.id = n.code", "id"),
        ("STREAM", "SELECT o.note AS note, n.name AS name FROM STREAM orders AS o JOIN names AS n ON o.id = n.code", "name"),
        ("TABLE", "SELECT id, sum(total) AS total, max(total) AS most, count(note) AS n FROM STREAM orders GROUP BY id", "id n"),
        ("STREAM", "SELECT id, 1 AS one FROM STREAM orders UNION ALL SELECT total AS id, NULL AS one FROM STREAM orders", "id"),
        ("STREAM", "SELECT id, part FROM STREAM orders LATERAL VIEW OUTER explode(array(total)) AS part", "id"),
        ("STREAM", "SELECT id, x FROM STREAM orders LEFT JOIN LATERAL explode(array(total)) AS t(x) ON x > 1", "id"),
        ("STREAM", "SELECT id, CASE WHEN total > 1 THEN 1 END AS a, CASE WHEN total > 1 THEN 1 ELSE 0 END AS b, try_divide(total, 0) AS c FROM STREAM orders", "id b"),
        ("TABLE", "SELECT id, sum(total) FILTER (WHERE total > 9) AS s, count(total) FILTER (WHERE total > 9) AS n, collect_list(note) AS notes FROM STREAM orders GROUP BY id", "id n notes"),
    ],
)  # fmt: skip
def test_a_column_that_is_never_null_comes_out_so(planner: BodyPlanner, kind: str, text: str, required: str) -> None:
    planned = planner.plan(QueryBody("result", kind, text, (ORDERS, NAMES_OF)))
    assert [one.name for one in planned.columns if not one.nullable] == required.split()


def test_a_column_without_nulls_is_required_in_the_schema_and_stays_what_it_was(
    planner: BodyPlanner, registry: Connection
) -> None:
    metastore = Metastore(registry.registry, planning=PlanningOptions(StatementPlanner(planner)))
    metastore.run(
        "CREATE STREAM orders (id BIGINT NOT NULL, note STRING) WITH (KAFKA_TOPIC = 'orders', VALUE_FORMAT = 'AVRO')"
    )
    metastore.run(
        "CREATE STREAM documents (id BIGINT NOT NULL) WITH (KAFKA_TOPIC = 'documents', VALUE_FORMAT = 'JSON')"
    )
    for name, source in (("ids", "orders"), ("maybe", "documents")):
        metastore.run(f"CREATE STREAM {name} WITH (VALUE_FORMAT = 'AVRO') AS SELECT id FROM STREAM {source}")
    texts = [json.loads(registry.version(f"{name}-value", -1).text)["fields"][0] for name in ("ids", "maybe")]
    assert [one["type"] for one in texts] == ["long", ["null", "long"]], "a member of a document may be missing"
    metastore.run(
        "CREATE OR REPLACE STREAM maybe WITH (VALUE_FORMAT = 'AVRO') AS SELECT coalesce(id, 0) AS id FROM STREAM documents"
    )
    assert metastore.describe("maybe").source.columns[0].nullable, "rows before it have nulls"
