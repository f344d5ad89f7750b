"""Lists in pages, through every door: what pages come to, and settings at every scope."""

import pytest

from treaty.client.connection import Connection
from treaty.core.limits import SETTINGS_PAGE
from treaty.core.messages.listings import ListSchemas, ListSubjects
from treaty.core.messages.settings import Config, ListSettings, Scope, ScopeSetting
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSubject, NotPermitted

NAMES = ("", ":x", "a", "b/c d", "ü", ":.a:s", ":.b:s", ":.b:t%")


@pytest.fixture
def filled(connection: Connection) -> Connection:
    """Subjects with names that need care on the way, in three contexts; one is deleted."""
    for name in NAMES:
        connection.register(name, '"int"')
        connection.register(name, '["int","string"]')
    connection.delete_subject("a")
    return connection


def test_pages_of_subjects_come_to_all_of_them(filled: Connection) -> None:
    whole = filled.subjects()
    pages: list[str] = []
    while page := filled.ask(ListSubjects(limit=2, after=pages[-1] if pages else None)).answer.names:
        assert len(page) <= 2
        pages += page

    assert tuple(pages) == whole == tuple(sorted(set(NAMES) - {"a"}))
    assert filled.ask(ListSubjects(offset=3, limit=2)).answer.names == whole[3:5]


def test_pages_of_versions_come_to_all_of_them(filled: Connection) -> None:
    prefix = Subject("*", "")
    whole = [(one.subject, one.number) for one in filled.schemas(":*:", "all")]
    pages: list[tuple[str, int]] = []
    while True:
        asked = ListSchemas(prefix, "all", limit=3, after=pages[-1] if pages else None)
        page = [(one.subject, one.number) for one in filled.ask(asked).answer.versions]
        pages += page
        if len(page) < 3:
            break

    assert pages == whole == [(name, number) for name in sorted(NAMES) for number in (1, 2)]
    latest = filled.ask(ListSchemas(prefix, latest=True, limit=2, after=("b/c d", 2))).answer.versions
    assert [(one.subject, one.number) for one in latest] == [("ü", 2)]


def test_settings_of_every_scope_are_listed(filled: Connection) -> None:
    config = Config(level="FULL", normalize=True, alias="other", group="major")
    for scope in ("", ":.b:", "*", "a", "ü", "never", ":.new:s"):
        filled.set_config(scope, config)
    filled.set_mode(":.a:", "READONLY")
    filled.set_mode("never", "READONLY")

    assert filled.settings() == (
        ScopeSetting(".", None, config, None, 2),
        ScopeSetting(".a", None, None, "READONLY", 2),
        ScopeSetting(".b", None, config, None, 2),
        ScopeSetting("*", None, config),
        ScopeSetting(".", "a", config),
        ScopeSetting(".", "never", config, "READONLY"),
        ScopeSetting(".", "ü", config),
        ScopeSetting(".new", "s", config),
    )
    assert filled.settings(":.b:") == (ScopeSetting(".b", None, config, None, 2),)
    assert filled.settings("nev") == (ScopeSetting(".", "never", config, "READONLY"),)
    page = filled.ask(ListSettings(limit=2, after=Scope("*"))).answer.settings
    assert [one.name for one in page] == ["a", "never"]
    page = filled.ask(ListSettings(offset=1, limit=2, after=Scope(".", "never"))).answer.settings
    assert [one.name for one in page] == ["ü", "s"]


def test_more_settings_than_a_page_has(connection: Connection) -> None:
    asked = connection.ask(ListSettings(limit=SETTINGS_PAGE + 1)).answer.settings
    assert asked == (ScopeSetting(".", None),)
    names = [f"s{at:04}" for at in range(SETTINGS_PAGE + 5)]
    for name in names:
        connection.set_mode(name, "READONLY")

    assert len(connection.ask(ListSettings(limit=SETTINGS_PAGE + 1)).answer.settings) == SETTINGS_PAGE
    assert [one.name for one in connection.settings()] == [None, *names]


def test_a_context_is_made_for_an_import(connection: Connection) -> None:
    with pytest.raises(NotPermitted):
        connection.make_context("new", 41)
    connection.set_mode(":.new:", "IMPORT")
    assert connection.make_context("new", 41) == 41
    assert connection.make_context("new", 7) == 41
    connection.set_mode(":.new:", None)

    assert connection.contexts() == (".", ".new")
    assert connection.settings(":.new:") == (ScopeSetting(".new", None, None, None, 41),)
    assert connection.register(":.new:s", '"int"').version.schema_id == 42
    with pytest.raises(InvalidSubject):
        connection.make_context("a b\n")
