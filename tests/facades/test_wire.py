"""Confluent's bodies and errors, both ways, and its words for findings."""

import json
from dataclasses import replace
from importlib import import_module
from typing import TypeVar

import msgspec
import pytest

from treaty.core import refusals as r
from treaty.core.finding import OTHER_FORMAT, Diagnostic, FailedVersion, Finding, list_messages
from treaty.core.messages.compatibility import CompatibilityResult
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.registration import ExpectedVersion, ForceReason, Register, RegisteredVersion, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, SchemaFound
from treaty.core.messages.settings import Config, DeleteConfig, DeleteMode, GetConfig, GetMode, Scope, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup, VersionFound
from treaty.core.names import Subject
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet
from treaty.wire.confluent import http_requests, http_responses
from treaty.wire.confluent.drafts import DraftBody, draft_of, register_body, register_of
from treaty.wire.confluent.errors import PINNED, TABLE, ErrorMapping, error_body, error_of, status_of
from treaty.wire.confluent.headers import V1, is_readable, negotiate
from treaty.wire.confluent.http_requests import encode_request
from treaty.wire.confluent.settings import ConfigBody, scope_of, scope_text, set_config_body, set_config_of
from treaty.wire.confluent.versions import (
    checked_body,
    checked_of,
    registered_body,
    registered_of,
    schema_body,
    schema_of,
    version_body,
    version_of,
)

RULES = RuleSet(
    domain=(Rule("mask", "TRANSFORM", "WRITE", "CEL", tags=("PII",), params=(("a", "b"),), disabled=True),),
    enable_at="later",
)
METADATA = Metadata((("**.name", ("PII", "X")),), (("owner", "me"),), ("owner",))
REFERENCES = (Reference("n", "s", 1),)
VERSION = VersionFound(":.ctx:s", 3, 7, 12, "guid", "AVRO", '"string"', REFERENCES, METADATA, RULES, 99)
FINDING = Finding("TYPE_MISMATCH", "/fields/0", "the {reader} is not the {writer}", "detail", "old", "new", "do")
DRAFT = Draft('"string"', "AVRO", REFERENCES, METADATA, RULES)

B = TypeVar("B")


def through(body: B) -> B:
    """Send a body over the wire."""
    return msgspec.json.decode(msgspec.json.encode(body), type=type(body))


def members(body: object) -> dict[str, object]:
    found = json.loads(msgspec.json.encode(body))
    assert isinstance(found, dict)
    return found


def test_answers_with_details_come_back_whole() -> None:
    schema = SchemaFound(4, "g", "AVRO", "{}", context=".ctx", subject=":.ctx:s", number=2, time=5, max_id=9)
    checked = CompatibilityResult(compatible=False, messages=("m",), findings=(FINDING,))
    again = RegisteredVersion(VERSION, created=False)
    assert version_of(through(version_body(VERSION, details=True))) == VERSION
    assert registered_of(through(registered_body(again, details=True)), VERSION.subject) == again
    assert schema_of(through(schema_body(schema, details=True))) == schema
    assert checked_of(through(checked_body(checked, verbose=True, details=True))) == checked


def test_a_first_registration_has_neither_time_nor_deleted_and_a_repeated_one_has() -> None:
    first = members(registered_body(RegisteredVersion(VERSION, created=True)))
    assert list(first) == ["version", "id", "guid", "schemaType", "references", "metadata", "ruleSet", "schema"]
    again = members(registered_body(RegisteredVersion(VERSION, created=False)))
    assert again["ts"] == 99
    assert again["deleted"] is False


def test_empty_members_are_left_out_but_booleans_and_numbers_stay() -> None:
    bare = replace(VERSION, references=(), metadata=None, rules=None)
    assert members(version_body(bare)) == {
        "subject": ":.ctx:s",
        "version": 3,
        "id": 12,
        "guid": "guid",
        "schemaType": "AVRO",
        "schema": '"string"',
        "ts": 99,
        "deleted": False,
    }


def test_a_schema_by_id_has_no_id_and_says_treaty_only_when_asked() -> None:
    schema = SchemaFound(4, "g", "AVRO", "{}")
    assert "id" not in members(schema_body(schema))
    assert "treaty" not in members(schema_body(schema))


