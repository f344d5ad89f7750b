"""Projects without a registry, at the corners: names that a query reads and their places, files of an export, locks, refusals, and what a check finds."""

from dataclasses import replace
from typing import Any

import pytest

from tests.behaviours.test_projects import project_of
from treaty import connect
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import Reason, Refusal
from treaty.core.sources import (
    FormerDefinition,
    ImportedQuery,
    Incarnation,
    QueryPlan,
    SchemaPin,
    Source,
    SourcePart,
    StoredType,
)
from treaty.metastore import Metastore
from treaty.metastore.execution.history import find_incarnation
from treaty.metastore.execution.pages import list_upstreams
from treaty.metastore.project.check import check_rows
from treaty.metastore.project.compilation import parse_lock
from treaty.metastore.project.export import FILE_CHARACTERS, _list_pinned, _path, _print_all
from treaty.metastore.project.lock import LockedObject, ProjectLock, compare_locks
from treaty.metastore.project.order import list_read_names
from treaty.metastore.project.plan import PlannedStep, ProjectPlan, describe_refusals

PIN = SchemaPin(".", "x", 1, 0, 1)
SOURCE = Source("STREAM", "S", "CREATE", (), 1, place="t")

READ = {
    "SELECT * FROM a": ["a"],
    "SELECT * FROM STREAM A, `b c`, TABLE d": ["a", "b c", "d"],
    "SELECT * FROM range(10)": [],
    "SELECT * FROM a JOIN range(10) r JOIN b ON true": ["a", "b"],
    "SELECT * FROM a, LATERAL explode(x), b": ["a", "b"],
    "SELECT * FROM a JOIN LATERAL (SELECT * FROM b) c": ["a", "b"],
    "SELECT * FROM a LATERAL VIEW explode(x) t AS y": ["a"],
    "SELECT a, b FROM c WHERE d IN (SELECT e FROM f)": ["c", "f"],
    "WITH w AS (SELECT 1 FROM a) SELECT * FROM w JOIN b": ["a", "b"],
    "SELECT * FROM (SELECT * FROM a, b) x, c": ["a", "b", "c"],
    "SELECT * FROM (a)": ["a"],
    "FROM a SELECT b, c": ["a"],
    "SELECT max(a, b) FROM c GROUP BY d, e UNION ALL SELECT f FROM g": ["c", "g"],
}


@pytest.mark.parametrize("body", READ)
def test_names_that_a_query_reads_stand_where_a_table_does(body: str) -> None:
    assert list(list_read_names(body)) == READ[body]


@pytest.mark.parametrize("before", ["", "SET START = 'latest'; ", "SET START = 'latest';\n  "])
@pytest.mark.parametrize("between", [" ", "\n", "\n   "])
def test_a_name_of_a_query_has_its_place_in_the_file(before: str, between: str) -> None:
    text = f"{before}CREATE STREAM s AS SELECT 1 FROM{between}Nope"
    (described,) = project_of(text).objects
    at = text.index("Nope")
    assert described.find_name("nope") == (text.count("\n") + 1, at - text.rfind("\n", 0, at))
    start = text.index("CREATE")
    assert described.find_name("other") == (described.line, described.column) == (before.count("\n") + 1, start - text.rfind("\n", 0, start))  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- exports


@pytest.mark.parametrize("length", [FILE_CHARACTERS - 1, FILE_CHARACTERS, FILE_CHARACTERS + 1])
def test_a_file_has_the_whole_name_as_long_as_it_may_be(length: int) -> None:
    name = "x" * length
    path = _path("STREAM", name)
    assert (path == f"streams/{name}.sql") is (length <= FILE_CHARACTERS)
    assert path.startswith(f"streams/{'x' * min(length, FILE_CHARACTERS)}")
    assert _path("TYPE", "A.b/c") == "types/a%2Eb%2Fc.sql"


def test_an_export_says_what_a_query_and_its_source_are_set_to() -> None:
    """A source whose query is to be planned has none that could pause."""
    query = Incarnation(1, 1, QueryPlan("SELECT 1"))
    for has_query in (False, True):
        for desired in ("RUNNING", "PAUSED"):
            for protected in (False, True):
                source = replace(SOURCE, query=query if has_query else None, desired=desired, protected=protected)
                if not has_query:
                    source = replace(source, imported=ImportedQuery("q1", "SELECT 1"))
                text = _print_all(source, ())
                assert ("PAUSE S;" in text) is (has_query and desired == "PAUSED")
                assert ("SET PROTECTED = TRUE;" in text) is protected


def test_both_sides_of_a_source_have_pins() -> None:
    pinned, plain = SourcePart("AVRO", pin=PIN), SourcePart("KAFKA")
    for key in (None, plain, pinned):
        for value in (None, pinned):
            sides = [side for side, _ in _list_pinned(replace(SOURCE, key=key, value=value))]
            assert sides == ["key"] * (key is pinned) + ["value"] * (value is pinned)


# ---------------------------------------------------------------------------------------------------------------- locks

FACTS: dict[str, str | int] = {"version": 1, "schema_id": 2, "generation": 3, "revision": 4, "definition": "INT"}


@pytest.mark.parametrize("fact", FACTS)
def test_what_has_moved_is_said_by_the_fact_that_is_another_one(fact: str) -> None:
    old = LockedObject("source", "s", tuple(FACTS.items()))
    new = replace(old, facts=tuple((FACTS | {fact: 99}).items()))
    (moved,) = compare_locks(ProjectLock((old,)), ProjectLock((new,)))
    assert moved.old != moved.new
    assert f"{fact.replace('_', ' ')} 99" in moved.new
    for lock, other in ((ProjectLock((old,)), ProjectLock()), (ProjectLock(), ProjectLock((old,)))):
        (gone,) = compare_locks(lock, other)
        assert (bool(gone.old), bool(gone.new)) == (lock.objects != (), other.objects != ())


