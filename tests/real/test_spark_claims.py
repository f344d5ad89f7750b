"""What the planner takes for granted about Spark, each claim with its proof. `docs/reference/spark-claims.md` lists the sentences.

On another Spark a claim that fails says what has to be thought about again.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from treaty.spark.planner.trees import read_tree

pytestmark = pytest.mark.jvm
HIDDEN = (
    "WITH c AS (SELECT {} AS x FROM s) SELECT x FROM c",
    "SELECT CASE WHEN id > 1 THEN {} END AS x FROM s",
    "SELECT transform(array(1), one -> {}) AS x FROM s",
    "SELECT * FROM VALUES (1, {}) AS v(a, b)",
    "SELECT id FROM s WHERE id IN (SELECT {} FROM t)",
    "SELECT (SELECT max({}) FROM t) AS x FROM s",
    "SELECT id, x FROM s LATERAL VIEW explode(array({})) AS x",
    "SELECT id, x FROM s, LATERAL (SELECT {} AS x)",
    "SELECT sum(id) FILTER (WHERE {} > 1) AS x FROM s",
    "SELECT id FROM s GROUP BY id HAVING {} > 1",
    "FROM s |> EXTEND {} AS x |> SELECT x",
    "SELECT row_number() OVER (PARTITION BY {} ORDER BY id) AS x FROM s",
)
"""Places of a call in a query."""


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with a streaming view s, a view of a batch t, and settings of the planner."""
    opened = spark.newSession()
    for name, value in {"spark.sql.runSQLOnFiles": "false", "spark.sql.adaptive.enabled": "false"}.items():
        opened.conf.set(name, value)
    folder = tmp_path_factory.mktemp("claims")
    columns = "id INT, carrier STRING, ts TIMESTAMP, s STRUCT<a: INT, b: STRING>, parts ARRAY<STRUCT<x: INT, y: INT>>"
    for name in ("s", "s2"):
        (folder / name).mkdir()
        opened.readStream.schema(columns).parquet(str(folder / name)).createOrReplaceTempView(name)
    (folder / "t").mkdir()
    opened.read.schema(columns).parquet(str(folder / "t")).createOrReplaceTempView("t")
    yield opened
    for name in ("s", "s2", "t"):
        opened.catalog.dropTempView(name)


def parsed(session: SparkSession, text: str) -> Any:
    return session._jsparkSession.sessionState().sqlParser().parseQuery(text)


