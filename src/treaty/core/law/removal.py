"""Rows that go when a version or a subject is removed for good: what belongs to it, and what nobody else uses.

Counters of ids and of encodings never go. Those of a subject's ordinals and types go with its row, because another subject
of the same name is another generation, which has counters of its own.
"""

from itertools import chain

from treaty.core.counters import KINDS_OF_SUBJECT
from treaty.core.law.references import use_keys
from treaty.core.law.versions import Kept, subject_of_key, with_schema
from treaty.core.names import Subject
from treaty.core.rows import Key, Row
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
        view.walk("counter.subject", *subject_span(kind, *subject)) for kind in KINDS_OF_SUBJECT
    )
    return [Row("subject", tuple(subject), None), *(Row("counter", key, None) for key in counters)]


def remove_versions(view: View, versions: list[Kept], *, spare_schema: int = 0) -> list[Row]:
    """Return the tombstones for versions and for whatever only they used.

    A schema goes with its last use, unless it is `spare_schema`; its id stays used up by its counter.
    """
    if not versions:
        return []
    gone = {key for key, _ in versions}
    rows = [Row("version", key, None) for key, _ in versions]
    for key in sorted(gone):
        rows.extend(Row("name", name, None) for name in view.find("name.version", key))
    contents = sorted({version.content for _, version in versions if version.content})
    unread = [content for content in contents if all(key in gone for key in view.find("version.content", (content,)))]
    rows.extend(Row("content", (content,), None) for content in unread)
    schemas: set[Key] = {(key[0], version.schema_id) for key, version in versions if version.schema_id != spare_schema}
    unused = [schema for schema in sorted(schemas) if all(key in gone for key in use_keys(view, schema))]
    return [*rows, *(Row("schema", schema, None) for schema in unused)]
