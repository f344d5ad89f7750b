"""Edge values of members of requests to the metastore: names, columns, places, queries, and who asks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.answers.story import AVRO, ID, C, access, allow, plan
from tests.answers.streams import STORY
from tests.worlds.drafts import records
from treaty.core.access.rights import Access, AccessRule
from treaty.core.limits import NAME_LENGTH
from treaty.core.messages.metastore.sources import ExpectedSource, ExpectedType
from treaty.core.messages.registration import Register
from treaty.core.names import Subject, subject_of
from treaty.core.sources import QueryPlan, SourceColumn, SourcePart

AT, PINS, READ = STORY.at, STORY.pins, STORY.read
LONGEST = "n" * NAME_LENGTH
FLAGS = (False, True)
BAD_NAMES = ("", " ", " a", "a ", "a b", "a`b", "a\x07", "a\u200b", "ä", "1a", "from", f"{LONGEST}n")
SOURCES = (
    "Orders", "clicks", "customers", "visits", "again", "logs", "deep", "facts", "my source", "vault", "ported", "far", "Totals", "report", "board",
    "joined", "filed", "v1", "v3", "pair", "counts", "over", "chained", "diamond", "poured", "follower", "named", "first", "second", "third", "Third", "first_bad", "orders_bad", "pinned",
    "reborn", "undropped", "stored",
)  # fmt: skip
OTHERS = ("gone", "goes", "later", "gone_bad", "retyped", "reader", "by pin", "by purged", "untyped", "away", "due", "begun", "exchanged", "exchanged-k", "old", "older",
          "missing", "click", "ORDERS", "orderz", "ÄPFEL", "äpfel", "Äpfel", "late", "Free", "taken")  # fmt: skip
NAMES = (*SOURCES, *OTHERS, *BAD_NAMES[:7])
KINDS = ("", "STREAM", "TABLE", "VIEW")
CLUSTERS = ("main", "west", "", "east")
EXPECTED = (None, *(ExpectedSource(AT[name], STORY.revisions.get(name, 1)) for name in ("orders", "totals", "clicks", "board")), ExpectedSource(AT["clicks"], 2), ExpectedSource(0, 0))  # fmt: skip
TYPES = (
    (), (ExpectedType("Money", AT["type Money"]),), (ExpectedType("money", AT["type Money"]), ExpectedType("ADDRESS", 1)), (ExpectedType("nothing", 1),),
    (ExpectedType("uuid", 1),), (ExpectedType("Shape", AT["type Money"]), ExpectedType("nothing", 1)),
)  # fmt: skip
PARTS: tuple[SourcePart | None, ...] = (
    None, AVRO, SourcePart("JSON"), SourcePart("KAFKA", "none"), *(SourcePart("AVRO", pin=pin) for pin in PINS.values()),
    SourcePart("AVRO", pin=replace(PINS["orders-value 1"], schema_id=9)), SourcePart("AVRO", pin=replace(PINS["orders-value 1"], generation=9)),
    SourcePart("PROTOBUF", "prefix", replace(PINS["orders-value 0"], ordinal=7), "a.B"), SourcePart("AVRO", pin=replace(PINS[":.far:orders-value 0"], context=".none")),
)  # fmt: skip
SCHEMAS: tuple[Register | None, ...] = (
    None, Register(subject_of("new-value"), records("a")), Register(subject_of("clicks-value"), records("c")), Register(subject_of("clicks-value"), records("c", "d")),
    Register(subject_of("strict"), records("b")), Register(subject_of("strict"), records("a", "b?")), Register(Subject(".far", "orders-value"), records("b")),
)  # fmt: skip
WIDE = tuple(C(f"c{n}", "INT") for n in range(2001))
COLUMNS: tuple[tuple[SourceColumn, ...], ...] = (
    (C("a", "INT"),), (), (C("a", "INT"), C("A", "STRING")), (C("a", "INT"), C("b", "STRING")), (C("a", "INT", role="body"),), (ID, C("a", "Money")), (C("a", "nothing"),),
    (C("a", "ARRAY<Size>"), C("b", "Size")), (C("a", "STRUCT<x: INT, x: INT>"),), (C("a", "INT("),), (C("a", "TEXT"),), (C("a", "intt"),), (C("a", "Person"), C("b", "`Größe`")),
    (C("", "INT"),), (C("b`", "INT"),), (C("ä", "INT"), C("Ä", "INT")), (C("a", "INT", role="header", header="h"), C("b", "BINARY", role="header")), (C(LONGEST, "INT"),),
    (C("a", "ARRAY<" * 99 + "INT" + ">" * 99),), (C("a", "ARRAY<" * 100 + "INT" + ">" * 100),), (C("a", "ARRAY<" * 98 + "Address" + ">" * 98),), WIDE, WIDE[:2000],
    (C("a", "INT", nullable=False, comment="why"),), (C("_topic", "STRING"), C("a", "INT")), (C("page", "STRING"),), (C("a", "BIGINT"),), (ID,),
)  # fmt: skip
PLACES = (
    "new", "", "orders", "clicks", "logs", "logs/2026", "logs/2026/deep/x", "/logs//2026/.", "out/filed", "lake/totals/x", "lake", "_schemas", "_schema_encoders", "__offsets", "_confluent-a",
    "treaty-log", "../x", "a/../b", "a\\b", ".hid/x", "x/_y", "a/\x07", "/", "begun-topic", "due-topic", "away-topic", "gone", "web-visits", "p" * 1024, "p" * 1025, "odd", "joined",
)  # fmt: skip
TIMESTAMPS = ("", "a", "A", "`a`", " a", "`a", "_timestamp", "_TOPIC", "z")
PROPERTIES = (
    (), (("x", "y"),), (("WATERMARK", "a DELAY OF 1 SECOND"),), (("WATERMARK", "z DELAY x"),), (("DEDUPLICATE", "a, b"),), (("DEDUPLICATE", "`a`,_offset"),),
    (("watermark", "z"),), tuple((f"p{n}", "") for n in range(101)), tuple((f"p{n}", "v") for n in range(100)), (("CHECKPOINT_ROOT", "s3"),), (("x", ""), ("DELETE_GRACE_MS", "5")),
)  # fmt: skip


def _clicks(body: str = "SELECT page FROM STREAM clicks", **more: Any) -> QueryPlan:
    return plan(body, READ("clicks", "page"), **more)


QUERIES: tuple[QueryPlan | None, ...] = (
    None, _clicks(), _clicks(" "), _clicks(output_mode="update"), _clicks(output_mode="x"), _clicks(key=("a",)), _clicks(key=("z",)), _clicks(state="sum"), plan("SELECT 1"),
    plan("SELECT 1", READ("clicks", revision=2)), plan("SELECT 1", READ("clicks", value=PINS["strict 0"])), plan("SELECT 1", replace(READ("clicks"), generation=1)),
    plan("SELECT 1", replace(READ("clicks"), source="clikcs")), plan("SELECT 1", replace(READ("clicks"), source="gone", generation=AT["gone"])), plan("SELECT 1", replace(READ("clicks"), source="zzzzzzzz")),
    plan("SELECT 1", replace(READ("clicks"), source="new")), plan("SELECT 1", READ("Orders", "id", key=PINS["orders-key 0"], value=PINS["orders-value 1"]), READ("vault", mode="table")),
    plan("SELECT 1", READ("Totals")), plan("SELECT 1", READ("board")), plan("SELECT 1", READ("joined"), READ("logs")), plan("SELECT 1", *(READ("clicks") for _ in range(65))), plan("SELECT 1", *(READ("clicks") for _ in range(64))),
    plan("SELECT 1", READ("visits", "page", "n"), READ("clicks", "page", mode="table")), plan("SELECT 1", READ("facts")),
)  # fmt: skip
HALF = AccessRule(("user:bob",), frozenset({"read"}), ("*",), sources=())
ACCESSES: Mapping[str, Access] = {
    "nobody": access(),
    "reader": access(allow("read", topics=())),
    "owner": access(allow("register", "delete", "query", "pause", "insert", contexts=(".", ".far"))),
    "topicless": access(allow("register", "delete", "query", "pause", "insert", "import", topics=())),
    "partial": access(
        allow("register", "delete", "query", "pause", "insert", "plan", sources=("t*", "c*", "new*", "orders", "visits", "v1", "g*", "f*"), topics=("*",)),
        allow("read", sources=("report",), subjects=("orders*", "new*")),
    ),
    "halfway": access(allow("read", "query"), allow("register", "delete", "plan", sources=("counts*", "totals*", "visits", "again", "web*", "board", "gone*", "clicks", "late"))),
    "planner": access(allow("plan", "read", topics=())),
    "subjects": access(AccessRule(("user:bob",), frozenset({"register", "read", "bump", "create", "delete", "query", "insert"}), ("orders*", "clicks*", "new*"))),
}  # fmt: skip
"""Who asks beside somebody without rules, by name."""
