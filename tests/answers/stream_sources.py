"""The first part of the world of streams: schemas, types, sources, queries, and what became of these."""

from dataclasses import replace
from typing import Any

from tests.answers.story import AVRO, ID, C, Story, define, plan
from tests.worlds.drafts import records
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import Subject, subject_of
from treaty.core.sources import ImportedQuery, SourcePart

LONG_AGO = -900_000
"""The number of commands that came before the period of grace."""
ADDRESS = "STRUCT<street: STRING NOT NULL COMMENT 'where', zip: INT, at: Money>"


def tell_schemas(story: Story) -> None:
    """Versions of keys and values, one of which is deleted softly and one for good; a subject in another context."""
    value = subject_of("orders-value")
    story.add(SetConfig(Scope("."), Config(level="NONE")))
    for ordinal in range(4):
        story.register(Register(value, records("a", *(f"f{n}?" for n in range(ordinal)))), ordinal + 1, ordinal)
    story.register(Register(subject_of("orders-key"), records("k")), 5, 0)
    story.register(Register(Subject(".far", "orders-value"), records("b")), 1, 0)
    story.add(SetConfig(Scope("."), Config(level="BACKWARD")))
    story.register(Register(subject_of("strict"), records("a")), 1, 0)


def tell_types(story: Story) -> None:
    """Types that use each other, one in other letters, one of a project, one that is dropped and made again."""
    for name, text in (
        ("Money", "DECIMAL(12, 2)"), ("Address", ADDRESS), ("Person", "STRUCT<name: STRING, home: Address, others: ARRAY<`address`>>"),
        ("Größe", "INT"), ("unused", "MAP<STRING, Money>"), ("Shape", "STRUCT<w: INT, h: INT>"),
    ):  # fmt: skip
        story.add(
            m.CreateType(name, text, comment=f"about {name}", label="shop" if name == "unused" else ""),
            makes=f"type {name}",
        )
    story.add(m.CreateType("shortlived", "INT"))
    story.add(m.DropType("shortlived"))


def tell_sources(story: Story) -> None:
    """Sources without queries, over topics, folders and lake tables."""
    pin = story.pins
    story.create(
        define(
            "Orders", ID, C("amount", "Money"), C("home", "Address"), C("tags", "ARRAY<STRING>"), C("src", "STRING", role="header", header="source"),
            C("time", "TIMESTAMP"), key=SourcePart("AVRO", pin=pin["orders-key 0"]), value=SourcePart("AVRO", pin=pin["orders-value 1"]),
            timestamp="time", properties=(("DEDUPLICATE", "id,`amount`"), ("WATERMARK", "time DELAY OF 5 SECONDS")), comment="what is ordered", bad_rows=True,
        )
    )  # fmt: skip
    story.create(
        define("clicks", C("page", "STRING"), C("user", "BIGINT"), C("at", "TIMESTAMP"), value=AVRO),
        value_schema=Register(subject_of("clicks-value"), records("c")),
    )
    story.create(
        define(
            "customers",
            ID,
            C("name", "STRING", nullable=False),
            C("who", "Person"),
            kind="TABLE",
            key=SourcePart("KAFKA"),
            value=SourcePart("JSON"),
        )
    )
    story.create(define("visits", C("page", "STRING"), C("n", "INT"), place="web-visits"))
    story.create(define("again", C("page", "STRING"), place="web-visits"))
    story.create(define("logs", C("line", "STRING"), connector="files", place="logs/2026", value=SourcePart("JSON")))
    story.create(define("deep", C("line", "STRING"), connector="files", place="/logs/./2026//deep/"))
    story.create(define("facts", C("x", "INT"), connector="iceberg", place="lake/facts"))
    story.create(define("ÄPFEL", C("größe", "`Größe`"), place="apples"))
    story.create(define("my source", C("from", "INT"), C("a b", "STRING"), place="odd", kind="STREAM"))
    story.create(define("vault", C("s", "STRING"), place="vault"))
    story.add(m.ChangeSource("vault", protect=True))
    imported = ImportedQuery(
        "SELECT * FROM old EMIT CHANGES", "CREATE STREAM ported AS SELECT 1", "CSAS_1", ("a window is missing",)
    )
    story.create(define("ported", C("a", "INT"), imported=imported), importer=True)
    story.create(
        define(
            "far",
            C("b", "INT"),
            cluster="west",
            value=SourcePart("AVRO", pin=pin[":.far:orders-value 0"]),
            comment="in the west",
        )
    )
    story.add(
        m.ChangeSource("far", columns=(m.SourceColumnChange("add", C("c", "Shape", comment="new")),), comment="wide"),
        changes="far",
    )


