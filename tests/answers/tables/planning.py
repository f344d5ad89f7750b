"""What is asked of planners, runners and those who change topics, and what they ask."""

from dataclasses import replace
from typing import Any

from tests.answers.asks import Table
from tests.answers.story import C, define, plan
from tests.answers.streams import STORY
from tests.answers.tables import stream_values as v
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore import deleted_topics as t
from treaty.core.messages.metastore import kept_files as k
from treaty.core.messages.metastore import plans as p
from treaty.core.messages.metastore import runners as r
from treaty.core.messages.metastore.sources import CreateSource
from treaty.core.refusals import Reason
from treaty.core.sources import SourcePart

AT = STORY.at
JOBS = (
    "taken",
    "silent",
    "Free",
    "free",
    "totals",
    "dry",
    "withdrawn",
    "late",
    "shorter",
    "edge",
    "free-b",
    "hidden",
    "ended",
    "refused",
    "stored",
    "clicks",
    "missing",
    "",
)
WAITS = (0, 1, 20)
COMMANDS = (
    *(
        f"plan-{name}"
        for name in ("taken", "silent", "Free", "ended", "refused", "stored", "withdrawn", "free-b", "nothing")
    ),
    "command-1",
    "",
)
EPOCHS = (0, *(AT[f"job {name}"] for name in ("taken", "silent", "totals", "dry", "late", "free-b", "hidden")), 1, -1)
PLANNERS = (
    "planner-x",
    *(f"planner-{name}" for name in ("taken", "silent", "totals", "late", "free-b")),
    "",
    "a\x07",
    "p" * 200,
    "p" * 201,
    "p" * 10,
    "p" * 11,
)
REFUSAL = EntryRefusal("invalid-source", Reason("COLUMN_UNKNOWN", "There is no column z", path="/definition/query"))
FAULTS = tuple(p.StatementFault("COLUMN_UNKNOWN", f"There is no column z{n}", n, n + 1, 1, 4) for n in range(21))


def _create(name: str, source: str = "clicks", **more: Any) -> CreateSource:
    query = plan(f"SELECT page FROM STREAM {source}", STORY.read(source, "page", **more))
    return CreateSource(
        define(
            name,
            C("page", "STRING"),
            query=query,
            place=f"{name.lower()}-topic" if name.startswith("free") else name.lower(),
        )
    )


def _finishes() -> tuple[p.FinishPlanningJob, ...]:
    asks = []
    for name in ("taken", "silent", "totals", "dry", "late", "free-b", "hidden"):
        finish = p.FinishPlanningJob(name, f"planner-{name}", AT[f"job {name}"])
        stale = [_create(name, revision=9), _create(name, "customers"), _create(name, "visits")]
        pinned = replace(
            _create(name),
            definition=replace(
                _create(name).definition, value=SourcePart("AVRO", pin=replace(STORY.pins["strict 0"], ordinal=5))
            ),
        )
        for create in (
            _create(name),
            *stale,
            pinned,
            _create("other"),
            replace(_create(name), assess=True),
            replace(_create(name), replace=True),
            replace(STORY_TOTALS, definition=replace(STORY_TOTALS.definition, name=name)),
        ):
            asks.append(replace(finish, create=create, notes=("a", "b")))
        for sources in (
            (),
            ("clicks",),
            ("clicks", "orders"),
            ("joined",),
            ("far", "logs", "nothing"),
            tuple(f"click{n}" for n in range(257)),
        ):
            for subjects in ((), ("clicks-value",), (":.far:orders-value",), ("missing",)):
                asks.append(
                    replace(
                        finish, refusal=REFUSAL, faults=FAULTS[: len(sources) * 7], sources=sources, subjects=subjects
                    )
                )
        asks += [
            finish,
            replace(finish, create=_create(name), refusal=REFUSAL),
            replace(finish, epoch=finish.epoch + 1, refusal=REFUSAL),
            replace(finish, planner="other", refusal=REFUSAL),
        ]
        asks.append(replace(finish, create=_create(name), notes=tuple(f"note {n}" for n in range(25))))
    return tuple(asks)


