"""What pages are made of, without their HTML: parts of lists, ways from version to version, policies, deletions."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from treaty.assemble import connect_async
from treaty.core.messages import associations as t
from treaty.core.messages.encodings import AssignEncoding
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.names import GetPin
from treaty.core.messages.policies import CreatePolicy
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import UsesOf
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.refusals import Refusal, SchemaNotFound
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Reply
from treaty.core.schema import Draft, Metadata, Reference
from treaty.core.sources import QueryPlan, SchemaPin, SourceColumn, SourcePart, SourceRead
from treaty.core.state.values import PolicyValue
from treaty.web.pages import home, schema, sources, subject, subjects
from treaty.web.pages.deletion import show_deletion
from treaty.web.pages.latest import list_latest
from treaty.web.pages.page import PageRequest, PageViewer, ServerFacts, WebPage
from treaty.web.pages.subject import policy_homes

Show = Callable[[PageRequest], Awaitable[Any]]
Story = Callable[[AsyncRegistry], Awaitable[None]]
ORDERS = subject_of("orders")
RECORD = '{"type":"record","name":"R","fields":[%s]}'
FIELDS = ",".join(f'{{"name":"f{at}","type":"int"}}' for at in range(7))


def tell(story: Story) -> None:
    async def run() -> None:
        async with connect_async("memory:") as registry:
            await story(registry)

    asyncio.run(run())


def request_for(registry: AsyncRegistry, **query: object) -> PageRequest:
    facts = ServerFacts("1", lambda: None)
    return PageRequest(registry, PageViewer(), facts, {name: str(one) for name, one in query.items()})


async def values_of(show: Show, registry: AsyncRegistry, **query: object) -> Mapping[str, Any]:
    shown = await show(request_for(registry, **query))
    assert isinstance(shown, WebPage)
    return shown.values


async def fill(registry: AsyncRegistry) -> None:
    """Versions of which some are deleted and one is gone, in two contexts that were imported with times, sources and types."""
    await registry.ask(SetConfig(Scope(), Config(level="NONE")))
    for at in range(7):
        await registry.ask(Register(ORDERS, Draft(f'{{"type":"fixed","name":"F","size":{at + 1}}}')))
    for number, permanent in ((2, False), (5, False), (5, True), (6, False)):
        await registry.ask(DeleteVersion(ORDERS, number, permanent=permanent))
    await registry.ask(Register(subject_of("wide"), Draft(RECORD % FIELDS)))
    for context, times in ((".x", (10, 20, 20, 30, 40)), (".y", (20, 20, 30, 50))):
        await registry.ask(SetMode(Scope(context), "IMPORT"))
        for at, time in enumerate(times, 1):
            text = f'{{"type":"fixed","name":"G","size":{at}}}'
            await registry.ask(Register(Subject(context, f"s{at}"), Draft(text), number=1, schema_id=at, time=time))
    for name in "abcde":
        column = SourceColumn("x", "INT")
        await registry.ask(m.CreateSource(m.SourceDefinition(name, "STREAM", "", (column,), connector="delta")))
        await registry.ask(m.CreateType(name, "STRUCT<x INT>"))


def link_members(link: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(link).query))


LISTS: Mapping[str, tuple[Show, ModuleType, str, dict[str, str], Callable[[Any], list[Any]], Callable[[Any], Any]]] = {
    "versions of a subject": (
        subject.show_subject, subject, "ROWS", {"name": "orders"},
        lambda v: [row["version"].number for row in v["rows"]],
        lambda v: v["older"] and {"before": v["older"]},
    ),
    "fields": (
        schema.show_schema, schema, "FIELDS", {"subject": "wide"},
        lambda v: [row.name for row in v["fields"]],
        lambda v: v["fields_next"] and {"fields": v["fields_next"]},
    ),
    "changes": (
        home.show_changes, home, "CHANGES", {},
        lambda v: [(one.time, one.name, one.detail) for one in v["changes"]], lambda v: link_members(v["next_page"]),
    ),
    "subjects": (
        subjects.show_subjects, subjects, "ROWS", {},
        lambda v: [row["version"].subject for row in v["rows"]], lambda v: link_members(v["next_page"]),
    ),
    "subjects of a format": (
        subjects.show_subjects, subjects, "ROWS", {"format": "avro", "q": "s", "context": ".x"},
        lambda v: [row["version"].subject for row in v["rows"]], lambda v: link_members(v["next_page"]),
    ),
    "sources": (
        sources.show_sources, sources, "ROWS", {},
        lambda v: [one.name for one in v["sources"]], lambda v: link_members(v["next_page"]),
    ),
    "types": (
        sources.show_types, sources, "ROWS", {},
        lambda v: [one.name for one in v["types"]], lambda v: link_members(v["next_page"]),
    ),
}  # fmt: skip
"""Lists: how a page is shown, the size of its parts, the query, what it lists, and what the next part is asked for with."""


@pytest.mark.parametrize("name", LISTS)
def test_the_parts_of_a_list_come_to_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    show, module, size_name, query, listed, following = LISTS[name]

    async def story(registry: AsyncRegistry) -> None:
        await fill(registry)
        whole = listed(await values_of(show, registry, **query))
        assert len(whole) >= 5
        assert len(set(whole)) == len(whole)
        for size in (1, 2, 3, len(whole) - 1, len(whole)):
            monkeypatch.setattr(module, size_name, size)
            parts: list[Any] = []
            more: dict[str, Any] = {}
            while True:
                values = await values_of(show, registry, **{**query, **more})
                parts.append(listed(values))
                more = following(values)
                if not more:
                    break
                assert len(parts) <= len(whole)
            assert [one for part in parts for one in part] == whole
            assert [len(part) for part in parts[:-1]] == [size] * (len(parts) - 1)
            assert parts[-1]

    tell(story)


FEW: Mapping[str, dict[str, str]] = {
    "a format": {"format": "json"},
    "a tag": {"tag": "PII", "state": "all"},
    "an origin": {"origin": "pravega"},
    "two of them": {"format": "json", "origin": "pravega"},
}
"""Filters that one subject in four fits."""


@pytest.mark.parametrize("looked_at", [1, 2, 5])
@pytest.mark.parametrize("few", FEW)
def test_pages_of_a_filter_that_few_subjects_fit_come_to_all_of_these(
    few: str, looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page looks through some subjects; what it finds may be nothing, and the next one goes on behind them."""
    wanted = [at for at in range(15) if at % 4 == 3]
    tagged, origin = Metadata((("**.x", ("PII",)),)), SubjectCreation("pravega")

    async def story(registry: AsyncRegistry) -> None:
        for at in range(15):
            draft = Draft("{}", "JSON", metadata=tagged) if at in wanted else Draft('"int"')
            creation = origin if at in wanted else SubjectCreation()
            await registry.ask(Register(subject_of(f"s{at:02}"), draft, create_with=creation))
        monkeypatch.setattr(subjects, "LOOKED_AT", looked_at)
        for size in (1, 2, 3):
            monkeypatch.setattr(subjects, "ROWS", size)
            shown: list[str] = []
            more: dict[str, str] = {}
            for _ in range(16):
                values = await values_of(subjects.show_subjects, registry, **{**FEW[few], **more})
                shown += [row["version"].subject for row in values["rows"]]
                if not values["next_page"]:
                    break
                more = link_members(values["next_page"])
            assert shown == [f"s{at:02}" for at in wanted]
            assert not values["next_page"]

    tell(story)


