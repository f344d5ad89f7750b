"""Every operation that there is, through every door: those in the story, and others with requests made from their types."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.behaviours.test_registry import V1, V2
from tests.simulation.asker import Asker
from tests.simulation.workload import made_of_types
from treaty.client.connection import Connection
from treaty.core.messages import api_keys as k
from treaty.core.messages import associations as t
from treaty.core.messages import contexts, listings, schemas, settings, versions
from treaty.core.messages import differences as d
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import names as n
from treaty.core.messages import policies as p
from treaty.core.messages import schemaver as s
from treaty.core.messages import search as find
from treaty.core.messages import transfers as x
from treaty.core.messages.compatibility import Check
from treaty.core.messages.metastore import plans as w
from treaty.core.messages.metastore import runners as r
from treaty.core.messages.metastore import scripts as batch
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.deleted_topics import LeaseTopics, ListDeletedTopics
from treaty.core.messages.metastore.kept_files import CheckpointName, KeptFiles, ListKeptFiles
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Derive, Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import subject_of
from treaty.core.operations import OPERATIONS
from treaty.core.policy import ALL, LATEST, LEVELS, Level
from treaty.core.refusals import NotFound, NotOffered, Reason, Refusal
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Metadata, Pairs, TaggedPath
from treaty.core.sources import QueryPlan, SourceColumn, SourcePart, SourceRead
from treaty.core.state.values import PolicyValue

TOPIC = t.Resource("orders", "lkc-1", "id-1")
OWNED = Draft(V1, metadata=Metadata(properties=(("owner", "ada"),)))
THERE_AND_BACK = t.ResourceChange(
    TOPIC,
    (
        t.AssociationChange("CREATE", t.AssociationSpec("value", subject_of("orders"))),
        t.AssociationChange("DELETE", t.AssociationSpec("value")),
    ),
)
Step = Callable[[Connection], Any]


def derived(it: Connection) -> int:
    return it.derive("orders", 1, add_tags=(TaggedPath("shop.Order.id", "sr_field", ("PII",)),)).version.number


def made(it: Connection) -> None:
    it.set_mode(":.empty:", "IMPORT")
    it.make_context(".empty")


def asked_by_id(it: Connection) -> str:
    it.ask(settings.SetMode(Scope(".", "orders"), "READWRITE"), CallOptions(command_id="mine"))
    return it.outcome("mine").command_id


def encoding_told(found: e.EncodingFound) -> tuple[int, str, Pairs]:
    return found.version.number, found.codec.name, found.codec.properties


EXPORT = x.ExportSubjects(subject_of("group"))
MOVED = subject_of(":.moved:group")
IMPORT = x.ImportVersion(MOVED, Draft('"int"'), 7, 8, state="soft")


def exported(it: Connection) -> list[Any]:
    found = it.ask(x.ExportVersions(subject_of("group"))).answer.versions
    return [(one.state, one.version.data, one.policy and Level(deny=one.policy.deny)) for one in found]


def pinned(it: Connection) -> tuple[int, bool]:
    """The number by schema id, and whether it is the same version of one generation by number."""
    first = it.version("orders", 1)
    by_id = it.ask(n.GetPin(subject_of("orders"), schema_id=first.schema_id)).answer
    return by_id.version.number, by_id == it.ask(n.GetPin(subject_of("orders"), 1)).answer and by_id.generation > 0


def compared(it: Connection) -> tuple[list[str], bool, int]:
    """What differs between a version and a text, whether it may follow, and the line of the new field."""
    (told,) = [one for one in it.diff("orders@1", Draft(V2)).differences if one.harm == "none"]
    change = it.try_change("orders", V2).change
    assert change is not None
    assert told.new_place is not None
    return [told.rule], change.compatible, told.new_place.line


def searched(it: Connection) -> str:
    """No registry of these keeps an index, and each says so."""
    try:
        return str(it.search("field:id").count)
    except NotOffered:
        return "not offered"


def imported(it: Connection, request: Request[Any]) -> Any:
    it.ask(settings.SetMode(Scope(MOVED.context), "IMPORT", force=True))
    return it.ask(request).answer


LEVEL = Level(deny=True)
GOLD = PolicyValue(LATEST, ALL, partition="type", strictness="LENIENT", validators=("required-metadata(owner)",))
CHANGED = PolicyValue(deny=True)
DIGEST = "0a" * 32
GROUP = g.GroupSettings("pravega", types="many", properties=(("team", "a"),))


def changed(it: Connection) -> tuple[Level, Pairs]:
    found = it.change_subject("group", level=LEVEL, previous=LEVELS["BACKWARD"], properties=())
    return found.level, found.properties


def found_by_schema(it: Connection) -> tuple[int, str, int]:
    it.register("group", V1, require_subject=True)
    found = it.find_same_version("group", V1)
    return found.ordinal, found.type_name, found.type_version


ID, AT = SourceColumn("id", "INT"), SourceColumn("at", "Point")
CLICKS = m.SourceDefinition(
    "clicks", "STREAM", "CREATE STREAM clicks", (ID, AT), None, SourcePart("AVRO"), place="clicks"
)
VALUE = Register(subject_of("clicks-value"), Draft(V1))


def created_sources(it: Connection) -> list[tuple[str, bool]]:
    """A stream over a topic, with the schema of its values, and a query that reads it."""
    clicks = it.ask(m.CreateSource(CLICKS, value_schema=VALUE)).answer
    plan = QueryPlan("SELECT id FROM clicks", (SourceRead("clicks", clicks.generation, columns=("id",)),))
    counts = m.SourceDefinition("counts", "STREAM", "CREATE STREAM counts AS", (ID,), connector="delta", query=plan)
    return [(one.name, one.created) for one in (clicks, it.ask(m.CreateSource(counts)).answer)]


def described_source(it: Connection) -> tuple[tuple[str, ...], Any]:
    found = it.ask(m.DescribeSource("CLICKS")).answer
    part = found.source.value
    return found.readers, None if part is None or part.pin is None else (part.pin.subject, part.pin.ordinal)


PLANNED = CallOptions(command_id="plan-of-wide")


def requested_plan(it: Connection) -> str:
    return it.ask(w.RequestPlan("wide", "CREATE STREAM wide AS SELECT id FROM clicks"), PLANNED).answer.state


def finished_plan(it: Connection) -> str:
    """The planner took the job by the last commit."""
    (job,) = it.ask(w.ListPlanningJobs(taken=True)).answer.jobs
    epoch = it.ask(w.ListPlanningJobs(taken=True)).token.sequence
    refusal = t.EntryRefusal("invalid", Reason("NO", "no"))
    return it.ask(w.FinishPlanningJob(job.name, "p", epoch, refusal=refusal)).answer.state


def lease_of(it: Connection) -> tuple[int, Any]:
    """The epoch of the only runner, and the only query with those who have it."""
    feed = it.ask(ListQueries()).answer
    return feed.runners[0].epoch, feed.queries[0]


def assigned_queries(it: Connection) -> tuple[list[str], list[str]]:
    epoch, fed = lease_of(it)
    answer = it.ask(r.AssignQueries("r1", epoch, (r.QueryPart("Counts", fed.source.generation),))).answer
    return [part.source for part in answer.parts], [one.runner for one in lease_of(it)[1].assigned]


def got_plan(it: Connection) -> list[str]:
    outcome = it.ask(w.GetPlan("wide", PLANNED.command_id)).answer
    return [outcome.state, "" if outcome.refusal is None else outcome.refusal.reason.rule]


def withdrawn_plan(it: Connection) -> str:
    asked = it.ask(w.RequestPlan("wide", "CREATE STREAM wide AS SELECT id FROM clicks")).answer
    return it.ask(w.WithdrawPlan("wide", asked.command)).answer.state


def dropped_sources(it: Connection) -> list[list[str]]:
    """What goes along, shown before and then taken."""
    shown = it.ask(m.DropSource("clicks", cascade=True)).answer
    taken = it.ask(m.DropSource("clicks", cascade=True, digest=shown.digest)).answer
    return [sorted(one.names) for one in (shown, taken) if one.dropped is (one is taken)]


def ran_script(it: Connection) -> list[tuple[str, bool]]:
    """A source is created and gets a comment in one commit; the retry of the command finds the same."""
    hits = replace(CLICKS, name="hits", connector="delta", columns=(ID,), value=None)
    members = (
        batch.ScriptMember(create=m.CreateSource(hits)),
        batch.ScriptMember(change=m.ChangeSource("hits", comment="x")),
    )
    call = CallOptions(command_id="script-of-hits")
    done, again = (it.ask(batch.RunScript(members), call).answer for _ in range(2))
    it.ask(m.DropSource("hits"))
    return [(one.stored.name, one.stored.created) for one in done.answers if one.stored] if done == again else []


def previewed_script(it: Connection) -> str:
    taps = replace(CLICKS, name="taps", connector="delta", columns=(ID,), value=None)
    members = (batch.ScriptMember(create=m.CreateSource(taps)),)
    found = it.ask(batch.PreviewScript(members, source=m.DescribeSource("TAPS"))).answer.source
    return "" if found is None else found.source.name


def dropped_type(it: Connection) -> bool:
    it.ask(m.DropSource("clicks"))
    return it.ask(m.DropType("point")).answer.dropped


STORY: dict[type, tuple[Step, Any]] = {
    Register: (lambda it: it.register("orders", OWNED).version.number, 1),
    Derive: (derived, 2),
    e.AddCodec: (lambda it: it.add_codec("orders", "gzip", (("level", "6"),)), True),
    e.ListCodecs: (lambda it: it.codecs("orders"), (e.CodecType("gzip", (("level", "6"),)),)),
    e.AssignEncoding: (lambda it: [it.assign_encoding("orders", 1, name) for name in ("gzip", "", "gzip")], [0, 1, 0]),
    e.GetEncoding: (lambda it: encoding_told(it.encoding("orders", 0)), (2, "gzip", (("level", "6"),))),
    e.ListEncodings: (lambda it: it.encodings("orders"), (0, 1)),
    versions.GetVersion: (
        lambda it: it.version("orders", 1).text,
        V1.replace(" ", "").replace('"shop.Order"', '"Order","namespace":"shop"'),
    ),
    schemas.GetSchema: (lambda it: it.schema(it.version("orders", 1).schema_id).number, 1),
    schemas.GetGuid: (lambda it: it.by_guid(it.version("orders", 1).guid).schema_id, 1),
    schemas.GetGuidIds: (lambda it: it.ids_of(it.version("orders", 1).guid), ((".", 1),)),
    versions.FindVersion: (lambda it: it.find("orders", (("owner", "ada"),)).number, 2),
    versions.Lookup: (lambda it: it.lookup("orders", OWNED, normalize=False).number, 1),
    Check: (lambda it: it.check("orders", V2, normalize=True).compatible, True),
    n.GetPin: (pinned, (1, True)),
    d.CompareVersions: (compared, (["FIELD_ADDED"], True, 10)),
    find.Search: (searched, "not offered"),
    listings.ListVersions: (lambda it: it.versions("orders"), (1, 2)),
    listings.ListSubjects: (lambda it: it.subjects(), ("orders",)),
    listings.ListSchemas: (lambda it: [one.number for one in it.schemas("or")], [1, 2]),
    schemas.UsesOf: (lambda it: it.uses(1), (("orders", 1),)),
    schemas.ReferencedBy: (lambda it: it.referenced_by("orders", 1), ()),
    settings.SetConfig: (
        lambda it: it.set_config("orders", Config(level="FULL", group="g"), ("group",)),
        Config(level="FULL"),
    ),
    settings.GetConfig: (lambda it: it.config("orders").level, "FULL"),
    settings.SetMode: (lambda it: it.set_mode("orders", "READONLY"), "READONLY"),
    settings.GetMode: (lambda it: it.mode("orders"), "READONLY"),
    settings.ListSettings: (lambda it: [one.mode for one in it.settings() if one.name == "orders"], ["READONLY"]),
    settings.DeleteMode: (lambda it: it.delete_mode("orders"), "READONLY"),
    settings.DeleteConfig: (lambda it: it.delete_config("orders").level, "FULL"),
    GetOutcome: (asked_by_id, "mine"),
    contexts.MakeContext: (made, None),
    contexts.ListContexts: (lambda it: it.contexts(), (".", ".empty")),
    contexts.DeleteContext: (lambda it: it.delete_context(".empty"), None),
    t.Associate: (
        lambda it: it.associate(TOPIC, t.AssociationSpec("value", subject_of("orders"))).bound[0].subject,
        "orders",
    ),
    t.ListAssociations: (lambda it: [one.kind for one in it.associations("orders")], ["value"]),
    t.GetAssociations: (lambda it: len(it.find_associations((q_of_topic(),))), 1),
    t.Dissociate: (lambda it: it.dissociate(TOPIC.id, "value"), None),
    t.ChangeAssociations: (lambda it: it.change_associations(THERE_AND_BACK)[0].refused, None),
    g.CreateSubject: (lambda it: it.create_subject("group", GROUP).created, True),
    g.GetSubject: (lambda it: it.group("group").properties, (("team", "a"),)),
    g.ListGroups: (lambda it: [one.subject for one in it.groups()], ["group", "orders"]),
    g.ChangeSubject: (changed, (LEVEL, ())),
    g.FindSameVersion: (found_by_schema, (0, "shop.Order", 0)),
    g.FindSameSchema: (lambda it: [one.subject for one in it.find_same_schema(V1)], ["group"]),
    g.GetOrdinal: (lambda it: it.ordinal("group", 0).data, V1.encode()),
    n.GetNamedVersion: (lambda it: it.named_version("group", "1").ordinal, 0),
    g.GetTypedVersion: (lambda it: it.typed_version("group", "AVRO", "shop.Order", 0).ordinal, 0),
    g.ListGroupVersions: (lambda it: [one.ordinal for one in it.group_versions("group", latest=True)], [0]),
    g.GetHistory: (lambda it: [one.policy and one.policy.deny for one in it.history("group")], [True]),
    g.CheckReading: (lambda it: it.check_reading("group", V2).compatible, True),
    x.ExportSubjects: (lambda it: [one.settings.types for one in it.ask(EXPORT).answer.subjects], ["many"]),
    x.ExportVersions: (exported, [("live", V1.encode(), Level(deny=True))]),
    x.ImportSubject: (lambda it: imported(it, x.ImportSubject(MOVED, GROUP, x.HighestNumbers(9))).created, True),
    x.ImportVersion: (lambda it: imported(it, IMPORT).version.ordinal, 7),
    x.ImportEncoding: (lambda it: imported(it, x.ImportEncoding(MOVED, 3, 7)).encoding_id, 3),
    g.DeleteOrdinal: (lambda it: it.delete_ordinal("group", 0).deleted, True),
    g.RemoveSubject: (lambda it: [it.remove_subject("group") for _ in range(2)], [True, False]),
    p.CreatePolicy: (lambda it: it.create_policy("gold", GOLD).created, True),
    p.ChangePolicy: (lambda it: it.change_policy("gold", CHANGED, previous=GOLD).policy, CHANGED),
    p.GetPolicy: (lambda it: it.policy("gold").policy, CHANGED),
    p.ListPolicies: (lambda it: [one.name for one in it.policies()], ["gold"]),
    p.DeletePolicy: (lambda it: it.delete_policy("gold").policy, CHANGED),
    s.Publish: (lambda it: it.publish("v/n/jsonschema", "1-0-0", "{}").created, True),
    s.GetPublished: (lambda it: it.get_published("v/n/jsonschema", "1-0-0").superseded_by, ""),
    s.ListPublished: (lambda it: [one.label for one in it.list_published("v")], ["1-0-0"]),
    s.DeletePublished: (lambda it: it.delete_published("v/n/jsonschema", "1-0-0"), True),
    s.PutDraft: (lambda it: it.put_draft("v/n/jsonschema", 1, "{").text, "{"),
    s.GetDraft: (lambda it: it.draft("v/n/jsonschema", 1).number, 1),
    k.AddApiKeys: (lambda it: [one.action for one in it.add_api_keys("com.acme", {DIGEST: "READ"})], ["READ"]),
    k.ListApiKeys: (lambda it: [(one.digest, one.vendor) for one in it.api_keys()], [(DIGEST, "com.acme")]),
    k.RemoveApiKey: (lambda it: [it.remove_api_key(DIGEST) for _ in range(2)], [True, False]),
    m.CreateType: (lambda it: it.ask(m.CreateType("Point", "struct<x:int,y:int>")).answer.created, True),
    m.DescribeType: (lambda it: it.ask(m.DescribeType("POINT")).answer.expanded, "STRUCT<x: INT, y: INT>"),
    m.ListTypes: (lambda it: [one.name for one in it.ask(m.ListTypes()).answer.types], ["Point"]),
    m.CreateSource: (created_sources, [("clicks", True), ("counts", True)]),
    m.DescribeSource: (described_source, (("counts",), ("clicks-value", 0))),
    m.GetDestination: (lambda it: it.ask(m.GetDestination("Clicks")).answer.source.place, "clicks"),
    m.ListSources: (lambda it: [one.name for one in it.ask(m.ListSources(queries=True)).answer.sources], ["counts"]),
    ListQueries: (lambda it: [one.source.name for one in it.ask(ListQueries()).answer.queries], ["counts"]),
    ListKeptFiles: (
        lambda it: it.ask(ListKeptFiles((CheckpointName(1, 1_000_000),), (), ("nowhere",))).answer,
        KeptFiles(),
    ),
    m.ChangeSource: (lambda it: it.ask(m.ChangeSource("clicks", properties=(("RETENTION", "1"),))).answer.revision, 2),
    m.SetSourceState: (lambda it: it.ask(m.SetSourceState("counts", "PAUSED")).answer.replaced, True),
    m.ListDependents: (
        lambda it: [one.name for one in it.ask(m.ListDependents("clicks")).answer.dependents],
        ["counts"],
    ),
    batch.RunScript: (ran_script, [("hits", True), ("hits", False)]),
    batch.PreviewScript: (previewed_script, "taps"),
    w.RequestPlan: (requested_plan, "waiting"),
    w.ListPlanningJobs: (lambda it: [one.name for one in it.ask(w.ListPlanningJobs()).answer.jobs], ["wide"]),
    w.TakePlanningJob: (lambda it: it.ask(w.TakePlanningJob("wide", "p")).answer.planner, "p"),
    w.FinishPlanningJob: (finished_plan, "refused"),
    w.GetPlan: (got_plan, ["refused", "NO"]),
    w.WithdrawPlan: (withdrawn_plan, "expired"),
    LeaseTopics: (lambda it: it.ask(LeaseTopics("main", "me")).answer.lease is None, False),
    ListDeletedTopics: (lambda it: [one.holder for one in it.ask(ListDeletedTopics()).answer.leases], ["me"]),
    r.AcquireRunner: (
        lambda it: it.ask(r.AcquireRunner("r1", "process 1", "http://r1:9090")).answer.holder,
        "process 1",
    ),
    r.AssignQueries: (assigned_queries, (["counts"], ["r1"])),
    r.ReleaseRunner: (lambda it: it.ask(r.ReleaseRunner("r1", lease_of(it)[0])).answer.released, 1),
    m.DropSource: (dropped_sources, [["clicks", "counts"]] * 2),
    m.ListDropped: (
        lambda it: [one.name for one in it.ask(m.ListDropped()).answer.sources],
        ["clicks", "counts", "hits"],
    ),
    m.UndropSource: (lambda it: it.ask(m.UndropSource("clicks")).answer.created, True),
    m.DropType: (dropped_type, True),
    versions.DeleteVersion: (lambda it: it.delete_version("orders", 2), (2,)),
    versions.DeleteSubject: (lambda it: it.delete_subject("orders"), (1,)),
}
"""Each kind of request, how it is asked by its name, and what comes of it where all above has been done."""


WITHOUT_CONFLUENT = {
    e.AddCodec, e.ListCodecs, e.AssignEncoding, e.GetEncoding, e.ListEncodings, k.AddApiKeys, k.ListApiKeys, k.RemoveApiKey,
    g.CreateSubject, g.GetSubject, g.ListGroups, g.ChangeSubject, g.DeleteOrdinal, g.RemoveSubject, g.GetOrdinal, n.GetNamedVersion,
    s.Publish, s.GetPublished, s.ListPublished, s.DeletePublished, s.PutDraft, s.GetDraft,
    g.GetTypedVersion, g.ListGroupVersions, g.GetHistory, g.FindSameVersion, g.FindSameSchema, g.CheckReading, x.ExportSubjects, x.ExportVersions,
    x.ImportSubject, x.ImportVersion, x.ImportEncoding,
    p.CreatePolicy, p.ChangePolicy, p.GetPolicy, p.ListPolicies, p.DeletePolicy, n.GetPin, d.CompareVersions,
    m.CreateSource, m.ChangeSource, m.SetSourceState, m.DropSource, m.UndropSource, m.DescribeSource, m.GetDestination, m.ListSources, m.ListDropped,
    m.ListDependents, m.CreateType, m.DropType, m.DescribeType, m.ListTypes,
    w.RequestPlan, w.ListPlanningJobs, w.TakePlanningJob, w.FinishPlanningJob, w.GetPlan, w.WithdrawPlan, ListQueries, ListKeptFiles, LeaseTopics, ListDeletedTopics,
    r.AcquireRunner, r.ReleaseRunner, r.AssignQueries,
    batch.RunScript, batch.PreviewScript,
}  # fmt: skip
"""Requests that Confluent's API has no path for."""