@pytest.mark.parametrize(
    "body",
    [
        b'{"schema":"x","references":null,"metadata":null,"ruleSet":null,"schemaType":null,"version":null,"id":null}',
        b'{"schema":"x","surprise":{"deep":[1]},"schemaTagsToAdd":[]}',
    ],
    ids=["nulls", "unknown members"],
)
def test_nulls_and_unknown_members_are_read_as_absent(body: bytes) -> None:
    assert draft_of(msgspec.json.decode(body, type=DraftBody)) == Draft("x")


def test_a_registration_survives_the_wire_with_everything_it_can_say() -> None:
    request = Register(
        Subject(".ctx", "s"),
        DRAFT,
        number=4,
        schema_id=9,
        force=ForceReason("me", "because"),
        expected=ExpectedVersion("ordinal", 3),
        names=(("schemaver", "1-0-0"),),
        properties=(("a", "b"),),
        create_with=SubjectCreation(policy=Config(level="FULL"), properties=(("c", "d"),)),
    )
    back = register_of(request.subject, through(register_body(request)), normalize=None, force=None)
    assert back == request


@pytest.mark.parametrize(
    "made", [SubjectCreation(origin="iglu"), SubjectCreation(types="one"), SubjectCreation(order="schemaver")]
)
def test_what_an_api_sets_of_a_subject_is_sent_and_refused_rather_than_lost(made: SubjectCreation) -> None:
    body = through(register_body(Register(Subject(".", "s"), DRAFT, create_with=made)))
    with pytest.raises(r.Invalid, match="createWith") as refused:
        register_of(Subject(".", "s"), body, normalize=None, force=None)
    assert refused.value.reason.allowed == "policy, properties and schemes"


def test_a_change_of_config_tells_set_from_cleared_from_absent() -> None:
    body = msgspec.json.decode(b'{"compatibility":"full","alias":null}', type=ConfigBody)
    request = set_config_of(Scope(".", "s"), body)
    assert request.change == Config(level="FULL")
    assert request.clear == ("alias",)
    assert set_config_of(Scope(".", "s"), through(set_config_body(request))) == request


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        (None, Scope(".", None)),
        (":.:", Scope(".", None)),
        (":.ctx:", Scope(".ctx", None)),
        (":.__GLOBAL:", Scope("*", None)),
        ("s", Scope(".", "s")),
        (":.ctx:a/b", Scope(".ctx", "a/b")),
    ],
    ids=["nothing", "default", "context", "everywhere", "subject", "qualified"],
)
def test_scopes_as_path_segments(text: str | None, scope: Scope) -> None:
    assert scope_of(text) == scope
    assert scope_of(scope_text(scope)) == scope


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", V1),
        ("*/*", V1),
        ("text/html, image/gif, image/jpeg, */*; q=0.2", V1),
        ("application/json, text/plain, */*", V1),
        ("application/json", "application/json"),
        ("application/json;q=0.5, application/vnd.schemaregistry+json", "application/vnd.schemaregistry+json"),
        (f"{V1}, application/vnd.schemaregistry+json, application/json", V1),
        ("text/html", None),
        ("application/json;q=0", None),
    ],
)
def test_negotiation(accept: str, media: str | None) -> None:
    assert negotiate(accept) == media


def test_which_bodies_are_read() -> None:
    assert is_readable("")
    assert is_readable("application/JSON; charset=utf-8")
    assert not is_readable("text/xml")


# --------------------------------------------------------------------------------------------------------- errors

ASKED: dict[type, Request[object]] = {
    DeleteConfig: DeleteConfig(Scope(".", "s")),
    DeleteMode: DeleteMode(Scope(".", "s")),
    GetConfig: GetConfig(Scope(".", "s")),
    GetMode: GetMode(Scope(".", "s")),
    GetSchema: GetSchema(7),
    GetGuid: GetGuid("g"),
    GetGuidIds: GetGuidIds("g"),
    DeleteSubject: DeleteSubject(Subject(".", "s")),
    SetMode: SetMode(Scope(), "X"),
}


