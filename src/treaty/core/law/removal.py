"""Rows that go when a version is removed for good: the version, its names, and what nobody else uses."""

from treaty.core.law.references import use_keys
from treaty.core.law.versions import Kept, subject_of_key, with_schema
from treaty.core.rows import Key, Row
from treaty.core.view import View


def remove_version(view: View, one: Kept, *, spare_schema: int = 0) -> list[Row]:
    """Return the tombstones for a version; hidden versions of the same schema in its subject go with it.

    The schema goes with its last use, unless it is `spare_schema`; its id stays used up by its counter.
    """
    subject = subject_of_key(one[0])
    hidden = with_schema(view, subject, one[1].schema_id, ("hidden",))
    return remove_versions(view, [one, *hidden], spare_schema=spare_schema)


def remove_versions(view: View, versions: list[Kept], *, spare_schema: int = 0) -> list[Row]:
    """Return the tombstones for versions and for whatever only they used."""
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
