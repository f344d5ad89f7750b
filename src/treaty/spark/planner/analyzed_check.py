"""The check of an analyzed body: what its names came to, and whether its shape can run as a stream."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from treaty.core.column_types.tokens import SqlToken, read_text
from treaty.spark.planner.functions import REFUSED_FUNCTIONS
from treaty.spark.planner.parsed_check import find_call, is_relative_time, refuse_function
from treaty.spark.planner.questions import BodyRefusedError, QueryBody, ReadableSource
from treaty.spark.planner.refused_nodes import REFUSED_NODES
from treaty.spark.planner.trees import TreeNode, is_plan, list_plans

ALLOWED_PLANS = frozenset(
    (
        "Project", "Filter", "Aggregate", "SubqueryAlias", "View", "StreamingRelation", "LogicalRelation", "LocalRelation", "Join", "Union",
        "Generate", "LateralJoin", "EventTimeWatermark", "OneRowRelation", "Expand", "ResolvedHint", "DeduplicateWithinWatermark",
    )
)  # fmt: skip
EXPRESSIONS = ("org.apache.spark.sql.catalyst.expressions.", "org.apache.spark.sql.catalyst.plans.")
"""Packages of expressions; those of Hive, Python and other catalogs lie elsewhere."""
MACHINE = frozenset(
    (
        "AesEncrypt", "AssertTrue", "CallMethodViaReflection", "CurDateExpressionBuilder", "CurrentCatalog", "CurrentDatabase", "CurrentDate",
        "CurrentTime", "CurrentTimeZone", "CurrentTimestamp", "CurrentUser", "InputFileBlockLength", "InputFileBlockStart", "InputFileName",
        "LocalTimestamp", "MonotonicallyIncreasingID", "Now", "PythonUDF", "RaiseError", "Rand", "RandStr", "Randn", "ScalaUDF", "Shuffle",
        "SparkPartitionID", "SparkVersion", "TryReflect", "Uniform", "Uuid",
    )
)  # fmt: skip
"""Expressions whose value depends on the machine, the user, the time or chance, or that fail on purpose."""
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
TIMES = frozenset(("date", "timestamp", "timestamp_ntz"))
TIME_READERS = frozenset(("ParseToDate", "ParseToTimestamp"))
"""Expressions that read a time in a text, as a cast does."""
SOURCES = frozenset(("StreamingRelation", "LogicalRelation"))


def check_analyzed(tree: TreeNode, tokens: Sequence[SqlToken]) -> None:
    """Raise `BodyRefusedError` for the first node that no query may have, whatever it was called in the text."""
    for node in tree.walk():
        if is_plan(node):
            if node.kind in REFUSED_NODES:
                raise BodyRefusedError(*REFUSED_NODES[node.kind])
            if node.kind not in ALLOWED_PLANS:
                raise BodyRefusedError(
                    "BODY_REFUSED", f"a query may not have {node.kind}", "what the page on queries lists"
                )
        elif node.kind in MACHINE or not node.class_name.startswith(EXPRESSIONS):
            raise _refuse_machine(node.kind, tokens)
        elif node.kind in TIME_READERS or (node.kind == "Cast" and _has_time(node.members.get("dataType"))):
            _check_time(node, tokens)
    _refuse_other_tables(tree, inside=False)


def _refuse_machine(kind: str, tokens: Sequence[SqlToken]) -> BodyRefusedError:
    """The refusal of an expression, by the name of its function if it has the name of its class."""
    name = _CAPITAL.sub("_", kind).lower()
    if name in REFUSED_FUNCTIONS:
        return refuse_function(name, find_call(tokens, name))
    message = f"{kind} depends on the machine, the user, the time or chance, and a query that runs again has to come to the same rows"
    return BodyRefusedError("FUNCTION_REFUSED", message, "a column of the source")


def _has_time(kind: Any) -> bool:
    """Whether a type of Spark's JSON is a time, or has one inside."""
    if isinstance(kind, Mapping):
        return any(map(_has_time, kind.values()))
    return any(map(_has_time, kind)) if isinstance(kind, list) else kind in TIMES


def _check_time(reader: TreeNode, tokens: Sequence[SqlToken]) -> None:
    """A constant text that becomes a time: Spark takes some words for the present one."""
    parts = [*reader.children[0].walk()]
    if any(one.kind in {"AttributeReference", "OuterReference", "NamedLambdaVariable"} for one in parts):
        return
    moving = [one for one in parts if one.kind == "Literal" and is_relative_time(str(one.members.get("value")))]
    if moving or (len(parts) > 1 and any(one.members.get("dataType") == "string" for one in parts)):
        raise BodyRefusedError(
            "FUNCTION_REFUSED",
            "a text that is a time is the time of the machine, or may be",
            "a literal: TIMESTAMP '2026-01-31 00:00:00'",
            *_find_time(tokens),
        )


def _find_time(tokens: Sequence[SqlToken]) -> tuple[int, int]:
    """The place of the text that is the present time; -1 where the body has none as such, or several."""
    texts = [one for one in tokens if one.kind in {"text", "raw"} and is_relative_time(read_text(one))]
    return (texts[0].start, texts[0].end) if len(texts) == 1 else (-1, -1)


