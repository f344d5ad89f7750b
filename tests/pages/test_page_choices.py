"""What pages offer to whom, and which of several facts they take: rights, settings of neighbours, forms and their second step, words for a state."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from treaty.assemble import connect_async
from treaty.core import refusals as r
from treaty.core.access.rights import PERMISSIONS, Access, AccessRule
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.registry import AsyncRegistry
from treaty.core.schema import Draft, Reference
from treaty.core.state.values import PolicyValue
from treaty.web.pages import application, deletion, operator, schema, subject, trial, writes
from treaty.web.pages.page import PageError, PageMoved, PageRequest, PageViewer, ServerFacts, WebPage

Story = Callable[[AsyncRegistry], Awaitable[None]]
ORDERS = subject_of("orders")
TEXT = '{"type":"fixed","name":"F","size":%d}'


def tell(story: Story) -> None:
    async def run() -> None:
        async with connect_async("memory:") as registry:
            await registry.ask(SetConfig(Scope(), Config(level="NONE")))
            await story(registry)

    asyncio.run(run())


def request_for(
    registry: AsyncRegistry, form: Mapping[str, str] | None = None, viewer: PageViewer | None = None, /, **query: object
) -> PageRequest:
    facts = ServerFacts("1", lambda: None, address="http://r")
    return PageRequest(registry, viewer or PageViewer(), facts, {name: str(one) for name, one in query.items()}, form)


def page_values(shown: object) -> Mapping[str, Any]:
    assert isinstance(shown, WebPage)
    return shown.values


def destination(moved: object) -> tuple[str, dict[str, str]]:
    """The page to which an answer leads, and the members of its address."""
    assert isinstance(moved, PageMoved)
    parts = urlsplit(moved.to)
    return parts.path, dict(parse_qsl(parts.query))


# --------------------------------------------------------------------------------------------------------------- rights


@pytest.mark.parametrize("permission", PERMISSIONS)
def test_a_page_offers_what_each_permission_by_itself_allows(permission: Any) -> None:
    """A page that offers less hides a change from somebody who may make it."""
    viewer = PageViewer("user:a", Access((AccessRule(("user:a",), frozenset({permission})),)), knows_who=True)
    form = {"subject": "orders", "format": "AVRO", "text": TEXT % 2}

    async def story(registry: AsyncRegistry) -> None:
        await registry.ask(Register(ORDERS, Draft(TEXT % 1)))
        may = page_values(await subject.show_subject(request_for(registry, None, viewer, name="orders")))["may"]
        shown = page_values(await schema.show_schema(request_for(registry, None, viewer, subject="orders")))
        tried = page_values(await trial.try_text(request_for(registry, form, viewer)))
        registers = permission in {"register", "bump"}
        assert may == {"register": registers, "config": permission == "config", "delete": permission == "delete"}
        assert (shown["may_register"], shown["may_delete"]) == (registers, permission == "delete")
        assert tried["may_register"] is registers

    tell(story)


@pytest.mark.parametrize("show", [operator.show_node, operator.show_limits])
@pytest.mark.parametrize("permission", PERMISSIONS)
def test_the_state_of_the_server_is_for_administrators_of_everything(show: Any, permission: Any) -> None:
    rule = AccessRule(("user:a",), frozenset({permission}), contexts=("*",))
    viewer = PageViewer("user:a", Access((rule,)), knows_who=True)

    async def story(registry: AsyncRegistry) -> None:
        facts = ServerFacts("1", dict)
        try:
            await show(PageRequest(registry, viewer, facts, {}))
        except r.Forbidden:
            assert permission != "admin"
        else:
            assert permission == "admin"

    tell(story)


# ------------------------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("own", "neighbours"),
    [(None, ("orders-a",)), (None, ("order", "orders-a", ":.x:orders")), ("FULL", ("order", "orders-a")), (None, ())],
)
def test_the_policy_that_a_page_shows_as_a_subjects_own_is_no_neighbours(
    own: str | None, neighbours: tuple[str, ...]
) -> None:
    async def story(registry: AsyncRegistry) -> None:
        for name in neighbours:
            await registry.ask(SetConfig(Scope(*subject_of(name)), Config(level="FORWARD")))
        if own is not None:
            await registry.ask(SetConfig(Scope(*ORDERS), Config(level=own)))
        request = request_for(registry, name="orders")
        assert page_values(await writes.show_policy(request))["own"] == (own or "")
        assert [home.config.level for home in await subject.policy_homes(request, ORDERS)][:2] == [own, "NONE"]

    tell(story)


@pytest.mark.parametrize(
    ("strictness", "words"),
    [("", "NONE"), ("STRICT", "NONE"), ("LENIENT", "NONE, lenient"), ("LOGICAL", "NONE, logical")],
)
def test_a_strictness_is_said_unless_it_is_the_usual(strictness: str, words: str) -> None:
    assert subject._policy_words(PolicyValue(strictness=strictness)).upper() == words.upper()


# ---------------------------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize("references", ["", "Money=money:1", "Money=money:1\n"])
@pytest.mark.parametrize("text", [TEXT % 1, '{"type":"record","name":"R","fields":[]}'])
def test_the_second_step_of_a_registration_has_all_members_of_the_first(text: str, references: str) -> None:
    """The page that shows the change sends them again, confirmed."""

    async def story(registry: AsyncRegistry) -> None:
        await registry.ask(Register(subject_of("money"), Draft('{"type":"fixed","name":"Money","size":9}')))
        form = {"subject": "orders", "format": "AVRO", "text": text, "references": references}
        second = page_values(await writes.register(request_for(registry, form)))["members"]
        assert second == {**form, "confirmed": "yes"}
        page, members = destination(await writes.register(request_for(registry, second)))
        assert (page, members) == ("schema", {"subject": "orders", "version": "1"})
        version = await ask_version(registry, 1)
        assert version.references == ((Reference("Money", "money", 1),) if references else ())

    tell(story)


async def ask_version(registry: AsyncRegistry, number: int) -> VersionFound:
    return (await registry.ask(GetVersion(ORDERS, number))).answer


@pytest.mark.parametrize(("before", "level"), [*product([None, "FULL"], ["BACKWARD", "FORWARD", ""])])
def test_the_second_step_of_a_policy_sets_the_level_or_takes_it_away(before: str | None, level: str) -> None:
    async def story(registry: AsyncRegistry) -> None:
        await registry.ask(Register(ORDERS, Draft(TEXT % 1)))
        await registry.ask(SetConfig(Scope(*ORDERS), Config(level=before, normalize=True)))
        second = page_values(await writes.set_policy(request_for(registry, {"name": "orders", "level": level})))[
            "members"
        ]
        assert destination(await writes.set_policy(request_for(registry, second))) == ("subject", {"name": "orders"})
        stored = await subject.own_config(request_for(registry), Scope(*ORDERS))
        assert (stored.level, stored.normalize) == (level or None, True)

    tell(story)


@pytest.mark.parametrize("name", ["orders", ":.x:orders"])
@pytest.mark.parametrize("count", [1, 2])
def test_the_second_step_of_a_deletion_leads_to_what_is_left(name: str, count: int) -> None:
    place = subject_of(name)

    async def story(registry: AsyncRegistry) -> None:
        for size in range(count):
            await registry.ask(Register(place, Draft(TEXT % (size + 1)), normalize=None))
        for step in ("softly", "for good"):
            shown = await deletion.show_deletion(request_for(registry, name=name, version=1))
            second = page_values(shown)["members"]
            assert second["permanent"] == ("yes" if step == "for good" else "")
            page, members = destination(await deletion.delete(request_for(registry, second)))
            is_gone = step == "for good" and count == 1
            assert (page, members) == (("subjects", {}) if is_gone else ("subject", {"name": name}))

    async def with_level(registry: AsyncRegistry) -> None:
        await registry.ask(SetConfig(Scope(place.context), Config(level="NONE")))
        await story(registry)

    tell(with_level)


@pytest.mark.parametrize("word", ["AVRO", "avro", "Avro"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_form_is_read_in_any_letter_case_and_with_the_line_ends_of_any_browser(word: str, end: str) -> None:
    form = {"subject": "orders", "format": word, "text": f"[{end}]{end}", "references": f"A=a:1{end}{end}B=b:2{end}"}

    async def story(registry: AsyncRegistry) -> None:
        draft = Draft("[\n]\n", "AVRO", (Reference("A", "a", 1), Reference("B", "b", 2)))
        assert trial.read_draft(request_for(registry, form)) == (ORDERS, draft)

    tell(story)


# ------------------------------------------------------------------------------------------------------ ways to a schema


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ({"id": "1"}, "orders"), ({"id": "1", "context": "."}, "orders"), ({"id": "1", "context": ".x"}, ":.x:other"),
        ({"guid": "{0}"}, "orders"), ({"guid": "{1}"}, ":.x:other"), ({"guid": "{2}"}, "both"),
        ({"id": "9"}, None), ({"guid": "{3}"}, None), ({}, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("upper", [False, True])
def test_an_id_of_a_context_or_a_guid_leads_to_a_version_that_has_it(
    query: dict[str, str], target: str | None, *, upper: bool
) -> None:
    schemas = {"orders": '"int"', ":.x:other": '"long"', "both": '"string"', ":.x:both": '"string"', "gone": '"bytes"'}

    async def story(registry: AsyncRegistry) -> None:
        guids: dict[str, str] = {}
        for name, text in schemas.items():
            guids[text] = (await registry.ask(Register(subject_of(name), Draft(text)))).answer.version.guid
        await registry.ask(DeleteVersion(subject_of("gone"), 1))
        await registry.ask(DeleteVersion(subject_of("gone"), 1, permanent=True))
        words = {name: value.format(*guids.values()) for name, value in query.items()}
        try:
            moved = await schema.show_schema(
                request_for(registry, **{k: v.upper() if upper and k == "guid" else v for k, v in words.items()})
            )
        except (r.NotFound, PageError):
            assert target is None
        else:
            assert destination(moved) == ("schema", {"subject": target, "version": "1"})

    tell(story)


@pytest.mark.parametrize("mode", ["READWRITE", "READONLY", "READONLY_OVERRIDE"])
@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_deletion_says_what_is_read_only(mode: str, version: int, *, is_closed: bool) -> None:
    """What it says of a mode is what the registry does."""

    async def story(registry: AsyncRegistry) -> None:
        await registry.ask(Register(ORDERS, Draft(TEXT % 1), normalize=None))
        await registry.ask(SetMode(Scope(*ORDERS), mode))
        asked = request_for(registry, name="orders", version=version)
        facts = replace(asked.server, read_only=is_closed)
        values = page_values(await deletion.show_deletion(replace(asked, server=facts)))
        says = "--read-only" if is_closed else f"The mode in force is {mode}" if mode != "READWRITE" else ""
        assert (says in values["read_only"], bool(values["read_only"]), values["is_refused"]) == (
            True,
            bool(says),
            bool(says),
        )
        request = DeleteVersion(ORDERS, 1) if version else DeleteSubject(ORDERS)
        if is_closed:
            return
        if says:
            with pytest.raises(r.NotPermitted):
                await registry.ask(request)
        else:
            await registry.ask(request)

    tell(story)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_who_refers_to_a_version_is_listed_whether_or_not_it_is_deleted(*, is_deleted: bool) -> None:
    async def story(registry: AsyncRegistry) -> None:
        await registry.ask(Register(ORDERS, Draft('{"type":"fixed","name":"Money","size":9}')))
        user = Draft(
            '{"type":"record","name":"R","fields":[{"name":"m","type":"Money"}]}',
            references=(Reference("Money", "orders", 1),),
        )
        await registry.ask(Register(Subject(".", "user"), user))
        if is_deleted:
            await registry.ask(DeleteVersion(Subject(".", "user"), 1))
            await registry.ask(DeleteVersion(ORDERS, 1))
        version = (await registry.ask(GetVersion(ORDERS, 1, deleted=True))).answer
        users = await subject.list_users(request_for(registry), version)
        assert users == ([] if is_deleted else [("user", 1)])

    tell(story)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(("user", "own"), [(False, False), (True, False), (True, True)])
def test_users_that_are_deleted_themselves_are_in_the_way_of_a_deletion_for_good_alone(
    version: int, *, user: bool, own: bool
) -> None:
    """A soft deletion of what they refer to is no harm to them."""

    async def story(registry: AsyncRegistry) -> None:
        await registry.ask(Register(ORDERS, Draft('{"type":"fixed","name":"Money","size":9}')))
        text = '{"type":"record","name":"R","fields":[{"name":"m","type":"Money"}]}'
        await registry.ask(Register(subject_of("user"), Draft(text, references=(Reference("Money", "orders", 1),))))
        for name, is_deleted in (("user", user), ("orders", own)):
            if is_deleted:
                await registry.ask(DeleteVersion(subject_of(name), 1))
        shown = page_values(
            await deletion.show_deletion(request_for(registry, name="orders", **({"version": 1} if version else {})))
        )
        refused = own or not user
        assert (shown["users"].versions, shown["is_refused"]) == ((("user", 1),) if refused else (), refused)

    tell(story)


# -------------------------------------------------------------------------------------------------------- words of a state


@pytest.mark.parametrize(("trouble", "read_only", "refusing", "server"), [*product([False, True], repeat=4)])
def test_what_a_node_and_a_worker_say_of_themselves_is_the_worst_of_it(
    *, trouble: bool, read_only: bool, refusing: bool, server: bool
) -> None:
    class Status:
        pass

    status = Status()
    gauges = {"trouble": float(trouble), "read_only": float(read_only), "refusing": float(refusing)}
    for name, value in gauges.items():
        setattr(status, name, name if value else "")
    worst = "bad" if trouble else "warn" if read_only or refusing else "ok"

    async def story(registry: AsyncRegistry) -> None:
        facts = ServerFacts("1", lambda: status, read_only=server)
        node = operator.node_facts(PageRequest(registry, PageViewer(), facts, {}))
        assert (node["health"], operator._describe_worker("1", gauges).health) == (worst, worst)
        assert ("takes no changes" in node["word"]) is (worst == "ok" and server)

    tell(story)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_workers_are_listed_where_there_are_several(count: int) -> None:
    async def story(registry: AsyncRegistry) -> None:
        workers = {str(at): {"sequence": 1.0} for at in range(count)}
        facts = ServerFacts("1", dict, workers=lambda: workers)
        members = await operator.list_members(PageRequest(registry, PageViewer(), facts, {}))
        assert [member.name for member in members[1:]] == ([f"worker {at}" for at in range(count)] if count > 1 else [])

    tell(story)


ERRORS: list[tuple[Exception, int]] = [
    (PageError(405, "no"), 405), (r.Unavailable("away"), 503), (r.Forbidden.of("R", "m"), 403), (r.VersionNotFound.of("R", "m"), 404),
    (r.Unauthenticated(r.Reason("R", "m")), 401), (r.Conflicting.of("R", "m"), 409), (ValueError("odd"), 500),
]  # fmt: skip


@pytest.mark.parametrize(("failure", "status"), ERRORS, ids=lambda one: type(one).__name__)
def test_a_page_of_an_error_has_its_status_and_says_when_to_come_again_where_that_helps(
    failure: Exception, status: int
) -> None:
    pages = application.PageApplication(ServerFacts("1", dict))
    answer = pages.print_error(failure, PageViewer())
    assert (answer.status_code, "retry-after" in answer.headers) == (status, isinstance(failure, r.Unavailable))
