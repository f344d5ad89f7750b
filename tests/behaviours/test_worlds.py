"""An irregular registry says the same through every door: all that is kept of its subjects and versions, and their pages."""

from dataclasses import replace
from typing import Any

import pytest

from tests.worlds.drafts import records
from tests.worlds.world import PAGES, World
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.transfers import ExportedVersion, ExportSubjects, ExportVersions
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound

ORDERS = Subject(".", "orders")
WORLD = World(former="imported", pages=tuple((name, sizes[0]) for name, sizes in PAGES.items()))
KINDS = ["memory", "sqlite", "asyncio-memory", "http", "asyncio-http", "peer"]
"""Every door that speaks more than Confluent's API."""


def told(registry: Connection) -> list[Any]:
    """All subjects and versions, page by page, without the times of this run."""
    subjects: list[Any] = []
    while page := registry.ask(ExportSubjects(after=subjects[-1] if subjects else None)).answer.subjects:
        subjects += [subject_of(one.subject) for one in page]
    versions: list[ExportedVersion] = []
    while more := registry.ask(ExportVersions(after=_place(versions[-1]) if versions else None)).answer.versions:
        versions += more
    untimed = [replace(one, version=replace(one.version, time=0)) for one in versions]
    listed = [one for visible in ("live", "all", "deleted") for one in _lists(registry, visible)]
    return [subjects, untimed, listed]


def _lists(registry: Connection, visible: Any) -> list[Any]:
    schemas = registry.ask(ListSchemas(visible=visible)).answer.versions
    return [registry.ask(ListSubjects(visible=visible)).answer, [replace(one, time=0) for one in schemas]]


def _place(one: ExportedVersion) -> tuple[Subject, int]:
    return subject_of(one.version.subject), one.version.ordinal


@pytest.mark.parametrize("connection", KINDS, indirect=True)
def test_an_irregular_registry_is_the_same_through_every_door(connection: Connection) -> None:
    with connect("memory:") as other:
        for registry in (other, connection):
            WORLD.begin(registry.ask, ORDERS, records)
        with WORLD.paged():
            expected, found = told(other), told(connection)
        assert found == expected
        assert len(found[0]) > 15
        assert len(found[1]) > 30
        with pytest.raises(NotFound):
            connection.ask(ListVersions(ORDERS))