@pytest.mark.parametrize("line", TABLE, ids=[f"{line.code}-{line.kind.__name__}-{n}" for n, line in enumerate(TABLE)])
def test_every_line_of_the_table_comes_back_as_the_same_refusal(line: ErrorMapping) -> None:
    code, kind, asked = line.code, line.kind, line.asked
    request = ASKED[asked[0]] if asked else DeleteVersion(Subject(".", "s"), 3)
    rule = PINNED if kind is r.SchemaPinned else "RULE"  # one code says both, and the rule which
    error = kind.of(rule, "the law's sentence", path="/p", old="o", new="n", allowed="a", subject="s", version="3")
    body = through(error_body(error, request, details=True))
    assert body.error_code == code
    assert status_of(code) in {400, 401, 403, 404, 409, 422}
    back = error_of(body, request)
    assert type(back) is kind
    assert isinstance(back, r.Refusal)
    assert back.reason == error.reason
    bare = error_of(through(error_body(error, request)), request)
    assert type(bare) is (r.Referenced if kind is r.SchemaPinned else kind)


@pytest.mark.parametrize(
    ("error", "request_", "code", "text"),
    [
        (r.SubjectNotFound.of("R", "no"), GetVersion(Subject(".x", "s"), 1), 40401, "Subject ':.x:s' not found."),
        (r.VersionNotFound.of("R", "no"), GetVersion(Subject(".", "s"), -1), 40402, "Version -1 not found."),
        (r.SchemaNotFound.of("R", "no"), GetSchema(77), 40403, "Schema 77 not found"),
        (r.SchemaNotFound.of("R", "no"), Lookup(Subject(".", "s"), DRAFT), 40403, "Schema not found"),
        (
            r.AlreadyDeleted.of("R", "no"),
            DeleteSubject(Subject(".", "s")),
            40404,
            "Subject 's' was soft deleted.Set permanent=true to delete permanently",
        ),
        (
            r.NotDeletedFirst.of("R", "no"),
            DeleteVersion(Subject(".", "s"), 2, permanent=True),
            40407,
            "Subject 's' Version 2 was not deleted first before being permanently deleted",
        ),
        (
            r.SettingNotFound.of("R", "no"),
            GetConfig(Scope(".", "s")),
            40408,
            "Subject 's' does not have subject-level compatibility configured",
        ),
        (
            r.SettingNotFound.of("R", "no"),
            GetMode(Scope(".", "s")),
            40409,
            "Subject 's' does not have subject-level mode configured",
        ),
        (r.SettingNotFound.of("R", "no"), DeleteMode(Scope(".", "s")), 40401, "Subject 's' not found."),
        (
            r.Incompatible(r.Reason("R", "no", details=("a", "b"))),
            Register(Subject(".", "s"), DRAFT),
            40901,
            'Schema being registered is incompatible with an earlier schema for subject "s", details: [a, b]',
        ),
        (
            r.Referenced.of("R", "no"),
            DeleteVersion(Subject(".", "s"), 2),
            42206,
            "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=s,version=2}.",
        ),
        (
            r.InvalidSubject.of("R", "no"),
            Register(Subject(".", "s\n"), DRAFT),
            42208,
            "The specified subject 's\n' is not a valid.",
        ),
    ],
)
def test_texts_of_errors(error: r.Refusal, request_: Request[object], code: int, text: str) -> None:
    body = error_body(error, request_)
    assert (body.error_code, body.message) == (code, text)


def test_faults_and_findings_travel_with_the_details() -> None:
    invalid = r.InvalidSchema(r.Reason("R", "m"), (Diagnostic("F", "/x", "bad", "good", 1, 2),))
    back = error_of(through(error_body(invalid, details=True)))
    assert isinstance(back, r.InvalidSchema)
    assert back.faults == invalid.faults
    broken = r.Incompatible(r.Reason("R", "m", subject="s", details=("a",)), (FINDING,))
    again = error_of(through(error_body(broken, details=True)))
    assert isinstance(again, r.Incompatible)
    assert again.findings == broken.findings


def test_what_is_not_a_refusal_is_never_read_as_one() -> None:
    unavailable = error_of(through(error_body(r.Unavailable("later"))), retry_after=3.0)
    assert isinstance(unavailable, r.Unavailable)
    assert unavailable.retry_after == 3.0
    unknown = error_of(through(error_body(r.OutcomeUnknown("c1"))))
    assert isinstance(unknown, r.OutcomeUnknown)
    assert unknown.command_id == "c1"
    for code in (404, 500, 50001, 50003, 408, 429, -1):
        body = through(error_body(r.Unavailable("x")))
        body.error_code = code
        assert isinstance(error_of(body), r.Unavailable)


