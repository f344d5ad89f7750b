"""Treaty's native API: every operation answers there as at the node, with the same rights, lines, counts and limits."""

import asyncio
import gzip
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from tests.facades.doors import ROOT, USERS, Door, basic, play
from tests.facades.twin import TOKEN, Fixed
from tests.simulation.asker import Asker
from tests.simulation.workload import made_of_types
from treaty.api.application import build_application
from treaty.assemble import open_node
from treaty.core.limits import IN_FLIGHT
from treaty.core.messages import associations as t
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext, ListContexts, MakeContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.metastore.sources import GetDestination
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Derive, ExpectedVersion, ForceReason, Register, SubjectCreation
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.settings import (
    Config,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ListSettings,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup
from treaty.core.names import Subject, subject_of
from treaty.core.operations import OPERATIONS, is_command, operation_name, refuse_unless_allowed
from treaty.core.refusals import Forbidden, RegistryError, Unavailable
from treaty.core.registry import AsyncRegistry, CallOptions
from treaty.core.schema import Draft, Metadata, Reference, TaggedPath
from treaty.core.state.codec import encode_message
from treaty.wire.confluent.errors import error_body, status_of
from treaty.wire.http_response import HttpResponse
from treaty.wire.native import PATH, ask_bytes, read_answer
from treaty.wire.peer.errors import encode_error

RECORD = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"long"}]}'
WIDER = RECORD.replace("]}", ',{"name":"n","type":["null","int"],"default":null}]}')
BAD = RECORD.replace("long", "string")
A, GONE, EMPTY = subject_of("open-a"), subject_of("gone"), subject_of("nobody")
OWNED = Draft(RECORD, metadata=Metadata(properties=(("owner", "ada"),)))
TOPIC = t.Resource("orders", "lkc-1", "id-1")
REMOVAL = t.ResourceChange(TOPIC, (t.AssociationChange("DELETE", t.AssociationSpec("value")),))
STORY: tuple[Request[Any], ...] = (
    Register(A, OWNED, properties=(("team", "a"),), create_with=SubjectCreation(properties=(("made", "by hand"),))),
    Register(A, Draft(WIDER), force=ForceReason("", "because"), expected=ExpectedVersion("number", 1)),
    Register(A, Draft(BAD)),
    Register(A, Draft("{")),
    Register(A, Draft(WIDER), expected=ExpectedVersion("ordinal", 7)),
    Register(subject_of("b"), Draft('"no"', references=(Reference("x", "nobody", 1),))),
    Register(GONE, Draft('"int"')),
    Derive(A, 1, add_tags=(TaggedPath("shop.Order.id", "sr_field", ("PII",)),)),
    Derive(EMPTY, 1),
    GetVersion(A, LATEST, find_tags=("*",)),
    GetVersion(EMPTY, 1),
    GetVersion(A, 77),
    GetVersion(A, -7),
    GetSchema(1, max_id=True),
    GetSchema(99),
    GetGuid("no guid"),
    GetGuidIds("ffffffff-0000-0000-0000-000000000000"),
    FindVersion(A, (("owner", "ada"),)),
    FindVersion(A, (("owner", "bob"),)),
    Lookup(A, OWNED, normalize=False),
    Lookup(A, Draft("{")),
    Check(A, Draft(BAD)),
    Check(A, Draft(WIDER), 1),
    ListVersions(A, "all"),
    ListVersions(EMPTY),
    ListSubjects(),
    ListSchemas(Subject("*", ""), aliases=True, limit=2),
    UsesOf(1),
    UsesOf(99),
    ReferencedBy(A, 1),
    SetConfig(Scope(".", "open-a"), Config(level="FULL", group="g"), ("alias",)),
    SetConfig(Scope(".", "open-a"), Config(level="SIDEWAYS")),
    SetConfig(Scope(".", "open-a"), Config(), ("no member",)),
    SetConfig(Scope("no context", "open-a"), Config(level="FULL")),
    SetMode(Scope(".x:y"), "READONLY"),
    GetConfig(Scope(".", "open-a"), resolve=True),
    GetConfig(Scope(".", "nobody")),
    SetMode(Scope(".", "open-a"), "READONLY"),
    SetMode(Scope(".", "open-a"), "SIDEWAYS"),
    GetMode(Scope(".", "open-a")),
    Register(A, Draft('"string"')),
    ListSettings(),
    DeleteMode(Scope(".", "open-a")),
    DeleteMode(Scope(".", "open-a")),
    DeleteConfig(Scope(".", "open-a")),
    MakeContext(".empty", 5),
    SetMode(Scope(".empty"), "IMPORT"),
    MakeContext(".empty", 5),
    ListContexts(),
    DeleteContext("."),
    DeleteContext(".empty"),
    t.Associate(TOPIC, (t.AssociationSpec("value", A, "STRONG"),)),
    t.Associate(replace(TOPIC, id="id-2", name="bills"), (t.AssociationSpec("value", A, "STRONG"),)),
    t.ListAssociations(t.OfSubject(A)),
    t.ListAssociations(t.OfName("orders", "lkc-1")),
    t.ListAssociations(t.OfId("id-1")),
    t.GetAssociations((t.ListAssociations(t.OfId("id-1")),), schemas=True),
    t.ChangeAssociations((REMOVAL, t.ResourceChange(TOPIC, ()))),
    t.Dissociate("id-1", kinds=("value",)),
    GetOutcome("c1"),
    GetOutcome("nobody's"),
    DeleteVersion(A, 1),
    DeleteVersion(A, 1),
    DeleteSubject(GONE),
    DeleteSubject(GONE),
    DeleteSubject(GONE, permanent=True),
    DeleteSubject(GONE, permanent=True),
)
"""Operations done, and most of them refused."""
ASKED = STORY + tuple(
    made_of_types(kind, Asker(random.Random(number)))
    for kind in OPERATIONS
    if kind not in set(map(type, STORY))
    for number in range(5)
)
"""The story, and operations that it does not have with requests made from their types."""


