"""Columns that each record has beside those of its source: where it is, when it was written, its headers, and its schema id."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import split_tokens
from treaty.core.sources import SourceColumn
from treaty.spark.planner.parsed_check import name_of_token
from treaty.spark.planner.questions import ReadableSource

HEADERS = "ARRAY<STRUCT<key: STRING, value: BINARY>>"
PSEUDO_TYPES: Mapping[str, str] = {
    "_topic": "STRING",
    "_partition": "INT",
    "_offset": "BIGINT",
    "_timestamp": "TIMESTAMP",
    "_headers": HEADERS,
    "_schema_id": "INT",
}
"""Types by name. Of files, ``_topic`` is the path of the file, ``_offset`` the number of the row in it, and ``_partition`` is null."""
PSEUDO = "pseudo"
"""The role of a pseudo-column among the columns that a body may read."""
RECORDS = frozenset(("kafka", "files"))
"""Connectors whose sources have records; a row of a lake table is no record."""


def list_words(text: str) -> list[str]:
    """Return the names that a text of SQL has, without quotes and in small letters."""
    return [name_of_token(token).lower() for token in split_tokens(text)]


def list_pseudo_columns(columns: Sequence[SourceColumn], words: Collection[str]) -> tuple[SourceColumn, ...]:
    """Return the pseudo-columns that are among some words, in their order; a column of that name takes the place of one."""
    own = {lower_name(one.name) for one in columns}
    return tuple(
        SourceColumn(name, kind, role=PSEUDO)
        for name, kind in PSEUDO_TYPES.items()
        if name in words and name not in own
    )


def add_pseudo_columns(source: ReadableSource, words: Collection[str]) -> ReadableSource:
    """Return the source with the pseudo-columns that a body names, or its WATERMARK or DEDUPLICATE; a lake table has none.

    `words` are the names that the body has. What it does not name is no column of it, so that ``SELECT *`` gives none by itself.
    """
    if not source.has_records:
        return source
    named = {*words, *list_words(source.watermark), *map(lower_name, source.deduplicate)}
    return replace(source, columns=(*source.columns, *list_pseudo_columns(source.columns, named)))
