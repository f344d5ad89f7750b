"""Requests about several things need a permission on each, and a refusal says for which member and what rule would do."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from tests.laws.holder import access, allowed
from tests.laws.toy import toy
from treaty.core import sources
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages import differences as d
from treaty.core.messages import groups as g
from treaty.core.messages import transfers as x
from treaty.core.messages.api_keys import AddApiKeys
from treaty.core.messages.associations import Associate, AssociationSpec, ImportedAssociation, Resource
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import MakeContext
from treaty.core.messages.metastore import scripts
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.names import GetPin
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import ForceReason, Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import Publish
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, Lookup
from treaty.core.names import Subject
from treaty.core.operations import refuse_unless_allowed
from treaty.core.policy import ForcedRegistration, Level
from treaty.core.refusals import Forbidden
from treaty.core.schema import Reference

S, FAR, LABELLED = Subject(".", "s"), Subject(".x", "s"), Subject(".", "v/n/toy")
REFERS = toy("a", references=(Reference("one", ":.y:far", 1), Reference("two", "near", 1)))


def rule(
    may: Permission, *subjects: str, context: str = ".", sources: Iterable[str] = (), topics: Iterable[str] | None = ()
) -> AccessRule:
    """A rule about these subjects, sources and topics, and no others; without `topics` also about those of the usual subjects."""
    named = None if topics is None else tuple(topics)
    return AccessRule(("*",), with_included([may]), subjects, (context,), named, sources=tuple(sources))


def read(context: str = ".") -> list[tuple[AccessRule, str]]:
    """What the references of a draft need, in a subject of this context."""
    return [
        (rule("read", "far", context=".y"), "/references/0"),
        (rule("read", "near", context=context), "/references/1"),
    ]


def config(path: str, subject: str = "s") -> tuple[AccessRule, str]:
    return rule("config", subject), path


def mode(path: str, context: str = ".") -> tuple[AccessRule, str]:
    return rule("mode", "*", context=context), path


CREATE, REGISTER, DELETE, READ = ((rule(may, "s"), "") for may in ("create", "register", "delete", "read"))
CHOSEN, USUAL = Config(level="FULL"), Config(level="NONE")
FORCED = ForcedRegistration("ann", "")
TOPIC = Resource("t", "ns", "id")
ON_TOPIC = (rule("register", topics=["t"]), "/resourceName")
Need = tuple[AccessRule, str]
MEMBERS: dict[str, dict[str, Any]] = {
    name: {name: value}
    for name, value in (
        ("level", Level()),
        ("follows", ""),
        ("validators", ()),
        ("previous", Level()),
        ("label_policy", "refuse"),
    )
}
"""Members of a change of a subject that need the permission for its config, each with its smallest value."""
NEEDED: dict[str, tuple[Request[Any], list[Need]]] = {
    "a registration with references": (Register(S, REFERS), [CREATE, *read()]),
    "a registration in a context": (Register(FAR, REFERS), [(rule("create", "s", context=".x"), ""), *read(".x")]),
    "a registration with the lowest id": (Register(S, toy("a"), schema_id=0), [CREATE, mode("/id")]),
    "a registration of an unknown time": (Register(S, toy("a"), time=0), [CREATE, mode("/treaty/time")]),
    "a forced registration": (Register(S, toy("a"), force=ForceReason("", "")), [CREATE, config("force")]),
    "a chosen policy": (
        Register(S, toy("a"), create_with=SubjectCreation(policy=CHOSEN)),
        [CREATE, config("/treaty/createWith/policy")],
    ),
    "the usual policy of an origin": (
        Register(S, toy("a"), create_with=SubjectCreation("iglu", policy=USUAL)),
        [CREATE],
    ),
    "the usual policy of another origin": (
        Register(S, toy("a"), create_with=SubjectCreation(policy=USUAL)),
        [CREATE, config("/treaty/createWith/policy")],
    ),
    "a publication": (Publish(LABELLED, "1-0-0", REFERS), [(rule("create", LABELLED.name), ""), *read()]),
    "a look-up": (Lookup(S, REFERS), [READ, *read()]),
    "a check": (Check(S, REFERS), [READ, *read()]),
    "a check of reading": (g.CheckReading(S, REFERS), [READ, *read()]),
    "a look-up in a group": (g.FindSameVersion(S, REFERS), [READ, *read()]),
    "a look-up in a context": (g.FindSameSchema(".x", REFERS), read(".x")),
    "an imported subject": (x.ImportSubject(S, g.GroupSettings("treaty")), [REGISTER, mode("/mode")]),
    "an imported version": (x.ImportVersion(S, REFERS, 0, 1), [REGISTER, mode("/mode"), *read()]),
    "an imported version that was forced": (
        x.ImportVersion(S, toy("a"), 0, 1, forced=FORCED),
        [REGISTER, config("/forced"), mode("/mode")],
    ),
    "an imported encoding": (x.ImportEncoding(S, 0, 0), [REGISTER, mode("/mode")]),
    "a forced deletion of a version": (DeleteVersion(S, 1, force=True), [DELETE, config("force")]),
    "a forced deletion": (DeleteSubject(S, force=True), [DELETE, config("force")]),
    "a subject with a policy": (
        g.CreateSubject(S, g.GroupSettings("treaty", policy=USUAL)),
        [REGISTER, config("/settings/policy")],
    ),
    "a subject with the usual policy": (g.CreateSubject(S, g.GroupSettings("iglu", policy=USUAL)), [REGISTER]),
    "a subject that refuses labels": (
        g.CreateSubject(S, g.GroupSettings("iglu"), label_policy="refuse"),
        [REGISTER, config("/label_policy")],
    ),
    **{
        f"another {name}": (
            replace(g.ChangeSubject(S, properties=()), **members),
            [config(f"/{name}"), (REGISTER[0], "/properties")],
        )
        for name, members in MEMBERS.items()
    },
    "a comparison": (
        d.CompareVersions(d.ComparisonSide(draft=REFERS), d.ComparisonSide(Subject(".", "b")), FAR),
        [(rule("read", "s", context=".x"), "/subject"), *read(".x"), (rule("read", "b"), "/old/subject")],
    ),
    "a comparison with a subject beside its text": (
        d.CompareVersions(d.ComparisonSide(Subject(".", "b")), d.ComparisonSide(FAR, draft=REFERS)),
        [(rule("read", "b"), "/new/subject"), *read(".x")],
    ),
    "a comparison with another subject beside its text": (
        d.CompareVersions(d.ComparisonSide(S, draft=REFERS), subject=FAR),
        [(rule("read", "s", context=".x"), "/subject"), *read(".x")],
    ),
    "keys of a vendor": (AddApiKeys("v", ()), [(rule("admin", "v/*", "v.*/*", context="*"), "/vendor")]),
    "a context with ids": (MakeContext(".x", 1), [(rule("register", "*", context=".x"), ""), mode("/highestId", ".x")]),
    "an alias": (
        SetConfig(Scope(*S), Config(alias=":.y:far")),
        [config(""), (rule("config", "far", context=".y"), "/alias")],
    ),
    "mode IMPORT": (SetMode(Scope(*S), "IMPORT"), [(rule("mode", "s"), ""), DELETE]),
    "mode IMPORT that purges nothing": (SetMode(Scope(*S), "IMPORT", force=True), [(rule("mode", "s"), "")]),
    "the outcome of a command of nobody": (GetOutcome("c", ""), [(rule("admin", "*", context="*"), "principal")]),
    "a topic whose schemas come along": (
        Associate(TOPIC, tuple(AssociationSpec(kind, schema=Register(S, REFERS)) for kind in ("key", "value"))),
        [*((rule("register", f"t-{kind}", context=".ns"), "") for kind in ("key", "value")), ON_TOPIC, *read(".ns")],
    ),
    "a topic that is known by the usual names": (
        Associate(TOPIC, (AssociationSpec("key", S), AssociationSpec("value", S))),
        [REGISTER, *((rule("register", f"t-{kind}", topics=None), "/resourceName") for kind in ("key", "value"))],
    ),
    "a topic as it is elsewhere": (
        Associate(TOPIC, (AssociationSpec(subject=FAR, given=ImportedAssociation("g")),)),
        [(rule("register", "s", context=".x"), ""), ON_TOPIC, mode("/treaty/guid", ".x")],
    ),
}


def pin(subject: str, context: str = ".") -> sources.SchemaPin:
    return sources.SchemaPin(context, subject, 1, 0, 1)


def part(subject: str = "", context: str = ".") -> sources.SourcePart:
    return sources.SourcePart("AVRO", pin=pin(subject, context) if subject else None)


def defined(name: str = "Orders", **members: Any) -> m.SourceDefinition:
    return m.SourceDefinition(name, "STREAM", "", (), **members)


def on_source(may: Permission, path: str, *names: str) -> Need:
    return rule(may, sources=names or ("orders",)), path


KAFKA = {"connector": "kafka", "place": "t"}
READS = sources.QueryPlan("SELECT 1", (sources.SourceRead("Paid", 1, key=pin("k"), value=pin("v", ".x")),))
NAMED = on_source("register", "/definition/name")
IN_SCRIPT: dict[str, tuple[scripts.ScriptMember, Need]] = {
    "create": (scripts.ScriptMember(m.CreateSource(defined())), on_source("register", "/definition/name")),
    "change": (scripts.ScriptMember(change=m.ChangeSource("orders")), on_source("register", "/name")),
    "state": (scripts.ScriptMember(state=m.SetSourceState("orders", "PAUSED")), on_source("pause", "/name")),
    "drop": (scripts.ScriptMember(drop=m.DropSource("orders")), on_source("delete", "/name")),
    "undrop": (scripts.ScriptMember(undrop=m.UndropSource("orders")), on_source("register", "/name")),
    "create_type": (scripts.ScriptMember(create_type=m.CreateType("orders", "INT")), on_source("register", "/name")),
    "drop_type": (scripts.ScriptMember(drop_type=m.DropType("orders")), on_source("delete", "/name")),
    "assertion": (scripts.ScriptMember(assertion=scripts.SchemaAssertion("s")), (rule("read", "*", context="*"), "")),
}
"""A command of each kind, and what it needs by itself."""
OTHER = scripts.ScriptMember(create_type=m.CreateType("other", "INT"))
ON_OTHER = on_source("register", "/members/0/name", "other")
NEEDED |= {
    "keys and values of a topic": (
        m.CreateSource(defined(key=part(), value=part(), **KAFKA)),
        [NAMED, *((rule("register", f"t-{kind}", topics=None), "/definition/place") for kind in ("key", "value"))],
    ),
    "values of a topic": (
        m.CreateSource(defined(value=part(), **KAFKA)),
        [NAMED, (rule("register", "t-value", topics=None), "/definition/place")],
    ),
    "a folder in any spelling": (
        m.CreateSource(defined(value=part(), connector="files", place="/lake//orders/./")),
        [NAMED, (rule("register", topics=["path:lake/orders"]), "/definition/place")],
    ),
    "a source with schemas that come along": (
        m.CreateSource(
            defined(key=part(), value=part()), key_schema=Register(S, toy("a")), value_schema=Register(FAR, REFERS)
        ),
        [NAMED, CREATE, (rule("create", "s", context=".x"), ""), *read(".x")],
    ),
    "a source with pins": (
        m.CreateSource(defined(key=part("k"), value=part("v", ".x"))),
        [NAMED, (rule("read", "k"), "/definition/key/pin"), (rule("read", "v", context=".x"), "/definition/value/pin")],
    ),
    "a query and the pins of what it reads": (
        m.CreateSource(defined(query=READS)),
        [
            NAMED,
            on_source("query", "/definition/query/reads", "paid"),
            (rule("read", "k"), "/definition/query/reads"),
            (rule("read", "v", context=".x"), "/definition/query/reads"),
        ],
    ),
    "other pins": (
        m.ChangeSource("ORDERS", key=part("k"), value=part("v", ".x")),
        [
            on_source("register", "/name"),
            (rule("read", "k"), "/key/pin"),
            (rule("read", "v", context=".x"), "/value/pin"),
        ],
    ),
    "an imported source": (m.CreateSource(defined(), importer=True), [NAMED, on_source("import", "/importer")]),
    "an imported type": (
        m.CreateType("Orders", "INT", importer=True),
        [on_source("register", "/name"), on_source("import", "/importer")],
    ),
    "an imported drop": (
        m.DropSource("Orders", importer=True),
        [on_source("delete", "/name"), on_source("import", "/importer")],
    ),
    **{
        f"a script with {name}": (scripts.RunScript((OTHER, member)), [ON_OTHER, (need, f"/members/1{path}")])
        for name, (member, (need, path)) in IN_SCRIPT.items()
    },
    "a question about a script": (
        scripts.PreviewScript((OTHER,), source=m.DescribeSource("orders")),
        [ON_OTHER, on_source("read", "/name")],
    ),
    "a question about the pin of a script": (scripts.PreviewScript((OTHER,), pin=GetPin(S)), [ON_OTHER, READ]),
}


@pytest.mark.parametrize("name", NEEDED)
def test_a_request_about_several_things_names_the_one_that_no_rule_covers(name: str) -> None:
    request, needs = NEEDED[name]
    rules = [rule for rule, _ in needs]
    assert allowed(Access(tuple(rules)), request)
    for place, (needed_rule, path) in enumerate(needs):
        with pytest.raises(Forbidden) as refusal:
            refuse_unless_allowed(Access((*rules[:place], *rules[place + 1 :])), "user:a", request)
        reason = refusal.value.reason
        assert reason.path == path, f"without {needed_rule}"
        if needed_rule.subjects and needed_rule.topics == ():
            name_ = "" if needed_rule.subjects == ("*",) else needed_rule.subjects[0]
            context = needed_rule.contexts[0]
            assert (reason.subject, context) in {(str(Subject(context, name_)), context), ("", "*")}
        for topic in needed_rule.topics or ():
            assert f"topics = ['{topic}']" in reason.allowed
        for source in needed_rule.sources or ():
            assert f"sources = ['{source}']" in reason.allowed


def test_a_script_has_every_kind_of_command() -> None:
    assert {*IN_SCRIPT} == {*scripts.ScriptMember.__dataclass_fields__}


@pytest.mark.parametrize("setting", ["config", "mode"])
def test_settings_of_everything_need_the_permission_in_every_context(setting: str) -> None:
    """Those of one name in all contexts too; one context that is called like a pattern is not all."""
    change: Any = SetConfig(Scope("*"), CHOSEN) if setting == "config" else SetMode(Scope("*"), "READONLY")
    for scope in (Scope("*"), Scope("*", "s")):
        request = type(change)(scope, *([CHOSEN] if setting == "config" else ["READONLY"]))
        assert allowed(access(setting, contexts=("*",)), request)  # type: ignore[arg-type]  # a permission
        for contexts in ((".",), (".", ".x"), ("?*",)):
            with pytest.raises(Forbidden, match="all contexts"):
                refuse_unless_allowed(access(setting, contexts=contexts), "user:a", request)  # type: ignore[arg-type]
