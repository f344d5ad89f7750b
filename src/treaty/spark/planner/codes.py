"""Codes of refusals of bodies: what each says, and the way round."""

from collections.abc import Mapping

BODY_CODES: Mapping[str, tuple[str, str]] = {
    "BODY_SYNTAX": ("Spark can't parse the body, or it is a command", "one query: `SELECT … FROM …`"),
    "BODY_WRONG": ("a name, a type or a clause does not fit, in Spark's words", "what the message proposes"),
    "BODY_REFUSED": ("the body has a clause that no query may have", "what the message says"),
    "BODY_TOO_LARGE": (
        "the body is larger, nests deeper, or makes larger texts and arrays by its numbers, than its limits",
        "several queries, each reading the one before; smaller numbers",
    ),
    "PLAN_TOO_COSTLY": ("planning takes more time or memory than its limits", "a smaller query"),
    "PLANNER_FAILED": ("the planner has a fault, or was ended; the body may be right", "the same statement once more"),
    "FUNCTION_REFUSED": (
        "a function depends on the machine, the user, the time or chance, or is not on the list",
        "a column of the source",
    ),
    "READ_NOT_FOUND": ("there is no such stream or table", "`SHOW STREAMS`, `SHOW TABLES`"),
    "READ_NOTHING": ("the query reads no source", "`FROM` a stream or table; `INSERT` for rows that are known"),
    "READ_REFUSED": (
        "a file, a path or a table of another catalog is no source",
        "`CREATE STREAM … WITH (CONNECTOR = 'files', PATH = '…')`",
    ),
    "STREAM_OF_TABLE": ("the word STREAM is before a table", "the table without it: read alone, its changes come"),
    "TABLE_NOT_JOINABLE": (
        "a stream is joined with a table that nothing keeps",
        "`MATERIALIZE = 'delta'`, or `CONNECTOR = 'delta'`",
    ),
    "TABLES_JOINED": ("tables are joined with tables, and no stream is there", "a stream in `FROM`"),
    "TABLE_SHAPE": (
        "a query over a table groups, unfolds or joins it, or makes a stream",
        "`WHERE` and expressions, in a `CREATE TABLE`",
    ),
    "ORDER_REFUSED": (
        "`ORDER BY`, `SORT BY`, `DISTRIBUTE BY`: rows never end",
        "`max_by`; or `ORDER BY` where the result is read",
    ),
    "LIMIT_REFUSED": ("`LIMIT`, `OFFSET`: rows never end", "a condition in `WHERE`"),
    "WINDOW_FUNCTION_REFUSED": ("functions with `OVER`", "`GROUP BY window(ts, '1 minute')`"),
    "DISTINCT_REFUSED": (
        "`SELECT DISTINCT`, `UNION` without `ALL`, `count(DISTINCT x)`: all rows would be kept",
        "`UNION ALL`; `GROUP BY`; `DEDUPLICATE` on the source; `approx_count_distinct`",
    ),
    "SET_OPERATION_REFUSED": ("`EXCEPT`, `INTERSECT`: both sides never end", "a join with a bound in time"),
    "GROUPING_SETS_REFUSED": ("`ROLLUP`, `CUBE`, `GROUPING SETS`: keys would be null", "a query for each grouping"),
    "TWO_AGGREGATES": ("the query groups what it has grouped", "two queries: the second reads the table of the first"),
    "SUBQUERY_OF_STREAM": ("a subquery in an expression reads a stream", "a join with a bound in time"),
    "STATE_UNBOUNDED": (
        "a join of two streams has no bound in time",
        "`WATERMARK` on both, and `b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR`; or `ALLOW_UNBOUNDED_STATE`",
    ),
    "HAVING_TAKEN_BACK": (
        "`HAVING`, or a condition above groups without a watermark: rows that it takes away later would stay",
        "the condition where the table is read",
    ),
    "FINAL_WITHOUT_WATERMARK": (
        "`EMIT FINAL` without a watermark",
        "`WATERMARK ts DELAY OF INTERVAL 10 SECONDS`, and a window",
    ),
    "WATERMARK_MISSING": ("`DEDUPLICATE` of a source without `WATERMARK`", "both on the source"),
    "GROUPS_CHANGE": ("a `CREATE STREAM` groups rows", "`CREATE TABLE`; or `EMIT FINAL`"),
    "STREAM_REFUSED": ("Spark does not run this over streams, in its words", "what the message says"),
    "KEY_MISSING": (
        "a table has no key, or its key does not come out",
        "`GROUP BY` columns that are in `SELECT`; `PRIMARY KEY` in the head",
    ),
    "COLUMN_UNNAMED": ("an expression has no name", "`AS name`"),
    "COLUMN_TWICE": ("two columns have one name, in any case", "`AS` another name"),
    "OUTPUT_TYPE": (
        "a column has a type that no source has, such as an interval, or a key has a map inside",
        "`CAST`; `to_json`",
    ),
}
"""By code."""
