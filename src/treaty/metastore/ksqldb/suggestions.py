"""Queries of ksqlDB as statements for Spark to begin with: what differs by words is written in Spark's, the rest is said in notes."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from treaty.core.column_types.tokens import print_text
from treaty.core.sources import ImportedQuery
from treaty.metastore.ksqldb.commands import STREAM, CommandState, KsqlSource

FUNCTIONS: Mapping[str, str] = {
    "UCASE": "upper", "LCASE": "lower", "LEN": "length", "IFNULL": "coalesce", "COLLECT_LIST": "collect_list",
    "COLLECT_SET": "collect_set", "LATEST_BY_OFFSET": "last", "EARLIEST_BY_OFFSET": "first", "COUNT_DISTINCT": "approx_count_distinct",
    "EXTRACTJSONFIELD": "get_json_object", "ARRAY_LENGTH": "size", "ARRAY_CONTAINS": "array_contains", "AS_VALUE": "",
    "FORMAT_TIMESTAMP": "date_format", "FORMAT_DATE": "date_format", "PARSE_TIMESTAMP": "to_timestamp", "PARSE_DATE": "to_date",
    "REGEXP_SPLIT_TO_ARRAY": "split", "URL_ENCODE_PARAM": "url_encode", "URL_DECODE_PARAM": "url_decode", "TOPK": "max_by",
}  # fmt: skip
"""Functions of ksqlDB by name, and those of Spark."""
WORDS: Mapping[str, str] = {
    "ROWTIME": "_timestamp", "ROWPARTITION": "_partition", "ROWOFFSET": "_offset", "WINDOWSTART": "window.start", "WINDOWEND": "window.end",
}  # fmt: skip
"""Pseudo-columns of ksqlDB, and those here."""
TYPES: Mapping[str, str] = {"VARCHAR": "STRING", "INTEGER": "INT", "BYTES": "BINARY"}
"""Types of a CAST by ksqlDB's name."""
NOTES: Mapping[str, str] = {
    r"\bTOPK(?:DISTINCT)?\s*\(": "TOPK keeps several values, max_by one: it needs the column that orders them",
    r"\bPARTITION\s+BY\b": "PARTITION BY becomes the role of a column: CREATE TABLE with PRIMARY KEY, or a KEY column of a stream",
    r"\w\[\s*\d+\s*\]": "an index of an array begins with 1 in ksqlDB, and with 0 here",
    r":=": "STRUCT(a := b) is named_struct('a', b), MAP('a' := b) is map('a', b)",
    r"\bROWKEY\b": "ROWKEY is the key column by its name",
    r"\bSTRINGTOTIMESTAMP\b|\bTIMESTAMPTOSTRING\b": "a time is a TIMESTAMP here: to_timestamp and date_format stand for both functions",
}
"""What a word in a query leaves open."""
HAVING = "HAVING over groups without a window is refused: filter in a query that reads this one"
"""What HAVING leaves open where groups have no window."""
GRACE = "1 DAY"
"""How late records of a window may be in ksqlDB, where it does not say."""
_NAME = r"(?:`(?:[^`]|``)+`|\w+)"
_SOURCE = re.compile(
    rf"\b(FROM|JOIN)\s+({_NAME})((?:\s+AS)?\s+(?!(?:WINDOW|WHERE|GROUP|PARTITION|HAVING|EMIT|LEFT|RIGHT|FULL|INNER|OUTER|JOIN|ON|WITHIN|LIMIT|UNION)\b){_NAME})?",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"('(?:[^']|'')*'|`(?:[^`]|``)*`)")
_EMIT = re.compile(r"\s*EMIT\s+(?:CHANGES|FINAL)\s*;?\s*$", re.IGNORECASE)
_WINDOW = re.compile(r"\bWINDOW\s+(TUMBLING|HOPPING|SESSION)\s*\(([^)]*)\)", re.IGNORECASE)
_WITHIN = re.compile(
    r"\bWITHIN\s+(?:\(([^)]*)\)|(\d+)\s+(\w+))\s*(?:GRACE\s+PERIOD\s+\d+\s+\w+\s*)?(?=ON\b)", re.IGNORECASE
)
_BOUND = re.compile(r"\bWINDOWSTART\b|\bWINDOWEND\b|\bsession_window\.", re.IGNORECASE)
_SPAN = re.compile(r"(\d+)\s+(\w+)")
_CAST = re.compile(rf"\bAS\s+({'|'.join(TYPES)})\b(?!\s*\.)", re.IGNORECASE)
_LITERAL_ARRAY = re.compile(r"\bARRAY\s*\[([^\[\]]*)\]", re.IGNORECASE)


