"""Record types among the schemas of a stream: which versions belong together, and what the column of each type is called."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treaty.plan.ddl import find_free_name
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import DecodePlan

Docs = tuple[tuple[tuple[str, ...], str], ...]
PLAIN = re.compile(r"[^0-9A-Za-z_]")


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """The versions of one record type, oldest first, under its newest name."""

    name: str
    column: str
    known: tuple[RegisteredSchema, ...]


def group_schemas(
    schemas: Sequence[RegisteredSchema], names_of: Callable[[RegisteredSchema], tuple[str, ...]]
) -> tuple[RecordGroup, ...]:
    """Group schemas by name, the oldest type first.

    `names_of` gives the full name of a schema and those that it had before: a version with its type's old name
    continues it.
    """
    groups: list[tuple[set[str], list[RegisteredSchema]]] = []
    for schema in {one.schema_id: one for one in sorted(schemas, key=lambda one: one.schema_id)}.values():
        names = names_of(schema)
        same_group = next((group for group in groups if group[0] & set(names)), None)
        if same_group is None:
            groups.append((set(names), [schema]))
        else:
            same_group[0].update(names)
            same_group[1].append(schema)
    newest = [names_of(members[-1])[0] for _, members in groups]
    columns = columns_of(newest)
    return tuple(
        RecordGroup(name, column, tuple(members))
        for name, column, (_, members) in zip(newest, columns, groups, strict=True)
    )


def list_docs_inside(plan: DecodePlan, column: str) -> Docs:
    """What a plan says of its fields, where its record is a column: paths begin with that; a value without fields is the column itself."""
    return tuple(((column, *path[0 if plan.columns else 1 :]), doc) for path, doc in plan.docs)


def columns_of(names: Sequence[str]) -> tuple[str, ...]:
    """A column for each full name: its last part, or the whole where two have that; other signs become underscores."""
    simple = [PLAIN.sub("_", name.rpartition(".")[2]) for name in names]
    lowered = [name.lower() for name in simple]
    columns = [
        name if lowered.count(name.lower()) == 1 else PLAIN.sub("_", full)
        for name, full in zip(simple, names, strict=True)
    ]
    used_names: set[str] = set()
    for place, column in enumerate(columns):
        columns[place] = find_free_name(column or "value", used_names)
        used_names.add(columns[place].lower())
    return tuple(columns)