def timeless(value: Any) -> Any:
    """A form without what two nodes can't have in common: when something was registered."""
    if isinstance(value, dict):
        return {
            name: timeless(one) for name, one in value.items() if name not in {"time", "created", "updated", "deadline"}
        }
    return [timeless(one) for one in value] if isinstance(value, list) else value


async def post(http: httpx2.AsyncClient, request: Request[Any], **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    got = await http.post(PATH, content=ask_bytes(request), headers=named)
    return HttpResponse(got.status_code, got.headers.get, got.content)


async def told(node: AsyncRegistry, request: Request[Any], call: CallOptions) -> object:
    """The answer of a node with its place, or its error with the status that the error has."""
    try:
        reply = await node.ask(request, call)
    except RegistryError as error:
        return type(error), encode_error(error), status_of(error_body(error, request).error_code)
    return timeless(encode_message(reply.answer)), reply.token.sequence, 200


def heard(request: Request[Any], got: HttpResponse) -> object:
    """The same, as the API reports it."""
    try:
        reply = read_answer(request, got)
    except RegistryError as error:
        return type(error), encode_error(error), got.status
    return timeless(encode_message(reply.answer)), reply.token.sequence, got.status


def test_every_operation_answers_as_at_the_node() -> None:
    async def run() -> None:
        async with open_node("memory:") as near, open_node("memory:") as far:
            transport = httpx2.ASGITransport(app=build_application(far).dispatcher)
            async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
                for number, request in enumerate(ASKED):
                    name = f"c{number + 1}" if is_command(request) else ""
                    got = await post(http, request, **({"treaty_command": name} if name else {}))
                    expected = await told(near, request, CallOptions(command_id=name))
                    assert heard(request, got) == expected, request

    asyncio.run(run())


def test_the_same_command_again_is_the_same_command() -> None:
    async def run() -> None:
        async with open_node("memory:") as node:
            transport = httpx2.ASGITransport(app=build_application(node).dispatcher)
            async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
                first = await post(http, STORY[0], treaty_command="c1")
                again = await post(http, STORY[0], treaty_command="c1", treaty_again="true")
                assert first.status == again.status == 200
                assert read_answer(STORY[0], first) == read_answer(STORY[0], again)
                missing = await post(http, GetVersion(A, 1), treaty_position="ff.1.ff")
                assert (missing.status, b"TOKEN" in missing.body) == (400, True)

    asyncio.run(run())


# ----------------------------------------------------------------------------------------------------------- rights


def test_every_operation_asks_for_the_rights_that_it_needs(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        guards = it.app.protection
        assert guards is not None
        assert guards.authenticator is not None
        assert (await post(it.http, STORY[0], **ROOT)).status == 200
        refused = allowed = 0
        for user in USERS:
            access = guards.authenticator.settings.rights.access(f"user:{user}")
            for request in ASKED:
                try:
                    refuse_unless_allowed(access, f"user:{user}", request)
                    expected = False
                except Forbidden:
                    expected = True
                got = await post(it.http, request, **basic(user))
                reason = json.loads(got.body).get("error", {}).get("reason", {})
                assert (reason.get("rule") == "RIGHTS") is expected, (user, request, got.body)
                of_another = reason.get("rule") == "RUNNER_OF_ANOTHER"  # a lease of root, which no right alone decides
                assert (got.status == 403) is (expected or of_another), (user, request, got.body)
                refused, allowed = refused + expected, allowed + (not expected)
        assert min(refused, allowed) > len(ASKED)
        for request in ASKED:
            assert (await post(it.http, request)).status == 401
            assert (await post(it.http, request, **basic("root", "wrong"))).status == 401

    play(tmp_path, story)


def test_who_forces_is_who_asks(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        forced = Register(A, Draft(RECORD), force=ForceReason("somebody else", "because"))
        reply = read_answer(forced, await post(it.http, forced, **basic("chief")))
        assert reply.answer.version.forced is not None
        assert reply.answer.version.forced.who == "user:chief"

    play(tmp_path, story)


def test_changes_are_written_down_and_reads_are_not(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for number, request in enumerate(ASKED):
            await post(it.http, request, **ROOT, treaty_command=f"c{number}", x_request_id=f"r{number}")

    play(tmp_path, story, audit=tmp_path / "audit.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    changes = [(number, one) for number, one in enumerate(ASKED) if is_command(one)]
    assert [(one["kind"], one["command"], one["request"], one["principal"]) for one in lines] == [
        (operation_name(one), f"c{number}", f"r{number}", "user:root") for number, one in changes
    ]
    assert {one["outcome"] for one in lines} >= {"done", "refused"}


MADE = (
    SubjectCreation("pravega"),
    SubjectCreation(types="many"),
    SubjectCreation(order="schemaver"),
    SubjectCreation(identity="exact"),
)


@pytest.mark.parametrize("made", MADE)
def test_what_an_api_says_of_its_subjects_no_client_says(tmp_path: Path, made: SubjectCreation) -> None:
    register = Register(A, Draft(RECORD), create_with=made)
    wish = t.AssociationSpec("value", A, schema=register)
    requests: tuple[Request[Any], ...] = (
        register,
        t.Associate(TOPIC, (wish,)),
        t.ChangeAssociations((t.ResourceChange(TOPIC, (t.AssociationChange("CREATE", wish),)),)),
    )

    async def story(it: Door) -> None:
        for request in requests:
            got = await post(it.http, request, **ROOT)
            reason = json.loads(got.body)["error"]["reason"]
            assert (got.status, reason["rule"], reason["allowed"]) == (
                400,
                "CREATE_WITH",
                "policy, properties and schemes",
            )
        listed = read_answer(ListSubjects(), await post(it.http, ListSubjects(), **ROOT))
        assert listed.answer.names == ()

    play(tmp_path, story)


def test_a_server_that_only_reads_refuses_changes(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for request in ASKED:
            got = await post(it.http, request, **ROOT)
            refused = is_command(request) or isinstance(request, GetDestination)
            assert (b'"rule":"READ_ONLY"' in got.body) is refused, request

    play(tmp_path, story, read_only=True)


# ----------------------------------------------------------------------------------------- counts, limits, headers


def test_answers_are_counted_by_operation_identified_packed_and_never_kept(member: Fixed) -> None:
    app = build_application(member)
    http = TestClient(app.dispatcher)
    member.answers[ListSubjects] = type(member.answers[ListSubjects])(tuple(f"s{n}" for n in range(5_000)))  # type: ignore[call-arg]  # a list of names
    got = http.post(PATH, content=ask_bytes(ListSubjects()), headers={"x-request-id": "mine"})
    assert got.json()["answer"]["names"][4_999] == "s4999"
    assert (got.headers["content-encoding"], got.headers["x-request-id"]) == ("gzip", "mine")
    assert (got.headers["content-type"], got.headers["treaty-position"]) == ("application/json", str(TOKEN))
    assert "no-store" in got.headers["cache-control"]
    plain = http.post(PATH, content=ask_bytes(ListSubjects()), headers={"accept-encoding": "identity"})
    assert (plain.json(), len(gzip.compress(plain.content)) < len(plain.content)) == (got.json(), True)
    assert app.cache.size == 0
    http.post(PATH, content=b"{}")
    page = app.metrics.page().decode()
    assert 'route="/treaty/v1/ask:list-subjects",status="200"' in page.replace('method="POST",', "")
    assert 'route="/treaty/v1/ask",status="404"' in page.replace('method="POST",', "")


def test_a_full_server_says_come_again(member: Fixed) -> None:
    app = build_application(member)
    app.metrics.in_flight = IN_FLIGHT
    got = TestClient(app.dispatcher).post(PATH, content=ask_bytes(ListContexts()))
    assert (got.status_code, got.headers["retry-after"]) == (503, "1")
    member.answers[ListContexts] = Unavailable("busy", 7)
    app.metrics.in_flight = 0
    got = TestClient(app.dispatcher).post(PATH, content=ask_bytes(ListContexts()))
    assert (got.status_code, got.headers["retry-after"], got.json()["error"]["kind"]) == (503, "7", "unavailable")


def test_a_fault_of_the_server_is_said_as_one(member: Fixed) -> None:
    member.answers[ListContexts] = ZeroDivisionError("secret")
    got = TestClient(build_application(member).dispatcher).post(PATH, content=ask_bytes(ListContexts()))
    assert (got.status_code, got.json()) == (500, {"error_code": 500, "message": "Internal Server Error"})
