"""Locks of projects: what a folder that is split in two takes from the registry, and what is found in it without one."""

from collections.abc import Iterator

import pytest

from tests.laws.project_folders import FolderDraw
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import Refusal
from treaty.core.registry import run_exchange
from treaty.core.schema import Draft
from treaty.metastore import Metastore
from treaty.metastore.execution.source_printer import print_columns
from treaty.metastore.project import apply_plan, make_plan, parse_project
from treaty.metastore.project.compilation import compile_project, parse_lock
from treaty.metastore.project.files import ProjectFile
from treaty.metastore.project.lock import READ_PROPERTIES, ProjectLock, compare_locks, print_lock, read_lock
from treaty.metastore.project.objects import SqlProject

MESSAGES = 'syntax = "proto3"; message M { int32 a = 1; } message N { string b = 1; } message O { bool c = 1; }'
OUTER = "CREATE STREAM flights (k BIGINT KEY, note STRING, at TIMESTAMP) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO'{})"
EMPTY = ProjectLock()


@pytest.fixture
def connection() -> Iterator[Connection]:
    with connect("memory:") as opened:
        yield opened


def project_of(*texts: str) -> SqlProject:
    return parse_project([ProjectFile(f"{place}.sql", text) for place, text in enumerate(texts)])


def lock_of(connection: Connection, project: SqlProject) -> ProjectLock:
    """The lock over a registry, as a file has it."""
    lock = run_exchange(connection.registry, read_lock(project))
    assert parse_lock(print_lock(lock), "treaty.lock") == lock
    return lock


def apply(connection: Connection, project: SqlProject) -> None:
    metastore = Metastore(connection.registry)
    try:
        apply_plan(metastore, make_plan(metastore, project))
    except Refusal as refused:
        raise AssertionError(refused.reason.details) from refused


def rules_of(project: SqlProject, lock: ProjectLock = EMPTY) -> list[tuple[str, str, int]]:
    return [(one.rule, one.file, one.line) for one in compile_project(project, lock).problems]


@pytest.mark.parametrize("seed", range(100, 124))
def test_a_folder_that_is_split_compiles_to_the_columns_that_it_is_applied_with(
    seed: int, connection: Connection
) -> None:
    """The first files are applied, the others are locked and compiled, and then applied too."""
    texts = FolderDraw(seed).files_of_folder()
    split = len(texts) // 2
    apply(connection, project_of(*texts[:split]))
    project = project_of(*texts[split:])
    lock = lock_of(connection, project)
    compiled = compile_project(project, lock)
    assert compiled.problems == ()
    apply(connection, project)
    for one in compiled.objects:
        if one.kind != "TYPE" and one.columns:
            row = connection.ask(DescribeSource(one.name)).answer.source
            listed = (one.columns, print_columns(row.kind, row.columns))
            plain = [sorted(column.replace(" NOT NULL", "") for column in columns) for columns in listed]
            assert plain[0] == plain[1]  # a format may take null for a column that says NOT NULL
    assert compare_locks(lock, lock_of(connection, project)) == ()


@pytest.fixture
def messages(connection: Connection) -> Connection:
    connection.register("p", Draft(MESSAGES, "PROTOBUF"))
    return connection


READERS = {
    "KEY_SUBJECT = 'p', KEY_SCHEMA_FULL_NAME = 'N'": "b STRING KEY NOT NULL",
    "KEY_SUBJECT = 'p', KEY_SCHEMA_FULL_NAME = 'O'": "c BOOLEAN KEY NOT NULL",
    "SUBJECT = 'p'": "a INT NOT NULL",
    "SUBJECT = 'p', VALUE_SCHEMA_FULL_NAME = 'N'": "b STRING NOT NULL",
    "SUBJECT = 'p', VALUE_SCHEMA_FULL_NAME = 'O'": "c BOOLEAN NOT NULL",
}


def test_each_way_to_read_a_subject_has_its_own_columns_in_the_lock(messages: Connection) -> None:
    """As a key or a value, as a whole or by a message inside: all of them in one project."""
    plain = "(v INT) WITH (KAFKA_TOPIC = 't{0}', VALUE_FORMAT = 'AVRO', {1})", "WITH (KAFKA_TOPIC = 't{0}', {1})"
    heads = [plain[not words.startswith("KEY")].format(place, words) for place, words in enumerate(READERS)]
    project = project_of(*(f"CREATE STREAM s{place} {head}" for place, head in enumerate(heads)))
    compiled = compile_project(project, lock_of(messages, project))
    assert compiled.problems == ()
    assert {one.columns[-1] for one in compiled.objects} == set(READERS.values())


@pytest.mark.parametrize("side", ["KEY", "VALUE"])
def test_a_key_and_a_value_are_each_held_against_the_lock(messages: Connection, side: str) -> None:
    subject = "KEY_SUBJECT = 'p'" if side == "KEY" else "SUBJECT = 'p'"
    head = "CREATE STREAM s {}WITH (KAFKA_TOPIC = 't', {}{})".format(
        "(v INT) " * (side == "KEY"), subject, ", VALUE_FORMAT = 'AVRO'" * (side == "KEY")
    )
    first = project_of(head)
    lock = lock_of(messages, first)
    assert rules_of(first, lock) == []
    assert rules_of(first) == [("SUBJECT_NOT_LOCKED", "0.sql", 1)]
    for words, rule in ((f"{side}_SCHEMA_ID = 7", "SUBJECT_MOVED"), (f"{side}_FORMAT = 'JSON'", "SOURCE_FORMAT")):
        assert rules_of(project_of(f"{head[:-1]}, {words})"), lock) == [(rule, "0.sql", 1)]


