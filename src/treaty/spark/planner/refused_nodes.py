"""What a query may not have, with the reason and the way round, by the kind of a node of Spark's plan."""

from collections.abc import Mapping

_SORTED = "the rows of a stream never end, so they are in no order and have no first ones"
_NO_ORDER = (
    "ORDER_REFUSED",
    f"a query has no ORDER BY, SORT BY or CLUSTER BY: {_SORTED}",
    "max_by, or ORDER BY where the result is read",
)
_NO_LIMIT = (
    "LIMIT_REFUSED",
    f"a query has no LIMIT or OFFSET: {_SORTED}",
    "a condition in WHERE, or LIMIT where the result is read",
)
_NO_WINDOW = (
    "WINDOW_FUNCTION_REFUSED",
    "a query has no functions with OVER: Spark has them for rows that end",
    "GROUP BY window(ts, '1 minute'), with max_by or min_by for the last or first row of a group",
)
_NO_DISTINCT = (
    "DISTINCT_REFUSED",
    "DISTINCT and UNION without ALL keep every row that ever came, without bound",
    "UNION ALL; GROUP BY the columns in a CREATE TABLE; or DEDUPLICATE on the source, within its WATERMARK",
)
_NO_SETS = (
    "SET_OPERATION_REFUSED",
    "EXCEPT and INTERSECT compare all rows of both sides, which never end",
    "a join with a bound in time, or NOT EXISTS against a table",
)
_NO_SCRIPT = (
    "BODY_REFUSED",
    "TRANSFORM … USING runs a program of the machine",
    "functions of SQL, such as transform(array, x -> …)",
)
_NO_PATH = ("READ_REFUSED", "a name that is computed can't be followed to its source", "the name of the source itself")
_NO_PARAMETER = (
    "BODY_REFUSED",
    "a body has no parameters of Spark (:name, ?)",
    "${name}, which DEFINE or --var replaces",
)
_NO_SAMPLE = ("BODY_REFUSED", "TABLESAMPLE depends on chance", "a condition on a hash: pmod(xxhash64(id), 10) = 0")
_NO_PIVOT = (
    "BODY_REFUSED", "PIVOT is an aggregate whose columns depend on the data", "sum(v) FILTER (WHERE k = 'a') AS a, for each column"
)  # fmt: skip
_NO_TOTALS = (
    "GROUPING_SETS_REFUSED",
    "ROLLUP, CUBE and GROUPING SETS give rows whose keys are null for a total, so that keys are no keys",
    "a query for each of the groupings",
)
_NO_TRAVEL = (
    "BODY_REFUSED",
    "a query reads a source as it goes on, not as it was",
    "START, which says where a query begins to read",
)
_NO_COMMAND = ("BODY_REFUSED", "a body is one query, and no command", "SELECT … FROM …")

REFUSED_NODES: Mapping[str, tuple[str, str, str]] = {
    "Sort": _NO_ORDER,
    "RepartitionByExpression": _NO_ORDER,
    "Repartition": _NO_ORDER,
    "GlobalLimit": _NO_LIMIT,
    "LocalLimit": _NO_LIMIT,
    "Offset": _NO_LIMIT,
    "Tail": _NO_LIMIT,
    "Distinct": _NO_DISTINCT,
    "Deduplicate": _NO_DISTINCT,
    "Except": _NO_SETS,
    "Intersect": _NO_SETS,
    "Window": _NO_WINDOW,
    "WithWindowDefinition": _NO_WINDOW,
    "WindowExpression": _NO_WINDOW,
    "UnresolvedWindowExpression": _NO_WINDOW,
    "Rollup": _NO_TOTALS,
    "Cube": _NO_TOTALS,
    "GroupingSets": _NO_TOTALS,
    "ScriptTransformation": _NO_SCRIPT,
    "PlanWithUnresolvedIdentifier": _NO_PATH,
    "ExpressionWithUnresolvedIdentifier": _NO_PATH,
    "UnresolvedIdentifier": _NO_PATH,
    "NamedParameter": _NO_PARAMETER,
    "PosParameter": _NO_PARAMETER,
    "Sample": _NO_SAMPLE,
    "Pivot": _NO_PIVOT,
    "RelationTimeTravel": _NO_TRAVEL,
    "CompoundBody": _NO_COMMAND,
    "FunctionTableSubqueryArgumentExpression": (
        "BODY_REFUSED",
        "TABLE(…) as an argument is for functions of Python",
        "a source in FROM",
    ),
}
"""By kind: code, reason and way round."""

WORDS_OF_NODES: Mapping[str, tuple[str, ...]] = {
    "Sort": ("ORDER BY", "SORT BY", "CLUSTER BY"),
    "RepartitionByExpression": ("DISTRIBUTE BY", "CLUSTER BY"),
    "GlobalLimit": ("LIMIT", "FETCH"),
    "LocalLimit": ("LIMIT", "FETCH"),
    "Offset": ("OFFSET",),
    "Distinct": ("DISTINCT", "UNION"),
    "Except": ("EXCEPT", "MINUS"),
    "Intersect": ("INTERSECT",),
    "WithWindowDefinition": ("WINDOW",),
    "WindowExpression": ("OVER",),
    "UnresolvedWindowExpression": ("OVER",),
    "Rollup": ("ROLLUP",),
    "Cube": ("CUBE",),
    "GroupingSets": ("GROUPING SETS",),
    "ScriptTransformation": ("TRANSFORM", "MAP", "REDUCE"),
    "PlanWithUnresolvedIdentifier": ("IDENTIFIER",),
    "ExpressionWithUnresolvedIdentifier": ("IDENTIFIER",),
    "UnresolvedIdentifier": ("IDENTIFIER",),
    "NamedParameter": (":",),
    "PosParameter": ("?",),
    "Sample": ("TABLESAMPLE",),
    "Pivot": ("PIVOT",),
    "RelationTimeTravel": ("TIMESTAMP AS OF", "VERSION AS OF", "SYSTEM_TIME AS OF", "SYSTEM_VERSION AS OF"),
    "UnresolvedWith": ("RECURSIVE",),
}
"""By kind, the words that make such a node; where a body has them once, they are its place."""