@dataclass(slots=True)
class SuggestedBody:
    """A body on its way from ksqlDB's words to Spark's, with what it leaves open."""

    body: str
    notes: list[str] = field(default_factory=list)
    delay: str = ""
    """How late records may be, where the body needs a watermark."""
    has_window: bool = False
    """Whether rows are of windows, which are then a part of the key."""
    bounds: str = ""
    """Columns of the bounds of its window, where the query has none."""


def list_queries(state: CommandState) -> Iterator[tuple[str, ImportedQuery]]:
    """Yield the names of sources that queries write, with the query; several queries of one are branches of a UNION ALL."""
    streams = {name.upper() for name, one in state.sources.items() if one.kind == STREAM}
    for source in state.sources.values():
        texts = [(source.query_id, source.query)] if source.query else []
        texts += [(query_id, text) for query_id, (sink, text) in state.inserts.items() if sink == source.name]
        if texts:
            yield source.name, _describe_query(source, texts, streams)


def _describe_query(source: KsqlSource, texts: list[tuple[str, str]], streams: set[str]) -> ImportedQuery:
    bodies = [suggest_body(text, streams) for _, text in texts]
    notes = [note for body in bodies for note in body.notes]
    if len(texts) > 1 or not source.query:
        notes.insert(0, "INSERT INTO is a branch of the query here: UNION ALL has them all")
    has_window = any(one.has_window for one in bodies)
    create = _print_create(source, "\nUNION ALL\n".join(one.body for one in bodies), has_window=has_window)
    return ImportedQuery(
        "\n".join(text for _, text in texts), create,
        ", ".join(query_id for query_id, _ in texts)[:200], tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _print_create(source: KsqlSource, body: str, *, has_window: bool) -> str:
    """Return a CREATE over the topic that ksqlDB writes, so that consumers see no difference, but for the keys of windows."""
    value = {"JSON_SR": "JSON"}.get(source.value_format, source.value_format)
    words = [f"KAFKA_TOPIC = {print_text(source.topic)}", f"VALUE_FORMAT = {print_text(value)}"]
    if has_window:  # a key of several columns is a record
        words.insert(1, f"KEY_FORMAT = {print_text(value)}")
    return f"CREATE OR REPLACE {source.kind} {quote(source.name)} WITH ({', '.join(words)}) AS {body}"


def suggest_body(text: str, streams: set[str]) -> SuggestedBody:
    """Return the SELECT of a statement in Spark's words. `streams` are the names of streams in capitals; other sources are tables."""
    start = re.search(r"\bSELECT\b", text, re.IGNORECASE)
    suggestion = SuggestedBody(_EMIT.sub("", text[start.start() :].strip().rstrip(";").strip() if start else text))
    plain = "".join(_QUOTED.split(suggestion.body)[::2])
    suggestion.notes += [note for pattern, note in NOTES.items() if re.search(pattern, plain, re.IGNORECASE)]
    _write_window(suggestion)
    if not suggestion.has_window and re.search(r"\bHAVING\b", plain, re.IGNORECASE):
        suggestion.notes.append(HAVING)
    _write_within(suggestion)
    suggestion.body = _outside_quotes(suggestion.body, _write_words)
    if suggestion.bounds:
        suggestion.body = re.sub(
            r"\bSELECT\b", f"SELECT {suggestion.bounds},", suggestion.body, count=1, flags=re.IGNORECASE
        )
    _note_tables(suggestion, streams)
    suggestion.body = _SOURCE.sub(lambda match: _write_source(match, streams, suggestion.delay), suggestion.body)
    suggestion.body = re.sub(r"[ \t]+", " ", suggestion.body).strip()
    return suggestion


def _note_tables(suggestion: SuggestedBody, streams: set[str]) -> None:
    """Note the tables that are read beside a stream."""
    names = dict.fromkeys(match[2].strip("`") for match in _SOURCE.finditer(suggestion.body))
    tables = [name for name in names if name.upper() not in streams]
    if tables and len(tables) < len(names):
        suggestion.notes.append(
            f"{', '.join(tables)} is read beside a stream, which needs its newest rows as a Delta table: MATERIALIZE = 'delta' on it"
        )


def _outside_quotes(text: str, change: Callable[[str], str]) -> str:
    parts = _QUOTED.split(text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def _write_words(text: str) -> str:
    """Return a text without quotes with functions, pseudo-columns, types and paths in Spark's words."""
    for word, name in FUNCTIONS.items():
        text = re.sub(rf"\b{word}\s*\(", f"{name}(", text, flags=re.IGNORECASE)
    for word, name in WORDS.items():
        text = re.sub(rf"\b{word}\b", name, text, flags=re.IGNORECASE)
    text = _CAST.sub(lambda match: f"AS {TYPES[match[1].upper()]}", text)
    return _LITERAL_ARRAY.sub(r"array(\1)", text).replace("->", ".")


def _write_source(match: re.Match[str], streams: set[str], delay: str) -> str:
    """Return a source after FROM or JOIN: a stream with the word STREAM, and its watermark before the alias."""
    is_stream = match[2].strip("`").upper() in streams
    mark = f" WATERMARK _timestamp DELAY OF INTERVAL {delay}" if is_stream and delay else ""
    return f"{match[1]} {'STREAM ' if is_stream else ''}{match[2]}{mark}{match[3] or ''}"


def _write_window(suggestion: SuggestedBody) -> None:
    """Move a window into GROUP BY, with a watermark of its grace period."""
    window = _WINDOW.search(suggestion.body)
    if window is None:
        return
    spans = {}
    for part in window[2].split(","):
        span = _SPAN.search(part)
        word = re.sub(r"[\s\d].*", "", part.strip()).upper()
        spans[word] = f"{span[1]} {span[2].upper()}" if span else ""
    kind, size = window[1].upper(), spans.get("SIZE") or spans.get("") or "1 MINUTE"
    names = _name_sources(suggestion.body)
    time = f"{names[0]}._timestamp" if len(names) > 1 else "_timestamp"  # of a join: that of the stream on its left
    if kind == "SESSION":
        call = f"session_window({time}, '{size}')"
        suggestion.body = re.sub(r"\bWINDOW(START|END)\b", r"session_window.\1", suggestion.body, flags=re.IGNORECASE)
        suggestion.body = suggestion.body.replace("session_window.START", "session_window.start").replace(
            "session_window.END", "session_window.end"
        )
        window = _WINDOW.search(suggestion.body)
        assert window is not None, "the clause is still there"
    elif kind == "HOPPING":
        call = f"window({time}, '{size}', '{spans.get('ADVANCE', size)}')"
    else:
        call = f"window({time}, '{size}')"
    suggestion.delay, suggestion.has_window = spans.get("GRACE") or GRACE, True
    body = suggestion.body[: window.start()] + suggestion.body[window.end() :]
    suggestion.body, count = re.subn(r"\bGROUP\s+BY\s+", f"GROUP BY {call}, ", body, count=1, flags=re.IGNORECASE)
    if not count:
        suggestion.body = f"{body} GROUP BY {call}"
    name = call.partition("(")[0]
    if not _BOUND.search(re.split(r"\bFROM\b", suggestion.body, maxsplit=1, flags=re.IGNORECASE)[0]):
        suggestion.bounds = f"{name}.start WINDOWSTART" + (f", {name}.end WINDOWEND" if kind == "SESSION" else "")
    suggestion.notes.append(
        f"{call} stands for the {kind.lower()} window; its bounds are columns of the key, which is another one than that of ksqlDB's windowed topic"
    )


def _write_within(suggestion: SuggestedBody) -> None:
    """Write WITHIN of a join of two streams as a condition on their times, with watermarks on both sides."""
    within = _WITHIN.search(suggestion.body)
    if within is None:
        return
    spans = _SPAN.findall(within[1]) if within[1] else [(within[2], within[3])]
    names = _name_sources(suggestion.body)
    suggestion.body = suggestion.body[: within.start()] + suggestion.body[within.end() :]
    if len(names) != 2 or not spans:
        suggestion.notes.append("WITHIN becomes a condition on the times of both sides, and both have a WATERMARK")
        return
    before, after = (f"INTERVAL {number} {unit.upper()}" for number, unit in (spans[0], spans[-1]))
    left, right = names
    bounds = f"{right}._timestamp BETWEEN {left}._timestamp - {before} AND {left}._timestamp + {after} AND "
    suggestion.body = re.sub(r"\bON\s+", lambda _: f"ON {bounds}", suggestion.body, count=1, flags=re.IGNORECASE)
    suggestion.delay = suggestion.delay or GRACE
    suggestion.notes.append(
        "WITHIN is the condition on the times of both sides; the watermarks bound what the join keeps"
    )


def _name_sources(body: str) -> list[str]:
    """Return what each source after FROM and JOIN is called in a body: its alias, else its name."""
    return [(match[3] or match[2]).split()[-1] for match in _SOURCE.finditer(body)]


def quote(name: str) -> str:
    """Return a name between back quotes."""
    return "`" + name.replace("`", "``") + "`"
