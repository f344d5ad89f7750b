"""Numbers of pages: what is counted for whom, which rows of many are looked at, and what the addresses of further rows keep."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from treaty.assemble import connect_async
from treaty.core.access.rights import PERMISSIONS, Access, AccessRule
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import subject_of
from treaty.core.registry import AsyncRegistry
from treaty.core.schema import Draft, Reference
from treaty.core.sources import SourceColumn
from treaty.web.pages import deletion, home, latest, sources
from treaty.web.pages.page import PageRequest, PageViewer, ServerFacts, WebPage

Story = Callable[[AsyncRegistry], Awaitable[None]]
ORDERS = subject_of("orders")
FIXED = '{"type":"fixed","name":"F","size":%d}'
USER = '{"type":"record","name":"R%d","fields":[{"name":"f","type":"F"}]}'


def tell(story: Story) -> None:
    async def run() -> None:
        async with connect_async("memory:") as registry:
            await registry.ask(SetConfig(Scope(), Config(level="NONE")))
            await story(registry)

    asyncio.run(run())


async def page_values(
    show: Callable[[PageRequest], Awaitable[Any]], registry: AsyncRegistry, facts: ServerFacts | None = None,
    viewer: PageViewer | None = None, /, **query: object,
) -> Mapping[str, Any]:  # fmt: skip
    members = {name: str(value) for name, value in query.items()}
    shown = await show(PageRequest(registry, viewer or PageViewer(), facts or ServerFacts("1", dict), members))
    assert isinstance(shown, WebPage)
    return shown.values


def link_members(link: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(link).query))


RULES: Mapping[str, AccessRule | None] = {
    "no rights": None,
    "all and private": AccessRule(("user:a",), frozenset({"read"}), contexts=("*",), private=True),
    "all but private": AccessRule(("user:a",), frozenset({"read"}), contexts=("*",)),
    "one context": AccessRule(("user:a",), frozenset({"read"})),
    "some subjects": AccessRule(("user:a",), frozenset({"read"}), ("o*",), ("*",)),
}


@pytest.mark.parametrize("name", RULES)
def test_what_a_node_has_counted_is_for_who_may_see_all_of_it(name: str) -> None:
    rule = RULES[name]
    viewer = PageViewer("user:a", None if rule is None else Access((rule,)), knows_who=rule is not None)
    status = SimpleNamespace(kept=SimpleNamespace(subjects=1_234, versions=2_345, schemas=3_456))

    async def story(registry: AsyncRegistry) -> None:
        await registry.ask(Register(ORDERS, Draft('"int"')))
        counts = (await page_values(home.show_home, registry, ServerFacts("1", lambda: status), viewer))["counts"]
        of_all = {"subjects": "1,234", "versions": "2,345", "schemas": "3,456"}
        assert counts == (of_all if name in {"no rights", "all and private"} else {"subjects": "1"})

    tell(story)


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 9])
def test_more_than_can_be_counted_is_said_with_the_number_that_was(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "COUNTED", 5)

    async def story(registry: AsyncRegistry) -> None:
        for at in range(count):
            await registry.ask(Register(subject_of(f"s{at}"), Draft('"int"')))
            column = SourceColumn("x", "INT")
            await registry.ask(m.CreateSource(m.SourceDefinition(f"s{at}", "STREAM", "", (column,), connector="delta")))
            await registry.ask(m.CreateType(f"t{at}", "STRUCT<x INT>"))
        values = await page_values(home.show_home, registry)
        said = f"{count}" if count <= 5 else "more than 5"
        assert (values["counts"]["subjects"], values["source_count"], values["type_count"]) == (said, said, said)

    tell(story)


@pytest.mark.parametrize("days", [0, 1, 7])
def test_further_changes_are_of_the_same_days(days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "CHANGES", 2)

    async def story(registry: AsyncRegistry) -> None:
        for at in range(5):
            await registry.ask(Register(subject_of(f"s{at}"), Draft(FIXED % (at + 1))))
        chosen = {"days": str(days)} if days else {}
        first = await page_values(home.show_changes, registry, **chosen)
        further = link_members(first["next_page"])
        assert {**further, "before": ""} == {**chosen, "before": ""}
        second = await page_values(home.show_changes, registry, **further)
        assert (link_members(second["first_page"]), first["first_page"]) == (chosen, "")
        assert [one.name for one in (*first["changes"], *second["changes"])] == ["s4", "s3", "s2", "s1"]

    tell(story)


@pytest.mark.parametrize("members", [{}, {"kind": "STREAM"}, {"kind": "stream"}, {"kind": "TABLE"}])
def test_further_sources_are_of_the_same_kind(members: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "ROWS", 2)

    async def story(registry: AsyncRegistry) -> None:
        for at in range(4):
            for kind in ("STREAM", "TABLE"):
                column = SourceColumn("x", "INT", role="key" if kind == "TABLE" else "value", nullable=kind == "STREAM")
                definition = m.SourceDefinition(f"{kind.lower()}_{at}", kind, "", (column,), connector="delta")
                await registry.ask(m.CreateSource(definition))
        await registry.ask(m.DropSource("stream_3"))
        query, names, dropped = dict(members), list[str](), list[int]()
        while True:
            values = await page_values(sources.show_sources, registry, **query)
            names += [source.name for source in values["sources"]]
            dropped.append(len(values["dropped"]))
            if not values["next_page"]:
                break
            query = link_members(values["next_page"])
        kinds = [members["kind"].lower()] if members else ["stream", "table"]
        assert names == [f"{kind}_{at}" for kind in kinds for at in range(4) if (kind, at) != ("stream", 3)]
        assert dropped == [1] + [0] * (len(dropped) - 1)

    tell(story)


@pytest.mark.parametrize("rows", [1, 2, 3, 50])
@pytest.mark.parametrize("gone", [(), (2,), (1, 4), (1, 2, 3, 4)])
def test_a_deletion_counts_the_versions_that_go_and_asks_for_users_of_the_newest(
    rows: int, gone: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "ROWS", rows)

    async def story(registry: AsyncRegistry) -> None:
        for number in range(1, 5):
            await registry.ask(Register(ORDERS, Draft(FIXED % number)))
        left = [number for number in range(1, 5) if number not in gone]
        for number in left:
            user = Draft(USER % number, references=(Reference("F", "orders", number),))
            await registry.ask(Register(subject_of(f"user{number}"), user))
        for number in gone:
            await registry.ask(DeleteVersion(ORDERS, number))
        values = await page_values(deletion.show_deletion, registry, name="orders")
        count = len(left) or len(gone)
        assert f"with {count} version{'' if count == 1 else 's'}," in values["words"]
        assert (values["is_permanent"], values["unseen"]) == (not left, max(0, count - rows))
        assert values["users"].versions == tuple((f"user{number}", 1) for number in left[-rows:])[:rows]
        assert values["is_refused"] is bool(left)

    tell(story)


@pytest.mark.parametrize("permission", PERMISSIONS)
@pytest.mark.parametrize("names", [("*",), ("f*",), ("g*",)])
def test_a_source_offers_to_pause_it_to_who_may(permission: Any, names: tuple[str, ...]) -> None:
    rule = AccessRule(("user:a",), frozenset({permission}), sources=names)
    viewer = PageViewer("user:a", Access((rule,)), knows_who=True)

    async def story(registry: AsyncRegistry) -> None:
        definition = m.SourceDefinition("Flights", "STREAM", "", (SourceColumn("x", "INT"),), connector="delta")
        await registry.ask(m.CreateSource(definition))
        shown = await page_values(sources.show_source, registry, None, viewer, name="flights")
        assert shown["may_pause"] is (permission == "pause" and names != ("g*",))

    tell(story)


@pytest.mark.parametrize(("changed", "changed_by"), [(0, ""), (20, "user:b"), (20, "")])
def test_a_source_changed_last_by_who_changed_it_and_else_by_its_author(changed: int, changed_by: str) -> None:
    async def story(registry: AsyncRegistry) -> None:
        definition = m.SourceDefinition("flights", "STREAM", "", (SourceColumn("x", "INT"),), connector="delta")
        await registry.ask(m.CreateSource(definition))
        (source,) = (await registry.ask(m.ListSources())).answer.sources
        source = replace(source, author="user:a", time=10, changed=changed, changed_by=changed_by)
        change = latest._source_change(source)
        assert (change.time, change.detail) == (
            changed or 10,
            f"revision {source.revision}, by {changed_by or 'user:a'}",
        )

    tell(story)