STORY_TOTALS = CreateSource(STORY.definitions["totals"])
PARTS = (
    (), (r.QueryPart("joined", AT["joined"]),), (r.QueryPart("Totals", AT["totals"]),), (r.QueryPart("report", AT["report"]),), (r.QueryPart("orders_bad", AT["orders"], "bad"),), (r.QueryPart("first_bad", AT["third"], "bad"),),
    (r.QueryPart("clicks", AT["clicks"]),), (r.QueryPart("clicks", AT["clicks"], "bad"),), (r.QueryPart("joined", 1),), (r.QueryPart("missing", 1),), (r.QueryPart("joined", AT["joined"], "x" * 120),),
    (r.QueryPart("joined", AT["joined"]), r.QueryPart("JOINED", AT["joined"]), r.QueryPart("board", AT["board"])), (r.QueryPart("board", AT["board"]), r.QueryPart("report", AT["report"]), r.QueryPart("missing", 2)),
    (r.QueryPart("pair", AT["pair"]), r.QueryPart("counts", AT["counts"]), r.QueryPart("v1", AT["v1"])), tuple(r.QueryPart("joined", n) for n in range(501)), (r.QueryPart("filed", AT["filed"]), r.QueryPart("totals", AT["totals"])),
)  # fmt: skip
LEASES = (0, AT["r1"], AT["r2"], AT["idle"], AT["main"], AT["west"], 1, -1)
TOPICS = (
    (),
    ("due-topic",),
    ("begun-topic",),
    ("begun-topic", "due-topic", "begun-topic"),
    ("gone", "away-topic"),
    ("reborn",),
    ("clicks", "nothing"),
    tuple(f"t{n}" for n in range(1001)),
    ("a", "b", "c"),
    ("a", "b"),
)
FILES = tuple(
    k.CheckpointName(first, number)
    for first in sorted(
        {
            AT[name]
            for name in (
                "totals",
                "board",
                "counts",
                "follower",
                "pair",
                "named",
                "joined",
                "later",
                "goes",
                "exchanged",
                "old",
                "undropped",
            )
        }
    )
    for number in (first, first + 1, first + 4)
)
PLACES = (
    ("logs",),
    ("logs/2026/deep/x", "LOGS/2026", "log", ""),
    ("lake/facts", "lake/old", "lake/counts/1"),
    ("/out/./filed/", "out", "nothing", "lake"),
    tuple(f"p{n}" for n in range(1001)),
)

