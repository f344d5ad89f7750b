"""Rows for every index, and what the entries of a state file are for them: changed entries need another `INDEX_FORMAT`."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from treaty.core import sources
from treaty.core.names import Subject
from treaty.core.state import values
from treaty.core.state.rows import ROW_FORMAT, EncodedRow, Row, decode_row, encode_row
from treaty.core.state.state_tables import ORDERS, ids_key, types_key
from treaty.core.state.view import count_group, index_entries
from treaty.node.segment.hash_index import hash_of
from treaty.node.segment.value_format import read_row

SUBJECT = Subject(".", "s")
PIN = sources.SchemaPin(*SUBJECT, 1, 4, 7)
SOURCE = sources.Source(
    "STREAM", "É", "CREATE", (sources.SourceColumn("a", "p"),), 1, value=sources.SourcePart("AVRO", pin=PIN), types=("p",), origin="o", connector="delta", place="d",
    query=sources.Incarnation(1, 1, sources.QueryPlan("SELECT 1", (sources.SourceRead("r", 1),))),
    previous=(sources.Incarnation(1, 1, sources.QueryPlan("SELECT 1", (sources.SourceRead("f", 1),))),),
    once=(sources.OnceQuery(2, sources.QueryPlan("SELECT 1", (sources.SourceRead("o", 1),))),),
)  # fmt: skip
SAMPLES = tuple(decode_row(encode_row(row)) for row in (
    Row("schema", (".x", 7), values.Schema("g", "TOY", "é\n", "l", (values.StoredReference("n", ":.y:s", 3, 9),), type_name="t")),
    Row("schema", (".", 1), values.Schema("g", "TOY", "", "l", (values.StoredReference("n", "s", 3, 9),))),
    *(Row("version", (*SUBJECT, 1, 4), values.Version(5, 7, "TOY", state=state, content="c", policy=values.PolicyValue()))
      for state in ("live", "soft", "hidden", "purged")),
    Row("version", (*SUBJECT, 1, 5), values.Version(6, 8, "TOY", identity="i")),
    Row("name", (*SUBJECT, 1, "md5", "n"), values.Name(4)),
    Row("encoding", (*SUBJECT, 2), values.Encoding(7, 1, 4)),
    Row("codec", (*SUBJECT, "gzip"), values.Codec((("level", "6"),))),
    Row("subject", (*SUBJECT,), values.SubjectValue(1)),
    Row("subject", (".x", "s"), values.SubjectValue(1)),
    Row("subject", (".", "acme/a/jsonschema"), values.SubjectValue(1, private=True)),
    Row("superseded", (*SUBJECT, 1, 4), values.SupersededVersion(5)),
    Row("counter", ids_key("."), values.Counter(9)),
    Row("counter", types_key(SUBJECT, 1, "TOY", ""), values.Counter(3)),
    Row("association", ("r", "topic", "s"), values.Association(":.x:s", "r", "ns", "k", guid="g")),
    Row("association", ("r", "topic", "t"), values.Association("t", "r", "-", "k", lifecycle="STRONG")),
    Row("config", ("subject", *SUBJECT), values.ConfigValue(alias="a")),
    Row("config", ("subject", ".x", "s"), values.ConfigValue(follows="p")),
    Row("policy", ("p",), values.NamedPolicy(values.PolicyValue())),
    Row("draft", (*SUBJECT, 1), values.StoredDraft("{}")),
    Row("api_key", ("a" * 64,), values.ApiKey("com.acme", "READ")),
    Row("outcome", ("", "c"), values.Outcome(3, "registered")),
    Row("source", ("é",), SOURCE),
    Row("dropped", ("é_bad",), sources.DroppedSource(replace(SOURCE, query=None), "user:a", 5)),
    Row("type", ("é",), sources.StoredType("É", "ARRAY<p>", 1, ("p",))),
    Row("topic", ("main", "t"), sources.Topic(sources=("é",))),
    Row("topic", ("main", "u"), sources.Topic("deleted", due=5)),
    Row("topic_lease", ("main",), sources.TopicLease(1, "h")),
    Row("runner", ("r",), sources.Runner(1, "h")),
    Row("assignment", ("query", 1), sources.Assignment("r", 1)),
    Row("planning", ("é",), sources.PlanningJob("CREATE", deadline=5)),
))  # fmt: skip
"""A row for every index, and for what its entries depend on."""


def _describe_samples() -> Iterator[str]:
    """Everything by which rows are kept and found, for some of them."""
    yield repr(sorted(ORDERS))
    for row in SAMPLES:
        encoded: EncodedRow = encode_row(row)
        yield repr((ROW_FORMAT, encoded, read_row(encoded)[1], hash_of(row.key)))
        yield repr([(name, (*entry,), hash_of(entry)) for name, entry in index_entries(row)])
        yield repr(count_group(row))


def digest_entries() -> str:
    """What all sample rows are kept and found by, as one number."""
    return hashlib.sha256("\n".join(_describe_samples()).encode()).hexdigest()[:16]
