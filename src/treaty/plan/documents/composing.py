"""From JSON Schemas and a reader to a plan: JSON carries its names, so every version's rows go into the same columns."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from treaty.core.state.columns import Columns
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.canonical import print_resolved
from treaty.formats.jsonschema.data.columns import derive_columns
from treaty.formats.jsonschema.format import FORMAT as JSON
from treaty.formats.jsonschema.model import JsonSchema
from treaty.plan.ddl import columns_ddl, docs_of, free, struct_ddl
from treaty.plan.documents.merging import merged
from treaty.plan.known import Known
from treaty.plan.reasons import PlanError, left_out, nothing_readable
from treaty.plan.recipes import JsonRecipe
from treaty.plan.value import DecodePlan, Rejected, Writer
from treaty.plan.wish import Wish

RESTS = {"map": "MAP<STRING, STRING>", "variant": "VARIANT"}
"""Ways to keep the members of a document that have no column, and the Spark type of each."""


def union(known: Sequence[Known], wish: Wish) -> tuple[Columns, list[Rejected]]:
    """The columns of all versions; a version that becomes no columns is left out."""
    made, losers = [], []
    for one in known:
        try:
            made.append(derive_columns(one.schema, wish.depth))
        except InvalidSchemaError as wrong:
            losers.append(left_out(one, wrong))
    if not made:
        raise nothing_readable(losers)
    return reduce(merged, made), losers


def compose(known: Sequence[Known], reader: JsonSchema | Columns, wish: Wish) -> DecodePlan:
    """The plan for these writers and the columns of the reader. Raises `PlanError` without a writer."""
    made = reader if isinstance(reader, Columns) else derive_columns(reader, wish.depth)
    writers = tuple(
        Writer(one.schema_id, one.subject, one.version, _text(one.schema))
        for one in {one.schema_id: one for one in known}.values()
    )
    if not writers:
        raise nothing_readable(())
    found = columns_ddl(made)
    rest = _rest(wish, found, whole=made.whole)
    found = (*found, (rest, RESTS[wish.rest])) if rest else found
    return DecodePlan(
        subject="",
        format=JSON.name,
        reader_name="given",
        reader="" if isinstance(reader, Columns) else _text(reader),
        type=found[0][1] if made.whole else struct_ddl(found),
        columns=() if made.whole else found,
        writers=writers,
        rejected=(),
        recipe=JsonRecipe(made.whole, checks=_checks(known) if wish.validate else (), rest=rest),
        depth=wish.depth,
        docs=tuple(docs_of(made)),
    )


def _rest(wish: Wish, columns: tuple[tuple[str, str], ...], *, whole: bool) -> str:
    """The name of the column for members without one, or nothing."""
    if not wish.rest:
        return ""
    if wish.rest not in RESTS:
        raise PlanError(f"rest={wish.rest!r} is no way to keep members without a column; there are {', '.join(RESTS)}")
    if whole:
        raise PlanError("the documents are no objects, so there is no rest of them; leave rest out")
    return free("rest", {name.lower() for name, _ in columns})


def _checks(known: Sequence[Known]) -> tuple[tuple[int, str], ...]:
    return tuple({one.schema_id: (one.schema_id, print_resolved(one.schema)) for one in known}.values())


def _text(schema: Any) -> str:
    return JSON.show(schema, False).canonical