@pytest.mark.parametrize("text", ["", "format = 2", "format = '1'", "[source.s]\nkind = 'STREAM'"])
def test_a_lock_of_no_or_another_format_is_none(text: str) -> None:
    with pytest.raises(Refusal, match="its format is not 1"):
        parse_lock(text, "treaty.lock")
    assert parse_lock("format = 1", "treaty.lock") == ProjectLock()


@pytest.mark.parametrize("message", ["no; say x", "no"])
def test_a_refusal_says_what_is_allowed_once(message: str) -> None:
    step = PlannedStep("create", "STREAM", "s", refusal=Reason("RULE", message, allowed="say x"))
    lines = list(describe_refusals(ProjectPlan((step,))))
    assert "\n".join(lines).count("say x") == 1


# --------------------------------------------------------------------------------------------------------------- checks


def test_bad_rows_belong_to_their_source_whatever_the_case_of_its_name() -> None:
    """The stream has the key of its source."""
    says = replace(SOURCE, properties=(("BAD_ROWS", "true"),))
    bad = replace(SOURCE, name="S_bad", origin="s", connector="delta")
    assert list(check_rows([says, bad], [])) == []
    assert [one.rule for one in check_rows([says], [])] == ["BAD_ROWS_MISSING"]
    assert [one.rule for one in check_rows([bad], [])] == ["BAD_ROWS_LEFT"]


@pytest.mark.parametrize(
    ("second", "differs"),
    [
        ({}, False),
        ({"value": SourcePart("JSON")}, True),
        ({"value": SourcePart("AVRO", "header")}, True),
        ({"value": None}, False),
        ({"value": SourcePart("JSON"), "cluster": "west"}, False),
        ({"value": SourcePart("JSON"), "place": "u"}, False),
        ({"value": SourcePart("JSON"), "connector": "files"}, False),
    ],
)
def test_two_sources_over_one_topic_read_its_values_alike(second: dict[str, Any], differs: bool) -> None:  # noqa: FBT001
    first = replace(SOURCE, value=SourcePart("AVRO"))
    other = replace(first, name="r", **second)
    for sources in ([first, other], [other, first]):
        assert [one.rule for one in check_rows(sources, [])] == ["TOPIC_FORMATS"] * differs


def test_types_that_are_not_there_are_found_for_sources_and_types() -> None:
    source, type_ = replace(SOURCE, types=("t", "u")), StoredType("T", "STRUCT<a: U, b: V>", 1, ("u", "v"))
    found = [(one.kind, one.name, one.message.split()[4]) for one in check_rows([source], [type_])]
    assert found == [("STREAM", "S", "u,"), ("TYPE", "T", "u,"), ("TYPE", "T", "v,")]


# ------------------------------------------------------------------------------------------------------ rows and history


def test_what_a_type_needs_is_named_as_it_is_spelled() -> None:
    exchange = list_upstreams()
    assert next(exchange) == m.ListSources(upstreams=True)
    assert exchange.send(m.Sources((), upstreams=(m.Dependent("TYPE", "T", "S", "refuses"),))) == m.ListTypes()
    with pytest.raises(StopIteration) as end:
        exchange.send(m.Types((StoredType("T", "U", 1, ("u", "gone")), StoredType("U", "INT", 2))))
    assert [(name, kind, one.name) for name, kind, one in end.value.value] == [("S", "SOURCE", "T"), ("T", "TYPE", "U"), ("T", "TYPE", "gone")]  # fmt: skip


def test_of_rows_of_one_incarnation_the_newest_is_found() -> None:
    """A query that was changed and continues has its number again."""
    plan = QueryPlan("SELECT 1")
    former = (Incarnation(5, 2, plan, "second"), Incarnation(5, 1, plan, "first"), Incarnation(4, 1, plan, "old"))
    defined = [replace(one, definition=FormerDefinition("CREATE", ())) for one in former]
    source = replace(SOURCE, query=Incarnation(5, 3, plan, "third"), previous=tuple(defined))
    for number, author in ((5, "third"), (4, "old")):
        exchange = find_incarnation("s", number)
        next(exchange)
        with pytest.raises(StopIteration) as end:
            exchange.send(m.SourceFound(source))
        assert end.value.value["author"] == author
    exchange = find_incarnation("s", 3)
    next(exchange)
    with pytest.raises(Refusal, match="keeps no incarnation 3"):
        exchange.send(m.SourceFound(source))


def test_a_condition_names_each_column_of_a_key_once() -> None:
    create = "CREATE TABLE t (k STRING PRIMARY KEY, l INT PRIMARY KEY, v INT) WITH (KAFKA_TOPIC = 't', FORMAT = 'AVRO')"
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        metastore.run(create)
        for words in ("k = 'x' AND K = 'y' AND l = 1", "k = 'x' AND l = 1 AND l = 1", "k = 'x'", "k = 'x' AND l = 1 AND v = 1"):  # fmt: skip
            for statement in ("DELETE FROM t WHERE {}", "UPDATE t SET v = 1 WHERE {}"):
                with pytest.raises(Refusal) as refused:
                    metastore.run(statement.format(words), dry_run=True)
                assert refused.value.reason.rule == "KEY_CONDITION"
        assert metastore.run("DELETE FROM t WHERE L = 1 AND k = ''", dry_run=True)[0].message.startswith("1 record")
