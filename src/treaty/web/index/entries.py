"""What the index keeps of one schema: its tokens, the names of its fields, its tags, and its owner."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from treaty.core.handlers.drafts.schemas import resolve_schema
from treaty.core.schema import LargeTextError, Metadata
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.values import Schema
from treaty.core.state.view import View
from treaty.web.index.contents import SchemaContents
from treaty.web.index.extraction import READ_AS_JSON
from treaty.web.index.storage import doc_tokens, field_tokens, format_token, property_token, tag_token

OWNER = "owner"
"""The property of the metadata that says who owns a schema."""


class IndexedSchema(NamedTuple):
    """What the index keeps of a schema."""

    format: str
    owner: str
    tokens: str
    """Tokens of the full-text index, with spaces between them."""
    names: AbstractSet[str]
    """Names and paths of fields, as tokens."""
    tags: AbstractSet[str]
    """Tags inside the text and of the metadata, as they are written."""

    @property
    def joined_names(self) -> str:
        """The names with a space between them."""
        return " ".join(self.names)


def as_indexed(row: Schema, contents: SchemaContents) -> IndexedSchema:
    """Return the entry of a schema from its row and what its text says."""
    tokens, names = field_tokens(contents.fields)
    tags = contents.tags if row.metadata is None else {*contents.tags, *_tags_of(row.metadata)}
    tokens += map(tag_token, tags)
    if row.metadata is not None:
        tokens += _property_tokens(row.metadata)
    tokens += (format_token(row.format), doc_tokens(contents.docs))
    owner = "" if row.metadata is None else _owner_of(row.metadata)
    return IndexedSchema(row.format, owner, " ".join(tokens), names, tags)


def text_to_read(view: View, context: str, row: Schema) -> ResolvedSchema | None:
    """Return what the contents of a schema are read from; None for a schema that is too long to be looked at here.

    Only formats that are not read as JSON need their references.
    """
    try:
        if row.format in READ_AS_JSON:
            return ResolvedSchema(row.format, row.text)
        return resolve_schema(view, context, row)
    except LargeTextError:
        return None


def _tags_of(metadata: Metadata) -> Iterator[str]:
    return (tag for _, tags in metadata.tags for tag in tags)


def _owner_of(metadata: Metadata) -> str:
    """The property owner; empty without one, and where it is sensitive."""
    if OWNER in metadata.sensitive:
        return ""
    return next((value for name, value in metadata.properties if name == OWNER), "")


def _property_tokens(metadata: Metadata) -> Iterator[str]:
    return (property_token(name, value) for name, value in metadata.properties if name not in metadata.sensitive)
