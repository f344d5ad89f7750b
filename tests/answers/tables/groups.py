"""What is asked of operations on groups, codecs, encodings, named policies and API keys."""

from dataclasses import replace

from tests.answers.asks import Table
from tests.answers.shop import DIGESTS, GOLD, GROUP, INTS, ORDERS
from tests.answers.tables import values as v
from treaty.core.messages import api_keys as k
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import policies as p
from treaty.core.messages.settings import Config
from treaty.core.names import subject_of
from treaty.core.policy import ALL, LATEST, LEVELS, Level, VersionRange
from treaty.core.state.values import PolicyValue

BARE = g.GroupSettings("pravega")
GROUPS = (
    BARE, *(replace(BARE, origin=origin) for origin in ("confluent", "schema-repo", "avro-1124", "iglu", "", "o" * 100, "o" * 101, "a b", "a\x07")),
    *(replace(BARE, types=types) for types in ("one", "many", "few", "")), *(replace(BARE, order=order) for order in ("schemaver", "x")),
    *(replace(BARE, identity=identity) for identity in ("exact", "normalised", "x")), *(replace(BARE, properties=pairs) for pairs in v.PAIRS),
    *(replace(BARE, properties=((g.FORMAT, name),)) for name in ("AVRO", "JSON", "any", "avro", "", "OTHER", "a b")),
    *(replace(BARE, policy=policy) for policy in (
        Config(), Config(level="FULL"), Config(level="x"), Config(exact_level=Level(deny=True)), Config(exact_level=Level(VersionRange("till", 1))), Config(follows="gold"),
        Config(follows="missing"), Config(alias="orders"), Config(validators=("documentation(type)",)), Config(validators=("x",)), Config(partition="type", policy="LENIENT"),
        Config(normalize=True), Config(default_metadata=v.METADATA[1]), Config(group="g"), Config(level="NONE"),
    )),
    *(replace(BARE, schemes=schemes) for schemes in (("md5",), ("sequence", "crc-64-avro", "sha-256"), ("md5", "md5"), ("x",), ("md5",) * 9, ("schemaver",), ("",))),
    replace(BARE, order="schemaver", types="many"), replace(BARE, origin="iglu", order="schemaver", policy=Config(level="NONE")), replace(BARE, identity="exact", types="many"),
)  # fmt: skip
MADE = (subject_of("new"), *v.SUBJECTS)
POLICIES = (
    GOLD, PolicyValue(), PolicyValue(deny=True), PolicyValue(LATEST, deny=True), PolicyValue(VersionRange("till", 0)), PolicyValue(VersionRange("till", 1)), PolicyValue(VersionRange("till", 9), ALL),
    PolicyValue(VersionRange("till", -1)), PolicyValue(VersionRange("x")), PolicyValue(forward=VersionRange("all", 1)), PolicyValue(partition="type"), PolicyValue(partition="property:a"),
    PolicyValue(partition="property:"), PolicyValue(partition="x"), PolicyValue(strictness="STRICT"), PolicyValue(strictness="x"), PolicyValue(validators=("documentation(type)",)),
    PolicyValue(validators=("x",)), PolicyValue(validators=("policy:gold",)), PolicyValue(validators=("policy:unused",)), PolicyValue(validators=("policy:missing",)), PolicyValue(validators=("policy:FULL",)),
    PolicyValue(LATEST, LATEST), PolicyValue(validators=("v",) * 101), replace(GOLD, validators=()), PolicyValue(VersionRange("till", 2)),
)  # fmt: skip
POLICY_NAMES = (
    "gold",
    "till",
    "unused",
    "new",
    "missing",
    "FULL",
    "BackwardTill",
    "AllowAny",
    "",
    "a b",
    "1a",
    "a" * 100,
    "a" * 101,
    "a-b.c_d",
    "ä",
    "policy:x",
    "a,b",
    "a(b)",
)
PAGES = {"after": ("", "a", "empty", "gold", "group", "orders", "unused", "zzz", v.LONG), "limit": v.LIMITS}
LEVEL_VALUES = (
    None,
    *LEVELS.values(),
    Level(deny=True),
    Level(VersionRange("till", 2)),
    Level(VersionRange("till", 9)),
    Level(VersionRange("x")),
    Level(LATEST, deny=True),
)
CODECS = tuple(e.CodecType(name) for name in ("", "gzip", "zip", "snappy", "a b", "ä", "a\x07", v.LONG, "application/x")) + tuple(e.CodecType("new", pairs) for pairs in v.PAIRS) + (
    e.CodecType("gzip", (("level", "6"),)), e.CodecType("gzip", (("level", "7"),)), e.CodecType("snappy", (("a", "b"),)), e.CodecType("new", (("a", "b" * 1_048_575),)), e.CodecType("new", (("a", "b" * 1_048_576),)),
)  # fmt: skip
VENDORS = ("com.acme", "com.secret", "com", "*", "", "a b", ".a", "a.", "com.secret.x", v.LONG, "ä", "com/acme")
KEYS = (
    (k.NewApiKey("3d" * 32, "READ"),), (k.NewApiKey(DIGESTS[0], "READ"),), (k.NewApiKey(DIGESTS[0], "BUMP"),), (k.NewApiKey(DIGESTS[2], "CREATE_VENDOR"),), (),
    (k.NewApiKey("3d" * 32, "READ"), k.NewApiKey("4e" * 32, "CREATE")), (k.NewApiKey("3d" * 32, "READ"), k.NewApiKey("3d" * 32, "READ")), (k.NewApiKey("3d" * 32, "READ"), k.NewApiKey("3d" * 32, "BUMP")),
    (k.NewApiKey("x", "READ"),), (k.NewApiKey("3D" * 32, "READ"),), (k.NewApiKey("3d" * 32, "BUMP"), k.NewApiKey(DIGESTS[1], "CREATE")), (k.NewApiKey("3d" * 31, "READ"),),
    tuple(k.NewApiKey(f"{n:02x}" * 32, "READ") for n in range(10)), tuple(k.NewApiKey(f"{n:02x}" * 32, "READ") for n in range(11)),
)  # fmt: skip

