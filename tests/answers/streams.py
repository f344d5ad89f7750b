"""The world of streams: sources, types, queries, runners and statements that wait for plans, with gaps, leftovers and odd names."""

from collections.abc import Sequence
from typing import Any

from tests.answers.story import ID, C, Story, access, allow, define, plan
from tests.answers.stream_sources import (
    LONG_AGO,
    tell_joins,
    tell_names,
    tell_queries,
    tell_readers,
    tell_restarts,
    tell_schemas,
    tell_sources,
    tell_types,
)
from tests.answers.worlds import Sent, World
from tests.worlds.drafts import records
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore import deleted_topics as t
from treaty.core.messages.metastore import plans as p
from treaty.core.messages.metastore import runners as r
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Reason
from treaty.core.sources import SourcePart

NOW = 480
"""The number of commands that came a moment ago."""


def tell_drops(story: Story) -> None:
    """Sources that were dropped: with what they read, with their bad rows, with their topics, over names and types that are others since."""
    read = story.read
    story.create(define("gone", ID, C("shape", "Shape"), bad_rows=True, properties=(("DELETE_GRACE_MS", "1000"),)))
    story.create(define("goes", ID, query=plan("SELECT id FROM STREAM gone", read("gone", "id"))))
    story.create(define("later", ID, query=plan("SELECT id FROM STREAM goes", read("goes", "id"))))
    story.add(m.DropSource("later"))
    story.add(m.DropSource("goes"))
    story.add(m.DropSource("gone", delete_topic=True))


def tell_retyped(story: Story) -> None:
    """Sources that were dropped, and whose types and whose own names are others since, or are gone."""
    read = story.read
    story.add(m.CreateType("Size", "INT"))
    story.create(define("retyped", C("s", "ARRAY<Size>")))
    story.add(m.DropSource("retyped"))
    story.add(m.DropType("Size"))
    story.add(m.CreateType("SIZE", "BIGINT"))
    story.add(m.CreateType("Passing", "INT"))
    story.create(define("untyped", C("s", "Passing")))
    story.add(m.DropSource("untyped"))
    story.add(m.DropType("Passing"))
    story.create(define("reborn", C("a", "INT")))
    story.create(define("reader", C("a", "INT"), query=plan("SELECT a FROM STREAM reborn", read("reborn", "a"))))
    story.add(m.DropSource("reader"))
    story.add(m.DropSource("reborn", delete_topic=True))
    story.create(define("reborn", C("a", "BIGINT")))


def tell_unpinned(story: Story) -> None:
    """Sources that were dropped, and the versions that they were read by are deleted since."""
    read = story.read
    story.create(define("pinned", C("a", "INT"), value=SourcePart("AVRO", pin=story.pins["orders-value 2"])))
    pinned = read("pinned", "a", value=story.pins["orders-value 2"])
    story.create(define("by pin", C("a", "INT"), place="by-pin", query=plan("SELECT a FROM STREAM pinned", pinned)))
    story.add(m.DropSource("by pin"))
    story.add(m.ChangeSource("pinned", value=SourcePart("AVRO", pin=story.pins["orders-value 3"])), changes="pinned")
    story.add(DeleteVersion(subject_of("orders-value"), 3))
    purged = story.register(Register(subject_of("purged-value"), records("p")), 7, 0)
    story.create(define("purging", C("a", "INT"), value=SourcePart("AVRO", pin=purged)))
    story.create(
        define(
            "by purged",
            C("a", "INT"),
            place="by-purged",
            query=plan("SELECT a FROM STREAM purging", read("purging", "a", value=purged)),
        )
    )
    story.add(m.DropSource("by purged"))
    story.add(m.ChangeSource("purging", value=SourcePart("AVRO", pin=story.pins["orders-value 3"])), changes="purging")
    story.add(DeleteVersion(subject_of("purged-value"), 1))
    story.add(DeleteVersion(subject_of("purged-value"), 1, permanent=True))


