"""What is asked of operations that write versions, and of transfers."""

from tests.answers.asks import Table
from tests.answers.shop import GOLD, IMPORT, INTS, ORDERS, TAGGED
from tests.answers.tables import values as v
from tests.answers.tables.groups import GROUPS
from treaty.core.limits import COUNTER
from treaty.core.messages import groups as g
from treaty.core.messages import transfers as x
from treaty.core.messages.registration import Derive, ExpectedVersion, ForceReason, Register, SubjectCreation
from treaty.core.messages.settings import Config
from treaty.core.names import Subject, subject_of
from treaty.core.policy import ForcedRegistration, Level, VersionRange
from treaty.core.state.values import PolicyValue

CREATIONS = (
    SubjectCreation(), SubjectCreation("pravega"), SubjectCreation("schema-repo"), SubjectCreation("iglu"), SubjectCreation(""),
    SubjectCreation(types="one"), SubjectCreation(types="few"), SubjectCreation(order="schemaver"), SubjectCreation(order="x"),
    SubjectCreation(identity="exact"), SubjectCreation(identity="normalised"), SubjectCreation(identity="x"), SubjectCreation(private=True),
    SubjectCreation(policy=Config(level="FULL")), SubjectCreation(policy=Config(follows="gold")), SubjectCreation(policy=Config(level="x")),
    SubjectCreation(policy=Config(exact_level=Level(VersionRange("till", 1)))), SubjectCreation(policy=Config(alias="orders")),
    SubjectCreation(properties=(("a", "b"),)), SubjectCreation(properties=(("a", "b"), ("c", "d"))), SubjectCreation(schemes=("md5", "sequence")),
    SubjectCreation(schemes=("sha-256",)), SubjectCreation(schemes=("md5", "md5")), SubjectCreation(schemes=("x",)), SubjectCreation("o" * 101),
    SubjectCreation(properties=(("treaty.format", "JSON"),)), SubjectCreation(policy=Config(validators=("documentation(type)",))),
)  # fmt: skip
NAMES = (
    (), (("legacy", "7"),), (("legacy", "8"),), (("legacy", "8"), ("other", "1")), (("md5", "1"),), (("sequence", "1"),), (("", "1"),),
    (("legacy", ""),), (("legacy", "a\x07"),), (("s" * 101, "1"),), (("s" * 100, "1"),), (("legacy", v.LONG),), (("schemaver", "1-0-0"),),
    (("legacy", "1"), ("legacy", "2")), tuple((f"s{n}", "1") for n in range(17)), tuple((f"s{n}", "1") for n in range(16)),
)  # fmt: skip
EXPECTED = (
    None,
    *(ExpectedVersion(by, value) for by in ("number", "ordinal", "schema_id") for value in (-1, 0, 1, 5, 6, 10, 12)),
)
NEW, PRAVEGA = Subject(".import", "new"), g.GroupSettings("pravega")
PLACES = (
    IMPORT,
    NEW,
    Subject(".import", "removed"),
    Subject(".import", "writable"),
    Subject(".import", "a\x07"),
    Subject(".import", ""),
    *v.HOMES,
)
HIGHEST = (x.HighestNumbers(), x.HighestNumbers(9, 4), x.HighestNumbers(10, 5), x.HighestNumbers(-2), x.HighestNumbers(0, -2), x.HighestNumbers(1_000_000), x.HighestNumbers(999_999, 999_999),
           x.HighestNumbers(types=(("AVRO", "Neighbour", 3),)), x.HighestNumbers(types=(("AVRO", "", 9), ("JSON", "x", -2))), x.HighestNumbers(0, 1_000_000), x.HighestNumbers(COUNTER, COUNTER + 1),
           x.HighestNumbers(types=(("", "a", 1),)), x.HighestNumbers(types=(("AVRO", "a", 5), ("AVRO", "a", 6))), x.HighestNumbers(types=(("AVRO", "a", COUNTER + 1),)))  # fmt: skip
PREFIXES = (
    Subject("*", ""),
    Subject(".", ""),
    Subject(".", "o"),
    Subject(".away", "w-"),
    Subject(".import", ""),
    Subject("*", "group"),
    Subject(".zz", ""),
    Subject(".", "com."),
)
AFTER = (
    None,
    Subject("*", ""),
    Subject(".", "orders"),
    Subject(".away", "w-group"),
    Subject(".import", "moved"),
    Subject(".zz", "a"),
)

