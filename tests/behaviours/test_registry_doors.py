"""Nobody can tell a node from a client: one log, two doors, and every question has the same answer at both."""

from typing import Any

import pytest

from tests.behaviours.test_registry import BAD, V1, V2, V3, record
from treaty.client.connection import Connection
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext, ListContexts
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import ExpectedVersion, Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.settings import (
    Config,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Incompatible, InvalidSchema, Refusal
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Metadata, Reference

ORDERS, SHOP, GONE = subject_of("orders"), subject_of(":.shop:orders"), subject_of("gone")
MONEY = record("cents:long", name="shop.Money")
PRICED = Draft(record("price:shop.Money", name="shop.Priced"), references=(Reference("shop.Money", "money", 1),))
GUID = "ffffffff-0000-0000-0000-000000000000"

QUESTIONS: tuple[Request[Any], ...] = (
    *(GetSchema(n) for n in (1, 2, 3, 4, 5, 9, 0, -1, 2**31, 2**50)),
    *(GetSchema(1, subject) for subject in (ORDERS, SHOP, GONE, Subject(".shop", ""), Subject(".none", ""))),
    GetSchema(1, SHOP, max_id=True),
    GetGuid(GUID),
    GetGuid("no guid"),
    GetGuidIds(GUID),
    *(GetVersion(ORDERS, n, deleted=d) for n in (1, 2, 3, 9, -1, 0, -7, 2**31) for d in (False, True)),
    *(GetVersion(subject, -1) for subject in (SHOP, GONE, subject_of("nobody"), subject_of(":.none:x"))),
    FindVersion(ORDERS, (("owner", "ada"),)),
    FindVersion(ORDERS, (("owner", "bob & co"),)),
    FindVersion(subject_of("nobody"), (("owner", "ada"),)),
    *(Lookup(ORDERS, Draft(text), deleted=d) for text in (V1, V2, V3, BAD) for d in (False, True)),
    Lookup(ORDERS, Draft("{")),
    Lookup(ORDERS, Draft("")),
    Lookup(subject_of("nobody"), Draft(V1)),
    Lookup(subject_of("priced"), PRICED),
    *(Check(ORDERS, Draft(text), n) for text in (V3, BAD, "{", "", '"x"') for n in (None, -1, 1, 2, 9, 0)),
    Check(subject_of("nobody"), Draft(BAD), 1),
    *(ListSubjects(prefix, v) for prefix in (Subject("*", ""), Subject(".", ""), SHOP) for v in ("live", "all")),
    ListSubjects(visible="deleted"),
    *(ListVersions(s, v) for s in (ORDERS, GONE, subject_of("nobody")) for v in ("live", "all", "deleted")),
    *(ListSchemas(visible=v, latest=latest) for v in ("live", "all", "deleted") for latest in (False, True)),
    ListSchemas(Subject("*", ""), offset=1, limit=2),
    *(UsesOf(n, None, v) for n in (1, 2, 9) for v in ("live", "all", "deleted")),
    UsesOf(1, SHOP),
    *(ReferencedBy(subject_of("money"), n, deleted=d) for n in (1, 9, -1) for d in (False, True)),
    ReferencedBy(subject_of("nobody"), 1),
    *(GetConfig(Scope(*place), r) for place in ((".", None), (".shop", None), ("*", None)) for r in (False, True)),
    *(GetConfig(Scope(".", name), r) for name in ("orders", "priced") for r in (False, True)),
    *(GetMode(Scope(*place), r) for place in ((".", None), (".shop", None), ("*", None)) for r in (False, True)),
    *(GetMode(Scope(".", name), r) for name in ("orders", "priced") for r in (False, True)),
    ListContexts(),
    ListContexts(".s"),
    ListContexts("x"),
    GetOutcome("first"),
    GetOutcome("nobody's"),
)

REFUSED: tuple[Request[Any], ...] = (
    Register(ORDERS, Draft(BAD)),
    Register(ORDERS, Draft("{")),
    Register(ORDERS, Draft("")),
    Register(ORDERS, Draft('{"type":"record","name":"R","fields":[{"name":"a","type":"nothing"}]}')),
    Register(ORDERS, Draft(V3, references=(Reference("a", "nobody", 1),))),
    Register(ORDERS, Draft(record("id:long", "price:double?")), number=9),
    Register(ORDERS, Draft(V3), schema_id=9),
    Register(ORDERS, Draft(V3), expected=ExpectedVersion("number", 7)),
    Register(subject_of("__EMPTY"), Draft(V1)),
    Register(subject_of("a\nb"), Draft(V1)),
    Register(subject_of("frozen"), Draft(V2)),
    Register(ORDERS, Draft(record("id:long")[:-1] + f', "doc": "{"x" * 1_100_000}"}}')),
    DeleteVersion(ORDERS, 2),
    DeleteVersion(ORDERS, 1, permanent=True),
    DeleteVersion(ORDERS, 9),
    DeleteVersion(ORDERS, 0),
    DeleteVersion(subject_of("nobody"), 1),
    DeleteVersion(subject_of("money"), 1),
    DeleteVersion(subject_of("frozen"), 1),
    DeleteSubject(subject_of("nobody")),
    DeleteSubject(GONE),
    DeleteSubject(ORDERS, permanent=True),
    DeleteSubject(subject_of("money")),
    DeleteContext(".shop"),
    SetConfig(Scope(".", "orders"), Config(level="SIDEWAYS")),
    SetConfig(Scope(".", "orders"), Config(policy="KIND")),
    SetConfig(Scope(".", "frozen"), Config(level="FULL")),
    SetConfig(Scope(".", "__EMPTY"), Config(level="FULL")),
    DeleteConfig(Scope(".", "nobody")),
    SetMode(Scope(".", "orders"), "SIDEWAYS"),
    SetMode(Scope(".", "orders"), "FORWARD"),
    SetMode(Scope(".", "orders"), "IMPORT"),
    DeleteMode(Scope(".", "nobody")),
)


def told(connection: Connection, request: Request[Any]) -> object:
    """An answer, or everything that a refusal says."""
    try:
        return connection.ask(request, CallOptions(consistency="latest")).answer
    except Refusal as refusal:
        faults = refusal.faults if isinstance(refusal, InvalidSchema) else ()
        findings = refusal.findings if isinstance(refusal, Incompatible) else ()
        return type(refusal), refusal.reason, faults, findings


@pytest.fixture
def filled(doors: tuple[Connection, Connection]) -> tuple[Connection, Connection]:
    """Some of everything, written through both doors in turn."""
    one, other = doors
    one.ask(Register(ORDERS, Draft(V1)), CallOptions(command_id="first"))
    other.register("orders", Draft(V2, metadata=Metadata(properties=(("owner", "ada"),))), properties=(("a", "b"),))
    one.register(":.shop:orders", V2)
    other.register("money", MONEY)
    one.register("priced", PRICED)
    other.register("gone", V1)
    one.register("frozen", V1)
    other.delete_subject("gone")
    one.register("orders", V3)
    other.delete_version("orders", 2)
    one.set_config("orders", Config(group="major", normalize=False))
    other.set_level(":.shop:", "FULL")
    one.set_mode("frozen", "READONLY")
    return doors


def test_every_question_has_the_same_answer_at_both_doors(filled: tuple[Connection, Connection]) -> None:
    one, other = filled
    guid = one.version("orders", 1).guid
    asked = [*QUESTIONS, GetGuid(guid), GetGuidIds(guid)]
    assert [(each, told(one, each)) for each in asked] == [(each, told(other, each)) for each in asked]


def test_every_refusal_says_the_same_at_both_doors(filled: tuple[Connection, Connection]) -> None:
    one, other = filled
    for request in REFUSED:
        refusal = told(one, request)
        assert isinstance(refusal, tuple), f"not refused: {request}"
        assert refusal == told(other, request)


def test_what_is_written_at_one_door_is_read_at_the_other(doors: tuple[Connection, Connection]) -> None:
    writer, reader = doors
    for number, text in enumerate((V1, V2, V3), 1):
        made = writer.register("orders", text)
        assert reader.version("orders") == made.version
        assert reader.register("orders", text).version == made.version
        assert made.version.number == number
        writer, reader = reader, writer
