"""The demo's report as one HTML page without external files."""

import json
from html import escape
from importlib.resources import files
from typing import Any

from examples.demo.charts import ChartBar, draw_horizontal_bars, draw_shares, draw_vertical_bars
from examples.demo.demo_run import DemoResult
from examples.demo.dimensions import DIMENSIONS
from examples.demo.elements import card, table
from examples.demo.queries.sections import build_query_sections
from examples.demo.schemas import STORY, V4, VERSIONS

SENTENCES = {
    "TOO_SHORT": "shorter than the five bytes of a frame header",
    "BAD_MAGIC": "the first byte is not the magic byte 0",
    "UNKNOWN_ID": "the registry has no schema with this id",
    "WRONG_SUBJECT": "the id is a schema of another subject",
    "MALFORMED": "truncated, or an impossible length",
    "TRAILING": "extra extra extra extra extra bytes after the end of the record",
    "RESOLUTION": "the writer's schema does not resolve to the table's",
}


def build_page(story: DemoResult) -> str:
    """Return the whole page."""
    parts = (
        _header_section(story),
        _numbers_section(story),
        _versions_section(story),
        _schema_section(story),
        _bad_rows_section(story),
        _delays_section(story),
        _join_section(story),
        build_query_sections(story.query),
        _refusal_section(story),
    )
    style = files(__package__).joinpath("page.css").read_text("utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Treaty: 336,776 flights</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>'
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _header_section(story: DemoResult) -> str:
    proof = story.proof
    verdict = "every event is in exactly one table" if story.holds else "the counts do not add up"
    kind = "holds" if story.holds else "fails"
    crash = f", across a SIGKILL between the two commits of batch {story.killed}" if story.killed >= 0 else ""
    return (
        f"<header><p class='brand'>Treaty</p><h1>{proof['expected']:,} flights, three schema versions, two tables</h1>"
        f"<p class='equation {kind}'><b>{proof['expected']:,}</b> events <i>=</i> <b>{proof['good']:,}</b> good <i>+</i> "
        f"<b>{proof['bad']:,}</b> bad</p><p class='lead'>Read back from the tables: {verdict}{crash}. "
        f"{proof['distinct']:,} distinct offsets, {proof['rows'] - proof['distinct']} duplicates, "
        f"{proof['misplaced']} misplaced.</p></header>"
    )


def _numbers_section(story: DemoResult) -> str:
    rate = story.total / story.encoding if story.encoding else 0
    facts = (
        (f"{story.best_rate:,.0f}", "rows per second in the fastest batch, both tables written"),
        (f"{rate:,.0f}", "rows per second written as events"),
        (f"{len(story.batches)}", "batches of the stream"),
        (f"{story.seconds:,.0f} s", "from the first registration to the proof"),
    )
    inside = "".join(f"<div><b>{number}</b><span>{words}</span></div>" for number, words in facts)
    return f"<div class='numbers'>{inside}</div>"


def _versions_section(story: DemoResult) -> str:
    shares = [
        ChartBar(
            f"version {row['schema_version']}", row["flights"], f"{row['flights']:,}", "abc"[row["schema_version"] - 1]
        )
        for row in story.figures["versions"]
    ]
    bars = [
        ChartBar(
            str(batch["batch"]),
            batch["seconds"],
            f"{batch['seconds']:.1f} s",
            _bar_class(story, batch),
            f"{batch['rows']:,} rows",
        )
        for batch in story.batches
    ]
    lead = "Versions 2 and 3 were registered while the stream ran. The stream found each new id in a batch, looked it up in the registry and added the columns to the table, without a restart."
    crash = "<p class='note'>The marked batch was killed and ran again.</p>" if story.killed >= 0 else ""
    steps = "".join(
        f"<li><b>v{number}</b> {escape(words)}{_schema_text(text)}</li>"
        for number, (words, text) in enumerate(zip(STORY, VERSIONS, strict=True), 1)
    )
    titles = "<h3>Good rows by the version they were written with</h3>", "<h3>Seconds per batch</h3>"
    charts = (
        draw_shares(shares, "good rows by version"),
        draw_vertical_bars(bars, "seconds per batch", "seconds", "batch"),
    )
    return card("The journey", lead, f"<ul>{steps}</ul>", titles[0], charts[0], titles[1], charts[1], crash)


def _schema_text(text: str) -> str:
    """A schema, field by field, collapsed until it is opened."""
    lines = [f"  {json.dumps(field)}" for field in json.loads(text)["fields"]]
    shown = escape("\n".join(["fields:", *lines]), quote=False)
    return f"<details><summary>the schema</summary><pre>{shown}</pre></details>"


def _bar_class(story: DemoResult, batch: dict[str, Any]) -> str:
    return "bad" if batch["batch"] == story.killed else "a"


def _schema_section(story: DemoResult) -> str:
    before, after = dict(story.figures["before"]), dict(story.figures["after"])
    rows = []
    for name, kind in after.items():
        old = before.get(name)
        note = "<mark class=new>added</mark>" if old is None else "<mark>widened</mark>" if old != kind else ""
        shown = f"<code>{escape(old)}</code>" if old else "<span class=none>—</span>"
        rows.append((f"<code>{escape(name)}</code>", shown, f"<code>{escape(kind)}</code>", note))
    lead = (
        "The table after its first commit and after its last. <code>destination</code> of version 3 is the column "
        "<code>dest</code>: an alias is a rename, not a second column."
    )
    return card("The table's schema", lead, table(("column", "first commit", "last commit", ""), rows))


def _bad_rows_section(story: DemoResult) -> str:
    reasons = story.figures["reasons"]
    bars = [
        ChartBar(row["code"], row["rows"], f"{row['rows']:,}", "bad", SENTENCES.get(row["code"], "")) for row in reasons
    ]
    rows = [
        (
            f"<b>{row['code']}</b><br><span class=none>{SENTENCES.get(row['code'], '')}</span>",
            escape(row["message"]),
            f"<code class=bytes>{_format_bytes(row['payload'])}</code>",
        )
        for row in reasons
    ]
    planted = [
        (escape(row["damage"]), f"<code>{row['code']}</code>", f"{row['count']:,}") for row in story.proof["planted"]
    ]
    lead = "One event in a hundred was damaged in one of seven ways. Each is a row of the table of bad rows, with its error code, id and bytes. All other events are unaffected."
    return card(
        "Bad rows, explained",
        lead,
        draw_horizontal_bars(bars, "bad rows by reason"),
        "<h3>What a bad row says</h3>",
        table(("code", "message", "first bytes"), rows),
        "<h3>Planted and found, by reason</h3>",
        table(("damage", "found as", "rows"), planted, (2,)),
    )


def _format_bytes(payload: str) -> str:
    pairs = [payload[at : at + 2] for at in range(0, min(len(payload), 32), 2)]
    return " ".join(pairs) + (" …" if len(payload) > 32 else "") or "(none)"


def _delays_section(story: DemoResult) -> str:
    def bar(label: str, row: dict[str, Any]) -> ChartBar:
        return ChartBar(label, row["delay"] or 0.0, f"{row['delay'] or 0:.1f} min", "a", f"{row['flights']:,} flights")

    hours = [bar(f"{row['hour']:02d}", row) for row in story.figures["hours"] if row["delay"] is not None]
    carriers = [bar(row["carrier"], row) for row in story.figures["carriers"] if row["delay"] is not None]
    rain = {row["rain"]: row["delay"] for row in story.figures["rain"]}
    wet = ""
    if rain.get(True) and rain.get(False):
        wet = (
            f" In hours with rain they left {rain[True]:.1f} minutes late on average, without {rain[False]:.1f} (from the "
            "nested weather of version 3)."
        )
    return card(
        "What the flights show",
        f"Average departure delay in minutes, from the good table.{wet}",
        "<h3>By scheduled hour in New York</h3>",
        draw_vertical_bars(hours, "delay by hour", "minutes", "scheduled hour"),
        "<h3>By carrier</h3>",
        draw_horizontal_bars(carriers, "delay by carrier", left=80),
    )


def _join_section(story: DemoResult) -> str:
    figures = story.figures
    topics = [
        (
            f"<b>{escape(dimension.name)}</b>",
            dimension.format_label,
            f"{len(dimension.versions)}",
            *(f"{figures['dimensions'][dimension.name][name]:,}" for name in ("expected", "good", "bad", "misplaced")),
        )
        for dimension in DIMENSIONS
    ]
    rows = [
        (
            escape(row["airline"]),
            f"{row['flights']:,}",
            *("" if row[name] is None else f"{row[name]:.1f}" for name in ("dry", "rain", "age")),
        )
        for row in figures["airlines"]
    ]
    lead = "Weather events are Protobuf, planes and airlines are JSON, each with its own damaged events and its own two tables. Joined with the flights they show delays by airline, weather and age of the planes."
    head = ("airline", "flights", "minutes late, dry", "minutes late, rain", "years of age of the planes")
    return card(
        "Three formats, one join",
        lead,
        table(("topic", "format", "versions", "events", "good", "bad", "misplaced"), topics, (2, 3, 4, 5, 6)),
        table(head, rows, (1, 2, 3, 4)),
    )


def _refusal_section(story: DemoResult) -> str:
    lines = "".join(f"<li>{escape(line)}</li>" for line in story.refused)
    lead = "A fourth version turned <code>carrier</code> into an int, added <code>gate</code> without a default and narrowed <code>distance</code>."
    return card("Version 4 was refused", lead, f"<ul class='refused'>{lines}</ul>", _schema_text(V4))
