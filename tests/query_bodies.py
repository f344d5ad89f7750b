"""Bodies of queries as data: `tests/cases/queries` has the sources, bodies with their plans, and bodies that are refused."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from treaty.core.sources import SourceColumn
from treaty.spark.planner.questions import BodyPlan, QueryBody, ReadableSource

CASES = Path(__file__).parent / "cases" / "queries"
_COLUMN = re.compile(r"(`[^`]+`|\w+) (.*?)( KEY)?")


def read_column(text: str) -> SourceColumn:
    """A column as a case has it: its name, its type, and KEY where it is of the key."""
    found = _COLUMN.fullmatch(text)
    assert found is not None, text
    return SourceColumn(found[1].strip("`"), found[2], role="key" if found[3] else "value")


def read_sources() -> tuple[ReadableSource, ...]:
    """The sources of all cases."""
    return tuple(
        ReadableSource(
            one["name"],
            one["kind"],
            one["generation"],
            tuple(map(read_column, one["columns"].split("; "))),
            one.get("watermark", ""),
            tuple(one.get("deduplicate", ())),
            one.get("is_joinable", False),
        )
        for one in json.loads((CASES / "sources.json").read_text())
    )


SOURCES = read_sources()
NAMES = sorted(one.name for one in (CASES / "bodies").iterdir())
"""Names of the bodies that have a plan."""


def read_body(name: str) -> tuple[QueryBody, dict[str, Any]]:
    """A body and what its plan says."""
    folder = CASES / "bodies" / name
    wanted = json.loads((folder / "plan.json").read_text())
    text = (folder / "body.sql").read_text().rstrip("\n")
    return make_body(text, wanted["kind"], wanted), wanted


def make_body(text: str, kind: str, options: dict[str, Any] | None = None) -> QueryBody:
    """A body over the sources of all cases."""
    given = options or {}
    key = tuple(given["key"]) if given.get("declared") else ()
    return QueryBody("result", kind, text, SOURCES, key, bool(given.get("is_final")), bool(given.get("is_unbounded")))


def describe(planned: BodyPlan) -> dict[str, Any]:
    """What a case says of a plan."""
    plan = planned.plan
    return {
        "output_mode": plan.output_mode,
        "key": list(plan.key),
        "columns": [
            f"{one.name} {one.type}{'' if one.nullable else ' NOT NULL'}{' KEY' if one.role == 'key' else ''}"
            for one in planned.columns
        ],
        "reads": {one.source: {"mode": one.mode, "columns": list(one.columns)} for one in plan.reads},
        "stateful": bool(plan.fingerprint.plan),
        "notes": list(planned.notes),
    }


class RefusedBody(NamedTuple):
    """A body that is refused, with the code."""

    code: str
    kind: str
    text: str


def list_refused() -> Iterator[RefusedBody]:
    """The bodies that are refused."""
    for line in (CASES / "refused.tsv").read_text().splitlines():
        yield RefusedBody(*line.split("\t"))


class LedBody(NamedTuple):
    """A body in words of another system, with the text at the place of its refusal, and parts of the remedy and the message."""

    text: str
    place: str
    hint: str
    message: str


def list_led() -> Iterator[LedBody]:
    """The bodies whose refusals lead to the form here."""
    for line in (CASES / "led.tsv").read_text().splitlines():
        yield LedBody(*line.split("\t"))
