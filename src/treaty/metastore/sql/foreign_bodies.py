"""Words of ksqlDB and Flink inside of queries that Spark does not have, and the form that says the same in Spark's SQL."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from treaty.core.column_types.tokens import SqlToken

_WINDOW = "window(ts, '1 minute') in GROUP BY, with WATERMARK ts DELAY OF INTERVAL 10 SECONDS behind the stream"
_HOP = (
    "window(ts, '10 minutes', '1 minute') in GROUP BY, with WATERMARK ts DELAY OF INTERVAL 10 SECONDS behind the stream"
)
_SESSION = (
    "session_window(ts, '5 minutes') in GROUP BY, with WATERMARK ts DELAY OF INTERVAL 10 SECONDS behind the stream"
)
_NOW = "_timestamp, the time of the record, or a column of the source: the time of the machine is another one when the query runs again"
_DATE_TEXT, _TEXT_DATE = "date_format(time, 'yyyy-MM-dd HH:mm:ss')", "to_timestamp(text, 'yyyy-MM-dd HH:mm:ss')"
FUNCTION_FORMS: Mapping[str, str] = {
    "LATEST_BY_OFFSET": "max_by(x, _offset), or max_by(x, _timestamp) over several partitions",
    "EARLIEST_BY_OFFSET": "min_by(x, _offset), or min_by(x, _timestamp) over several partitions",
    "COUNT_DISTINCT": "approx_count_distinct(x)",
    "TOPK": "slice(sort_array(collect_list(x), false), 1, k), or max(x) for the largest alone",
    "TOPKDISTINCT": "slice(sort_array(collect_set(x), false), 1, k), or max(x) for the largest alone",
    "HISTOGRAM": "GROUP BY the column too, with count(*)",
    "EXTRACTJSONFIELD": "get_json_object(text, '$.field')",
    "JSON_CONCAT": "concat of texts, or to_json(named_struct('a', a, 'b', b))",
    "JSON_KEYS": "json_object_keys(text)",
    "JSON_ITEMS": "from_json(text, 'ARRAY<STRING>')",
    "JSON_RECORDS": "from_json(text, 'MAP<STRING, STRING>')",
    "IS_JSON_STRING": "try_parse_json(text) IS NOT NULL",
    "TO_JSON_STRING": "to_json(x)",
    "JSON_VALUE": "get_json_object(text, '$.field')",
    "JSON_QUERY": "get_json_object(text, '$.field')",
    "AS_VALUE": "the column itself, with AS another_name",
    "TIMESTAMPTOSTRING": f"{_DATE_TEXT}; a BIGINT in milliseconds becomes a time by timestamp_millis(x)",
    "STRINGTOTIMESTAMP": f"{_TEXT_DATE}; unix_millis(…) makes a BIGINT of it",
    "DATETOSTRING": "date_format(day, 'yyyy-MM-dd')",
    "STRINGTODATE": "to_date(text, 'yyyy-MM-dd')",
    "FORMAT_TIMESTAMP": _DATE_TEXT,
    "FORMAT_DATE": "date_format(day, 'yyyy-MM-dd')",
    "FORMAT_TIME": "date_format(time, 'HH:mm:ss')",
    "PARSE_TIMESTAMP": _TEXT_DATE,
    "PARSE_DATE": "to_date(text, 'yyyy-MM-dd')",
    "PARSE_TIME": "to_timestamp(text, 'HH:mm:ss')",
    "FROM_DAYS": "date_from_unix_date(number)",
    "TO_DAYS": "unix_date(day)",
    "CONVERT_TZ": "convert_timezone('UTC', 'Europe/Berlin', time)",
    "TIMEADD": "time + INTERVAL 1 HOUR",
    "TIMESUB": "time - INTERVAL 1 HOUR",
    "TO_BYTES": "encode(text, 'UTF-8'), unhex(text) or unbase64(text)",
    "FROM_BYTES": "decode(bytes, 'UTF-8'), hex(bytes) or base64(bytes)",
    "INT_FROM_BYTES": "conv(hex(bytes), 16, 10)",
    "BIGINT_FROM_BYTES": "conv(hex(bytes), 16, 10)",
    "REGEXP_SPLIT_TO_ARRAY": "split(text, pattern)",
    "SPLIT_TO_MAP": "str_to_map(text, ',', ':')",
    "SPLIT_INDEX": "split(text, ',')[0]",
    "MASK_KEEP_LEFT": "concat(left(text, 4), mask(substring(text, 5)))",
    "MASK_KEEP_RIGHT": "concat(mask(left(text, length(text) - 4)), right(text, 4))",
    "MASK_LEFT": "concat(mask(left(text, 4)), substring(text, 5))",
    "MASK_RIGHT": "concat(left(text, length(text) - 4), mask(right(text, 4)))",
    "ARRAY_LENGTH": "size(array)", "URL_ENCODE_PARAM": "url_encode(text)", "URL_DECODE_PARAM": "url_decode(text)",
    "URL_EXTRACT_HOST": "parse_url(url, 'HOST')",
    "URL_EXTRACT_PATH": "parse_url(url, 'PATH')",
    "URL_EXTRACT_QUERY": "parse_url(url, 'QUERY')",
    "URL_EXTRACT_PARAMETER": "parse_url(url, 'QUERY', 'name')",
    "URL_EXTRACT_PROTOCOL": "parse_url(url, 'PROTOCOL')",
    "URL_EXTRACT_PORT": "regexp_extract(url, ':([0-9]+)', 1)",
    "URL_EXTRACT_FRAGMENT": "parse_url(url, 'REF')",
    "ARRAY_SUM": "aggregate(array, 0, (sum, x) -> sum + x)",
    "ARRAY_CONCAT": "concat(a, b)",
    "ENTRIES": "map_entries(map)",
    "MAP_UNION": "map_concat(a, b)",
    "AS_MAP": "map_from_arrays(keys, values)",
    "GENERATE_SERIES": "explode(sequence(1, 10))",
    "STDDEV_SAMPLE": "stddev_samp(x)",
    "CORRELATION": "corr(x, y)",
    "TUMBLE": _WINDOW, "HOP": _HOP, "CUMULATE": _HOP, "SESSION": _SESSION, "TUMBLING": _WINDOW, "HOPPING": _HOP,
    "TUMBLE_START": "window.start", "TUMBLE_END": "window.end", "HOP_START": "window.start", "HOP_END": "window.end",
    "SESSION_START": "session_window.start", "SESSION_END": "session_window.end",
    "TUMBLE_ROWTIME": "window_time(window)", "HOP_ROWTIME": "window_time(window)", "TUMBLE_PROCTIME": _WINDOW,
    "PROCTIME": _NOW, "CURRENT_WATERMARK": "leave it out: late rows are left out by WATERMARK", "CURRENT_ROW_TIMESTAMP": _NOW,
    "DESCRIPTOR": _WINDOW,
    "TRUNCATE": "bround(number, digits), or floor(number)",
    "ROW": "struct(a, b), or named_struct('x', a, 'y', b)",
    "UNNEST": "LATERAL VIEW explode(array) AS element",
    "STRING_TO_ARRAY": "split(text, ',')", "JSONB_EXTRACT_PATH_TEXT": "get_json_object(text, '$.field')",
}  # fmt: skip
"""By name in capitals, a function of ksqlDB, Flink or RisingWave, and the form here."""
COLUMN_FORMS: Mapping[str, str] = {
    "ROWTIME": "_timestamp, the time of the record",
    "ROWPARTITION": "_partition",
    "ROWOFFSET": "_offset",
    "ROWKEY": "the key column by its name; DESCRIBE lists it with the role key",
    "HEADERS": "_headers",
    "WINDOWSTART": "window.start, with window(ts, '1 minute') in GROUP BY",
    "WINDOWEND": "window.end, with window(ts, '1 minute') in GROUP BY",
    "WINDOW_START": "window.start, with window(ts, '1 minute') in GROUP BY",
    "WINDOW_END": "window.end, with window(ts, '1 minute') in GROUP BY",
    "WINDOW_TIME": "window_time(window), with window(ts, '1 minute') in GROUP BY",
    "PROCTIME": _NOW,
}
"""By name in capitals, a column that ksqlDB or Flink adds to a source, and what has its value here."""
TYPE_FORMS: Mapping[str, str] = {
    "VARCHAR": "STRING", "CHAR": "STRING", "CHARACTER": "STRING", "TEXT": "STRING", "NVARCHAR": "STRING", "UUID": "STRING", "JSON": "STRING",
    "JSONB": "STRING", "BYTES": "BINARY", "BYTEA": "BINARY", "VARBINARY": "BINARY", "ROW": "STRUCT<name: type, …>", "TIMESTAMPTZ": "TIMESTAMP",
    "INT8": "BIGINT", "INT4": "INT", "INT2": "SMALLINT", "INT64": "BIGINT", "INT32": "INT", "FLOAT8": "DOUBLE", "FLOAT4": "FLOAT", "MULTISET": "ARRAY<type>",
}  # fmt: skip
"""By name in capitals, a type of another system in a CAST, and the type here."""
_TABLE_WINDOWS = {"TUMBLE": _WINDOW, "HOP": _HOP, "CUMULATE": _HOP, "SESSION": _SESSION}
_CASTS = frozenset({"CAST", "TRY_CAST"})


class ForeignForm(NamedTuple):
    """A form of another system in a query, the form here, and its place as offsets."""

    message: str
    hint: str
    start: int
    end: int


def find_foreign_form(tokens: Sequence[SqlToken], lambdas: frozenset[str]) -> ForeignForm | None:
    """Return the first form of another system that Spark reads as something else, or refuses without saying why.

    `lambdas` are the functions, in small letters, that take ``x -> …``.
    """
    for at, opened in _walk(tokens):
        token, after = tokens[at], tokens[min(at + 1, len(tokens) - 1)]
        if (
            token.keyword in _TABLE_WINDOWS
            and after.text == "("
            and tokens[min(at + 2, len(tokens) - 1)].keyword == "TABLE"
        ):
            message = f"{token.text}(TABLE …) of Flink is no function here: a window is a function in GROUP BY"
            return ForeignForm(
                message, f"{_TABLE_WINDOWS[token.keyword]}; FROM STREAM name has no window", token.start, token.end
            )
        if token.keyword in TYPE_FORMS and _is_type(tokens, at, opened):
            own = TYPE_FORMS[token.keyword]
            lengths = (
                ": a text has no length here"
                if own == "STRING" and token.keyword.endswith(("CHAR", "CHARACTER"))
                else ""
            )
            return ForeignForm(f"{token.text} is no type here{lengths}", f"CAST(… AS {own})", token.start, token.end)
        if (
            (token.text, after.text) == ("-", ">")
            and token.end == after.start
            and not _is_lambda(tokens, at, opened, lambdas)
        ):
            return _refuse_arrow(tokens, at)
    return None


def _walk(tokens: Sequence[SqlToken]) -> Iterator[tuple[int, list[int]]]:
    """Yield each place with the places of the parentheses that are open there."""
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind == "sign" and token.text == ")" and opened:
            opened.pop()
        yield at, opened
        if token.kind == "sign" and token.text == "(":
            opened.append(at)


def _is_type(tokens: Sequence[SqlToken], at: int, opened: Sequence[int]) -> bool:
    """Whether a word is the type of ``CAST(x AS type)`` or ``x::type``, itself or within ARRAY, MAP or STRUCT."""
    if at > 1 and (tokens[at - 1].text, tokens[at - 2].text) == (":", ":"):
        return True
    if not opened or not opened[-1] or tokens[opened[-1] - 1].keyword not in _CASTS:
        return False
    before = [token for token in tokens[opened[-1] : at] if token.keyword == "AS"]
    return bool(before) and (tokens[at - 1].keyword == "AS" or tokens[at - 1].text in {"<", ",", ":"})


def _is_lambda(tokens: Sequence[SqlToken], at: int, opened: Sequence[int], lambdas: frozenset[str]) -> bool:
    """Whether an arrow stands behind the names of the parameters of a lambda: first in an argument, but not in the first one."""
    if not opened or not opened[-1] or tokens[opened[-1] - 1].text.lower() not in lambdas:
        return False
    first = at - 1
    if tokens[first].text == ")":
        while first > opened[-1] and tokens[first].text != "(":
            first -= 1
    return first - 1 > opened[-1] and tokens[first - 1].text == ","


def _refuse_arrow(tokens: Sequence[SqlToken], at: int) -> ForeignForm:
    before, after = tokens[max(at - 1, 0)], tokens[min(at + 2, len(tokens) - 1)]
    if after.kind in {"text", "raw"} or after.text == ">":
        message, form = "-> of texts in JSON is no operator here", f"get_json_object({before.text}, '$.field')"
    else:
        message, form = f"{before.text}->{after.text} is no field of a struct here", f"{before.text}.{after.text}"
    return ForeignForm(message, form, before.start, after.end)