def tell_queries(story: Story) -> None:
    """Queries of all kinds: chains over lake tables, groups, joins, one that is paused, and those that were replaced and restarted."""
    read = story.read
    totals = replace(
        plan("SELECT o.id, sum(o.amount) AS total FROM STREAM(Orders) o GROUP BY o.id", read("Orders", "id", "amount", value=story.pins["orders-value 1"]), state="sum", key=("id",), output_mode="update"),
        state=(("key", "Orders.id"), ("aggregate", "sum(Orders.amount)")), settings=(("shuffle", "4"),), engine="spark-4",
    )  # fmt: skip
    lake = {"connector": "delta", "kind": "TABLE"}
    story.create(define("Totals", ID, C("total", "Money"), place="lake/totals", query=totals, **lake))
    report = plan("SELECT t.id, t.total FROM STREAM(Totals) t", read("Totals", "id", "total"))
    story.create(define("report", ID, C("total", "DECIMAL(12, 2)"), place="lake/report", query=report, **lake))
    diamond = plan(
        "SELECT t.id FROM STREAM(Totals) t JOIN report r ON r.id = t.id",
        read("Totals", "id"),
        read("report", "id", mode="table"),
    )
    story.create(define("diamond", ID, query=diamond))
    strict = (
        C("k", "INT", role="key"),
        C("n", "INT", nullable=False),
        C("s", "STRUCT<a: INT NOT NULL COMMENT 'x', b: ARRAY<STRUCT<c: INT NOT NULL>>>"),
        C("opt", "STRING"),
    )
    story.create(
        define(
            "poured",
            *strict,
            kind="TABLE",
            connector="iceberg",
            place="lake/poured",
            query=plan("SELECT * FROM STREAM logs", read("logs")),
        )
    )
    story.create(
        define(
            "board", ID, place="lake/board", query=plan("SELECT id FROM STREAM report", read("report", "id")), **lake
        )
    )


def tell_joins(story: Story) -> None:
    """A join, sources over the topic of its query, and a query that is paused."""
    read = story.read
    joined = plan(
        "SELECT c.page, k.name FROM STREAM(clicks) c JOIN customers k ON k.id = c.user",
        read("clicks", "page", "user"),
        read("customers", "name", "id", mode="table"),
    )
    story.create(define("joined", C("page", "STRING"), C("name", "STRING"), query=joined))
    story.create(define("over", C("page", "STRING"), place="joined"))
    story.create(
        define("chained", C("page", "STRING"), query=plan("SELECT page FROM STREAM over", read("over", "page")))
    )
    story.create(
        define(
            "filed",
            C("page", "STRING"),
            connector="files",
            place="out/filed",
            query=plan("SELECT page FROM STREAM clicks", read("clicks", "page")),
        )
    )
    story.add(m.SetSourceState("filed", "PAUSED"))


