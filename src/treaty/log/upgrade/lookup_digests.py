"""The digests by which a look-up finds schemas and versions: those of format 1 had another recipe, so they are computed again.

What can't be read keeps the digest that it has: it is found by its guid then.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from treaty.core.handlers.drafts.schemas import resolve_schema
from treaty.core.identity import lookup_digest
from treaty.core.refusals import Refusal
from treaty.core.schema_engine import Answer, ParsedSchema, ParseSchema, Question, ResolvedSchema
from treaty.core.state.commit import START
from treaty.core.state.rows import EncodedRow, decode_row
from treaty.core.state.state_tables import SCHEMA, VERSION, SchemaKey
from treaty.core.state.tables import DictTables
from treaty.core.state.values import Schema, Version
from treaty.log.upgrade.old_format import to_canonical_json

AnswerQuestion = Callable[[Question], Answer]
"""Answers a question about a schema at once."""


def renew_digests(rows: Iterable[EncodedRow], answer: AnswerQuestion) -> Iterator[EncodedRow]:
    """Return rows of today with the digests of today."""
    rows = tuple(rows)
    tables = DictTables()
    tables.load((row for row in rows if row.table == SCHEMA.name), START)
    for row in rows:
        if row.table == SCHEMA.name:
            yield _renew(row, "lookup_digest", _digest_of_schema(row, tables, answer))
        elif row.table == VERSION.name:
            yield _renew(row, "identity", _digest_of_version(row, tables, answer))
        else:
            yield row


def _renew(row: EncodedRow, member: str, digest: str) -> EncodedRow:
    if not digest:
        return row
    return replace(row, value=to_canonical_json({**json.loads(row.value or "{}"), member: digest}))


def _digest_of_schema(row: EncodedRow, tables: DictTables, answer: AnswerQuestion) -> str:
    read = decode_row(row)
    if not isinstance(read.value, Schema):
        return ""
    return _find_digest(SchemaKey(*read.key), tables, answer, normalize=False)  # type: ignore[arg-type]


def _digest_of_version(row: EncodedRow, tables: DictTables, answer: AnswerQuestion) -> str:
    """Of its normal form; empty for a version whose subject compares no normal forms."""
    read = decode_row(row)
    if not isinstance(read.value, Version) or not read.value.identity:
        return ""
    return _find_digest(SchemaKey(str(read.key[0]), read.value.schema_id), tables, answer, normalize=True)


def _find_digest(key: SchemaKey, tables: DictTables, answer: AnswerQuestion, *, normalize: bool) -> str:
    schema = tables.get(SCHEMA, key)
    if schema is None:
        return ""
    try:
        resolved = resolve_schema(tables, key.context, schema)
    except Refusal:  # a reference leads nowhere, or too far
        return ""
    return _digest_of(resolved, answer(ParseSchema(resolved, strict=False, normalize=normalize)))


def _digest_of(resolved: ResolvedSchema, parsed: Answer) -> str:
    """The digest of what a format reads; of what no format here can read that of its bytes."""
    text_digest = parsed.resolved if isinstance(parsed, ParsedSchema) else resolved.digest.hex()
    return lookup_digest(resolved.format, text_digest)