def tell_leaving(story: Story) -> None:
    """Topics that are to go, and sources that were dropped before the rows that they read were exchanged."""
    read = story.read
    for name in ("away", "due", "begun"):
        story.create(
            define(
                name,
                C("a", "INT"),
                place=f"{name}-topic",
                cluster="west" if name == "away" else "main",
                properties=(("DELETE_GRACE_MS", {"away": "414000", "due": "x"}.get(name, "9")),),
            )
        )
        story.add(m.DropSource(name, delete_topic=True))
    story.create(
        define(
            "exchanged",
            C("page", "STRING"),
            query=plan("SELECT page FROM STREAM counts", read("counts", "page")),
            connector="delta",
            place="lake/exchanged",
            kind="STREAM",
        )
    )
    story.create(
        define("exchanged-k", C("page", "STRING"), query=plan("SELECT page FROM STREAM counts", read("counts", "page")))
    )
    story.add(m.DropSource("exchanged"))
    story.add(m.DropSource("exchanged-k"))
    story.add(m.ChangeSource("counts", restart="REFRESH", cascade=True), changes="counts")
    story.create(define("undropped", C("a", "INT")))
    for _ in range(2):
        story.add(m.DropSource("undropped"))
        story.add(m.UndropSource("undropped"))


def tell_runners(story: Story) -> None:
    """Leases of runners with their parts, and leases on topics."""
    at = story.at
    bob: dict[str, Any] = {"principal": "user:bob", "access": access(allow("plan"))}
    first = story.add(r.AcquireRunner("r1", "host-1", "http://one", root="root-a"))
    second = story.add(r.AcquireRunner("r2", "host-2", root="root-a"), **bob)
    story.add(r.AcquireRunner("r2", "host-3", "http://three", epoch=second, root="root-a"), **bob)
    story.add(r.AcquireRunner("idle", "host-4"))
    parts = (
        r.QueryPart("totals", at["totals"]),
        r.QueryPart("orders_bad", at["orders"], "bad"),
        r.QueryPart("Joined", at["joined"]),
    )
    story.add(r.AssignQueries("r1", first, parts))
    story.add(
        r.AssignQueries("r2", second + 1, (r.QueryPart("report", at["report"]), r.QueryPart("filed", at["filed"]))),
        **bob,
    )
    story.add(r.AssignQueries("r1", first, release=(parts[2],)))
    story.at |= {"r1": first, "r2": second + 1, "idle": second + 2}
    lease = story.add(t.LeaseTopics("main", "keeper-1"))
    story.add(t.LeaseTopics("main", "keeper-1", lease, begin=("begun-topic", "due-topic")))
    story.add(t.LeaseTopics("west", "keeper-2"))
    story.at |= {"main": lease, "west": lease + 2}


def tell_plans(story: Story) -> None:
    """Statements that wait for plans, with planners that are at work, silent or done; those of somebody with few rights."""
    bob: dict[str, Any] = {
        "principal": "user:bob",
        "access": access(allow("register", "read", sources=("free*", "hid*", "click*"), topics=("free*",))),
    }
    more: dict[str, Any]
    for name, number, more in (
        ("ended", 300, {}), ("refused", NOW, {}), ("stored", NOW, {}), ("taken", NOW, {"replace": True}), ("silent", NOW - 1, {"if_not_exists": True}),
        ("Free", NOW + 1, {"properties": (("a", "b"),)}), ("totals", NOW + 2, {"replace": True, "expected": m.ExpectedSource(story.at["totals"], 1)}),
        ("dry", NOW + 3, {"dry_run": True}), ("withdrawn", NOW + 4, {}), ("late", NOW + 5, {"seconds": 60}), ("shorter", NOW + 6, {"seconds": 14}), ("edge", NOW + 7, {}),
    ):  # fmt: skip
        story.add(p.RequestPlan(name, f"CREATE STREAM {name} AS SELECT 1", **more), number=number, name=f"plan-{name}")
    for name in ("free-b", "hidden"):
        story.add(
            p.RequestPlan(name, f"CREATE STREAM {name} AS SELECT 2", place="free-topic"),
            number=NOW,
            name=f"plan-{name}",
            **bob,
        )
    for name, number in (
        ("refused", NOW),
        ("stored", NOW),
        ("taken", 495),
        ("silent", NOW - 1),
        ("dry", 496),
        ("late", 496),
        ("edge", 490),
        ("free-b", 496),
        ("hidden", 497),
        ("totals", 497),
    ):
        story.at[f"job {name}"] = story.add(p.TakePlanningJob(name, f"planner-{name}"), number=number)


