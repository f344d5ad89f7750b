"""The body of a source: where the query after AS begins and ends, and errors about words of ksqlDB in it.

A body is not parsed here: Spark does that. Its text is kept as it was sent.
"""

from treaty.core.column_types.tokens import SqlToken
from treaty.metastore.sql.cursor import StatementCursor, is_comment
from treaty.metastore.sql.foreign_words import COMMENT

_FIRST_WORDS = frozenset({"SELECT", "FROM", "WITH", "VALUES", "TABLE"})
_WINDOWS = {
    "TUMBLING": "GROUP BY window(ts, '1 minute')",
    "HOPPING": "GROUP BY window(ts, '10 minutes', '1 minute')",
    "SESSION": "GROUP BY session_window(ts, '5 minutes')",
}
_UNITS = frozenset(
    f"{unit}{plural}" for unit in ("MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY") for plural in ("", "S")
)
_BEFORE_A_SOURCE = frozenset({"FROM", "JOIN", "STREAM", "TABLE", "LATERAL", ""})


def read_body(cursor: StatementCursor) -> tuple[int, int, bool]:
    """Read the query up to the end of the statement; return its offsets, and whether EMIT FINAL follows it.

    It begins after the blanks behind AS, so that comments before its first word belong to it, and ends with its last token.
    """
    before = cursor.tokens[cursor.at - 1].end
    text = cursor.text
    start = before
    limit = cursor.tokens[-1].start
    while start < limit and text[start].isspace():
        start += 1
    first, last = cursor.at, len(cursor.tokens) - 2
    final = False
    if last - 1 >= first and cursor.tokens[last - 1].keyword == "EMIT":
        word = cursor.tokens[last].keyword
        if word in {"CHANGES", "FINAL"}:
            final = word == "FINAL"
            last -= 2
            if not final:
                _warn_of_changes(cursor)
    token = cursor.token
    if last < first or not (token.keyword in _FIRST_WORDS or (token.kind, token.text) == ("sign", "(")):
        hint = "a query, such as SELECT * FROM STREAM orders"
        cursor.fail(
            "BODY_EXPECTED",
            f"{token.label} stands where a query is expected",
            hint=hint,
            expected=("SELECT", "FROM", "WITH"),
        )
    _check_words(cursor, first, last)
    cursor.at = len(cursor.tokens) - 1
    cursor.body = (start, cursor.tokens[last].end)
    return *cursor.body, final


def _warn_of_changes(cursor: StatementCursor) -> None:
    emit, changes = cursor.tokens[-3], cursor.tokens[-2]
    message = "EMIT CHANGES is cut off: a query emits its changes"
    cursor.warn("EMIT_CHANGES_CUT", message, emit.start, changes.end, hint="leave it out")


def _check_words(cursor: StatementCursor, first: int, last: int) -> None:
    """Note words that ksqlDB has and Spark has not. Each token is looked at once."""
    groups = [True]  # for each open parenthesis: whether a query, or a list of a query, is inside
    tokens = cursor.tokens
    for at in range(first, last + 1):
        token = tokens[at]
        if token.kind == "sign":
            if is_comment(token, tokens[at + 1]) and not is_comment(tokens[at - 1], token):
                message = f"{token.text if token.text == '#' else '//'} begins no comment"
                cursor.report("SYNTAX", message, token, hint=COMMENT)
            if token.text == "(":
                groups.append(tokens[at + 1].keyword in _FIRST_WORDS)
            elif token.text == ")" and len(groups) > 1:
                groups.pop()
            continue
        match token.keyword:
            case "WINDOW":
                _check_window(cursor, at)
            case "PARTITION" if groups[-1] and tokens[at + 1].keyword == "BY":
                message = "Spark's queries have no PARTITION BY: the key of a stream is a column"
                hint = "CREATE STREAM … (column type KEY) AS …, or a column KEY of the output"
                cursor.report("KSQL_PARTITION_BY", message, token, hint=hint, end=tokens[at + 1].end)
            case "WITHIN":
                _check_within(cursor, at)
            case "EMIT" if tokens[at + 1].keyword in {"CHANGES", "FINAL"}:
                message = f"EMIT {tokens[at + 1].text} stands inside of the query"
                cursor.report("KSQL_EMIT", message, token, hint="at the end, or leave it out", end=tokens[at + 1].end)
            case "WATERMARK":
                _check_watermark(cursor, at)


def _check_window(cursor: StatementCursor, at: int) -> None:
    after, sign = cursor.tokens[at + 1], cursor.tokens[min(at + 2, len(cursor.tokens) - 1)]
    way = _WINDOWS.get(after.keyword)
    if way and (sign.kind, sign.text) == ("sign", "("):
        message = f"Spark has no WINDOW {after.text}: a window is a function in GROUP BY"
        hint = f"{way}, and WATERMARK ts DELAY OF INTERVAL 10 SECONDS behind the stream for GRACE PERIOD"
        cursor.report("KSQL_WINDOW", message, cursor.tokens[at], hint=hint, end=after.end)


def _check_within(cursor: StatementCursor, at: int) -> None:
    """WITHIN 1 HOUR, or WITHIN (1 HOUR, 2 HOURS); WITHIN GROUP is Spark's own."""
    ahead = cursor.tokens[at + 1 : at + 4]
    unit = next((one for one in ahead if one.keyword in _UNITS), None)
    if unit and any(one.kind == "number" for one in ahead):
        message = "Spark has no WITHIN: the bound in time is part of the condition of the join"
        hint = "ON a.id = b.id AND b.ts BETWEEN a.ts - INTERVAL 1 HOUR AND a.ts + INTERVAL 1 HOUR, with a WATERMARK on both"
        cursor.report("KSQL_WITHIN", message, cursor.tokens[at], hint=hint, end=unit.end)


def _check_watermark(cursor: StatementCursor, at: int) -> None:
    """``x AS a WATERMARK ts DELAY OF …`` and ``x a WATERMARK …``: to Spark the watermark stands before the alias."""
    tokens = cursor.tokens
    if at < 3 or tokens[min(at + 2, len(tokens) - 1)].keyword != "DELAY":
        return
    alias, before = tokens[at - 1], tokens[at - 2]
    if not _is_word(alias):
        return
    has_alias = (
        before.keyword == "AS" or (_is_word(before) and before.keyword not in _BEFORE_A_SOURCE) or before.text == ")"
    )
    if has_alias or before.kind == "quoted":
        message = "the watermark stands before the alias"
        hint = f"WATERMARK {tokens[at + 1].text} DELAY OF INTERVAL … AS {alias.text}"
        cursor.report("WATERMARK_AFTER_ALIAS", message, tokens[at], hint=hint)


def _is_word(token: SqlToken) -> bool:
    return token.kind in {"word", "quoted"}
