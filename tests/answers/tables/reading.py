"""What is asked of operations that read schemas, versions and lists of them."""

from tests.answers.asks import Table
from tests.answers.shop import GROUP, INTS, ORDERS, PROTO, TAGGED
from tests.answers.tables import values as v
from tests.worlds.drafts import referring
from treaty.core.messages import listings as r
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import ListContexts
from treaty.core.messages.differences import CompareVersions, ComparisonSide
from treaty.core.messages.names import GetNamedVersion, GetPin
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.search import Search
from treaty.core.messages.versions import FindVersion, GetVersion, Lookup
from treaty.core.names import Subject, subject_of
from treaty.core.policy import ALL, LATEST, LEVELS, Level, VersionRange
from treaty.core.schema import Draft

TAGS = ((), ("PII",), ("*",), ("A", "KEY"), ("",))
HOME_OR_NONE = (None, *v.HOMES, Subject(".far", ""), Subject(".new", "x"))
PREFIXES = (
    Subject("*", ""), Subject(".", ""), Subject(".", "order"), Subject(".far", ""), Subject("*", "w-"), Subject(".away", "w-"),
    Subject(".import", ""), Subject(".new", ""), Subject(".", "com.secret"), Subject("*", "group"), Subject(".", v.LONG), Subject("", ""),
)  # fmt: skip
GUIDS = (
    "a3dd7056-2f27-90ae-5b05-3a8ceef54bb2", "00000000-0000-0000-0000-000000000000", "", "x", v.LONG,
)  # fmt: skip
LEVEL_VALUES = (None, *LEVELS.values(), Level(deny=True), Level(VersionRange("till", 2)), Level(VersionRange("till", 9), LATEST),
                Level(VersionRange("x")), Level(ALL, deny=True), Level(VersionRange("latest", 1)))  # fmt: skip
SIDES = (
    ComparisonSide(ORDERS), ComparisonSide(ORDERS, 1), ComparisonSide(ORDERS, 2), ComparisonSide(ORDERS, 3), ComparisonSide(ORDERS, 0),
    ComparisonSide(), ComparisonSide(guid="x"), ComparisonSide(guid=GUIDS[0]), ComparisonSide(ORDERS, guid=GUIDS[0]),
    ComparisonSide(draft=INTS[2]), ComparisonSide(draft=TAGGED), ComparisonSide(Subject(".far", ""), draft=referring(INTS[0], "orders", 1)),
    ComparisonSide(subject_of("documents"), 1), ComparisonSide(subject_of("secrets")), ComparisonSide(subject_of("deleted"), 1),
    ComparisonSide(subject_of("alias-orders"), 3), ComparisonSide(subject_of("missing")), ComparisonSide(draft=PROTO),
    ComparisonSide(draft=Draft("{")), ComparisonSide(draft=Draft("x", "ECHO")), ComparisonSide(ORDERS, draft=INTS[1]),
    ComparisonSide(subject_of("echo")), ComparisonSide(draft=Draft("")), ComparisonSide(Subject(".", "w-purged"), 1),
)  # fmt: skip

