"""What is asked of operations that write versions."""

from tests.answers.asks import Table
from tests.answers.shop import INTS, ORDERS
from tests.answers.tables import values as v
from treaty.core.limits import COUNTER
from treaty.core.messages.registration import ExpectedVersion, ForceReason, Register, SubjectCreation
from treaty.core.messages.settings import Config
from treaty.core.policy import Level, VersionRange

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

TABLES = (
    Table(
        Register(ORDERS, INTS[5]),
        {
            "subject": v.SUBJECTS, "draft": v.DRAFTS, "normalize": v.MAYBE, "number": (0, -1, -2, 1, 2, 3, 6, 7, 8, COUNTER, COUNTER + 1),
            "schema_id": v.IDS, "force": (None, ForceReason("ann", "a reason"), ForceReason("", "")), "expected": EXPECTED, "names": NAMES,
            "properties": v.PAIRS, "create_with": CREATIONS, "time": (-1, 0, 1, 1_700_000_500_000, 1_700_000_800_001, 2**53, -2),
            "add_tags": v.PATHS, "remove_tags": v.PATHS[:4], "propagate_tags": v.FLAGS, "exact": v.FLAGS, "require_subject": v.FLAGS,
        },
        drawn=160,
    ),
)  # fmt: skip
