"""Errors of Spark about a body, as refusals in plain words with their place in the body."""

import re
from collections.abc import Mapping
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from treaty.core.finding import shorten_text
from treaty.metastore.sql.foreign_bodies import COLUMN_FORMS
from treaty.spark.planner.questions import BodyRefusedError

_TAIL = re.compile(r"(\s*SQLSTATE: \w+|;\s*line \d+,? pos \d+).*", re.DOTALL)
_SETTING = re.compile(r"\s*If necessary,? set [^.]*(\.[^.\s][^.]*)*\.(?=\s|$)")
"""Advice to change a setting of Spark: those of a body are pinned."""
_PLACE = re.compile(r"line (\d+), pos (\d+)")
_HINTS: Mapping[str, str] = {
    "STREAMING_OUTPUT_MODE": "WATERMARK ts DELAY OF INTERVAL 10 SECONDS behind the stream, and its column or window in GROUP BY",
    "UNRESOLVED_COLUMN": "a column of a source; DESCRIBE lists them",
    "MISSING_GROUP_BY": "GROUP BY the columns that are the key, in a CREATE TABLE",
    "MISSING_AGGREGATION": "the column in GROUP BY, or max_by(column, ts)",
    "DATATYPE_MISMATCH": "CAST(… AS type), or another argument",
    "PARSE": "one query of Spark's SQL: SELECT … FROM …",
    "MULTI_TIME_WINDOW_EXPRESSIONS_NOT_SUPPORTED": "one window in a query",
}
"""By first part of the condition, what to do instead."""
_INTERNALS = re.compile(
    r"#\d+|unresolved operator|lambdafunction|org\.apache\.|INTERNAL_ERROR|LogicalPlan|'(?:Project|Filter|Aggregate|Join)\b|java\.lang\."
)
"""Text about Spark's own trees and classes, which no body has."""
_UNKNOWN = "Spark can't work out the query: a name, an operator or a function stands where it has no meaning, and Spark does not say which"
_SMALLER = "EXPLAIN SELECT of fewer columns and conditions finds the part"
MESSAGE = 1_000
"""Characters of a message of Spark that are passed on."""


def refuse(error: PySparkException, body: str, code: str = "BODY_WRONG") -> BodyRefusedError:
    """Return the refusal of a body about which Spark has raised an error."""
    condition = error.getCondition() or ""
    text = shorten_text(_first_paragraph(str(error)), MESSAGE)
    start, end = _find_place(error, body)
    if condition.startswith(("PARSE", "FAILED_TO_PARSE")):
        code = "BODY_SYNTAX"
    hint = _suggest_column(error) or next((way for first, way in _HINTS.items() if condition.startswith(first)), "")
    if _INTERNALS.search(text):
        text, hint = _UNKNOWN, hint or _SMALLER
    return BodyRefusedError(code, text, hint, start, end)


def _suggest_column(error: PySparkException) -> str:
    """The column here for one that ksqlDB or Flink adds to a source; empty for any other error."""
    if not (error.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
        return ""
    name = (error.getMessageParameters() or {}).get("objectName", "")
    return COLUMN_FORMS.get(name.rpartition(".")[2].strip("`").upper(), "")


def is_about_body(error: Py4JJavaError) -> bool:
    """Return whether the JVM has raised an error of Spark with a condition, which no class of pyspark stands for: as of a collation that is not there."""
    thrown = error.java_exception
    return "Spark" in str(thrown.getClass().getName()) and bool(_condition_of(thrown))


def _condition_of(thrown: Any) -> str:
    try:
        return str(thrown.getCondition() or "")
    except (Py4JError, TypeError):  # it is no error with a condition
        return ""


def refuse_fault(error: Py4JJavaError) -> BodyRefusedError:
    """Return the refusal of a body about which the JVM has raised such an error."""
    text = shorten_text(_first_paragraph(str(error.java_exception.getMessage())), MESSAGE)
    if _INTERNALS.search(text):
        return BodyRefusedError("BODY_WRONG", _UNKNOWN, _SMALLER)
    return BodyRefusedError("BODY_WRONG", text)


def _first_paragraph(text: str) -> str:
    """The first paragraph of a message, without its condition, its state and the plan below it."""
    first = re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", text.strip())
    first = re.split(r"\n\s*\n|\n== SQL|;\n", first)[0]
    return _SETTING.sub("", _TAIL.sub("", first)).strip().replace("\n", " ") or "Spark refuses the query"


def _find_place(error: PySparkException, body: str) -> tuple[int, int]:
    """Offsets in code points of the body; -1 where Spark has none."""
    for context in error.getQueryContext() or ():
        try:
            return context.startIndex(), context.stopIndex() + 1
        except PySparkException:
            continue
    place = _PLACE.search(str(error))
    if place is None:
        return -1, -1
    lines = body.splitlines(keepends=True)
    start = sum(map(len, lines[: int(place[1]) - 1])) + int(place[2])
    return (start, min(start + 1, len(body))) if start <= len(body) else (-1, -1)
