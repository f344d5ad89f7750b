"""Every word of a statement in a project counts: another one is a change of its source, and once that is made there is nothing to do."""

from collections.abc import Iterator

import pytest

from treaty import connect
from treaty.client.connection import Connection
from treaty.core.refusals import Refusal
from treaty.core.schema import Draft
from treaty.metastore import Metastore
from treaty.metastore.project import apply_plan, make_plan, parse_project
from treaty.metastore.project.files import ProjectFile
from treaty.metastore.project.plan import PlannedStep

MESSAGES = 'syntax = "proto3"; message M { int32 a = 1; } message N { int32 b = 1; } message O { int32 c = 1; }'
STREAM = "CREATE {kind} {name} ({columns}){comment} WITH ({words})"
WORDS = "KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO'"
PLAIN = {"kind": "STREAM", "name": "s", "columns": "k BIGINT KEY, a STRING, t TIMESTAMP", "comment": "", "words": WORDS}
READER = {
    "kind": "STREAM",
    "name": "r",
    "words": "KAFKA_TOPIC = 'p', KEY_FORMAT = 'PROTOBUF', VALUE_FORMAT = 'PROTOBUF'",
}
PLACES = ("KEY_SCHEMA_FULL_NAME", "VALUE_SCHEMA_FULL_NAME")


@pytest.fixture
def connection() -> Iterator[Connection]:
    with connect("memory:") as opened:
        for name in ("p-key", "p-value", "q-key", "q-value"):
            opened.register(name, Draft(MESSAGES, "PROTOBUF"))
        yield opened


def plan_changes(connection: Connection, text: str) -> tuple[PlannedStep, ...]:
    """The steps of a project of one file that change something; they are carried out."""
    metastore = Metastore(connection.registry)
    plan = make_plan(metastore, parse_project([ProjectFile("s.sql", text)]))
    try:
        apply_plan(metastore, plan)
    except Refusal as refused:
        raise AssertionError(refused.reason.details) from refused
    return plan.changes


def check_change(connection: Connection, old: str, new: str) -> None:
    """One statement after the other, and back again: each time there is one change, and then none."""
    for text in (old, new, old):
        (step,) = plan_changes(connection, text)
        assert any(line.startswith(("+", "-")) for line in step.differences)
        assert plan_changes(connection, text) == ()


@pytest.mark.parametrize(
    "word",
    [
        "FRAMING = 'header'", "SUBJECT = 'other'", "TIMESTAMP = 't'", "CLUSTER = 'east'", "PARTITIONS = 3",
        "TIMESTAMP = 'a', TIMESTAMP_FORMAT = 'yyyy'", "WATERMARK = 't DELAY OF INTERVAL 1 second'", "RETENTION_MS = 5",
        "DEDUPLICATE = 'a'", "KEY_FORMAT = 'AVRO', KEY_SUBJECT = 'other'", "FRAMING = 'none'",
    ],
)  # fmt: skip
def test_a_property_that_is_added_or_left_out_is_a_change(connection: Connection, word: str) -> None:
    check_change(connection, STREAM.format(**PLAIN), STREAM.format(**PLAIN | {"words": f"{WORDS}, {word}"}))


@pytest.mark.parametrize("word", ["LABEL = 'mine'", "KEY_FORMAT = 'AVRO'"])
def test_a_label_and_a_format_are_changes_that_stay_where_they_are_left_out(connection: Connection, word: str) -> None:
    text = STREAM.format(**PLAIN | {"words": f"{WORDS}, {word}"})
    changes = [
        len(plan_changes(connection, one)) for one in (STREAM.format(**PLAIN), text, text, STREAM.format(**PLAIN))
    ]
    assert changes == [1, 1, 0, 0]


@pytest.mark.parametrize(
    "changed",
    [
        {"comment": " COMMENT 'c'"},
        {"columns": "k BIGINT KEY, a STRING COMMENT 'c', t TIMESTAMP"},
        {"columns": "k BIGINT KEY, t TIMESTAMP, a STRING"},
        {"columns": "k BIGINT KEY, a STRING, t TIMESTAMP, h BINARY HEADER('h')"},
        {"columns": "k BIGINT KEY, a STRING, t TIMESTAMP, h ARRAY<STRUCT<key STRING, value BINARY>> HEADERS"},
        {"columns": "a STRING, t TIMESTAMP"},
        {"columns": "k INT KEY, a STRING, t TIMESTAMP"},
        {"words": "KAFKA_TOPIC = 's2', VALUE_FORMAT = 'AVRO'"},
        {"name": "S"},
    ],
    ids=lambda changed: next(iter(changed.values())).strip(),
)
def test_a_head_that_says_something_else_is_a_change(connection: Connection, changed: dict[str, str]) -> None:
    connection.set_level("", "NONE")
    check_change(connection, STREAM.format(**PLAIN), STREAM.format(**PLAIN | changed))


@pytest.mark.parametrize("is_alone", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_the_message_inside_a_schema_is_a_word_of_the_key_or_of_the_value(
    connection: Connection, place: str, *, is_alone: bool
) -> None:
    other = "" if is_alone else f", {PLACES[place == PLACES[0]]} = 'M'"
    text = f"CREATE STREAM r WITH ({READER['words']}{other}, {place} = '{{}}')"
    check_change(connection, text.format("N"), text.format("O"))


@pytest.mark.parametrize("side", ["KEY", "VALUE"])
def test_the_schema_of_a_key_or_a_value_is_a_word_and_a_later_one_is_none(connection: Connection, side: str) -> None:
    subject = "p-key" if side == "KEY" else "p-value"
    first = connection.version(subject).schema_id
    text = f"CREATE STREAM r WITH ({READER['words']}, KEY_SCHEMA_FULL_NAME = 'N', VALUE_SCHEMA_FULL_NAME = 'O'{{}})"
    assert len(plan_changes(connection, text.format(""))) == 1
    second = connection.register(subject, Draft(MESSAGES + " message P { int32 d = 1; }", "PROTOBUF")).version.schema_id
    assert plan_changes(connection, text.format("")) == ()
    named = text.format(f", {side}_SCHEMA_ID = {second}")
    assert len(plan_changes(connection, named)) == 1
    assert plan_changes(connection, named) == ()
    assert len(plan_changes(connection, text.format(f", {side}_SCHEMA_ID = {first}"))) == 1


@pytest.mark.parametrize("word", ["KEY_FORMAT = 'PROTOBUF'", "KEY_SUBJECT = 'q-key'", "KEY_SCHEMA_ID = 1"])
def test_a_key_that_is_taken_from_a_schema_from_now_on_is_a_change(connection: Connection, word: str) -> None:
    text = "CREATE STREAM r WITH (KAFKA_TOPIC = 'p', VALUE_FORMAT = 'PROTOBUF', VALUE_SCHEMA_FULL_NAME = 'N'{})"
    changes = [len(plan_changes(connection, text.format(words))) for words in ("", f", {word}", f", {word}")]
    assert changes == [1, 1, 0]
