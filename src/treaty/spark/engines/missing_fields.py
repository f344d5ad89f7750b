"""Nullable fields that a writer lacks: each gets one of the type null in the writer that Spark is handed.

Avro's reader for Java makes the default of a field that a writer lacks by a decoder of its own, for each row anew. A
field of the type null takes no bytes, so rows stay as they are, and its value is what the default would be.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from treaty.plan.format_plans import AvroFormatPlan

Wanted = Mapping[str, tuple[str, ...]]
"""The fields of a reader's record whose default is null, by the full name of each writer's record that it is read from."""


def add_null_fields(plan: AvroFormatPlan) -> AvroFormatPlan:
    """The same plan with those fields in the writers; the plan itself where no writer lacks one."""
    if "default" not in plan.reader_text:
        return plan
    reader, writer = json.loads(plan.reader_text), json.loads(plan.writer_text)
    wanted = {alias: names for record, _ in _list_records(reader, "") for alias, names in _name_nullable(record)}
    envelopes = writer if isinstance(writer, list) else [writer]
    added = 0
    for full, record in ((full, record) for one in envelopes for record, full in _list_records(one, "")):
        added += _add_fields(record, wanted.get(full, ()))
    for one in envelopes:
        added += _add_fields(one, _list_nullable(reader))
    return replace(plan, writer_text=json.dumps(writer, separators=(",", ":"))) if added else plan


def _list_records(node: Any, space: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The records that are defined in a schema, with their full names; `space` is the namespace around it."""
    if isinstance(node, list):
        for one in node:
            yield from _list_records(one, space)
    elif isinstance(node, dict):
        if node["type"] == "record":
            space = node.get("namespace", space)
            yield node, f"{space}.{node['name']}" if space else node["name"]
            for one in node["fields"]:
                yield from _list_records(one["type"], space)
        else:
            for word in ("items", "values"):
                yield from _list_records(node.get(word), space)


def _list_nullable(record: dict[str, Any]) -> tuple[str, ...]:
    """The fields of a reader's record whose default is null."""
    return tuple(one["name"] for one in record["fields"] if one.get("default", 0) is None and "null" in one["type"])


def _name_nullable(record: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    names = _list_nullable(record)
    return ((alias, names) for alias in record.get("aliases", ()) if names)


def _add_fields(record: dict[str, Any], names: tuple[str, ...]) -> int:
    """Put the fields that a writer's record lacks before its last one; returns their number.

    The last field of an envelope is its tail.
    """
    fields = record["fields"]
    present = {one["name"] for one in fields}
    lacking = [{"name": name, "type": "null"} for name in names if name not in present]
    fields[-1:-1] = lacking
    return len(lacking)
