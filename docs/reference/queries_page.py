"""Makes the page of queries from the lists of the planner; `make.py` writes it."""

from collections.abc import Iterator

from treaty.core.limits import BODY_ELEMENTS, BODY_NODES, BODY_WINDOWS, PLAN_SECONDS, PLANNER_BODY_BYTES, PLANNER_HEAP
from treaty.metastore.sql.foreign_bodies import COLUMN_FORMS, FUNCTION_FORMS, TYPE_FORMS
from treaty.spark.planner.codes import BODY_CODES
from treaty.spark.planner.functions import ALLOWED_BY_GROUP, REFUSED_BY_REASON
from treaty.spark.planner.settings import PINNED

HEAD = """# Queries

What the body of a `CREATE … AS` may call, what is refused, and the settings that it runs with. [Queries in SQL](../howto/queries.md) shows how to write one. A body is
Spark's SQL. It is checked before anything is looked up or run: what is not on these lists is refused.
"""


def page() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    yield "## Functions\n"
    yield "| about | functions |\n|---|---|"
    for group, names in ALLOWED_BY_GROUP.items():
        yield f"| {group} | {', '.join(f'`{name}`' for name in names.split())} |"
    yield "\n## Functions that are refused\n"
    yield "Their result depends on more than their arguments. A query that runs again after a crash has to come to the same rows.\n"
    yield "| depends on | functions |\n|---|---|"
    for reason, names in REFUSED_BY_REASON.items():
        yield f"| {reason} | {', '.join(f'`{name}`' for name in names.split())} |"
    yield "\nTexts that Spark takes for the present time are refused too: `TIMESTAMP 'now'`, `to_date('today')`.\n"
    yield from _foreign_lines()
    yield "## Refusals\n"
    yield "| code | says | way round |\n|---|---|---|"
    for code, (says, way) in BODY_CODES.items():
        yield f"| `{code}` | {says} | {way} |"
    yield "\n## Limits\n"
    yield f"A body has at most {PLANNER_BODY_BYTES:,} bytes (`PLANNER_BODY_BYTES`) and {BODY_NODES:,} parts (`BODY_NODES`). Its numbers make at most {BODY_ELEMENTS:,} characters or elements (`BODY_ELEMENTS`), as in `repeat('x', 1000)`. A row is in at most {BODY_WINDOWS:,} windows at a time (`BODY_WINDOWS`). Planning it takes at most {PLAN_SECONDS} seconds"
    yield f"(`PLAN_SECONDS`) and {PLANNER_HEAP:,} MB (`PLANNER_HEAP`).\n"
    yield "## Settings\n"
    yield "They belong to the plan of a query: a runner sets them before it starts.\n"
    yield "| setting | value |\n|---|---|"
    for name, value in PINNED:
        yield f"| `{name}` | `{value}` |"


def _foreign_lines() -> Iterator[str]:
    """Yield the words of other systems, with the form here."""
    yield "## Words of ksqlDB, Flink and RisingWave\n"
    yield "A query with one of them is refused, at its place and with the form here.\n"
    yield "| word | write |\n|---|---|"
    for names, call in ((FUNCTION_FORMS, "(…)"), (COLUMN_FORMS, ""), (TYPE_FORMS, " as a type")):
        yield from (f"| `{name}{call}` | `{form}` |" for name, form in names.items())
    yield "| `a->b` | `a.b` |"
    yield "| `TUMBLE(TABLE …)`, `HOP(TABLE …)` | `window(ts, '1 minute')` in `GROUP BY` |\n"