def analyzed(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()


def optimized(session: SparkSession, text: str) -> Any:
    return session._jsparkSession.sessionState().optimizer().execute(analyzed(session.sql(text)))


def check(session: SparkSession, text: str, mode: str) -> str:
    """What the checker of streaming plans says in a mode; empty where it takes the plan."""
    jvm: Any = session._jvm
    modes = jvm.org.apache.spark.sql.streaming.OutputMode
    try:
        jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker.checkForStreaming(
            analyzed(session.sql(text)), getattr(modes, mode)()
        )
    except PySparkException as error:
        return error.getCondition() or "refused"
    return ""


def test_stream_reads_a_streaming_view_and_no_other(session: SparkSession) -> None:
    """`FROM STREAM v` and `FROM STREAM(v)` read a temporary view of a streaming frame, and are an error for any other view."""
    assert session.sql("SELECT * FROM STREAM s").isStreaming
    assert session.sql("SELECT * FROM STREAM(s) AS x").isStreaming
    assert session.sql("SELECT * FROM s").isStreaming
    with pytest.raises(AnalysisException):
        session.sql("SELECT * FROM STREAM t")


def test_a_watermark_is_before_the_alias(session: SparkSession) -> None:
    """`WATERMARK ts DELAY OF …` is part of a query, before the alias; behind it, it is a syntax error."""
    assert session.sql("SELECT * FROM STREAM s WATERMARK ts DELAY OF INTERVAL 1 MINUTE AS x").isStreaming
    with pytest.raises(ParseException):
        session.sql("SELECT * FROM STREAM s AS x WATERMARK ts DELAY OF INTERVAL 1 MINUTE")


@pytest.mark.parametrize("place", range(len(HIDDEN)))
def test_the_json_of_a_parsed_plan_has_every_call(session: SparkSession, place: int) -> None:
    """`TreeNode.toJSON` of a parsed plan has every call of a function, wherever it is: in WITH, CASE, lambdas, VALUES, subqueries, HAVING."""
    text = HIDDEN[place].format("reflect('java.lang.System', 'nanoTime')")
    tree = read_tree(parsed(session, text).toJSON())
    assert any("reflect" in json.dumps(node.members.get("nameParts", "")) for node in tree.walk())


def test_parsing_runs_nothing(session: SparkSession) -> None:
    """A text that is parsed is not carried out: a command leaves nothing."""
    for text in (
        "CREATE TABLE claims (a INT) USING parquet",
        "SET spark.claims = 1",
        "BEGIN CREATE TABLE claims (a INT); END",
    ):
        try:
            parsed(session, text)
        except ParseException:
            continue
    assert not session.catalog.tableExists("claims")
    assert session.conf.get("spark.claims", "none") == "none"


def test_no_file_is_a_table(session: SparkSession, tmp_path: Path) -> None:
    """With `spark.sql.runSQLOnFiles` false no path is a table."""
    (tmp_path / "a.txt").write_text("secret")
    for form in ("text", "parquet", "csv", "json"):
        with pytest.raises(AnalysisException) as refused:
            session.sql(f"SELECT * FROM {form}.`{tmp_path}/a.txt`")
        assert (refused.value.getCondition() or "").startswith("TABLE_OR_VIEW_NOT_FOUND")


def test_sessions_share_no_views(session: SparkSession) -> None:
    """A new session has none of the temporary views of another one."""
    with pytest.raises(AnalysisException):
        session.newSession().sql("SELECT * FROM s")


def test_the_checker_says_which_modes_can_run(session: SparkSession) -> None:
    """`UnsupportedOperationChecker` says of an analyzed plan in which modes it can run, and nothing has to be started."""
    count = "SELECT carrier, count(*) AS n FROM s GROUP BY carrier"
    window = "SELECT window.start AS w, count(*) AS n FROM s WATERMARK ts DELAY OF INTERVAL 1 MINUTE GROUP BY window(ts, '1 minute')"
    sessions = window.replace("window", "session_window")
    assert check(session, count, "Append")
    assert not check(session, count, "Update")
    assert not check(session, window, "Append")
    assert not check(session, window, "Update")
    assert not check(session, sessions, "Append")
    assert check(session, sessions, "Update")
    assert check(session, "SELECT id FROM s ORDER BY id", "Append")


def test_the_checker_takes_what_grows_without_bound(session: SparkSession) -> None:
    """The checker takes joins without a bound, DISTINCT, HAVING, chance and the time: refusing them is Treaty's."""
    assert not check(session, "SELECT s.id FROM s JOIN s2 ON s.id = s2.id", "Append")
    assert not check(session, "SELECT DISTINCT id FROM s", "Update")
    assert not check(session, "SELECT carrier, count(*) AS n FROM s GROUP BY carrier HAVING count(*) > 1", "Update")
    assert not check(session, "SELECT rand() AS r, now() AS n FROM s", "Append")


def test_a_bound_of_a_join_is_known(session: SparkSession) -> None:
    """`StreamingJoinHelper.getStateValueWatermark` has a value where a condition bounds the rows that a join of streams keeps."""
    helper = session._jvm.org.apache.spark.sql.catalyst.analysis.StreamingJoinHelper  # type: ignore[union-attr]
    marked = "WATERMARK ts DELAY OF INTERVAL 1 MINUTE AS"
    for condition, is_bounded in (
        ("a.id = b.id", False),
        ("a.id = b.id AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR", True),
    ):
        join = (
            analyzed(session.sql(f"SELECT a.id FROM s {marked} a JOIN s2 {marked} b ON {condition}"))
            .children()
            .apply(0)
        )
        some = session._jvm.scala.Some(10**12)  # type: ignore[union-attr]
        left, right = join.left().outputSet(), join.right().outputSet()
        found = [
            helper.getStateValueWatermark(one, other, join.condition(), some).isDefined()
            for one, other in ((left, right), (right, left))
        ]
        assert found == [is_bounded, is_bounded]


def test_leaf_columns_are_those_of_a_scan(session: SparkSession) -> None:
    """The scans of an executed plan over empty Parquet files have the leaf columns that a query needs, of nested types too."""
    plan = session.sql("SELECT s.b AS b, part.y AS y FROM t LATERAL VIEW explode(parts) AS part WHERE id > 1")
    tree = read_tree(plan._jdf.queryExecution().executedPlan().toJSON())
    schemas = [node.members["requiredSchema"] for node in tree.walk() if node.kind == "FileSourceScanExec"]
    fields = {one["name"]: one["type"] for one in schemas[0]["fields"]}
    assert set(fields) == {"id", "s", "parts"}
    assert [one["name"] for one in fields["s"]["fields"]] == ["b"]
    assert [one["name"] for one in fields["parts"]["elementType"]["fields"]] == ["y"]


def test_a_name_of_spark_is_marked(session: SparkSession) -> None:
    """A column whose name Spark has made says so in its metadata (`__autoGeneratedAlias`)."""
    fields = json.loads(session.sql("SELECT id + 1, id + 1 AS two, count(*) FROM t GROUP BY ALL").schema.json())[
        "fields"
    ]
    assert ["__autoGeneratedAlias" in one["metadata"] for one in fields] == [True, False, True]


def test_a_plan_of_streams_is_optimized_without_a_start(session: SparkSession) -> None:
    """The optimizer takes a plan over streams, and its canonical text is the same in two sessions once ids are cut."""
    text = "SELECT carrier, count(*) AS n FROM s WHERE id > 1 GROUP BY carrier"
    assert "Aggregate" in optimized(session, text).canonicalized().toString()
    with pytest.raises(PySparkException):
        session.sql(text)._jdf.queryExecution().optimizedPlan()


def test_the_canonical_text_forgets_what_an_error_becomes(session: SparkSession) -> None:
    """The canonical text of an optimized plan is the same for `+` and `try_add`, and for `'a, b'` and `'a', 'b'`; the JSON has the literals."""

    def state(argument: str) -> Any:
        return optimized(session, f"SELECT carrier, max({argument}) AS n FROM s GROUP BY carrier").canonicalized()

    assert state("id + 1").toString().split("\n")[0] == state("try_add(id, 1)").toString().split("\n")[0]
    two, one = state("concat_ws('-', carrier, 'a', 'b')"), state("concat_ws('-', carrier, 'a, b')")
    assert two.toString().split("\n")[0] == one.toString().split("\n")[0]
    assert two.toJSON() != one.toJSON()


def test_some_texts_are_the_present_time(session: SparkSession) -> None:
    """`to_timestamp('now')`, `CAST('now' AS TIMESTAMP)` and `TIMESTAMP 'now'` are the time of the machine, and so no constants."""
    for form in ("to_timestamp('now')", "CAST('now' AS TIMESTAMP)", "TIMESTAMP 'now'", "to_date('today')"):
        text = optimized(session, f"SELECT {form} AS x FROM s").toString().split("\n")[0]
        assert "20" in text, text
        assert "now" not in text, text
        assert "today" not in text, text


def test_places_count_code_points(session: SparkSession) -> None:
    """The place of an error counts code points of the text, so a character beyond the basic plane is one."""
    text = "SELECT '😀' AS x, nobody AS y FROM s"
    with pytest.raises(AnalysisException) as refused:
        session.sql(text)
    context = refused.value.getQueryContext()[0]
    assert text[context.startIndex() : context.stopIndex() + 1] == "nobody"
