"""From JSON Schemas and a reader to a plan: JSON carries its names, so every version's rows go into the same columns."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from treaty.core.columns import Columns
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.data.columns import columns
from treaty.formats.jsonschema.format import FORMAT as JSON
from treaty.formats.jsonschema.model import Document
from treaty.spark.plan.ddl import columns_ddl, struct_ddl
from treaty.spark.plan.documents.merging import merged
from treaty.spark.plan.known import Known
from treaty.spark.plan.reasons import left_out, nothing_readable
from treaty.spark.plan.recipes import JsonRecipe
from treaty.spark.plan.value import DecodePlan, Rejected, Writer
from treaty.spark.plan.wish import Wish


def union(known: Sequence[Known], wish: Wish) -> tuple[Columns, list[Rejected]]:
    """The columns of all versions; a version that becomes no columns is left out."""
    made, losers = [], []
    for one in known:
        try:
            made.append(columns(one.schema, wish.depth))
        except InvalidSchemaError as wrong:
            losers.append(left_out(one, wrong))
    if not made:
        raise nothing_readable(losers)
    return reduce(merged, made), losers


def compose(known: Sequence[Known], reader: Document | Columns, wish: Wish) -> DecodePlan:
    """The plan for these writers and the columns of the reader. Raises `PlanError` without a writer."""
    made = reader if isinstance(reader, Columns) else columns(reader, wish.depth)
    writers = tuple(
        Writer(one.schema_id, one.subject, one.version, _text(one.schema))
        for one in {one.schema_id: one for one in known}.values()
    )
    if not writers:
        raise nothing_readable(())
    found = columns_ddl(made)
    return DecodePlan(
        subject="",
        format=JSON.name,
        reader_name="given",
        reader="" if isinstance(reader, Columns) else _text(reader),
        type=found[0][1] if made.whole else struct_ddl(found),
        columns=() if made.whole else found,
        writers=writers,
        rejected=(),
        recipe=JsonRecipe(made.whole),
        depth=wish.depth,
    )


def _text(schema: Any) -> str:
    return JSON.show(schema, False).canonical
