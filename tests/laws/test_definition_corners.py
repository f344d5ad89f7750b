"""What statements say of sources, at the corners: by side and property, in which order schemas are taken, and words of changes and rows."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.behaviours.test_projects import STREAM, project_of
from treaty import connect
from treaty.core.messages.metastore.assessments import ChangeAssessment, LostColumn
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid, Refusal
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourceRead
from treaty.core.state.columns import Scalar
from treaty.metastore import Metastore
from treaty.metastore.columns.sides import SideRequest, settle_side
from treaty.metastore.compared_results import ComparedRow, ResultComparison, RowCounts, list_comparison
from treaty.metastore.definitions import planned_request, side_request
from treaty.metastore.execution.explanation import _column_row, _list_assessment_rows, _lost_row, _read_row
from treaty.metastore.execution.planner import _create_of
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.execution.topic_statements import describe_assertion
from treaty.metastore.project.order import list_inferred_sides, list_written_subjects
from treaty.metastore.project.start import read_project_start
from treaty.metastore.records.destinations import _refuse_times
from treaty.metastore.records.literals import UnfitLiteralError, cast_literal
from treaty.metastore.records.selection import print_cells
from treaty.metastore.records.tables import writer_of
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import AssertTopicStatement, OnceStatement
from treaty.metastore.sql.values import ArrayLiteral, MapLiteral, StructLiteral, TimeLiteral

CREATE = "CREATE STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC = 't'{})"


def statement_of(sql: str) -> Any:
    (parsed,) = parse_script(sql).statements
    return parsed.value


# -------------------------------------------------------------------------------------------------- properties of a side

SAID: dict[str, tuple[str, Any]] = {
    "_FORMAT = 'JSON'": ("format", "JSON"),
    "_SCHEMA_ID = 7": ("schema_id", 7),
    "_SCHEMA_FULL_NAME = 'a.B'": ("full_name", "a.B"),
    "_PROTOBUF_NULLABLE_REPRESENTATION = 'WRAPPER'": ("wrappers", True),
    "_SUBJECT = 'u'": ("subject", subject_of("u")),
}
"""What follows the word of a side in a property, and what the request of that side has then."""


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("side", ["key", "value"])
def test_a_property_of_one_side_says_nothing_of_the_other(said: str, side: Any) -> None:
    member, value = SAID[said]
    other: Any = "value" if side == "key" else "key"
    plain, named = (statement_of(CREATE.format(more)) for more in ("", f", {side.upper()}{said}"))
    assert getattr(side_request(named, side, {}), member) == value
    assert side_request(named, other, {}) == side_request(plain, other, {})
    assert getattr(side_request(plain, side, {}), member) != value


@pytest.mark.parametrize(("word", "wrapped"), [("", None), (", WRAP_SINGLE_VALUE = 'true'", True), (", WRAP_SINGLE_VALUE = 'false'", False)])  # fmt: skip
def test_values_are_wrapped_as_a_statement_says_and_keys_as_their_schema_has_it(word: str, wrapped: Any) -> None:
    statement = statement_of(CREATE.format(word))
    assert [side_request(statement, side, {}).wrapped for side in ("value", "key")] == [wrapped, None]


@pytest.mark.parametrize("format_", ["NONE", "KAFKA"])
@pytest.mark.parametrize(("said", "word"), [({"schema_id": 0}, "KEY_SCHEMA_ID"), ({"schema_id": 7}, "KEY_SCHEMA_ID"), ({"full_name": "R"}, "KEY_SCHEMA_FULL_NAME")])  # fmt: skip
def test_a_key_without_a_schema_names_none(format_: str, said: dict[str, Any], word: str) -> None:
    with pytest.raises(Invalid) as refused:
        next(settle_side(SideRequest("key", format_, subject_of("s-key"), **said)))
    assert (refused.value.reason.rule, refused.value.reason.path) == ("SOURCE_FORMAT", word)


KEYS = {"": False, ", KEY_SUBJECT = 'x'": True, ", KEY_FORMAT = 'AVRO'": True, ", KEY_SCHEMA_ID = 7": True, ", KEY_FORMAT = 'NONE'": False, ", KEY_FORMAT = 'KAFKA'": False}  # fmt: skip


@pytest.mark.parametrize("says", KEYS)
@pytest.mark.parametrize("columns", ["", "(v INT) ", "(k INT KEY) ", "(k INT KEY, v INT) "])
def test_sides_come_from_schemas_that_are_named_and_not_declared(says: str, columns: str) -> None:
    statement = statement_of(f"CREATE STREAM s {columns}WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO'{says})")
    expected = ["key"] * (KEYS[says] and "KEY" not in columns) + ["value"] * ("v INT" not in columns)
    assert list(list_inferred_sides(statement)) == expected
    declared = ["t-key"] * ("KEY" in columns) + ["t-value"] * ("v INT" in columns)
    named = ["x" if "x" in says and one == "t-key" else one for one in declared]
    assert list(map(str, list_written_subjects(statement))) == named
    for elsewhere in (replace(statement, body="SELECT 1"), replace(statement, properties=(("CONNECTOR", "delta"), ("PATH", "t")))):  # fmt: skip
        assert list(list_inferred_sides(elsewhere)) == []
    assert len(list(list_written_subjects(replace(statement, body="SELECT 1")))) == 2


# ------------------------------------------------------------------------------------------------------------- queries

READS = (SourceRead("first", 1), SourceRead("second", 2))


def test_a_query_has_the_format_of_the_first_source_that_it_reads() -> None:
    statement = statement_of("CREATE STREAM q AS SELECT 1")
    assert next(planned_request(statement, "", statement.columns, QueryPlan("SELECT 1", READS))) == DescribeSource("first")  # fmt: skip


@pytest.mark.parametrize("kind", ["STREAM", "TABLE"])
def test_a_query_that_is_run_once_has_the_key_of_a_table_as_it_is(kind: str) -> None:
    columns = (SourceColumn("k", "INT", nullable=False, role="key"), SourceColumn("l", "STRING", role="key"), SourceColumn("v", "INT"))  # fmt: skip
    create = _create_of(OnceStatement("t", "SELECT 1"), Source(kind, "T", "", columns, 1))
    keys = [("k", "key", False), ("l", "key", True)] if kind == "TABLE" else []
    assert [(one.name, one.role, one.nullable) for one in create.columns] == keys
    assert (create.kind, create.name, create.body, create.or_replace) == (kind, "T", "SELECT 1", False)


@pytest.mark.parametrize("former", [(), (8,), (8, 5)])
def test_batches_are_those_of_the_query_or_of_what_collects_bad_rows(former: tuple[int, ...]) -> None:
    plain = Source("STREAM", "s", "", (), 9, former=former)
    assert writer_of(plain) == ""
    assert writer_of(replace(plain, origin="o")) == f"treaty-bad-{former[-1] if former else 9}"


# ------------------------------------------------------------------------------------------------------------ words


@pytest.mark.parametrize("hidden", [0, 1, 2])
@pytest.mark.parametrize("readers", [(), ("q",), ("q", "r")])
def test_who_reads_a_column_that_goes_is_said_with_those_that_are_not_seen(hidden: int, readers: tuple[str, ...]) -> None:  # fmt: skip
    lost = LostColumn("c", "INT", "", readers, hidden)
    words = [", ".join(readers)] * bool(readers) + [f"{hidden} that you may not see"] * bool(hidden)
    assert _lost_row(lost) == ("reader loses", "c", f"INT goes; read by {' and '.join(words)}")
    assert "INT becomes BIGINT; " in _lost_row(replace(lost, new="BIGINT"))[2]


@pytest.mark.parametrize("role", ["value", "key", "header"])
@pytest.mark.parametrize("nullable", [False, True])
def test_a_column_is_explained_with_null_and_role(role: str, *, nullable: bool) -> None:
    detail = f"INT{'' if nullable else ' NOT NULL'}{'' if role == 'value' else f' {role.upper()}'}"
    assert _column_row(SourceColumn("c", "INT", nullable, role)) == ("column", "c", detail)


@pytest.mark.parametrize("number", [0, 1, 2, 1_000])
def test_a_comparison_counts_each_kind_of_rows_by_itself(number: int) -> None:
    counts = RowCounts(11, 12, 13, 14, 15, 16)
    sample = (ComparedRow("differs", (("k", "1"),), changes=(("v", "2", "3"),), times=number),)
    compared = ResultComparison("batches", (("s", "all"),), ("k",), counts, (("v", number),), ("gone",), ("new",), sample)  # fmt: skip
    rows = list(list_comparison(compared))
    assert [int(detail) for part, _, detail in rows if part == "rows"] == [11, 12, 13, 14, 15, 16]
    assert ("column differs", "v", f"in {number:,} row{'' if number == 1 else 's'}") in rows
    assert rows[-1] == ("differs", "k 1", f"v: 2 → 3{f', {number} times' if number > 1 else ''}")
    assert [(name, detail.partition(",")[0]) for part, name, detail in rows if part == "column"] == [("gone", "only in the old"), ("new", "only in the new")]  # fmt: skip


def test_ways_out_are_counted_from_one() -> None:
    assessment = ChangeAssessment("stateful change", ways=("a", "b"))
    rows = [row for row in _list_assessment_rows(assessment) if row[0] == "way out"]
    assert rows == [("way out", "1", "a"), ("way out", "2", "b")]


# ------------------------------------------------------------------------------------------------------------ literals

LITERALS: dict[str, Any] = {
    "TRUE": True, "1": 1, "1.0": Decimal("1.0"), "1E0": 1.0, "'x'": "x", "X''": b"", "DATE": TimeLiteral("DATE", "2026-01-31"),
    "TIMESTAMP": TimeLiteral("TIMESTAMP", "2026-01-31 10:00:00"), "TIMESTAMP_NTZ": TimeLiteral("TIMESTAMP_NTZ", "2026-01-31 10:00:00"),
    "with a zone": TimeLiteral("TIMESTAMP", "2026-01-31 10:00:00+02:00"), "'2026-01-31'": "2026-01-31", "'NaN'": "NaN",
    "ARRAY": ArrayLiteral(), "MAP": MapLiteral(), "STRUCT": StructLiteral(),
}  # fmt: skip
TAKEN = {
    "boolean": {"TRUE"},
    "int32": {"1"},
    "int64": {"1"},
    "float32": {"1", "1.0", "1E0", "'NaN'"},
    "float64": {"1", "1.0", "1E0", "'NaN'"},
    "string": {"'x'", "'2026-01-31'", "'NaN'"},
    "binary": {"X''"},
    "date": {"DATE", "'2026-01-31'"},
    "timestamp": {"TIMESTAMP", "with a zone"},
    "timestamp_ntz": {"TIMESTAMP", "TIMESTAMP_NTZ"},
    "variant": {"'x'", "'2026-01-31'", "'NaN'"},
    "null": set[str](),
}
"""By scalar the literals that its columns take, of LITERALS."""


@pytest.mark.parametrize("name", TAKEN)
def test_a_scalar_takes_literals_of_its_own_kind_alone(name: str) -> None:
    taken = set()
    for word, literal in LITERALS.items():
        try:
            cast_literal(literal, Scalar(name), "c")
            taken.add(word)
        except UnfitLiteralError:
            continue
    assert taken == TAKEN[name]
    assert cast_literal(None, Scalar(name), "c") is None


def test_numbers_with_a_fraction_lists_and_objects_are_printed_as_texts() -> None:
    assert print_cells([1, 0.5, "x", None, True, [1], {"a": 1}], repr) == [1, "0.5", "x", None, True, "[1]", "{'a': 1}"]


@pytest.mark.parametrize("time", [-101, -100, 0, 100, 101])
def test_a_time_of_a_file_is_as_early_and_as_late_as_its_limit(time: int) -> None:
    if abs(time) <= 100:
        _refuse_times([0, time], 100)
    else:
        with pytest.raises(Invalid, match="does not fit a file"):
            _refuse_times([0, time], 100)


# -------------------------------------------------------------------------------------------------- places and variables


@pytest.mark.parametrize("before", ["", "SHOW TYPES; ", "SHOW TYPES;\n", "SHOW TYPES;\n  "])
@pytest.mark.parametrize("between", ["", "\n", "\n "])
def test_types_that_are_missing_have_their_places_in_the_script(before: str, between: str) -> None:
    text = f"{before}CREATE STREAM s (a INT, {between}b Nope, c ARRAY<{between}Nothing>) WITH (CONNECTOR = 'delta', PATH = 's')"
    with connect("memory:") as connection:
        error = Metastore(connection.registry).run_script(text).error
    for wrong, name in zip(error.diagnostics, ("Nope", "Nothing"), strict=True):  # type: ignore[union-attr]
        at = text.index(name)
        line = text.count("\n", 0, at) + 1
        assert (text[wrong.start : wrong.end], wrong.line, wrong.column) == (name, line, at - text.rfind("\n", 0, at))


def test_variables_of_the_caller_come_before_those_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "treaty.toml").write_text("[project.variables]\nx = 'settings'\ny = 'own'\n")
    (tmp_path / "a.sql").write_text("CREATE STREAM ${x} (v INT) WITH (KAFKA_TOPIC = '${y}', VALUE_FORMAT = 'AVRO')")
    (described,) = read_project_start(tmp_path, {"x": "caller"}).project.objects
    statement: Any = described.statement
    assert (described.name, statement.property("KAFKA_TOPIC")) == ("caller", "own")
    assert read_project_start(tmp_path, {}).project.objects[0].name == "settings"
    assert read_project_start(tmp_path, {}).choices.strict


def test_warnings_of_all_files_are_listed() -> None:
    query = "CREATE STREAM {} AS SELECT 1 EMIT CHANGES"
    project = project_of(query.format("a"), STREAM.format("b"), query.format("c"))
    assert [(one.file, one.rule) for one in project.warnings] == [("0.sql", "EMIT_CHANGES_CUT"), ("2.sql", "EMIT_CHANGES_CUT")]  # fmt: skip


@pytest.mark.parametrize("timeout", ["0 SECONDS", "500 MILLISECONDS", "1 SECONDS", "2 SECONDS"])
def test_an_assertion_of_one_commit_waits_for_nothing(timeout: str) -> None:
    sql = f"ASSERT NOT EXISTS SCHEMA SUBJECT 's' TIMEOUT {timeout}"
    with connect("memory:") as connection:
        run: Callable[[], Any] = lambda: Metastore(connection.registry).run_script(sql, atomic=True)  # noqa: E731
        if timeout == "1 SECONDS":
            assert run().error is None
        else:
            with pytest.raises(InvalidStatementError, match="with a TIMEOUT waits"):
                run()


def test_an_update_leaves_the_key_as_it_is_whatever_it_sets() -> None:
    create = "CREATE TABLE t (k STRING PRIMARY KEY, v INT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO')"
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        metastore.run(create)
        for value in ("'y'", "NULL", "''"):
            with pytest.raises(Refusal, match="is a column of the key"):
                metastore.run(f"UPDATE t SET K = {value}, v = 1 WHERE k = 'x'", dry_run=True)


@pytest.mark.parametrize("partitions", [0, 1, 2])
@pytest.mark.parametrize("replicas", [0, 1, 2])
def test_an_assertion_names_each_number_that_it_has(partitions: int, replicas: int) -> None:
    numbers = [f"{count} {word}{'s' * (count > 1)}" for count, word in ((partitions, "partition"), (replicas, "replica")) if count]  # fmt: skip
    words = " with ".join(filter(None, ["topic t", " and ".join(numbers)]))
    assert describe_assertion(AssertTopicStatement("t", partitions, replicas)) == words


@pytest.mark.parametrize(("spelling", "shown"), [("", "up"), ("Upper", "Upper")])
def test_a_source_is_explained_as_the_query_spells_it(spelling: str, shown: str) -> None:
    assert _read_row(SourceRead("up", 1, spelling, columns=("a", "b"))) == ("reads", shown, "its changes: a, b")
    assert _read_row(SourceRead("up", 1, spelling, "table")) == ("reads", shown, "its newest rows, no column")