TABLES = (
    Table(
        Register(ORDERS, INTS[5]),
        {
            "subject": v.SUBJECTS, "draft": v.DRAFTS, "normalize": v.MAYBE, "number": (0, -1, -2, 1, 2, 3, 6, 7, 8, COUNTER, COUNTER + 1),
            "schema_id": v.IDS, "force": (None, ForceReason("ann", "a reason"), ForceReason("", "")), "expected": EXPECTED, "names": NAMES,
            "properties": v.PAIRS, "create_with": CREATIONS, "time": (-1, 0, 1, 1_700_000_500_000, 1_700_000_800_001, 2**53, -2),
            "add_tags": v.PATHS, "remove_tags": v.PATHS[:4], "propagate_tags": v.FLAGS, "exact": v.FLAGS, "require_subject": v.FLAGS,
        },
        drawn=20, share=0.4,
        bases=(
            Register(Subject(".import", "new"), INTS[0], schema_id=50, number=3), Register(IMPORT, INTS[2], schema_id=41, require_subject=True), Register(subject_of("group"), INTS[5], require_subject=True),
            Register(ORDERS, TAGGED, propagate_tags=True, number=7),
        ),
    ),
    Table(Derive(ORDERS, 1), {
        "subject": v.SUBJECTS, "version": v.VERSIONS, "number": (0, -1, 1, 3, 5, 6, 7, COUNTER + 1), "add_tags": v.PATHS, "remove_tags": v.PATHS,
        "metadata": v.METADATA, "rules": v.RULES, "merge_rules": v.RULES[::4], "remove_rules": ((), ("up",), ("positive", "up"), ("x",), ("",)),
    }, (), 12, bases=(Derive(subject_of("group"), 2), Derive(subject_of("documents"), 1, rules=v.RULES[2]))),
    Table(x.ImportSubject(NEW, PRAVEGA), {
        "subject": PLACES, "settings": GROUPS, "highest": HIGHEST, "private": v.FLAGS, "label_policy": ("warn", "refuse", "", "x"), "removed": v.FLAGS,
    }, (("subject", "removed"),), 60),
    Table(x.ImportVersion(IMPORT, INTS[2], 7, 8), {
        "subject": PLACES, "draft": v.DRAFTS[::5], "ordinal": (0, 2, 3, 4, 7, 9, 10, 14, 15, 16, -1, 1_000_009, 1_000_010, 1_000_011, COUNTER, COUNTER + 1),
        "number": (0, 1, 3, 5, 8, 12, -1, COUNTER, COUNTER + 1), "schema_id": v.IDS, "type_version": (-1, 0, 3, 4, 6, 7, 12, 13, -2, COUNTER, COUNTER + 1),
        "state": ("live", "soft", "hidden"), "policy": (None, GOLD, PolicyValue(VersionRange("till", 2)), PolicyValue(VersionRange("x")), PolicyValue(partition="x"), PolicyValue(validators=("policy:missing",))),
        "forced": (None, ForcedRegistration("ann", "moved"), ForcedRegistration("", "")), "properties": v.PAIRS, "names": NAMES, "time": (0, 1, 1_700_000_600_000, 1_700_000_900_000, 2**53, -1),
        "revision": (0, 1, 3, -1, COUNTER + 1), "revision_of": (-1, 2, 4, 5, 7, -2), "superseded_by": (-1, 2, 4, 7, 8, -2),
    }, (("ordinal", "number"),), 25, share=0.4, places=("subject", "forced"), bases=(x.ImportVersion(IMPORT, INTS[0], 2, 3)  ,)),
    Table(x.ImportEncoding(IMPORT, 5, 2), {
        "subject": PLACES, "encoding_id": (0, 3, 4, 5, 9, 10, 1_000_004, 1_000_005, -1, COUNTER, COUNTER + 1), "ordinal": v.ORDINALS, "codec": ("", "gzip", "x"),
    }, (("encoding_id", "codec"), ("ordinal", "codec"))),
    Table(x.ExportSubjects(), {"prefix": PREFIXES, "after": AFTER, "limit": v.LIMITS}, (("limit", "after"),), places=("prefix",)),
    Table(x.ExportVersions(), {
        "prefix": PREFIXES, "after": (None, *((subject, ordinal) for subject in AFTER[1:] for ordinal in (0, 3))), "limit": v.LIMITS,
    }, drawn=0, share=0, places=("prefix",)),
)  # fmt: skip
