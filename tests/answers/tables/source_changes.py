"""What is asked of operations that change, pause, drop and bring back sources, and of those on types."""

import hashlib
import json
import random
from collections.abc import Iterator

from tests.answers.asks import Table
from tests.answers.story import C
from tests.answers.streams import STORY
from tests.answers.tables import stream_values as v
from tests.answers.tables.type_texts import TEXTS
from tests.answers.worlds import WRITER
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.sources import SourceColumnChange as Change

CHANGES = (
    (), (Change("add", C("z", "INT")),), (Change("add", C("PAGE", "INT")),), (Change("drop", C("page", "")),), (Change("drop", C("At", "")),), (Change("drop", C("nothing", "")),),
    (Change("set", C("page", "BIGINT")),), (Change("set", C("user", "BIGINT", comment="who", nullable=False)),), (Change("set", C("zz", "INT")),), (Change("set", C("page", "STRING", role="key")),),
    (Change("add", C("z", "Money")), Change("set", C("z", "Address")), Change("drop", C("at", ""))), (Change("add", C("z", "nothing")),), (Change("add", C("", "INT")),),
    (Change("drop", C("page", "")), Change("drop", C("user", "")), Change("drop", C("at", ""))), (Change("drop", C("id", "")),), (Change("set", C("amount", "INT")),), (Change("set", C("tags", "ARRAY<INT>")),),
    (Change("set", C("home", "STRUCT<zip: INT>")),), (Change("add", C("z", "INT", role="x")),), (Change("drop", C("time", "")),), (Change("set", C("name", "INT")),), (Change("set", C("n", "BIGINT")),),
)  # fmt: skip
SET = ((), (("x", "y"),), (("WATERMARK", ""),), (("WATERMARK", "z DELAY"),), (("DEDUPLICATE", ""), ("WATERMARK", "")), (("DELETE_GRACE_MS", "7"), ("a", "")), tuple((f"p{n}", "v") for n in range(101)), tuple((f"p{n}", "v") for n in range(98)))  # fmt: skip
RESTARTS = ("", "ROLLBACK", "RESET", "REFRESH", "restart", "x" * 200)


def _restarts() -> Iterator[m.ChangeSource]:
    for name in (
        "Totals",
        "report",
        "board",
        "joined",
        "filed",
        "pair",
        "counts",
        "follower",
        "named",
        "v1",
        "clicks",
        "orders_bad",
        "ported",
    ):
        for word in RESTARTS[1:4]:
            for cascade in v.FLAGS:
                yield m.ChangeSource(name, restart=word, cascade=cascade, kind="TABLE" if name == "Totals" else "")
    for name in ("counts", "board"):
        for more in (
            {"comment": "x"},
            {"dry_run": True},
            {"protect": True},
            {"statement": "REFRESH"},
            {"expected": v.EXPECTED[4]},
            {"types": v.TYPES[1]},
        ):
            yield m.ChangeSource(name, restart="RESET", **more)
            yield m.ChangeSource(name, swap="clicks", **more)


def _changes() -> Iterator[m.ChangeSource]:
    dice = random.Random("changes")
    for name in ("Orders", "customers", "visits", "far", "Totals", "orders_bad", "ported", "logs", "pinned"):
        for changes in dice.sample(CHANGES, 7):
            yield m.ChangeSource(name, columns=changes)
        for key, value in zip(dice.sample(v.PARTS, 4), dice.sample(v.PARTS, 4), strict=True):
            yield m.ChangeSource(name, key=key, value=value, kind="STREAM")
        yield m.ChangeSource(name, protect=True, comment="secret")
        yield m.ChangeSource(name, properties=dice.choice(SET))
    for size in (17, 18):
        yield m.ChangeSource("again", rename="a" * size)
    for name in (
        "visits",
        "again",
        "first",
        "second",
        "Third",
        "clicks",
        "Orders",
        "Totals",
        "counts",
        "named",
        "vault",
        "orders_bad",
        "my source",
        "logs",
        "reborn",
        "customers",
    ):
        for new in dice.sample(
            ("from", "new name", name.upper(), "v", "Web", "join", "page", "_topic", "gone", "ä"), 5
        ):
            yield m.ChangeSource(name, rename=new)
        for other in dice.sample(
            (
                "visits",
                "again",
                "first",
                "Totals",
                "clicks",
                "named",
                "logs",
                "far",
                name.upper(),
                "missing",
                "first_bad",
            ),
            6,
        ):
            yield m.ChangeSource(name, swap=other)


def _digest(*names: str) -> str:
    entries = sorted([name, v.AT[name], STORY.revisions.get(name, 1)] for name in names)
    return hashlib.sha256(json.dumps(entries, separators=(",", ":")).encode()).hexdigest()[:16]


