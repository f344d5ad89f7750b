"""What each operation answers, whom it refuses and what it writes is what was recorded; `python -m tests.answers` remakes the record."""

import pytest

from tests.answers.calls.everything import CALLS, PLACE, record_calls
from tests.answers.files import list_files
from tests.answers.recorded import check, record
from tests.answers.tables.everything import OF_METASTORE, TABLES, WORLDS, records
from tests.answers.worlds import FOLDER, World, record_world
from tests.record_files import find_stray
from treaty.core.operations import OPERATIONS

RECORDS = records()


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_an_operation_answers_as_recorded(name: str) -> None:
    table, worlds, file = RECORDS[name]
    check(file, record(table, worlds))


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_world_comes_to_be_as_recorded(world: World) -> None:
    check(world.file, record_world(world))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls_return_what_was_recorded(name: str) -> None:
    check(PLACE / f"{name}.txt", record_calls(name))


def test_every_file_is_of_a_record() -> None:
    assert find_stray(FOLDER, list_files()) == []


def test_every_operation_has_a_table() -> None:
    assert {operation.name for operation in OPERATIONS.values()} == TABLES.keys() | OF_METASTORE.keys()