TABLES = (
    Table(
        GetVersion(ORDERS, 3),
        {"subject": v.SUBJECTS, "version": v.VERSIONS, "deleted": v.FLAGS, "exact": v.FLAGS, "find_tags": TAGS},
        (("version", "deleted"),),
    ),
    Table(FindVersion(ORDERS, (("major", "2"),)), {
        "subject": v.USUAL, "properties": ((), (("major", "1"),), (("major", "2"), ("owner", "2")), (("owner", "ada"),), (("x", "y"),), (("major", ""),)),
        "deleted": v.FLAGS,
    }),
    Table(Lookup(ORDERS, INTS[1]), {"subject": v.USUAL, "draft": v.DRAFTS, "normalize": v.MAYBE, "deleted": v.FLAGS}, drawn=40),
    Table(Check(ORDERS, INTS[5]), {
        "subject": v.USUAL, "draft": v.DRAFTS, "version": (None, *v.VERSIONS), "normalize": v.MAYBE, "level": LEVEL_VALUES,
    }, drawn=40),
    Table(CompareVersions(ComparisonSide(draft=INTS[2]), ComparisonSide(ORDERS, 1)), {
        "subject": (None, *v.HOMES), "new": SIDES, "old": (None, *SIDES), "normalize": v.MAYBE,
    }, drawn=20),
    Table(Search("field:carrier type:string orders"), {
        "text": ("orders", 'tag:"PII"', "field:", "", "*", 'x ""', "state:deleted", "STATE:Live a", "state:gone", "kind:query", "kind:table", "foo:bar",
                 "a b c", "a " * 20, "a " * 21, v.LONG, v.LONG[1:], "kind:subject doc:x", "http://x"),
        "after": ("", "0", "7", "x", "-1", "9" * 18, "9" * 19, "٣", "1.5"), "limit": (*v.LIMITS, 99, 100, 101),
    }, (("after", "limit"),), places=("text",)),
    Table(GetSchema(3), {"schema_id": v.IDS, "subject": HOME_OR_NONE, "max_id": v.FLAGS, "find_tags": TAGS}, (("schema_id", "subject"),), 30, ("schema_id", "subject")),
    Table(GetGuid(GUIDS[0]), {"guid": GUIDS}, places=("guid",)),
    Table(GetGuidIds(GUIDS[0]), {"guid": GUIDS}, places=("guid",)),
    Table(UsesOf(3), {"schema_id": v.IDS, "subject": HOME_OR_NONE, "visible": v.VISIBLE}, (("schema_id", "visible"),), places=("schema_id", "subject")),
    Table(ReferencedBy(ORDERS, 3), {"subject": v.USUAL, "version": v.VERSIONS, "deleted": v.FLAGS}, (("version", "deleted"),)),
    Table(GetPin(ORDERS), {"subject": v.USUAL, "version": v.VERSIONS, "schema_id": v.IDS}),
    Table(GetNamedVersion(GROUP, "7", "legacy"), {
        "subject": v.USUAL, "scheme": v.WORDS,
        "name": ("1", "2", "4", "0", "01", "-1", "٣", "", "x", "9" * 30, "1-0-0", "1-0-1", "1-1-0", "x" * 32, v.LONG),
    }, (("scheme", "name"),)),
    Table(r.ListSubjects(), {
        "prefix": PREFIXES, "visible": v.VISIBLE, "offset": v.OFFSETS, "limit": v.LIMITS, "after": (None, "", "alias-far", "orders", ":.away:w-used", "zz", "a\ud800"),
    }, (("visible", "limit"),), 60, ("prefix", "visible")),
    Table(r.ListVersions(ORDERS), {"subject": v.USUAL, "visible": v.VISIBLE}, places=("subject", "visible")),
    Table(r.ListSchemas(), {
        "prefix": PREFIXES, "visible": v.VISIBLE, "latest": v.FLAGS, "offset": v.OFFSETS, "limit": v.LIMITS,
        "after": (None, ("", 0), ("orders", 1), ("orders", 2), ("orders", 9), ("group", -1), (":.away:w-used", 1), ("zz", 1)), "aliases": v.FLAGS,
        "rule_type": ("", "CEL", "JSONATA", "x"), "resource_type": ("", "topic", "x"), "kinds": ((), ("value",), ("key", "value"), ("x",)),
        "lifecycles": ((), ("STRONG",), ("WEAK",), ("NONE",), ("WEAK", "NONE"), ("x",)),
    }, (), 10, ("prefix",), share=0),
    Table(ListContexts(), {"prefix": ("", ".", ".a", ".far", "f", "zz", v.LONG)}, places=("prefix",)),
    Table(GetOutcome("command-60"), {
        "command_id": ("command-60", "command-1", "command-44", "command-100", "command-112", "command-120", "command-132", "command-136", "missing", "", v.LONG),
        "principal": (None, "user:ann", "user:bob", "", "key:x"),
    }, (("command_id", "principal"),), places=("command_id", "principal")),
)  # fmt: skip