def _drops() -> Iterator[m.DropSource]:
    chain = _digest("totals", "report", "board")
    for digest in (chain, "0" * 16, _digest("totals")):
        for more in ({}, {"dry_run": True}, {"delete_topic": True}, {"kind": "TABLE"}, {"kind": "STREAM"}):
            yield m.DropSource("Totals", cascade=True, digest=digest, **more)
    yield m.DropSource("board", cascade=True, digest=_digest("board"))
    yield m.DropSource("counts", cascade=True, digest=_digest("counts", "follower"))
    yield m.DropSource("counts", cascade=True, digest=_digest("follower"))
    for name in v.SOURCES:
        yield m.DropSource(name, cascade=True)
        yield m.DropSource(name, delete_topic=True)
        yield m.DropSource(name, cascade=True, dry_run=True, delete_topic=True)


TABLES = (
    Table(
        m.ChangeSource("clicks"),
        {
            "name": v.NAMES, "statement": ("", "ALTER STREAM clicks", "s" * 1_048_577), "columns": CHANGES, "properties": SET, "key": v.PARTS, "value": v.PARTS, "rename": ("", "visits", "clicks", "Clicks", "Totals", "gone", "ÄPFEL", "Äpfel", "Orders_bad", "free", *v.BAD_NAMES), "protect": (None, False, True),
            "comment": (None, "", "new"), "expected": v.EXPECTED, "dry_run": v.FLAGS, "types": v.TYPES, "kind": v.KINDS, "swap": ("", "visits", "clicks", "Totals", "orders_bad", "missing", "vault", "far"),
            "key_schema": v.SCHEMAS, "value_schema": v.SCHEMAS, "restart": RESTARTS, "cascade": v.FLAGS,
        },
        (("value", "value_schema"), ("kind", "swap")), drawn=40, places=("name", "swap"), more=(*_restarts(), *_changes()), share=1.0, accesses=v.ACCESSES, asker=WRITER, every=5, shared=3,
    ),
    Table(m.SetSourceState("filed", "RUNNING"), {"name": v.NAMES, "state": ("RUNNING", "PAUSED", "", "running", "x" * 200), "dry_run": v.FLAGS}, (), drawn=0, more=tuple(m.SetSourceState(name, state, dry_run) for name in ("ported", "board", "joined", "clicks", "orders_bad", "counts") for state in ("PAUSED", "RUNNING", "") for dry_run in v.FLAGS), places=("name",), share=1.0, accesses=v.ACCESSES, asker=WRITER),
    Table(
        m.DropSource("later"),
        {"name": v.NAMES, "kind": v.KINDS, "if_exists": v.FLAGS, "cascade": v.FLAGS, "digest": ("", "0" * 16), "delete_topic": v.FLAGS, "expected": v.EXPECTED, "dry_run": v.FLAGS, "importer": v.FLAGS},
        (("name", "kind"), ("name", "if_exists")), drawn=60, places=("name",), more=tuple(_drops()), share=1.0, accesses=v.ACCESSES, asker=WRITER, every=2,
    ),
    Table(m.UndropSource("gone"), {"name": v.NAMES, "kind": v.KINDS, "dry_run": v.FLAGS}, (), more=tuple(m.UndropSource(name, kind, dry_run=kind == "STREAM") for name in ("gone", "goes", "exchanged", "board", "away", "by pin", "retyped") for kind in v.KINDS), drawn=0, places=("name",), share=1.0, accesses=v.ACCESSES, asker=WRITER, every=4),
    Table(
        m.CreateType("New", "INT"),
        {"name": ("New", "money", "MONEY", "grösse", "GRÖSSE", "größe", "GRÖßE", "int", "Struct", "decimal", "shortlived", *v.BAD_NAMES), "definition": TEXTS, "if_not_exists": v.FLAGS, "comment": ("", "why"), "dry_run": v.FLAGS,
         "importer": v.FLAGS, "label": ("", "shop", v.LONGEST, f"{v.LONGEST}n")},
        drawn=20, places=("name",), share=1.0, accesses=v.ACCESSES, asker=WRITER,
    ),
    Table(m.DropType("unused"), {"name": ("unused", "Unused", "money", "Address", "person", "`Größe`", "Größe", "größe", "Shape", "SIZE", "missing", "text", "intt", *v.BAD_NAMES), "if_exists": v.FLAGS, "dry_run": v.FLAGS, "importer": v.FLAGS},
          (("name", "if_exists"),), drawn=10, places=("name",), share=1.0, accesses=v.ACCESSES, asker=WRITER),
)  # fmt: skip