def _refuse_other_tables(tree: TreeNode, *, inside: bool) -> None:
    """Raise where rows come from anything but the view of a source."""
    waiting = [(tree, inside)]
    while waiting:
        node, in_view = waiting.pop()
        if node.kind in SOURCES and not in_view:
            raise BodyRefusedError(
                "READ_REFUSED", "the query reads what is no source of the metastore", "the name of a stream or table"
            )
        waiting += [(child, in_view or node.kind == "View") for child in (*node.children, *node.list_inner())]


def is_streaming(node: TreeNode) -> bool:
    """Return whether rows of a stream come out of a plan."""
    return any(one.kind == "StreamingRelation" for one in list_plans(node, subqueries=False))


def list_views(tree: TreeNode) -> Iterator[tuple[str, TreeNode]]:
    """List the views of sources in a plan, with their names in small letters; those of subqueries too."""
    for node in tree.walk():
        if node.kind == "View":
            yield str(node.members["desc"]["identifier"]["table"]).lower(), node


def check_shape(tree: TreeNode, query: QueryBody) -> None:
    """Raise `BodyRefusedError` for a shape that Spark takes, or refuses with other words, and that has no meaning here."""
    sources = {one.name.lower(): one for one in query.sources}
    reads = [sources[name] for name, _ in list_views(tree)]
    if not reads:
        raise BodyRefusedError(
            "READ_NOTHING", "the query reads no source", "FROM a stream or table; INSERT writes rows that are known"
        )
    if all(one.kind == "TABLE" for one in reads):
        _check_table_body(tree, query, reads)
        return
    for read in reads:
        if read.kind == "TABLE" and not read.is_joinable:
            raise BodyRefusedError(
                "TABLE_NOT_JOINABLE",
                f"{read.name} is read beside a stream, and nothing keeps its newest rows as a table that moves",
                "the table with MATERIALIZE = 'delta', or CONNECTOR = 'delta'",
            )
    _check_subqueries(tree)
    _check_aggregates(tree)


def _check_table_body(tree: TreeNode, query: QueryBody, reads: list[ReadableSource]) -> None:
    """A body over tables alone has their changes as its rows: it filters and projects one of them."""
    if len(reads) > 1:
        raise BodyRefusedError(
            "TABLES_JOINED",
            f"the query reads {' and '.join(dict.fromkeys(one.name for one in reads))}, and no stream: tables are not joined with tables",
            "a stream in FROM, joined with the tables; or one table",
        )
    for node in list_plans(tree):
        if node.kind in {"Aggregate", "Generate", "Union", "LateralJoin", "Expand", "Join"}:
            raise BodyRefusedError(
                "TABLE_SHAPE",
                f"a query over the table {reads[0].name} keeps its rows, one for each key, and does not group, unfold or join them",
                f"the stream that {reads[0].name} is made of; or WHERE and expressions",
            )
    if query.kind != "TABLE":
        raise BodyRefusedError(
            "TABLE_SHAPE",
            f"the rows of {reads[0].name} change, so a query over it makes a table",
            f"CREATE TABLE {query.name} AS …",
        )


def _check_subqueries(tree: TreeNode) -> None:
    for node in tree.walk():
        if is_plan(node) or node.kind == "LateralSubquery":
            continue
        for part in node.list_inner():
            if is_plan(part) and is_streaming(part):
                raise BodyRefusedError(
                    "SUBQUERY_OF_STREAM",
                    "a subquery in an expression reads a stream, which never ends",
                    "a join with a bound in time",
                )


def list_aggregates(tree: TreeNode) -> list[TreeNode]:
    """Return the aggregates of rows of streams."""
    return [one for one in list_plans(tree, subqueries=False) if one.kind == "Aggregate" and is_streaming(one)]


def _check_aggregates(tree: TreeNode) -> None:
    aggregates = list_aggregates(tree)
    if len(aggregates) > 1:
        raise BodyRefusedError(
            "TWO_AGGREGATES",
            f"the query groups {len(aggregates)} times; the groups below change, and what is above them would count each change",
            "two queries: the second reads the table of the first one",
        )
    for node in aggregates:
        for expression in node.walk():
            if expression.kind == "AggregateExpression" and expression.members.get("isDistinct"):
                raise BodyRefusedError(
                    "DISTINCT_REFUSED",
                    "an aggregate of DISTINCT values keeps all of them",
                    "approx_count_distinct, or size(collect_set(x))",
                )


def has_filter_above(tree: TreeNode, aggregate: TreeNode) -> bool:
    """Return whether rows of an aggregate may be taken away above it: by HAVING, a condition, or a join."""
    path = _find_path(tree, aggregate)
    return any(one.kind in {"Filter", "Join", "Generate", "LateralJoin"} for one in path)


def _find_path(tree: TreeNode, target: TreeNode) -> list[TreeNode]:
    """The plans from the root down to a node, without it."""
    if tree is target:
        return []
    for child in tree.children:
        if any(one is target for one in list_plans(child, subqueries=False)):
            return [tree, *_find_path(child, target)]
    return []
