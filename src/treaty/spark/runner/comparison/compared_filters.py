"""Which rows of a source two compared bodies take: rows that no condition of theirs lets through are not kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from treaty.core.column_types import lower_name
from treaty.spark.planner.fingerprints import walk_jvm
from treaty.spark.planner.trees import TreeNode, read_tree

MEETS = "_treaty_meets_{}"
DEPENDENT = frozenset(
    (
        "Exists", "InSubquery", "LateralSubquery", "ListQuery", "ScalarSubquery", "UnresolvedRegex", "UnresolvedStar",
        "UnresolvedStarExceptOrReplace",
    )
)  # fmt: skip
"""Parts of a condition whose meaning depends on other sources, or on which columns are beside those that it names."""


@dataclass(frozen=True, slots=True)
class RowCondition:
    """The condition of a WHERE over a source alone, as it is written, and the name by which it knows the source."""

    alias: str
    text: str


def find_conditions(session: SparkSession, body: str, name: str) -> tuple[RowCondition, ...]:
    """Return conditions of which each row that a body takes of a source meets one; none if it may take any row."""
    parser = session._jsparkSession.sessionState().sqlParser()  # noqa: SLF001 (pyspark has no other way to the parser)
    parsed = parser.parseQuery(body)
    tree = read_tree(parsed.toJSON())
    if tree.has("UnresolvedWith"):  # what WITH defines may have the name of the source
        return ()
    conditions = tuple(_list_conditions(parsed, parser, name))
    return conditions if len(conditions) == sum(_is_read(node, name) for node in tree.walk()) else ()


def filter_rows(rows: DataFrame, conditions: Sequence[RowCondition]) -> DataFrame:
    """Return the rows that meet one of the conditions: those of one alias are asked at once, and of several aliases marked one after the other."""
    texts: dict[str, list[str]] = {}
    for condition in conditions:
        texts.setdefault(condition.alias, []).append(f"({condition.text}\n)")
    *marked_aliases, last_alias = texts
    marks = {MEETS.format(place): alias for place, alias in enumerate(marked_aliases)}
    marked = rows
    for mark, alias in marks.items():
        marked = marked.alias(alias).selectExpr("*", f"{' OR '.join(texts[alias])} AS {mark}")
    return marked.alias(last_alias).where(" OR ".join([*marks, *texts[last_alias]])).drop(*marks)


def _list_conditions(plan: Any, parser: Any, name: str) -> Iterator[RowCondition]:
    """Yield the condition of each WHERE that stands directly over a source; reads within a subquery have none here."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        children = [node.children().apply(place) for place in range(node.children().size())]
        waiting += children
        if _kind_of(node) != "Filter":
            continue
        read, alias = children[0], ""
        if _kind_of(read) == "SubqueryAlias":
            read, alias = read.child(), read.alias()
        if _kind_of(read) == "UnresolvedRelation" and _is_read(read_tree(read.toJSON()), name):
            text = _read_text(node.condition(), parser)
            if text:
                yield RowCondition(alias or name, text)


def _read_text(condition: Any, parser: Any) -> str:
    """The text of a condition; empty where it has a subquery or a star, or where that text alone is not the same condition."""
    listed = condition.toJSON()
    if any(node.kind in DEPENDENT for node in read_tree(listed).walk()):
        return ""
    origins = [node.origin() for node in walk_jvm(condition)]  # the place of `x IS NULL` begins behind x
    starts = [origin.startIndex().get() for origin in origins if origin.startIndex().isDefined()]
    stops = [origin.stopIndex().get() for origin in origins if origin.stopIndex().isDefined()]
    if not (starts and stops):
        return ""
    text: str = origins[0].sqlText().get()[min(starts) : max(stops) + 1]
    try:
        return text if parser.parseExpression(text).toJSON() == listed else ""
    except PySparkException:  # of `(x) IS NULL` the first parenthesis has no place
        return ""


def _kind_of(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _is_read(node: TreeNode, name: str) -> bool:
    """Whether a node of a parsed plan reads a source."""
    if node.kind != "UnresolvedRelation":
        return False
    return lower_name(str(node.members["multipartIdentifier"])[1:-1]) == lower_name(name)