def tell_answers(story: Story) -> None:
    """What planners answered: a refusal, a source, and a plan that was too late."""
    refusal = EntryRefusal("invalid-source", Reason("COLUMN_UNKNOWN", "There is no column z", path="/definition/query"))
    fault = p.StatementFault("COLUMN_UNKNOWN", "There is no column z", 3, 4, 1, 4)
    story.add(
        p.FinishPlanningJob("refused", "planner-refused", story.at["job refused"], refusal=refusal, faults=(fault,)),
        number=NOW,
    )
    definition = define(
        "stored", C("page", "STRING"), query=plan("SELECT page FROM STREAM clicks", story.read("clicks", "page"))
    )
    story.at["stored"] = story.add(
        p.FinishPlanningJob(
            "stored", "planner-stored", story.at["job stored"], m.CreateSource(definition), notes=("slow",)
        ),
        number=NOW,
    )
    stale = define(
        "late",
        C("page", "STRING"),
        query=plan("SELECT page FROM STREAM clicks", story.read("clicks", "page", revision=9)),
    )
    story.add(p.FinishPlanningJob("late", "planner-late", story.at["job late"], m.CreateSource(stale)), number=497)
    story.at["job late"] = story.add(p.TakePlanningJob("late", "planner-late"), number=498)
    story.add(p.WithdrawPlan("withdrawn", "plan-withdrawn"), number=499)


def tell_leftovers(story: Story) -> None:
    """Sources that were dropped too long ago, whose rows are there still."""
    for name in ("old", "older"):
        story.create(define(name, C("a", "INT")), sent={"number": LONG_AGO - 10})
        story.add(m.DropSource(name), number=LONG_AGO)
    story.create(define("older", C("a", "STRING")), sent={"number": LONG_AGO})


PARTS = (
    tell_schemas,
    tell_types,
    tell_sources,
    tell_queries,
    tell_joins,
    tell_readers,
    tell_restarts,
    tell_names,
    tell_drops,
    tell_retyped,
    tell_unpinned,
    tell_leaving,
    tell_runners,
    tell_plans,
    tell_answers,
    tell_leftovers,
)


def tell() -> Story:
    """All of it."""
    story = Story()
    for part in PARTS:
        part(story)
    return story


def list_commands() -> Sequence[Request[Any] | Sent]:
    """All commands."""
    return tell().commands


STORY = tell()
"""What tables name numbers by."""
STREAMS = World("streams", list_commands, {})
NARROW = World(
    "narrow",
    list_commands,
    {
        "SOURCES": 40, "TYPES": 8, "RUNNERS": 4, "PLANNING_WAITING": 11, "TOPIC_LEASES": 3, "TOPICS_DELETED": 5, "CLOSURE": 2, "DROP_GRACE": 431_000, "INCARNATIONS": 3,
        "ONCE_QUERIES": 3, "FORMER_GENERATIONS": 3, "CHANGE_REASONS": 2, "DROPPED_EXPIRED": 1, "SOURCES_PAGE": 3, "PLANNING_PAGE": 3, "PLANNING_ATTEMPTS": 2, "KEPT_FILES": 40, "CLOCK_MARGIN": 1000,
        "ASSIGNED_PARTS": 2, "SCRIPT_STATEMENTS": 3, "WARNINGS": 1, "FAULTS": 1, "PLANNER_ASKED": 1, "PATH_TEXT": 10, "TYPE_DEPTH": 4, "PLANNER_NAME": 12, "RUNNER_NAME": 6, "RUNNER_ADDRESS": 10,
    },
    likes="streams",
)  # fmt: skip
TIGHT = World(
    "tight-streams",
    list_commands,
    {
        "SOURCES": 39, "TYPES": 7, "RUNNERS": 3, "PLANNING_WAITING": 10, "TOPIC_LEASES": 2, "TOPICS_DELETED": 4, "CLOSURE": 1, "DROP_GRACE": 447_000, "INCARNATIONS": 1, "ONCE_QUERIES": 2,
        "FORMER_GENERATIONS": 2, "CHANGE_REASONS": 1, "SOURCE_COLUMNS": 3, "SOURCE_PROPERTIES": 1, "STATEMENT_BYTES": 60, "BODY_READS": 1, "SOURCES_PAGE_CHARACTERS": 900, "PLANNING_CHARACTERS": 60,
        "TYPE_PARTS": 5, "TYPE_CHARACTERS": 150, "PLANNING_SECONDS": 20, "ASSIGNED_PARTS": 1, "SCRIPT_STATEMENTS": 2,
    },
    likes="streams",
)  # fmt: skip
STREAM_WORLDS = (STREAMS, NARROW, TIGHT)
