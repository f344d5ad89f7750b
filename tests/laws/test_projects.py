"""Folders of SQL: what is applied is exported as equal statements, the order of files means nothing, and a second run writes nothing."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.laws.project_folders import draw_folder, place_files
from treaty import connect
from treaty.core.refusals import Refusal
from treaty.core.registry import run_exchange
from treaty.core.sources import Source, StoredType
from treaty.metastore.execution.pages import list_sources, list_types
from treaty.metastore.metastore import Metastore
from treaty.metastore.project.application import apply_plan, make_plan
from treaty.metastore.project.export import export_objects
from treaty.metastore.project.files import ProjectFile
from treaty.metastore.project.objects import parse_project

SHARE, ALL = 12, 1_000
PART = 100

Rows = tuple[list[Source], list[StoredType]]


def rows_of(metastore: Metastore) -> Rows:
    """All rows, without the time at which they were written."""
    sources = run_exchange(metastore.registry, list_sources())
    types = run_exchange(metastore.registry, list_types())
    return [replace(one, time=0, changed=0) for one in sources], [replace(one, time=0) for one in types]


def applied(files: Sequence[ProjectFile]) -> tuple[Rows, list[ProjectFile]]:
    """What files come to in an empty metastore: its rows, and its export. A second run has nothing to do."""
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        project = parse_project(files)
        try:
            apply_plan(metastore, make_plan(metastore, project))
        except Refusal as refused:
            raise AssertionError(refused.reason.details) from refused
        rows = rows_of(metastore)
        assert make_plan(metastore, project).changes == ()
        assert rows_of(metastore) == rows
        exported = run_exchange(metastore.registry, export_objects())
        files = [ProjectFile(one.path, one.text) for one in exported]
        assert make_plan(metastore, parse_project(files)).changes == ()
        return rows, files


def check_folder(seed: int) -> None:
    files = draw_folder(seed)
    rows, exported = applied(files)
    other, _ = applied(place_files([file.text for file in files], seed + 1))
    assert other == rows
    _, again = applied(exported)
    assert again == exported


@pytest.mark.parametrize("seed", range(SHARE))
def test_a_folder_is_applied_exported_and_applied_again(seed: int) -> None:
    check_folder(seed)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(SHARE, ALL, PART))
def test_any_folder_is_applied_exported_and_applied_again(first: int) -> None:
    for seed in range(first, min(ALL, first + PART)):
        check_folder(seed)
