"""Rows that go when a version or a subject is removed for good: what belongs to it, and what nobody else uses.

Counters of ids and of encodings never go. Those of a subject's ordinals and types go with its row, because another
subject of the same name is another generation: whoever remembers an ordinal asks whose it is (see `memory.recall`).
"""

from dataclasses import replace

from treaty.core.law.references import use_keys
from treaty.core.law.versions import Kept, subject_of_key, with_schema
from treaty.core.names import Subject
from treaty.core.rows import Key, Row
from treaty.core.values import Subject as SubjectValue
from treaty.core.values import Version
from treaty.core.view import View


def remove_version(view: View, one: Kept) -> list[Row]:
    """Return the rows that remove one version of a subject that stays; hidden ones of the same schema go with it."""
    return remove_some(view, subject_of_key(one[0]), with_hidden(view, one))


def with_hidden(view: View, one: Kept) -> list[Kept]:
    """Return a version, and the hidden versions of the same schema in its subject, which go with it."""
    return [one, *with_schema(view, subject_of_key(one[0]), one[1].schema_id, ("hidden",))]


def remove_some(view: View, subject: Subject, versions: list[Kept], *, spare_schema: int = 0) -> list[Row]:
    """Return the rows that remove versions of a subject that stays.

    A schema goes with its last use, unless it is `spare_schema`; its id stays used up by its counter.
    """
    if not versions:
        return []
    rows, there = remove_versions(view, versions, spare_schema=spare_schema), view.get("subject", tuple(subject))
    if isinstance(there, SubjectValue):
        parts = dict.fromkeys((*there.purged_parts, *(part_of(version) for _, version in versions)))
        if len(parts) > len(there.purged_parts):
            rows.append(Row("subject", tuple(subject), replace(there, purged_parts=tuple(parts))))
    return rows


def part_of(version: Version) -> str:
    """Return the format and type of a version, as the key of their counter has them."""
    return f"{version.format}:{version.type_name}"


def remove_subject(view: View, subject: Subject, versions: list[Kept]) -> list[Row]:
    """Return the tombstones for a subject whose `versions`, all that it has, are removed: its row and its counters.

    The counters stay where an encoding has the ordinal of one of the versions.
    """
    rows = [Row("subject", tuple(subject), None)]
    if any(any(view.find("encoding.version", key)) for key, _ in versions):
        return rows
    there = view.get("subject", tuple(subject))
    parts = {part_of(version) for _, version in versions}
    parts.update(there.purged_parts if isinstance(there, SubjectValue) else ())
    counters: list[Key] = [("ordinals", *subject, ""), *(("types", *subject, part) for part in sorted(parts))]
    return [*rows, *(Row("counter", key, None) for key in counters if view.get("counter", key) is not None)]


def remove_versions(view: View, versions: list[Kept], *, spare_schema: int = 0) -> list[Row]:
    """Return the tombstones for versions and for whatever only they used.

    A schema goes with its last use, unless it is `spare_schema`; its id stays used up by its counter.
    """
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
