"""A world of what is rare: validators that fail or are missing, id schemes of a package, used-up counters, sources over sources, strange rows."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.answers.shop import INTS, JSONS, LABELLED, PROTO, TAGGED
from tests.answers.worlds import World
from tests.worlds.drafts import described, records, referring
from treaty.core.limits import COUNTER
from treaty.core.messages import associations as t
from treaty.core.messages import groups as g
from treaty.core.messages import policies as p
from treaty.core.messages import schemaver as s
from treaty.core.messages import transfers as x
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.messages.registration import ForceReason, Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject, subject_of
from treaty.core.policy import ALL, LATEST, VersionRange
from treaty.core.schema import Draft, Metadata
from treaty.core.sources import QueryPlan, SchemaPin, SourceColumn, SourcePart, SourceRead
from treaty.core.state.rows import Row
from treaty.core.state.state_tables import ids_key
from treaty.core.state.values import ConfigValue, Counter, Outcome, PolicyValue, SubjectValue

FORCE = ForceReason("ann", "a test")
VIEW = subject_of("com.acme/view/jsonschema")
RESERVING = replace(INTS[1], metadata=Metadata(properties=(("confluent:reserved", "z, y"),)))
DOCUMENTED = Draft(
    json.dumps(
        {"type": "record", "name": "Neighbour", "doc": "A.", "fields": [{"name": "a", "type": "int", "doc": "b"}]}
    )
)
CLICKS = SourceDefinition(
    "clicks", "STREAM", "CREATE STREAM clicks", (SourceColumn("a", "INT"),), None, SourcePart("AVRO"), place="clicks"
)
Entry = Request[Any] | Row
GENERATION = 85
"""That of the source: the number of its commit."""


def list_watched() -> list[Entry]:
    """Subjects with validators of all kinds, whose versions were forced."""
    validators = {
        "watched": ("policy:all", "policy:till", "policy:BackwardTill(1)", "required-metadata(owner)"), "documented": ("documentation(type,field)",),
        "linted": ("policy:nested", "policy:FULL"), "shut": ("policy:shut",),
    }  # fmt: skip
    return [
        p.CreatePolicy("all", PolicyValue(ALL, ALL)), p.CreatePolicy("till", PolicyValue(VersionRange("till", 1))), p.CreatePolicy("shut", PolicyValue(deny=True)),
        p.CreatePolicy("nested", PolicyValue(LATEST, validators=("required-metadata(major)",))),
        *(Register(subject_of(name), draft, force=FORCE) for name in validators for draft in INTS[:2]),
        *(SetConfig(Scope(".", name), Config(level="NONE", validators=named)) for name, named in validators.items()),
        g.CreateSubject(subject_of("typed"), g.GroupSettings("pravega", types="many", policy=Config(level="NONE", validators=("policy:all",)))),
        *(Register(subject_of("typed"), draft, require_subject=True, force=FORCE) for draft in (INTS[0], JSONS[0], records("b"))),
        SetConfig(Scope(".", "documented"), Config(level="FULL_TRANSITIVE", validators=validators["documented"])),
        SetConfig(Scope(".", "checked"), Config(validate_fields=True, normalize=True, level="BACKWARD")), Register(subject_of("checked"), RESERVING),
        SetConfig(Scope(".", "unchecked"), Config(validate_new_schemas=False)), Register(subject_of("unchecked"), INTS[0]),
        Row("config", ("subject", ".", "haunted"), ConfigValue(validators=("ghost-check",), packages=(("ghost-check", "ghost-package"),))), Register(subject_of("haunted"), INTS[0], force=FORCE),
        Row("config", ("subject", ".", "lost"), ConfigValue(validators=("policy:nowhere",))), Row("config", ("context", ".odd", ""), ConfigValue(follows="nowhere")),
    ]  # fmt: skip


def list_identities() -> list[Entry]:
    """Groups of all identities, orders and schemes, with the same text in several ways."""
    spaced = Draft(f" {INTS[0].text} ")
    groups = {
        "exact": g.GroupSettings("pravega", identity="exact", policy=Config(level="NONE")), "normal": g.GroupSettings("pravega", identity="normalised", policy=Config(level="NONE")),
        "schemed": g.GroupSettings("avro-1124", schemes=("crc-64-avro", "md5", "sha-256")), "only": g.GroupSettings("pravega", "one", properties=((g.FORMAT, "AVRO"),)), "any": g.GroupSettings("schema-repo", properties=((g.FORMAT, "any"),)),
        "opaque": g.GroupSettings("pravega", policy=Config(level="FULL")), "ordered": g.GroupSettings("pravega", order="schemaver", types="many", policy=Config(level="NONE")),
    }  # fmt: skip
    texts = [INTS[0], spaced, INTS[1], replace(INTS[0], metadata=TAGGED.metadata)]
    return [
        *(g.CreateSubject(subject_of(name), settings, label_policy="refuse" if name == "ordered" else "warn") for name, settings in groups.items()),
        *(Register(subject_of(name), draft, require_subject=True) for name in ("exact", "normal") for draft in texts), *(DeleteVersion(subject_of("exact"), number) for number in (1, 2)),
        Register(subject_of("exact"), INTS[0], require_subject=True), Register(subject_of("schemed"), INTS[0], require_subject=True), Register(subject_of("schemed"), INTS[1], require_subject=True), DeleteVersion(subject_of("schemed"), 1),
        Register(subject_of("only"), INTS[0], require_subject=True), Register(subject_of("any"), Draft("no schema", "any"), require_subject=True), Register(subject_of("any"), Draft('"int"', "any"), require_subject=True, force=FORCE),
        Register(subject_of("opaque"), Draft("one", "ECHO"), require_subject=True), Register(subject_of("ordered"), LABELLED[1], require_subject=True, names=(("schemaver", "1-0-0"),)),
        Register(subject_of("ordered"), LABELLED[2], require_subject=True, names=(("schemaver", "1-0-1"),)), AssignEncoding(subject_of("exact"), 2), AssignEncoding(subject_of("normal"), 0),
        Row("subject", (".", "ghosts"), SubjectValue(1, "pravega", schemes=("ghost", "other"), packages=(("ghost", "ghost-package"),))), Row("counter", ("ordinals", ".", "ghosts", 1, ""), Counter(COUNTER)),
        Row("subject", (".", "ended"), SubjectValue(1, "pravega")), Row("counter", ("ordinals", ".", "ended", 1, ""), Counter(COUNTER)), Row("counter", ("encodings", ".", "normal", 0, ""), Counter(COUNTER)),
        Row("counter", ids_key(".full"), Counter(COUNTER)), Row("counter", ids_key(".spared"), Counter(4, ((5, 6), (8, 8), (10, 12)))), Register(Subject(".spared", "a"), INTS[0]), Register(Subject(".spared", "b"), INTS[1]),
    ]  # fmt: skip


def list_labelled() -> list[Entry]:
    """A subject of labels with encodings, patches, versions that supersede deleted ones, and more models; and one with gaps."""
    gap = subject_of("com.acme/gap/jsonschema")
    return [
        *(s.Publish(VIEW, label, LABELLED[at], supersedes=older) for at, (label, older) in enumerate((("1-0-0", ()), ("1-0-1", ("1-0-0",)), ("1-0-2", ("1-0-1",))))),
        AssignEncoding(VIEW, 0), AddCodec(VIEW, CodecType("gzip")), AssignEncoding(VIEW, 1, "gzip"), s.Publish(VIEW, "1-0-1", LABELLED[3], patch=True), s.DeletePublished(VIEW, "1-0-2"),
        *(s.Publish(VIEW, label, draft) for label, draft in (("1-0-2", LABELLED[0]), ("2-0-0", JSONS[1]), ("2-1-0", JSONS[2]))), g.ChangeSubject(VIEW, label_policy="refuse", validators=("required-metadata(owner)",)),
        SetMode(Scope(*gap), "IMPORT", force=True), s.Publish(gap, "1-0-3", LABELLED[1]), s.Publish(gap, "2-0-1", LABELLED[2]), s.Publish(gap, "1-1-0", LABELLED[2]), SetMode(Scope(*gap), None),
        s.Publish(subject_of("com.acme/text/other"), "1-0-0", Draft("plain", "OTHER")), s.PutDraft(VIEW, 1, "{}"),
    ]  # fmt: skip


def list_readers() -> list[Entry]:
    """Sources over a pinned version, with queries over queries; references in a chain; strong and frozen associations."""
    pinned, user = subject_of("pinned"), subject_of("user")
    pin = SchemaPin(".", "pinned", GENERATION, 0, 2)
    sources = [
        replace(CLICKS, name=name, connector="delta", value=None, place="", query=QueryPlan(f"SELECT a FROM {of}", (SourceRead(of, GENERATION + at, columns=("a",), value=pin if at == 0 else None),)))
        for at, (name, of) in enumerate((("visits", "clicks"), ("Totals", "visits")))
    ]  # fmt: skip
    tie = t.AssociationSpec("value", subject_of("tied"), "STRONG", frozen=True, schema=Register(user, INTS[0]))
    states: tuple[x.KeptState, ...] = ("live", "hidden", "soft", "live")
    imported = t.ImportedAssociation("a1a1a1a1-1111-2222-3333-444444444444", 5, 6)
    return [
        CreateSource(CLICKS, value_schema=Register(pinned, INTS[0])), *(CreateSource(source) for source in sources), Register(pinned, INTS[1]), DeleteVersion(pinned, 1), Register(user, referring(INTS[0], "pinned", 2)),
        Register(subject_of("user2"), Draft('{"type":"record","name":"Far","fields":[{"name":"u","type":"User"}]}', references=(*referring(INTS[0], "pinned", 2).references, replace(referring(INTS[0], "user", 1).references[0], name="User")))),
        Register(subject_of("hidden-user"), referring(INTS[0], "pinned", 2), create_with=SubjectCreation(private=True)), SetConfig(Scope(".", "alias-hidden"), Config(alias="hidden-user", alias_for_deks="pinned")),
        t.Associate(t.Resource("tied", "n", "id-t"), (tie,)), SetMode(Scope(".import"), "IMPORT"), t.Associate(t.Resource("moved", "n", "id-m"), (replace(tie, subject=Subject(".import", "topic"), given=imported, frozen=None),)),
        x.ImportSubject(Subject(".import", "labels"), g.GroupSettings("iglu", order="schemaver"), x.HighestNumbers(3)),
        *(x.ImportVersion(Subject(".import", "labels"), LABELLED[at], at, at + 1, state=state, names=(("schemaver", f"1-0-{at}"),)) for at, state in enumerate(states)),
        DeleteSubject(subject_of("tied")),
    ]  # fmt: skip


def list_outcomes() -> list[Entry]:
    """Outcomes of another version, of private subjects and of subjects that are gone."""
    answer, members = (("answer", "{}"),), {"subject": "pinned", "ordinal": "1", "number": "2", "id": "1", "guid": "x"}
    found = {
        name: tuple(sorted(facts.items()))
        for name, facts in {
            "gone": {**members, "subject": "gone"},
            "other": members,
            "short": {"subject": "pinned"},
            "hidden": {**members, "subject": "hidden-user"},
        }.items()
    }
    return [
        Row("outcome", ("user:ann", "odd-0"), Outcome(3, "registered", found["gone"])), Row("outcome", ("user:bob", "odd-1"), Outcome(4, "unknown-kind", answer)), Row("outcome", ("user:ann", "odd-2"), Outcome(5, "deleted", answer, private=True)),
        *(Row("outcome", ("user:ann", f"odd-{name}"), Outcome(6, "registered", pairs, private=name == "short")) for name, pairs in found.items()),
    ]  # fmt: skip


def list_entries() -> Sequence[Entry]:
    """All of it."""
    return [*list_watched(), *list_identities(), *list_labelled(), *list_readers(), *list_outcomes()]


ODD = World("odd", list_entries, {}, outcomes=40)
NEW_DRAFTS = (
    INTS[0], INTS[2], DOCUMENTED, described(INTS[2], "1"), records("b"), replace(RESERVING, metadata=None), records("a", "z"), JSONS[0], JSONS[2], Draft('{"type":"object","properties":{"$$a/b~c":{"type":"string"}}}', "JSON"),
    PROTO, Draft("two", "ECHO"), Draft('"int"', "any"), Draft("{", "AVRO"), Draft("text", "any"), Draft(f"  {INTS[0].text}"), LABELLED[3], Draft(" ", "JSON"), replace(INTS[0], type_name="Other"),
    Draft('{"type":"record","name":"N","fields":[{"name":"1a","type":"int"}]}'), replace(INTS[1], metadata=TAGGED.metadata), Draft(""),
)  # fmt: skip
"""Schemas that its subjects take, or not."""
NAMES = ("watched", "documented", "linted", "shut", "typed", "checked", "unchecked", "haunted", "lost", "exact", "normal", "schemed", "only", "any", "opaque", "ordered", "ghosts", "ended", "pinned", "user", "hidden-user",
         "tied", "alias-hidden", "com.acme/view/jsonschema", "com.acme/gap/jsonschema", "com.acme/text/other")  # fmt: skip
SUBJECTS = (
    *map(subject_of, NAMES),
    Subject(".full", "new"),
    Subject(".spared", "new"),
    Subject(".import", "labels"),
    Subject(".odd", "new"),
)