def q_of_topic() -> t.ListAssociations:
    return t.ListAssociations(t.OfName("orders", "lkc-1"))


def test_the_story_goes_alike_through_every_door(connection: Connection, request: pytest.FixtureRequest) -> None:
    by_confluent = request.node.callspec.params["connection"] == "http-confluent"
    for kind, (step, expected) in STORY.items():
        if by_confluent and kind in WITHOUT_CONFLUENT:
            with pytest.raises(NotOffered):
                step(connection)
        else:
            assert step(connection) == expected, kind.__name__
    with pytest.raises(NotFound):
        connection.version("orders")


def test_any_request_goes_through_every_door(connection: Connection, request: pytest.FixtureRequest) -> None:
    """Every operation, in the story or not, with requests made from their types. Only Confluent's API has not all of them."""
    by_confluent = request.node.callspec.params["connection"] == "http-confluent"
    connection.register("s", OWNED)
    for kind, operation in OPERATIONS.items():
        ask = Asker(random.Random(operation.name), guids=["1" * 32], command_ids=["c1"])
        for _ in range(8):
            came = tried(connection, made_of_types(kind, ask))
            open_ = by_confluent or kind is find.Search  # no registry here keeps an index
            expected = operation.answer | Refusal | NotOffered if open_ else operation.answer | Refusal
            assert isinstance(came, expected), came


def tried(connection: Connection, request: Request[Any]) -> Any:
    try:
        return connection.ask(request).answer
    except (Refusal, NotOffered) as refusal:
        return refusal