TABLES = (
    Table(e.AddCodec(GROUP, e.CodecType("zip")), {"subject": v.USUAL, "codec": CODECS}),
    Table(e.AssignEncoding(GROUP, 3), {"subject": v.USUAL, "ordinal": v.ORDINALS, "codec": ("", "gzip", "snappy", "x", "a b")}, (("ordinal", "codec"),)),
    Table(e.ListCodecs(GROUP), {"subject": v.USUAL}),
    Table(e.GetEncoding(GROUP, 0), {"subject": v.USUAL, "encoding_id": (0, 1, 2, 3, 5, 7, 9, 10, -1, 2**31)}, (("subject", "encoding_id"),), 0),
    Table(e.ListEncodings(GROUP), {"subject": v.USUAL, "after": (-1, 0, 1, 2, 5, 7, -2, 2**31)}, (("subject", "after"),), 0),
    Table(g.CreateSubject(subject_of("new"), BARE), {
        "subject": MADE, "settings": GROUPS, "private": v.FLAGS, "label_policy": ("warn", "refuse", "", "x"),
    }, (), 40),
    Table(g.ChangeSubject(GROUP), {
        "subject": v.USUAL, "level": LEVEL_VALUES, "previous": LEVEL_VALUES, "properties": (None, *v.PAIRS, ((g.FORMAT, "JSON"),), ((g.FORMAT, "any"),), ((g.FORMAT, "avro"),)),
        "validators": (None, (), ("documentation(type)",), ("x",), ("policy:gold",), ("policy:missing",)), "label_policy": (None, "warn", "refuse", "x", ""),
        "follows": (None, "gold", "till", "missing", ""),
    }, (), 60),
    Table(g.RemoveSubject(GROUP), {"subject": v.USUAL}),
    Table(g.DeleteOrdinal(GROUP, 3), {"subject": v.USUAL, "ordinal": v.ORDINALS}, (("subject", "ordinal"),), 0),
    Table(g.GetSubject(GROUP), {"subject": v.USUAL}),
    Table(g.ListGroups(), {"context": v.CONTEXTS, **PAGES}, (("limit", "after"),), places=("context",)),
    Table(g.GetOrdinal(GROUP, 0), {"subject": v.USUAL, "ordinal": v.ORDINALS}, (("subject", "ordinal"),), 0),
    Table(g.GetTypedVersion(GROUP, "AVRO", "Neighbour", 1), {
        "subject": v.USUAL, "format": ("AVRO", "JSON", "PROTOBUF", "ECHO", "", "avro"), "type_name": ("Neighbour", "shop.Line", "Order", "shop.Order", "", "x", "a:b"), "type_version": v.ORDINALS,
    }, (("format", "type_name"), ("subject", "type_version"))),
    Table(g.ListGroupVersions(GROUP), {"subject": v.USUAL, "type_name": ("", "Neighbour", "shop.Line", "shop.Order", "x"), "latest": v.FLAGS}, (("type_name", "latest"),)),
    Table(g.GetHistory(GROUP), {"subject": v.USUAL}),
    Table(g.FindSameVersion(GROUP, INTS[0]), {"subject": v.USUAL, "draft": v.DRAFTS[::2]}),
    Table(g.FindSameSchema(".", INTS[0]), {"context": v.CONTEXTS, "draft": v.DRAFTS[::2]}, places=("context",)),
    Table(g.CheckReading(ORDERS, INTS[1]), {"subject": v.USUAL, "draft": v.DRAFTS[::2]}),
    Table(p.CreatePolicy("new", GOLD), {"name": POLICY_NAMES, "policy": POLICIES}, places=("name",)),
    Table(p.ChangePolicy("gold", PolicyValue()), {"name": POLICY_NAMES, "policy": POLICIES, "previous": (None, *POLICIES[:6], PolicyValue(VersionRange("till", 2)))}, (("name", "previous"),), places=("name",)),
    Table(p.DeletePolicy("till"), {"name": POLICY_NAMES}, places=("name",)),
    Table(p.GetPolicy("gold"), {"name": POLICY_NAMES}, places=("name",)),
    Table(p.ListPolicies(), PAGES, (("limit", "after"),), places=("after",)),
    Table(k.AddApiKeys("com.acme", KEYS[0]), {"vendor": VENDORS, "keys": KEYS}, places=("vendor",)),
    Table(k.RemoveApiKey(DIGESTS[0]), {"digest": (*DIGESTS, "3d" * 32, "", "x")}, places=("digest",)),
    Table(k.ListApiKeys(), {"digest": ("", *DIGESTS, "3d" * 32, "x"), "after": ("", *DIGESTS, "ff", "0", "x")}, (("digest", "after"),), places=("digest", "after")),
)  # fmt: skip