def test_changes_since_a_time_are_those_that_are_not_older() -> None:
    async def story(registry: AsyncRegistry) -> None:
        await fill(registry)
        request = request_for(registry)
        whole = (await list_latest(request, 100)).changes
        for since in {one.time + more for one in whole for more in (0, 1)}:
            found = (await list_latest(request, 100, since=since)).changes
            assert found == [one for one in whole if one.time >= since]

    tell(story)


def test_a_version_leads_to_the_one_before_and_the_one_after_it() -> None:
    async def story(registry: AsyncRegistry) -> None:
        await fill(registry)
        numbers = [1, 2, 3, 4, 6, 7]
        for before, number, after in zip([0, *numbers], numbers, [*numbers[1:], 0], strict=False):
            values = await values_of(schema.show_schema, registry, subject="orders", version=number)
            assert (values["earlier"], values["later"]) == (before, after)

    tell(story)


@pytest.mark.parametrize("scopes", range(8))
@pytest.mark.parametrize("change", [Config(level="FULL"), Config(follows="gold")], ids=["a level", "a policy"])
def test_the_nearest_level_alone_is_in_force(scopes: int, change: Config) -> None:
    """Whatever is set beside the level at any scope. The registry as a whole always has one."""
    places = [scope for at, scope in enumerate((Scope(*ORDERS), Scope(), Scope(EVERYWHERE))) if scopes >> at & 1]

    async def story(registry: AsyncRegistry) -> None:
        await registry.ask(CreatePolicy("gold", PolicyValue(deny=True)))
        for scope in (Scope(*ORDERS), Scope(), Scope(EVERYWHERE)):
            await registry.ask(SetConfig(scope, Config(normalize=True)))
        for scope in places:
            await registry.ask(SetConfig(scope, change))
        homes = await policy_homes(request_for(registry), ORDERS)
        nearest = next((at for at in range(3) if scopes >> at & 1), 2)
        assert [one.is_in_force for one in homes] == [at == nearest for at in range(3)]

    tell(story)


class Blind:
    """A registry that shows nobody who has a schema."""

    def __init__(self, inner: AsyncRegistry) -> None:
        self.inner = inner

    async def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        if isinstance(request, UsesOf):
            raise SchemaNotFound.of("SCHEMA_NOT_FOUND", "not for you")
        return await self.inner.ask(request, call)

    async def close(self) -> None:
        """Leave the registry open."""


