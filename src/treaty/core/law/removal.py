"""Rows that go when a version or a subject is removed for good: what belongs to it, and what nobody else uses.

Counters of ids and of encodings never go. Those of a subject's ordinals and types go with its row, because another subject
of the same name is another generation, which has counters of its own.
"""

from itertools import chain

from treaty.core.law.references import use_keys
from treaty.core.law.versions import Kept, subject_of_key, with_schema
from treaty.core.names import Subject
from treaty.core.rows import Row, make_tombstone
from treaty.core.state_tables import (
    CONTENT,
    COUNTER,
    COUNTER_OF_SUBJECT,
    KINDS_OF_SUBJECT,
    NAME,
    NAME_BY_VERSION,
    SCHEMA,
    SUBJECT,
    VERSION,
    VERSION_BY_CONTENT,
    ContentKey,
    SchemaKey,
)
from treaty.core.view import View, subject_span


def remove_version(view: View, one: Kept) -> list[Row]:
    """Return the rows that remove one version of a subject that stays; hidden ones of the same schema go with it."""
    return remove_versions(view, with_hidden(view, one))


def with_hidden(view: View, one: Kept) -> list[Kept]:
    """Return a version, and the hidden versions of the same schema in its subject, which go with it."""
    return [one, *with_schema(view, subject_of_key(one[0]), one[1].schema_id, ("hidden",))]


def remove_subject(view: View, subject: Subject) -> list[Row]:
    """Return the tombstones for a subject whose versions are all removed: its row, and its counters of ordinals and types."""
    counters = chain.from_iterable(
        view.walk(COUNTER_OF_SUBJECT, *subject_span(kind, *subject)) for kind in KINDS_OF_SUBJECT
    )
    return [make_tombstone(SUBJECT, subject), *(make_tombstone(COUNTER, key) for key in counters)]


def remove_versions(view: View, versions: list[Kept], *, spare_schema: int = 0) -> list[Row]:
    """Return the tombstones for versions and for whatever only they used.

    A schema goes with its last use, unless it is `spare_schema`; its id stays used up by its counter.
    """
    if not versions:
        return []
    gone = {key for key, _ in versions}
    rows = [make_tombstone(VERSION, key) for key, _ in versions]
    for key in sorted(gone):
        rows.extend(make_tombstone(NAME, name) for name in view.find(NAME_BY_VERSION, key))
    contents = sorted({version.content for _, version in versions if version.content})
    unread = [content for content in contents if all(key in gone for key in view.find(VERSION_BY_CONTENT, (content,)))]
    rows.extend(make_tombstone(CONTENT, ContentKey(content)) for content in unread)
    schemas = {
        SchemaKey(key.context, version.schema_id) for key, version in versions if version.schema_id != spare_schema
    }
    unused = [schema for schema in sorted(schemas) if all(key in gone for key in use_keys(view, schema))]
    return [*rows, *(make_tombstone(SCHEMA, schema) for schema in unused)]