@pytest.mark.parametrize("side", ["KEY", "VALUE"])
def test_columns_that_a_format_does_not_say_are_found_in_key_and_value(side: str) -> None:
    role, other = (" KEY", "v INT") if side == "KEY" else ("", "v INT KEY")
    formats = {"KEY": "AVRO", "VALUE": "AVRO"} | {side: "PROTOBUF"}
    words = ", ".join(f"{name}_FORMAT = '{format_}'" for name, format_ in formats.items())
    text = f"CREATE STREAM s (x ARRAY<ARRAY<INT>>{role}, {other}) WITH (KAFKA_TOPIC = 't', {words})"
    assert rules_of(project_of(text)) == [("COLUMN_TYPE", "0.sql", 1)]


def test_every_statement_of_a_file_is_checked_whatever_is_wrong_before_it() -> None:
    wrong = [
        "CREATE STREAM a (x nothing) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')",
        "CREATE STREAM b (x INT) WITH (VALUE_FORMAT = 'AVRO')",
        "CREATE STREAM c AS SELECT * FROM STREAM nobody",
    ]
    assert rules_of(project_of(";\n".join(wrong))) == [
        ("TYPE_NOT_FOUND", "0.sql", 1),
        ("PROPERTY_MISSING", "0.sql", 2),
        ("READ_NOT_FOUND", "0.sql", 3),
    ]


def test_a_type_that_a_file_creates_is_that_of_the_file_and_in_no_lock(connection: Connection) -> None:
    """Also where the registry has another one of its name, and a source that is read uses that one."""
    Metastore(connection.registry).run(
        f"CREATE TYPE t AS ARRAY<ARRAY<INT>>; {OUTER.format('').replace('note STRING', 'note t')}"
    )
    own = "CREATE STREAM s (x t) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'PROTOBUF')"
    reader = "CREATE STREAM q AS SELECT * FROM STREAM flights"
    project = project_of("CREATE TYPE t AS INT", own, reader)
    lock = lock_of(connection, project)
    assert [(one.table, one.name) for one in lock.objects] == [("source", "flights")]
    without = project_of(own, reader)
    other = lock_of(connection, without)
    assert [(one.table, one.name) for one in other.objects] == [("source", "flights"), ("type", "t")]
    assert rules_of(without, other) == [("COLUMN_TYPE", "0.sql", 1)]
    for each in (lock, other):
        assert rules_of(project, each) == []


PROPERTY_WORDS = {"DEDUPLICATE": "k", "MATERIALIZE": "delta", "WATERMARK": "at DELAY OF INTERVAL 1 second"}


def test_a_lock_has_what_queries_over_a_source_depend_on(connection: Connection) -> None:
    assert tuple(PROPERTY_WORDS) == READ_PROPERTIES
    words = "".join(f", {name} = '{text}'" for name, text in PROPERTY_WORDS.items())
    table = OUTER.replace("STREAM", "TABLE").replace("BIGINT KEY", "BIGINT PRIMARY KEY")
    Metastore(connection.registry).run(table.format(words))
    (locked,) = lock_of(connection, project_of("CREATE STREAM q AS SELECT * FROM STREAM flights")).objects
    assert [locked.fact(name.lower()) for name in PROPERTY_WORDS] == list(PROPERTY_WORDS.values())
    assert locked.columns == ("k BIGINT PRIMARY KEY", "note STRING", "at TIMESTAMP")


CHANGES = {
    "DROP STREAM flights; {}": "source flights",
    "ALTER STREAM flights ADD COLUMN more INT": "source flights",
    "CREATE OR REPLACE STREAM flights (k BIGINT KEY, note STRING) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')": "source flights",
    "CREATE STREAM other (more INT, note STRING) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')": "subject flights-value",
    "DROP TYPE t; CREATE TYPE t AS STRING": "type t",
    "DROP TYPE t; CREATE TYPE t AS INT": "type t",
    "DROP TYPE t": "type t",
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_has_moved_is_named_with_what_it_was_and_what_it_is(connection: Connection, change: str) -> None:
    metastore = Metastore(connection.registry)
    metastore.run(f"CREATE TYPE t AS INT; {OUTER.format('')}")
    project = project_of(
        "CREATE STREAM copy WITH (KAFKA_TOPIC = 'flights')",
        "CREATE STREAM q AS SELECT * FROM STREAM flights",
        "CREATE STREAM s (x t) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')",
    )
    old = lock_of(connection, project)
    assert compare_locks(old, lock_of(connection, project)) == ()
    metastore.run(change.format(OUTER.format("")))
    moved = compare_locks(old, lock_of(connection, project))
    assert CHANGES[change] in {f"{one.table} {one.name}" for one in moved}
    assert all(one.old != one.new for one in moved)