def tell_readers(story: Story) -> None:
    """Queries that read sources under many spellings, and two that took each other's place."""
    read = story.read
    for name, body in (
        ("v1", "SELECT v.page FROM STREAM visits v"),
        ("v2", "SELECT page AS `visits` FROM STREAM(visits)"),
        ("v3", "SELECT /*+ BROADCAST(visits) */ visits.n FROM STREAM(`visits`)"),
    ):
        story.create(
            define(name, C("page", "STRING"), query=plan(body, read("visits", "page" if name != "v3" else "n")))
        )
    twice = plan("SELECT a.page FROM STREAM again a", read("again", "page", places=(0, 1)))
    story.create(
        define(
            "pair",
            C("page", "STRING"),
            C("more", "STRUCT<a: INT NOT NULL COMMENT 'x', b: STRING>"),
            connector="iceberg",
            place="lake/pair",
            query=twice,
        )
    )
    for body in (
        "SELECT upper(a.page) AS page FROM STREAM again a",
        "SELECT lower(a.page) AS page FROM STREAM again a",
    ):
        story.create(
            define(
                "pair",
                C("page", "STRING"),
                C("more", "STRUCT<a: INT NOT NULL COMMENT 'x', b: STRING>"),
                connector="iceberg",
                place="lake/pair",
                query=replace(twice, body=body),
            ),
            replace=True,
        )


def tell_restarts(story: Story) -> None:
    """Queries that began other checkpoints, and others that are run once."""
    read, lake = story.read, {"connector": "delta", "kind": "TABLE"}

    def counts(body: str, state: str, reads: str = "clicks") -> m.SourceDefinition:
        query = plan(
            f"SELECT page, count(*) AS n FROM STREAM {reads} {body}", read(reads, "page"), state=state, key=("page",)
        )
        return define("counts", C("page", "STRING"), C("n", "BIGINT"), place="lake/counts", query=query, **lake)

    story.create(counts("GROUP BY page", "count"), sent={"number": LONG_AGO})
    story.create(
        counts("GROUP BY page HAVING true", "count-2"),
        replace=True,
        on_change="BACKFILL",
        sent={"number": LONG_AGO + 1},
    )
    story.create(counts("WHERE 1 = 1 GROUP BY page", "count-3"), replace=True, on_change="EMPTY")
    story.create(counts("GROUP BY page", "count-4", "visits"), replace=True, on_change="CASCADE")
    story.create(counts("WHERE true GROUP BY page", "count-4", "visits"), replace=True)
    story.create(
        define(
            "follower",
            C("n", "BIGINT"),
            place="lake/follower",
            query=plan("SELECT n FROM STREAM counts", read("counts", "n")),
            connector="delta",
        )
    )
    story.add(m.ChangeSource("counts", restart="REFRESH", cascade=True), changes="counts")
    story.add(m.ChangeSource("board", restart="RESET"), changes="board")
    story.add(m.ChangeSource("board", restart="REFRESH"), changes="board")
    story.add(m.ChangeSource("board", restart="ROLLBACK"), changes="board")
    once = plan("SELECT id FROM orders WHERE false", read("Orders", "id", mode="table"))
    for number in (LONG_AGO, None):
        definition = define("board", ID, kind="TABLE", connector="delta", place="lake/board", query=once)
        sent: dict[str, Any] = {} if number is None else {"number": number}
        story.add(m.CreateSource(definition, replace=True, once=True), changes="board", **sent)


def tell_names(story: Story) -> None:
    """Sources that were renamed, and swapped; a query that knows the former name."""
    story.create(define("first", C("a", "INT"), bad_rows=True))
    story.create(define("second", C("a", "INT"), C("b", "INT")))
    query = plan("SELECT f.a FROM STREAM first f", story.read("first", "a"))
    story.create(define("named", C("a", "INT"), query=query))
    story.create(
        define("named", C("a", "INT"), query=replace(query, body="SELECT a FROM STREAM first WHERE `second` > 1")),
        replace=True,
    )
    story.create(
        define("named", C("a", "INT"), query=replace(query, body="SELECT f.a FROM STREAM first AS f")), replace=True
    )
    story.add(m.ChangeSource("first", swap="second"))
    story.add(m.ChangeSource("second", rename="Third"))
    story.at["third"], story.at["first"] = story.at["first"], story.at["second"]