def test_an_older_servers_409_is_an_incompatible_schema() -> None:
    body = error_body(r.Unavailable("Schema being registered is incompatible"))
    body.error_code = 409
    assert isinstance(error_of(body), r.Incompatible)


# ------------------------------------------------------------------------------------------------ requests, findings


@pytest.mark.parametrize(
    ("request_", "method", "target"),
    [
        (GetSchema(7), "GET", "/schemas/ids/7"),
        (
            GetSchema(7, Subject(".c", "a/b"), max_id=True),
            "GET",
            "/schemas/ids/7?subject=%3A.c%3Aa%2Fb&fetchMaxId=true",
        ),
        (GetVersion(Subject(".", "ä b"), -1), "GET", "/subjects/%C3%A4%20b/versions/latest"),
        (ListSubjects(), "GET", "/subjects?subjectPrefix=%3A%2A%3A"),
        (ListSubjects(Subject(".", "")), "GET", "/subjects?subjectPrefix="),
        (DeleteVersion(Subject(".", "s"), 2, permanent=True), "DELETE", "/subjects/s/versions/2?permanent=true"),
        (GetConfig(Scope(".c", None), resolve=True), "GET", "/config/%3A.c%3A?defaultToGlobal=true"),
        (SetMode(Scope(), "IMPORT", force=True), "PUT", "/mode?force=true"),
        (
            FindVersion(Subject(".", "s"), (("a", "1"), ("b", "2"))),
            "GET",
            "/subjects/s/metadata?key=a&value=1&key=b&value=2",
        ),
    ],
)
def test_requests_as_http(request_: Request[object], method: str, target: str) -> None:
    http = encode_request(request_)
    assert (http.method, http.target) == (method, target)


AREAS = (
    "associations", "compatibility", "contexts", "listings", "outcomes", "registration", "schemas", "settings", "versions",
)  # fmt: skip
"""Those that Confluent's API has requests for."""


def test_every_request_can_be_sent() -> None:
    named = [value for area in AREAS for value in vars(import_module(f"treaty.core.messages.{area}")).values()]
    kinds = [kind for kind in named if isinstance(kind, type) and issubclass(kind, Request)]
    unsendable = [kind for kind in kinds if kind is not Request and kind not in _sendable()]
    assert unsendable == []


def _sendable() -> set[type]:

    assert set(http_requests._SEND) == set(http_responses._READ)
    return set(http_requests._SEND)


BACK = Finding("B", "/b", "the {reader} schema and the {writer} schema", "d")


@pytest.mark.parametrize(
    ("failed", "level", "expected"),
    [
        (
            FailedVersion(2, '"int"', backward=(BACK,)),
            "BACKWARD",
            (
                "{errorType:'B', description:'the new schema and the old schema', additionalInfo:'d'}",
                "{oldSchemaVersion: 2}",
                "{oldSchema: '\"int\"'}",
                "{validateFields: 'false', compatibility: 'BACKWARD'}",
            ),
        ),
        (
            FailedVersion(2, '"int"', forward=(BACK,)),
            "FULL",
            (
                "{errorType:'B', description:'the old schema and the new schema', additionalInfo:'d'}",
                "{validateFields: 'false', compatibility: 'FULL'}",
            ),
        ),
        (
            FailedVersion(1, "x" * 10_241, forward=(BACK,)),
            "FORWARD_TRANSITIVE",
            (
                "{errorType:'B', description:'the old schema and the new schema', additionalInfo:'d'}",
                "{oldSchemaVersion: 1}",
                f"{{oldSchema: <truncated> '{'x' * 10_240}...'}}",
                "{validateFields: 'false', compatibility: 'FORWARD_TRANSITIVE'}",
            ),
        ),
        (
            FailedVersion(1, "{}", sentence=OTHER_FORMAT),
            "BACKWARD",
            ("Incompatible because of different schema type", "{validateFields: 'false', compatibility: 'BACKWARD'}"),
        ),
    ],
    ids=["backward", "full, forward only", "forward, long", "other format"],
)
def test_messages_of_a_version_that_fails(failed: FailedVersion, level: str, expected: tuple[str, ...]) -> None:
    assert list_messages(failed, level=level) == expected
