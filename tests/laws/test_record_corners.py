"""Records and topics at their corners: values that are equal whatever their form, counts and settings of topics, JSON lines, what an audit hears, and
questions to the brokers of several clusters.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from treaty.client.kafka.producer import OutgoingRecord
from treaty.client.kafka.topic_admin import TopicFacts
from treaty.core.limits import ASSERT_SECONDS
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.deleted_topics import DeletedTopic, DeletedTopics
from treaty.core.refusals import Invalid, VersionNotFound
from treaty.core.sources import Source, SourceColumn, SourcePart
from treaty.metastore.execution.assertions import LONGEST_PAUSE, AssertFailedError, assert_schema
from treaty.metastore.execution.context import StatementContext
from treaty.metastore.execution.system_tables import LIKE_CHARACTERS, _fits, _refuse_long_pattern, matches_like
from treaty.metastore.execution.topic_statements import FindObstacles, ReadTopics, show_topics
from treaty.metastore.records.desired_topics import DesiredTopic, compare, list_desired, state_of
from treaty.metastore.records.destinations import _count, _lines
from treaty.metastore.records.literals import SHOWN, show_literal
from treaty.metastore.records.outcomes import RecordsOutcome, reported_records
from treaty.metastore.records.rows import insert_rows, make_schema
from treaty.metastore.records.selection import equals, make_selection
from treaty.metastore.records.sides import RecordSide
from treaty.metastore.records.steps import PauseStep, WriteRecords
from treaty.metastore.records.tables import find_folder
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import AssertSchemaStatement, InsertStatement
from treaty.metastore.sql.values import ColumnCondition

SOURCE = Source("STREAM", "s", "", (SourceColumn("a", "INT"), SourceColumn("B", "INT")), 1, value=SourcePart("JSON", "none"), place="topic")  # fmt: skip
TWO = timezone(timedelta(hours=2))
INSTANT = datetime(2026, 1, 31, 8, tzinfo=UTC)

# ---------------------------------------------------------------------------------------------------------- equal values

EQUAL: list[tuple[Any, Any, bool]] = [
    ("2026-01-31T08:00:00Z", INSTANT, True),
    ("2026-01-31T10:00:00+02:00", INSTANT, True),
    ("2026-01-31T08:00:00+02:00", INSTANT, False),
    ("2026-01-31T08:00:00", INSTANT, True),
    ("2026-01-31T10:00:00", INSTANT.astimezone(TWO), False),
    ("2026-01-31T08:00:00", INSTANT.replace(tzinfo=None), True),
    ("2026-01-31T10:00:00+02:00", INSTANT.replace(tzinfo=None), True),
    ("2026-01-31T08:00:01Z", INSTANT, False),
    ("noon", INSTANT, False),
    ("2026-01-31", date(2026, 1, 31), True),
    ("5", 5, True), (5, 5, True), (5.0, 5, True), (True, 1, False), (1, True, False), (True, True, True), ("x", 5, False),
    ("0.5", 0.5, True), (0.5, 0.5, True), ("NaN", 0.5, False),
    ("1.50", Decimal("1.5"), True), (1.5, Decimal("1.5"), True), ("x", Decimal(1), False),
    ("AAE=", b"\0\1", True), ("\0\1", b"\0\1", True), ("AA E=", b"\0\1", False), ("", b"", True),
    ("a", "a", True), ("a", "b", False), (None, None, False), (None, 0, False), (0, None, False),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "literal", "same"), EQUAL, ids=range(len(EQUAL)))
def test_a_decoded_value_is_a_literal_of_any_form_that_means_it(cell: Any, literal: Any, *, same: bool) -> None:
    assert equals(cell, literal) is same


@pytest.mark.parametrize("cell", [None, True, False, "true", "True", "1", 1, 0], ids=repr)
@pytest.mark.parametrize("value", [None, True, False, "true", "True", "1", 1, 0], ids=repr)
def test_a_cell_of_a_system_table_is_a_value_of_its_own_kind(cell: Any, value: Any) -> None:
    """A boolean is no text and no number; a number is the text of its digits."""
    both = isinstance(cell, bool), isinstance(value, bool)
    same = cell is value if any(both) else str(cell) == str(value)
    assert _fits(cell, ColumnCondition("c", "=", value)) is (None not in (cell, value) and same)


@pytest.mark.parametrize("text", ["a\nb", "\n", "a\r\nb\n"])
def test_a_pattern_matches_lines_too(text: str) -> None:
    for pattern in (text, "%", text.replace("\n", "_"), f"%{text[-1]}", f"{text[0]}%"):
        assert matches_like(pattern, text)
        assert not matches_like(f"{pattern}x", text)


@pytest.mark.parametrize("length", [SHOWN - 3, SHOWN - 2, SHOWN - 1])
def test_a_value_is_shown_whole_as_long_as_it_may_be(length: int) -> None:
    whole = f"'{'x' * length}'"
    assert show_literal("x" * length) == (whole if len(whole) <= SHOWN else f"{whole[: SHOWN - 3]}...")


def test_an_own_column_takes_the_place_of_one_that_every_source_has() -> None:
    own = replace(SOURCE, columns=(SourceColumn("_Offset", "STRING"), SourceColumn("v", "INT")))
    sql = "SELECT _OFFSET, _partition, V FROM STREAM s WHERE _offset = 'x' AND _partition = 0 LIMIT 1"
    statement: Any = parse_script(sql).statements[0].value
    selection = make_selection(statement, own, {})
    assert (selection.columns, selection.conditions) == (("_Offset", "_partition", "v"), (("_offset", "x"), ("_partition", 0)))  # fmt: skip
    assert selection.is_met({"_offset": "x", "_partition": 0})
    assert not selection.is_met({"_offset": "x", "_partition": 1})
    assert selection.row({"_offset": "x", "v": 1, "_partition": 0}) == ["x", 0, 1]


@pytest.mark.parametrize("columns", [["a", "A"], ["a", "B", "b"], ["a", "a"], ["_timestamp", "_TIMESTAMP"]])
def test_a_row_names_each_column_once_in_any_case(columns: list[str]) -> None:
    schema = make_schema(SOURCE, None, RecordSide("value", SourcePart("JSON"), ()))
    with pytest.raises(Invalid, match="is there twice"):
        insert_rows(schema, columns, [[1] * len(columns)])


# ------------------------------------------------------------------------------------------------------------ topics


def desired(**properties: str) -> DesiredTopic:
    return list_desired([replace(SOURCE, properties=tuple(properties.items()))])[0]


@pytest.mark.parametrize("count", [1, 9, 100_000, 999_999_999, 1_000_000_000])
def test_a_count_of_a_topic_is_any_number_of_nine_digits(count: int) -> None:
    assert desired(PARTITIONS=str(count)).partitions == (count if count < 10**9 else 0)
    assert desired(REPLICAS=str(count)).replicas == (count if count < 10**9 else -1)
    for text in ("", "x", "-1", "1.5", "\u0661"):
        assert (desired(PARTITIONS=text).partitions, desired(REPLICAS=text).replicas) == (0, -1)


@pytest.mark.parametrize(("partitions", "replicas"), [*product((0, 1, 2, 3), (-1, 1, 2, 3))])
def test_a_topic_differs_in_each_number_that_its_sources_say_and_it_has_not(partitions: int, replicas: int) -> None:
    topic, facts = DesiredTopic("main", "t", ("s",), partitions, replicas), TopicFacts(3, 2, {})
    fixed = compare(topic, facts).fixed
    assert ["partitions" in one for one in fixed] == [True] * (partitions not in {0, 3}) + [False] * (replicas not in {-1, 2})  # fmt: skip
    assert state_of(topic, facts)[0] == ("differs" if fixed else "present")
    assert state_of(topic, None)[0] == ("creating" if partitions else "missing")


@pytest.mark.parametrize(("now", "same"), [("compact, delete", True), ("delete,compact", True), (" delete ,compact", True), ("delete", False), ("", False)])  # fmt: skip
def test_policies_of_a_topic_are_words_in_any_order(now: str, *, same: bool) -> None:
    topic = desired(CLEANUP_POLICY="compact,delete", RETENTION_MS="")
    assert topic.settings == {"cleanup.policy": "compact,delete"}
    assert (compare(topic, TopicFacts(1, 1, {"cleanup.policy": now})).settings == {}) is same


def test_brokers_of_each_cluster_are_asked_about_their_own_topics() -> None:
    """Topics of one name in two clusters have the facts of theirs; who is being deleted is asked for alone."""
    sources = [replace(SOURCE, name=f"{place}{cluster}", cluster=cluster, place=place) for cluster in ("main", "west") for place in ("t", "u")]  # fmt: skip
    gone = [
        DeletedTopic("west", "t", 1, begun=True),
        DeletedTopic("main", "v", 2),
        DeletedTopic("main", "w", 3, begun=True),
    ]
    exchange, requests, answer = show_topics(extended=True), [], None
    answers: dict[Any, Any] = {
        m.ListSources(): m.Sources(tuple(sources)),
        ReadTopics("main", ("t", "u")): {"t": TopicFacts(1, 1, {}), "u": None},
        ReadTopics("west", ("t", "u")): {"t": TopicFacts(2, 3, {}), "u": TopicFacts(4, 5, {})},
        FindObstacles("main", ("w",)): {"w": "no rights"},
        FindObstacles("west", ("t",)): {"t": ""},
    }
    try:
        while True:
            request = exchange.send(answer)
            requests.append(request)
            answer = answers.get(request, DeletedTopics(tuple(gone)))
    except StopIteration as end:
        rows = [(row[0], row[1], row[2], row[4], row[7]) for row in end.value.rows]
    assert len(requests) == 6
    assert rows == [
        ("t", "main", 1, 1, "present"), ("u", "main", None, None, "missing"), ("t", "west", 2, 3, "present"), ("u", "west", 4, 5, "present"),
        ("t", "west", None, None, "deleting"), ("v", "main", None, None, "deleted"), ("w", "main", None, None, "refused"),
    ]  # fmt: skip


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("timeout", [0, 40, 1_000, 4_321, ASSERT_SECONDS * 1_000, 10**9])
def test_an_assertion_waits_as_long_as_it_says_and_no_longer_than_the_limit(timeout: int, *, dry_run: bool) -> None:
    exchange = assert_schema(AssertSchemaStatement("s", timeout=timeout), StatementContext("ASSERT", dry_run))
    missing, pauses = VersionNotFound.of("VERSION_NOT_FOUND", "none"), []
    request = next(exchange)
    with suppress(AssertFailedError):
        while True:
            if isinstance(request, PauseStep):
                pauses.append(request.seconds)
                request = exchange.send(None)
            else:
                request = exchange.throw(missing)
    assert sum(pauses) == pytest.approx(0 if dry_run else min(timeout / 1_000, ASSERT_SECONDS))
    assert max(pauses, default=0) <= LONGEST_PAUSE


# ------------------------------------------------------------------------------------------------------------ records

RECORD = OutgoingRecord("topic", None, b"{}")
UNFIT = {"a key": replace(RECORD, key=b"k"), "a header": replace(RECORD, headers=(("h", b""),)), "a tombstone": replace(RECORD, value=None)}  # fmt: skip


@pytest.mark.parametrize("what", UNFIT)
@pytest.mark.parametrize("place", [0, 1])
def test_json_lines_have_no_room_for_anything_but_values(what: str, place: int) -> None:
    assert _lines(SOURCE, [RECORD, RECORD]) == [b"{}", b"{}"]
    records = [RECORD, RECORD]
    records[place] = UNFIT[what]
    with pytest.raises(Invalid, match="no keys, headers or tombstones"):
        _lines(SOURCE, records)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_dry_run_names_the_place_of_as_many_records(count: int) -> None:
    words = f"{count} record{'' if count == 1 else 's'}"
    step = WriteRecords(SOURCE, lambda: [RECORD] * count, dry_run=True)
    assert step.run(None) == f"{words} would be written to topic"  # type: ignore[arg-type]  # nothing is written
    assert _count([RECORD] * count) == words


class Answers:
    source: Source | None = SOURCE
    sequence = 7


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("failure", [None, ValueError("x"), asyncio.CancelledError(), KeyboardInterrupt()])
@pytest.mark.parametrize("count", [1, 3])
def test_an_audit_hears_once_what_a_statement_came_to(
    count: int, failure: BaseException | None, *, dry_run: bool
) -> None:
    heard: list[RecordsOutcome] = []
    statement = InsertStatement("s", ((1,),) * count)

    def run() -> None:
        with reported_records(heard.append, statement, Answers(), "c1", dry_run=dry_run):
            if failure is not None:
                raise failure

    if failure is None:
        run()
    else:
        with pytest.raises(type(failure)):
            run()
    (outcome,) = heard
    assert (outcome.kind, outcome.name, outcome.records, outcome.dry_run) == ("insert-records", "s", count, dry_run)
    assert (outcome.command, outcome.sequence, outcome.source, outcome.failure) == ("c1", 7, SOURCE, failure)


@pytest.mark.parametrize(("place", "inside"), [("a", True), ("/a", True), ("//a/b", True), ("a/../b", True), ("../a", False), ("/../a", False)])  # fmt: skip
def test_a_folder_is_below_its_root_with_a_slash_before_it_or_without(tmp_path: Path, place: str, *, inside: bool) -> None:  # fmt: skip
    source = replace(SOURCE, connector="delta", place=place)
    if inside:
        assert find_folder(source, tmp_path) == (tmp_path / place.lstrip("/")).resolve()
    else:
        with pytest.raises(Invalid, match="is not below"):
            find_folder(source, tmp_path)


def test_a_pattern_is_as_long_as_the_limit_says() -> None:

    for length in (LIKE_CHARACTERS - 1, LIKE_CHARACTERS):
        _refuse_long_pattern(ColumnCondition("c", "LIKE", "x" * length))
    _refuse_long_pattern(ColumnCondition("c", "=", "x" * LIKE_CHARACTERS * 2))
    with pytest.raises(Exception, match="too long"):
        _refuse_long_pattern(ColumnCondition("c", "LIKE", "x" * (LIKE_CHARACTERS + 1)))