USER = Register(
    subject_of("user"), Draft(RECORD % '{"name":"o","type":"Order"}', references=(Reference("Order", "orders", 2),))
)
ORDER = RECORD.replace("R", "Order", 1) % '{"name":"x","type":"int"}'
TOPIC = t.Associate(t.Resource("topic", "lkc", "id"), (t.AssociationSpec("value", ORDERS),))
X = SourceColumn("x", "INT")
PIN = m.CreateSource(
    m.SourceDefinition("pinned", "STREAM", "", (X,), value=SourcePart("AVRO"), place="orders"),
    value_schema=Register(ORDERS, Draft(ORDER)),
)
KEY_PIN = m.CreateSource(
    m.SourceDefinition("pinned", "STREAM", "", (X,), SourcePart("AVRO"), SourcePart("JSON"), place="orders"),
    key_schema=Register(ORDERS, Draft(ORDER)),
)


async def pin_of(registry: AsyncRegistry, subject: Subject) -> SchemaPin:
    pin = (await registry.ask(GetPin(subject, LATEST))).answer
    return SchemaPin(*subject, pin.generation, pin.version.ordinal, pin.version.schema_id)


async def read_by_query(registry: AsyncRegistry) -> None:
    """A query reads a source by the latest version, and the source is bound to another schema since."""
    others = Subject(".x", "others")
    await registry.ask(Register(others, Draft(ORDER)))
    pins = [await pin_of(registry, one) for one in (ORDERS, others)]
    parts = [SourcePart("AVRO", pin=pin) for pin in pins]
    base = m.SourceDefinition("base", "STREAM", "", (X,), value=parts[0], connector="kafka", place="base")
    made = (await registry.ask(m.CreateSource(base))).answer
    read = SourceRead("base", made.generation, "base", value=pins[0], columns=("x",))
    query = QueryPlan("SELECT x FROM base", (read,))
    await registry.ask(
        m.CreateSource(m.SourceDefinition("pinned", "STREAM", "", (X,), connector="delta", place="pinned", query=query))
    )
    await registry.ask(m.ChangeSource("base", value=parts[1]))


Step = Request[Any] | Callable[[AsyncRegistry], Awaitable[None]]
ENCODED = AssignEncoding(ORDERS, 1)
SITUATIONS: Mapping[str, list[Step]] = {
    "free": [],
    "used": [USER],
    "used by a deleted one": [USER, DeleteSubject(subject_of("user"))],
    "a topic": [TOPIC],
    "a source": [PIN],
    "a source by its key": [KEY_PIN],
    "one deleted": [DeleteVersion(ORDERS, 1)],
    "one deleted and used": [USER, DeleteVersion(ORDERS, 1)],
    "all deleted": [DeleteSubject(ORDERS)],
    "all deleted, used by a deleted one": [USER, DeleteSubject(subject_of("user")), DeleteSubject(ORDERS)],
    "all deleted, a source": [PIN, DeleteSubject(ORDERS)],
    "all deleted, a source by its key": [KEY_PIN, DeleteSubject(ORDERS)],
    "a source that a query reads": [read_by_query],
    "one deleted, a source that a query reads": [read_by_query, DeleteVersion(ORDERS, 2)],
    "all deleted, a source that a query reads": [read_by_query, DeleteSubject(ORDERS)],
    "one deleted and a topic": [DeleteVersion(ORDERS, 1), TOPIC],
    "the latest deleted and a topic": [DeleteVersion(ORDERS, 2), TOPIC],
    "encoded": [ENCODED],
    "encoded and deleted": [ENCODED, DeleteVersion(ORDERS, 2)],
    "encoded, and another deleted": [ENCODED, DeleteVersion(ORDERS, 1)],
    "encoded, all deleted": [ENCODED, DeleteSubject(ORDERS)],
}


@pytest.mark.parametrize("version", [0, 1, 2], ids=["the subject", "version 1", "version 2"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_page_says_of_a_deletion_what_the_registry_does(situation: str, version: int) -> None:
    async def story(registry: AsyncRegistry) -> None:
        await registry.ask(SetConfig(Scope(), Config(level="NONE")))
        for text in ('"int"', ORDER):
            await registry.ask(Register(ORDERS, Draft(text)))
        for step in SITUATIONS[situation]:
            await (registry.ask(step) if isinstance(step, Request) else step(registry))
        query = {"name": "orders", **({"version": version} if version else {})}
        values = await values_of(show_deletion, registry, **query)
        unseen = await values_of(show_deletion, Blind(registry), **query)
        is_pinned = "a source" in situation and version != 1
        assert [source.name for source in values["users"].sources] == ["pinned"] * is_pinned
        permanent = bool(values["members"]["permanent"])
        listed = (await registry.ask(ListVersions(ORDERS, visible="all"))).answer
        assert permanent == ({version} if version else {*listed.numbers}).issubset(listed.deleted)
        request: Request[Any] = DeleteSubject(ORDERS, permanent)
        if version:
            request = DeleteVersion(ORDERS, version, permanent)
        try:
            await registry.ask(request)
        except Refusal:
            assert (values["is_refused"], unseen["is_refused"]) == (True, True)
        else:
            assert (values["is_refused"], unseen["is_refused"]) == (False, False)

    tell(story)
