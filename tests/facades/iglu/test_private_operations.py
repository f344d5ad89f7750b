"""Every query operation, and every change that could name a private subject, in a registry with private subjects and in one without.

The private ones have an alias, settings, a codec, an encoding, drafts, an association, a reference, and one of them is gone for good.
A caller who may not read them gets of both registries the same, through `POST /treaty/v1/ask` and through the reads of every other API.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import Door
from tests.facades.iglu.test_private import FAMILY, SECRET, answers, registry
from treaty.core.messages import associations as t
from treaty.core.messages import differences as d
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import policies as p
from treaty.core.messages import schemaver as s
from treaty.core.messages import transfers as x
from treaty.core.messages.api_keys import ListApiKeys
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import ListContexts, MakeContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.deleted_topics import ListDeletedTopics
from treaty.core.messages.metastore.kept_files import ListKeptFiles
from treaty.core.messages.metastore.plans import GetPlan, ListPlanningJobs
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.metastore.scripts import PreviewScript
from treaty.core.messages.names import GetNamedVersion, GetPin
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Derive, Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.search import Search
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
from treaty.core.names import Subject
from treaty.core.operations import NAMED_OPERATIONS, operation_name
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Reference
from treaty.core.sources import SchemaPin, SourceColumn, SourcePart
from treaty.core.state.codec import encode_message
from treaty.core.state.values import PolicyValue

HIDDEN, OPEN = Subject(".", FAMILY), Subject(".", "com.acme/open/jsonschema")
GONE, USER = Subject(".", "com.acme/secretgone/jsonschema"), Subject(".", "com.acme/secretuser/jsonschema")
NICK, FREE = Subject(".", "com.acme/nick/jsonschema"), Subject(".", "com.acme/free/jsonschema")
"""An alias of the hidden subject, and an alias of a subject that everybody may read."""
TEXT = Draft(json.dumps(SECRET), "JSON")
PLAIN = Draft('{"type":"string"}', "JSON")
CALLERS = ("admin", "other", "anonymous")
BARE = m.SourceDefinition("opened", "STREAM", "", (SourceColumn("a", "Word"),))
"""A source that everybody may read."""


async def furnish(it: Door, *, with_private: bool) -> None:
    async def do(request: Request[Any], command_id: str = "") -> None:
        call = CallOptions(command_id=command_id, principal="user:vendor") if command_id else CallOptions()
        await it.app.node.ask(request, call)

    await do(p.CreatePolicy("strict", PolicyValue()))
    await do(SetConfig(Scope(*FREE), Config(alias=OPEN.name)))
    await do(m.CreateType("Word", "STRING"))
    await do(m.CreateSource(BARE))
    await do(m.CreateSource(replace(BARE, name="gone")))
    await do(m.DropSource("gone"))
    if not with_private:
        return
    await do(SetConfig(Scope(*NICK), Config(alias=FAMILY)))
    await do(SetConfig(Scope(*HIDDEN), Config(follows="strict")))
    await do(SetMode(Scope(*HIDDEN), "READWRITE"))
    await do(e.AddCodec(HIDDEN, e.CodecType("gzip")))
    await do(e.AssignEncoding(HIDDEN, 0, "gzip"))
    await do(s.PutDraft(HIDDEN, 1, '{"a":"SECRETWORD"}', private=True))
    await do(s.PutDraft(OPEN, 7, '{"a":"SECRETWORD"}', private=True))
    text = '{"type":"object","description":"SECRETWORD","properties":{"a":{"$ref":"o"}}}'
    await do(s.Publish(USER, "1-0-0", Draft(text, "JSON", (Reference("o", OPEN.name, 1),)), private=True))
    await do(t.Associate(t.Resource("topic", "lkc", "id-1"), (t.AssociationSpec("value", HIDDEN),)))
    gone = Draft('{"type":"string","description":"SECRETWORD"}', "JSON")
    await do(g.CreateSubject(GONE, g.GroupSettings("iglu"), private=True))
    await do(Register(GONE, gone), "registered")
    await do(e.AssignEncoding(GONE, 0, ""))
    for request in (DeleteSubject(GONE), DeleteSubject(GONE, permanent=True, force=True), g.RemoveSubject(GONE)):
        await do(request)


def queries_about(one: Subject) -> Iterator[Request[Any]]:
    refers = Draft('{"$ref":"a"}', "JSON", (Reference("a", one.name, 1),))
    yield from (e.ListCodecs(one), e.GetEncoding(one, 0), e.ListEncodings(one))
    yield from (g.GetSubject(one), g.GetOrdinal(one, 0), g.GetTypedVersion(one, "JSON", "", 0), g.GetHistory(one))
    yield from (g.ListGroupVersions(one), g.FindSameVersion(one, TEXT), g.CheckReading(one, TEXT))
    yield from (GetNamedVersion(one, "1-0-0"), s.GetPublished(one, "1-0-0"), s.GetDraft(one, 1))
    yield from (Lookup(one, TEXT), Lookup(one, TEXT, deleted=True), Check(one, TEXT), Lookup(OPEN, refers))
    yield from (GetVersion(one, 1), GetVersion(one, -1, exact=True), FindVersion(one, ()), ListVersions(one))
    yield from (GetSchema(3, one), UsesOf(3, one), ReferencedBy(one, 1), Check(OPEN, refers))
    yield from (GetConfig(Scope(*one)), GetConfig(Scope(*one), resolve=True), GetMode(Scope(*one), resolve=True))
    yield from (GetPin(one), GetPin(one, 1), GetPin(one, schema_id=3), t.ListAssociations(t.OfSubject(one)))


def comparisons(one: Subject) -> Iterator[Request[Any]]:
    """Each way in which a comparison can name a subject."""
    text, named = d.ComparisonSide(draft=PLAIN), d.ComparisonSide(one)
    refers = Draft('{"$ref":"a"}', "JSON", (Reference("a", one.name, 1),))
    yield from (d.CompareVersions(named, text), d.CompareVersions(text, d.ComparisonSide(one, 1)))
    yield from (d.CompareVersions(text, None, one), d.CompareVersions(d.ComparisonSide(draft=refers), text))
    yield d.CompareVersions(d.ComparisonSide(draft=refers), subject=OPEN)


def queries() -> Iterator[Request[Any]]:
    every = Subject("*", "")
    for one in (HIDDEN, GONE, USER, NICK):
        yield from queries_about(one)
        yield from comparisons(one)
    yield from (
        d.CompareVersions(d.ComparisonSide(draft=PLAIN), None, OPEN),
        d.CompareVersions(d.ComparisonSide(guid="0" * 32), d.ComparisonSide(OPEN)),
    )
    yield from (ListSubjects(visible="all"), ListSubjects(Subject("*", "com.acme/s")), ListSettings())
    yield from (ListSchemas(visible="all", aliases=True), ListSchemas(latest=True), ListContexts())
    yield from (s.ListPublished(), s.ListPublished("com.acme", "secret"), g.ListGroups(), ListApiKeys())
    yield from (x.ExportSubjects(every), x.ExportVersions(every), p.ListPolicies(), p.GetPolicy("strict"))
    yield from (GetSchema(1, max_id=True), s.GetDraft(OPEN, 7), ReferencedBy(OPEN, 1, deleted=True))
    yield from (GetVersion(FREE, 1), GetConfig(Scope(*FREE)), g.FindSameSchema(".", TEXT))
    yield from (t.ListAssociations(t.OfId("id-1")), t.GetAssociations((t.ListAssociations(t.OfId("id-1")),), True))
    yield Search("secret")
    yield PreviewScript((), pin=GetPin(HIDDEN))
    yield PreviewScript((), source=m.DescribeSource("opened"))
    yield from (GetGuid("0" * 32), GetGuidIds("0" * 32), GetOutcome("none"))
    yield from (m.ListSources(), m.ListTypes(), m.ListDropped(), m.DescribeSource("opened"), m.DescribeType("word"))
    yield m.GetDestination("opened")
    yield from (m.ListDependents("opened", recursive=True), m.ListDependents("word", "TYPE"))
    yield from (ListPlanningJobs(taken=True), GetPlan("opened", "none"), ListQueries(), ListDeletedTopics())
    yield ListKeptFiles(places=("a",))  # its numbers are those of commits, which differ
    for schema_id in range(1, 8):
        yield from (GetSchema(schema_id), UsesOf(schema_id, visible="all"))


def changes() -> Iterator[Request[Any]]:
    """Changes that come to the same in both registries: they are refused, or leave what is hidden as it is."""
    yield from (DeleteMode(Scope("."), recursive=True), DeleteVersion(HIDDEN, 1), DeleteSubject(HIDDEN))
    yield from (DeleteVersion(NICK, 1), DeleteSubject(NICK), g.RemoveSubject(HIDDEN), g.RemoveSubject(NICK))
    yield from (Derive(HIDDEN, 1), Derive(NICK, 1), Register(HIDDEN, TEXT, require_subject=True))
    yield from (e.AssignEncoding(HIDDEN, 0, ""), e.AddCodec(NICK, e.CodecType("c")), s.DeletePublished(NICK, "1-0-0"))
    yield from (g.ChangeSubject(HIDDEN, label_policy="refuse"), g.DeleteOrdinal(NICK, 0), DeleteConfig(Scope(*NICK)))
    yield from (DeleteConfig(Scope(*HIDDEN)), DeleteMode(Scope(*HIDDEN)), t.Dissociate("id-1"))
    yield MakeContext(".", 1)
    for ordinal in (0, 1):
        for generation in range(8):
            pin = SchemaPin(*HIDDEN, generation, ordinal, 3)
            bound = replace(BARE, name="secretly", value=SourcePart("JSON", pin=pin))
            yield m.CreateSource(bound, dry_run=True)
    refers = Draft('{"$ref":"a"}', "JSON", (Reference("a", NICK.name, 1),))
    yield Register(Subject(".", "refers"), refers)
    yield SetConfig(Scope(*NICK), Config(level="FULL"))
    yield from (GetConfig(Scope(*NICK)), ListSettings(), DeleteConfig(Scope(*NICK)), GetConfig(Scope(*NICK)))


def bindings() -> Iterator[Request[Any]]:
    """A topic that has a private subject gets no other one: that it has one is said, and not which."""
    topic = t.Resource("topic", "lkc", "id-1")
    for resource in (topic, replace(topic, id="id-2"), replace(topic, name="other")):
        yield t.Associate(resource, (t.AssociationSpec("value", OPEN),), dry_run=True)


def asked(requests: Iterator[Request[Any]]) -> tuple[tuple[str, str, Any], ...]:
    return tuple(
        ("POST", "/treaty/v1/ask", {"operation": operation_name(one), "request": encode_message(one)})
        for one in requests
    )


def paths() -> tuple[tuple[str, str, Any], ...]:
    """Reads through other APIs, of the hidden subject and of its alias."""
    templates = (
        "/subjects/{}/versions", "/subjects/{}/versions/latest/schema", "/config/{}", "/config/{}?defaultToGlobal=true",
        "/mode/{}", "/subjects/{}/versions?deleted=true", "/associations/subjects/{}", "/v1/groups/{}/codecTypes",
        "/v1/groups/{}/encodings/0", "/v1/groups/{}/schemas/schema/0", "/schema-repo/{}", "/schema-repo/{}/config",
        "/schema-repo/{}/latest", "/schema-repo/{}/id/0", "/avro-1124/schemas/{}", "/avro-1124/schemas/{}/1",
    )  # fmt: skip
    named = [one.format(name.name.replace("/", "%2F")) for one in templates for name in (HIDDEN, NICK, USER)]
    iglu = [f"/api/schemas/{name.name}{end}" for name in (NICK, USER, GONE) for end in ("", "/1", "/1-0-0")]
    lists = (
        "/schemas?deleted=true&aliases=true", "/subjects?deletedOnly=true", "/subjects?subjectPrefix=com.acme/s",
        "/treaty/settings", "/associations/resources/id-1", "/associations/resources/lkc/topic", "/api/schemas/com.acme",
        "/api/drafts/com.acme/open/jsonschema/7", "/schemas/ids/5/subjects?deleted=true", "/schemas/ids/4/versions",
        "/v1/groups", "/schema-repo", "/api/schemas?repr=meta",
    )  # fmt: skip
    return tuple(("GET", one, None) for one in (*named, *iglu, *lists))


def test_every_query_is_asked() -> None:
    wanted = {name for name, one in NAMED_OPERATIONS.items() if not one.writes}
    assert {operation_name(one) for one in queries()} == wanted


@pytest.mark.slow
def test_no_operation_tells_of_a_private_subject(tmp_path: Path) -> None:
    async def run() -> None:
        async with (
            registry(tmp_path / "with", with_private=True) as (it, callers),
            registry(tmp_path / "without", with_private=False) as (bare, others),
        ):
            await furnish(it, with_private=True)
            await furnish(bare, with_private=False)
            told = await answers(it, callers["vendor"], "", asked(queries()))
            assert not [one for one in told if one[2] == 400], "every request is understood"
            assert sum("SECRETWORD" in one[3] for one in told) > 20
            for name in CALLERS:
                for requests in (asked(queries()), paths(), asked(changes())):
                    mine = await answers(it, callers[name], "", requests)
                    there = await answers(bare, others[name], "", requests)
                    different = [row for row in zip(requests, mine, there, strict=True) if row[1][2:] != row[2][2:]]
                    assert not different, (name, different[0])
                    assert not [one for one in mine if "SECRETWORD" in one[3]], name
            outcome = ("GET", "/treaty/outcome/registered?principal=user:vendor", None)
            _, _, status, text = (await answers(it, callers["admin"], "", (outcome,)))[0]
            assert (status, json.loads(text).keys()) == (200, {"command", "sequence", "result"})
            (used,) = await answers(it, callers["admin"], "", asked(iter([p.DeletePolicy("strict")])))
            assert (used[2], "secret" in used[3]) == (422, False)
            for answer in await answers(it, callers["admin"], "", asked(bindings())):
                assert (answer[2] in {409, 422}, HIDDEN.name in answer[3]) == (True, False), answer
            kept = await answers(it, callers["super"], "", (("GET", f"/api/schemas/{FAMILY}/1-0-1", None),))
            assert kept[0][2] == 200
            assert (await it.app.node.ask(GetVersion(NICK, 1))).answer.subject == FAMILY, "the alias stays"

    asyncio.run(run())
