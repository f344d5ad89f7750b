"""The world of a shop: what happened in a registry before it is asked, in an order that leaves gaps in all numbers."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.answers.worlds import World
from tests.worlds.drafts import described, records, referring
from tests.worlds.world import World as Histories
from treaty.core.messages import associations as t
from treaty.core.messages import groups as g
from treaty.core.messages import policies as p
from treaty.core.messages import schemaver as s
from treaty.core.messages import transfers as x
from treaty.core.messages.api_keys import AddApiKeys, NewApiKey
from treaty.core.messages.contexts import MakeContext
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.messages.registration import ForceReason, Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject, subject_of
from treaty.core.policy import ALL, LATEST, Level, VersionRange
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet
from treaty.core.sources import SourceColumn, SourcePart
from treaty.core.state.values import PolicyValue

Requests = list[Request[Any]]

TAGGED = Draft(
    json.dumps(
        {
            "type": "record", "name": "Order", "namespace": "shop", "doc": "An order.",
            "fields": [
                {"name": "id", "type": "long", "confluent:tags": ["KEY"]},
                {"name": "note", "type": ["null", "string"], "default": None, "confluent:tags": ["PII", "TEXT"]},
            ],
        }
    ),
    metadata=Metadata(tags=(("shop.Order.id", ("SORTED",)),), properties=(("major", "1"), ("owner", "ada")), sensitive=("owner",)),
    rules=RuleSet(
        migration=(Rule("up", mode="UPGRADE", type="JSONATA", expr="$"),),
        domain=(Rule("positive", "CONDITION", "WRITE", "CEL", tags=("KEY",), params=(("a", "b"),), expr="id > 0", on_failure="DLQ"),),
        enable_at="2024-01-01",
    ),
)  # fmt: skip
INTS = [records("a", *(f"f{number}?" for number in range(have))) for have in range(6)]
JSONS = [
    Draft(text, "JSON")
    for text in ('{"type":"object","properties":{"a":{"type":"integer"}}}', '{"type":"object"}', '{"type":"string"}')
]
PROTO = Draft('syntax = "proto3"; package shop; message Line { int32 count = 1; }', "PROTOBUF")
PROTOS = [
    PROTO,
    Draft('syntax = "proto3"; package shop; message Line { int32 count = 1; string note = 2; } message Other { }', "PROTOBUF"),
]  # fmt: skip
MESSAGE = Draft(
    'syntax = "proto3"; import "line.proto"; message Basket { shop.Line line = 1; }', "PROTOBUF",
    (Reference("line.proto", "lines", 1),),
)  # fmt: skip
LABELLED = [
    Draft(json.dumps({"type": "object", "properties": {name: {"type": "integer"} for name in "abc"[:n]}}), "JSON")
    for n in range(4)
]
CLICK, PLAN = subject_of("com.acme/click/jsonschema"), subject_of("com.secret/plan/jsonschema")
ORDERS, GROUP, IMPORT = subject_of("orders"), subject_of("group"), Subject(".import", "moved")
TOPIC = t.Resource("shop", "lkc-1", "id-1")
DIGESTS = ["0a" * 32, "1b" * 32, "2c" * 32]
GOLD = PolicyValue(LATEST, ALL, partition="type", strictness="LENIENT", validators=("required-metadata(owner)",))


def list_orders() -> Requests:
    """Versions 1, 3 and 6 are live, 2 is deleted, 4 and 5 are gone; lines, baskets and another context refer to them."""
    alter = SetConfig(Scope(".", "orders"), Config(level="NONE", normalize=False))
    return [
        Register(ORDERS, TAGGED, properties=(("team", "a"),)),
        alter,
        *(Register(ORDERS, one) for one in INTS[:4]),
        *(DeleteVersion(ORDERS, number) for number in (2, 4, 5)),
        *(DeleteVersion(ORDERS, number, permanent=True) for number in (5, 4)),
        Register(ORDERS, described(INTS[4], "2"), force=ForceReason("ann", "a test")),
        SetConfig(Scope(".", "orders"), Config(level="FULL", group="major", normalize=True, validate_fields=True)),
        Register(subject_of("order-users"), referring(INTS[1], "orders", 3)),
        Register(Subject(".far", "orders"), referring(INTS[1], ":.:orders", 3)),
        Register(Subject(".far", "orders"), INTS[0], force=ForceReason("", "")),
        SetConfig(Scope(".", "alias-orders"), Config(alias="orders")),
        SetConfig(Scope(".", "alias-far"), Config(alias=":.far:orders")),
        SetConfig(Scope(".", "alias-missing"), Config(alias="nothing", alias_for_deks="orders")),
        SetConfig(Scope(".", "alias-secret"), Config(alias=str(PLAN))),
    ]  # fmt: skip


def list_formats() -> Requests:
    """Subjects in JSON, Protobuf and a format without a plug-in; one that is deleted, one that has no version any more."""
    gone, empty = subject_of("deleted"), subject_of("empty")
    return [
        SetConfig(Scope("."), Config(level="BACKWARD", policy="LENIENT")),
        *(Register(subject_of("documents"), one, force=ForceReason("ann", "another shape")) for one in JSONS[:2]),
        *(Register(subject_of("lines"), one) for one in PROTOS[:1]),
        Register(subject_of("baskets"), MESSAGE),
        Register(subject_of("echo"), Draft("data:;base64,AAH/", "ECHO", data=b"\0\1\xff"), create_with=SubjectCreation("pravega")),
        *(Register(gone, one) for one in INTS[:2]),
        DeleteSubject(gone),
        g.CreateSubject(empty, g.GroupSettings("schema-repo", identity="exact", schemes=("md5", "sequence"))),
        Register(empty, INTS[0]),
        DeleteVersion(empty, 1),
        Register(subject_of("empty-" + "x" * 9), INTS[0], create_with=SubjectCreation("avro-1124", schemes=("sequence", "crc-64-avro"))),
        g.CreateSubject(subject_of("bare"), g.GroupSettings("pravega", properties=((g.FORMAT, "AVRO"),))),
    ]  # fmt: skip


def list_groups() -> Requests:
    """A group of many types with codecs and encodings over gaps, a strict one, and one of a single type."""
    typed = [replace(one, type_name=name) for one, name in zip(INTS, ("Neighbour", "Other", "Neighbour"), strict=False)]
    many = g.GroupSettings(
        "pravega", types="many", policy=Config(level="BACKWARD_TRANSITIVE"), properties=(("team", "a"),)
    )
    single = g.GroupSettings("pravega", "one", identity="normalised", policy=Config(exact_level=Level(deny=True)))
    return [
        g.CreateSubject(GROUP, many),
        AddCodec(GROUP, CodecType("gzip", (("level", "6"),))),
        AddCodec(GROUP, CodecType("snappy")),
        Register(GROUP, INTS[0], require_subject=True, names=(("legacy", "7"),)),
        Register(GROUP, JSONS[0], require_subject=True),
        Register(GROUP, replace(PROTOS[1], type_name="shop.Other"), require_subject=True),
        Register(GROUP, INTS[1], require_subject=True, properties=(("a", "b"),)),
        AssignEncoding(GROUP, 0, "gzip"),
        AssignEncoding(GROUP, 1),
        AssignEncoding(GROUP, 3),
        g.DeleteOrdinal(GROUP, 1),
        g.CreateSubject(subject_of("single"), single),
        Register(subject_of("single"), typed[0], require_subject=True),
        g.CreateSubject(Subject(".far", "group"), g.GroupSettings("pravega", order="schemaver"), label_policy="refuse"),
        p.CreatePolicy("gold", GOLD),
        p.CreatePolicy("till", PolicyValue(VersionRange("till", 2))),
        p.CreatePolicy("unused", PolicyValue(deny=True)),
        SetConfig(Scope(".", "followers"), Config(follows="gold")),
        Register(subject_of("followers"), described(INTS[0], "1")),
        SetConfig(Scope(".", "strict"), Config(level="NONE", validators=("documentation(type,field)", "policy:unused"))),
        SetConfig(Scope(".", "defaults"), Config(
            level="FULL_TRANSITIVE", default_metadata=TAGGED.metadata, override_rules=TAGGED.rules, validate_rules=True,
        )),
        Register(subject_of("defaults"), INTS[0]),
    ]  # fmt: skip


def list_labels() -> Requests:
    """Published versions of three models, with one that supersedes, one that was patched and one that was deleted; a private vendor."""
    return [
        s.Publish(CLICK, "1-0-0", LABELLED[1]),
        s.Publish(CLICK, "1-0-1", LABELLED[2], supersedes=("1-0-0",)),
        s.Publish(CLICK, "1-1-0", LABELLED[3]),
        s.Publish(CLICK, "2-0-0", LABELLED[0]),
        s.Publish(CLICK, "1-0-0", LABELLED[2], patch=True),
        s.DeletePublished(CLICK, "1-1-0"),
        s.Publish(subject_of("com.acme/view/avro"), "1-0-0", INTS[0]),
        s.Publish(PLAN, "1-0-0", LABELLED[1], private=True),
        s.PutDraft(CLICK, 1, '{"type":"object"}'),
        s.PutDraft(CLICK, 3, "{"),
        s.PutDraft(PLAN, 1, "{}", private=True),
        AddApiKeys("com.acme", (NewApiKey(DIGESTS[0], "READ"), NewApiKey(DIGESTS[1], "CREATE"))),
        AddApiKeys("com.secret", (NewApiKey(DIGESTS[2], "CREATE_VENDOR"),)),
        Register(subject_of("secrets"), INTS[2], create_with=SubjectCreation(private=True)),
        Register(subject_of("secret-uses"), referring(INTS[0], "secrets", 1), create_with=SubjectCreation(private=True)),
    ]  # fmt: skip


def list_modes() -> Requests:
    """Scopes in all modes, a context that imports, and one without subjects."""
    highest = x.HighestNumbers(9, 4, (("AVRO", "Neighbour", 3),))
    return [
        SetMode(Scope(".import"), "IMPORT"),
        MakeContext(".import", 40),
        x.ImportSubject(IMPORT, g.GroupSettings("pravega", types="many"), highest),
        x.ImportVersion(IMPORT, INTS[0], 2, 3, schema_id=7, names=(("legacy", "1"),)),
        x.ImportVersion(IMPORT, INTS[1], 4, 5, state="soft", superseded_by=-1, type_version=6),
        AddCodec(IMPORT, CodecType("gzip")),
        x.ImportEncoding(IMPORT, 3, 2, "gzip"),
        x.ImportSubject(Subject(".import", "removed"), g.GroupSettings("pravega"), highest, removed=True),
        *(Register(Subject(".still", name), INTS[0]) for name in ("readonly", "override", "forward")),
        SetMode(Scope(".still", "readonly"), "READONLY"),
        SetMode(Scope(".still", "override"), "READONLY_OVERRIDE"),
        SetMode(Scope(".import", "writable"), "READWRITE"),
        SetMode(Scope(".hollow"), "IMPORT"),
        MakeContext(".hollow"),
        SetMode(Scope(".hollow"), None),
        SetConfig(Scope("*"), Config(level="BACKWARD", policy="LENIENT")),
    ]


def list_users() -> Requests:
    """Topics that are associated with subjects, strongly and weakly, and a source that pins a version."""
    weak = t.AssociationSpec("value", ORDERS, "WEAK")
    strong = t.AssociationSpec("key", subject_of("topic-keys"), "STRONG", frozen=True, schema=Register(ORDERS, INTS[0]))
    other = t.AssociationSpec("value", Subject(".lkc-1", "carts-value"), "STRONG", schema=Register(ORDERS, INTS[1]))
    definition = SourceDefinition(
        "clicks",
        "STREAM",
        "CREATE STREAM clicks",
        (SourceColumn("a", "INT"),),
        None,
        SourcePart("AVRO"),
        place="clicks",
    )
    return [
        t.Associate(TOPIC, (weak, strong)),
        t.Associate(t.Resource("carts", "lkc-1", "id-2"), (other,)),
        t.Associate(t.Resource("shop", "lkc-2", "id-3"), (replace(weak, subject=subject_of("lines")),)),
        CreateSource(definition, value_schema=Register(subject_of("pinned"), INTS[0])),
        Register(subject_of("pinned"), INTS[1]),
    ]


def list_commands() -> Sequence[Request[Any]]:
    """All of it, behind what happens in contexts far away."""
    away = Histories(seed=3, neighbours=("purged", "imported", "groups", "references", "private")).requests(
        drafts=records
    )
    return [*away, *list_orders(), *list_formats(), *list_groups(), *list_labels(), *list_modes(), *list_users()]


SHOP = World("shop", list_commands, {})
TIGHT = World(
    "tight",
    list_commands,
    {
        "API_KEYS": 3, "API_KEYS_AT_ONCE": 2, "API_KEYS_PAGE": 2, "ASSOCIATIONS_LISTED": 1, "ASSOCIATIONS_PER_RESOURCE": 2,
        "ASSOCIATIONS_PER_SUBJECT": 1, "ASSOCIATION_BATCH": 2, "CODECS_PER_SUBJECT": 2, "CODEC_CHARACTERS": 9, "CONTEXTS": 10,
        "DRAFTS": 3, "ENCODINGS_PAGE": 2, "EXPORT_CHARACTERS": 200, "EXPORT_PAGE": 3, "GROUPS_PAGE": 3, "GROUP_PROPERTIES": 1,
        "GROUP_PROPERTY_CHARACTERS": 6, "ID_GAP": 5, "NAMES_PER_VERSION": 1, "PAUSE_ROWS": 3, "POLICIES": 3, "POLICIES_PAGE": 2,
        "PUBLISHED_PAGE": 2, "REFERENCES": 1, "REFERENCE_DEPTH": 1, "RULES": 1, "SCHEMAS_PER_CONTEXT": 20, "SEARCH_PAGE": 2,
        "SEARCH_TERMS": 2, "SETTINGS_PAGE": 3, "SUBJECTS_PER_CONTEXT": 22, "TOUCHED": 2, "USERS_NAMED": 1, "VERSIONS_KEPT_PER_SUBJECT": 4,
        "VERSIONS_PER_SUBJECT": 3, "WARNED_SOURCES": 1,
    },
    likes="shop",
)  # fmt: skip