TABLES = (
    Table(
        p.RequestPlan("fresh", "CREATE STREAM fresh AS SELECT 1"),
        {"name": (*v.NAMES, *v.BAD_NAMES), "statement": ("", "CREATE", "s" * 1_048_577), "properties": v.PROPERTIES, "place": ("", "fresh", "free-topic"), "replace": v.FLAGS, "if_not_exists": v.FLAGS, "expected": v.EXPECTED, "dry_run": v.FLAGS,
         "seconds": (0, 1, 19, 20, 21, 60, 61, -1)},
        (("name", "replace"), ("name", "if_not_exists")), places=("name", "place"), share=1.0, accesses=v.ACCESSES, more=tuple(p.RequestPlan(name, "CREATE", if_not_exists=True, replace=True) for name in JOBS),
    ),
    Table(p.TakePlanningJob("Free", "planner-x"), {"name": JOBS, "planner": PLANNERS, "epoch": EPOCHS}, (("name", "planner"), ("name", "epoch")), drawn=30, places=("name",), share=1.0, accesses=v.ACCESSES,
          more=tuple(p.TakePlanningJob(name, f"planner-{name}", AT[f"job {name}"]) for name in ("taken", "silent", "dry", "late", "totals", "hidden"))),
    Table(p.FinishPlanningJob("taken", "planner-taken", AT["job taken"], refusal=REFUSAL), {"name": JOBS, "planner": PLANNERS, "epoch": EPOCHS, "create": (None, _create("taken"), _create("x")), "refusal": (None, REFUSAL), "faults": ((), FAULTS[:1], FAULTS)},
          (("create", "refusal"),), drawn=10, places=("name",), share=1.0, accesses=v.ACCESSES, more=_finishes(), every=20),
    Table(p.WithdrawPlan("Free", "plan-Free"), {"name": JOBS, "command": COMMANDS}, (("name", "command"),), drawn=0, places=("name",), share=1.0, accesses=v.ACCESSES, every=20),
    Table(p.GetPlan("Free", "plan-Free"), {"name": JOBS, "command": COMMANDS, "wait": WAITS}, (("name", "command"),), drawn=5, places=("name",), share=1.0, accesses=v.ACCESSES, every=20),
    Table(p.ListPlanningJobs(), {"taken": v.FLAGS, "limit": (0, 1, 2, 3, 4, 100, 101, -1), "wait": WAITS}, (("taken", "limit"),), drawn=0, places=("taken", "limit"), share=1.0, accesses=v.ACCESSES),
    Table(
        r.AcquireRunner("new", "host-9"),
        {"name": ("new", "r1", "r2", "idle", "", "a\x07", "r" * 200, "r" * 201, "it's", "R1"), "holder": ("host-9", "host-1", "host-3", "host-4", "", "h" * 200, "h" * 201, "\n"), "address": ("", "http://one", "http://three", "a" * 1000, "a" * 1001, "\x07"),
         "epoch": LEASES, "root": ("", "root-a", "root-b", "r" * 201, "\t")},
        (("name", "holder"), ("name", "epoch"), ("name", "root")), places=("name",), share=1.0, accesses=v.ACCESSES, every=3,
    ),
    Table(r.ReleaseRunner("r1", AT["r1"]), {"name": ("r1", "r2", "idle", "missing", "R1", ""), "epoch": LEASES}, (("name", "epoch"),), drawn=0, places=("name",), share=1.0, accesses=v.ACCESSES, every=2),
    Table(r.AssignQueries("r1", AT["r1"]), {"runner": ("r1", "r2", "idle", "missing"), "epoch": LEASES, "take": PARTS, "release": PARTS}, (("runner", "epoch"), ("take", "release")), drawn=30, places=("runner", "take", "release"), share=1.0, accesses=v.ACCESSES,
          more=tuple(r.AssignQueries("r2", AT["r2"], part) for part in PARTS) + tuple(r.AssignQueries("idle", AT["idle"], part, part) for part in PARTS), every=9),
    Table(k.ListKeptFiles(FILES, tuple(range(0, STORY.sequence, 3)), PLACES[0]), {"incarnations": (FILES, FILES[:2], tuple(k.CheckpointName(first, number) for first in (AT["board"], AT["counts"], AT["totals"]) for number in range(40, STORY.sequence)), ()),
          "generations": (tuple(range(STORY.sequence)), (), (AT["undropped"],)), "places": PLACES}, (("places", "generations"),), drawn=4, places=(), share=1.0, accesses=v.ACCESSES),
    Table(
        t.LeaseTopics("north", "keeper-9"),
        {"cluster": ("north", "main", "west", "", "c" * 4096, "c" * 4097), "holder": ("keeper-9", "keeper-1", "keeper-2", "", "\x07", "k" * 200, "k" * 201, "k" * 10, "k" * 11), "epoch": LEASES, "begin": TOPICS, "gone": TOPICS, "release": v.FLAGS},
        (("cluster", "epoch"), ("cluster", "release"), ("begin", "release")), drawn=40, places=("cluster", "begin", "gone"), share=1.0, accesses=v.ACCESSES,
        more=tuple(t.LeaseTopics(cluster, holder, AT[cluster], begin, gone, release) for cluster in ("main", "west") for holder in ("keeper-1", "keeper-9") for begin, gone in zip(TOPICS, (TOPICS[2], *TOPICS[1:]), strict=False) for release in v.FLAGS),
    ),
    Table(t.ListDeletedTopics(), {}, drawn=0, places=(), share=1.0, accesses=v.ACCESSES),
)  # fmt: skip
