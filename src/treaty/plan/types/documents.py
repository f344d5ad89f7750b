"""Several JSON record types as one: a column for each, filled by the rows of its own ids."""

from collections.abc import Sequence
from dataclasses import replace

from treaty.plan.ddl import struct_ddl
from treaty.plan.documents.composing import compose, union
from treaty.plan.known import Known
from treaty.plan.reasons import PlanError, nothing_readable, once
from treaty.plan.recipes import JsonKind, JsonRecipe, RecordType
from treaty.plan.types.grouping import Group, grouped
from treaty.plan.value import DecodePlan, Rejected, Writer
from treaty.plan.wish import Wish


def plan_types(known: Sequence[Known], wish: Wish) -> tuple[DecodePlan, tuple[RecordType, ...]]:
    """The plan whose columns are the record types, each with the columns of all its versions."""
    kinds: list[JsonKind] = []
    types: list[RecordType] = []
    writers: list[Writer] = []
    rejected: list[Rejected] = []
    last: DecodePlan | None = None
    checks: list[tuple[int, str]] = []
    if wish.rest:
        raise PlanError("rest is for documents of one record type; leave it out, or read one type")
    for group in grouped(known, _names):
        try:
            last = _composed(group, wish)
        except PlanError as wrong:
            rejected += [Rejected(one.schema_id, "RESOLUTION", str(wrong)) for one in group.known]
            continue
        rejected += last.rejected
        writers += last.writers
        recipe = last.recipe
        checks += recipe.checks if isinstance(recipe, JsonRecipe) else ()
        ids = tuple(one.schema_id for one in last.writers)
        kinds.append(JsonKind(group.column, last.type, ids, whole=isinstance(recipe, JsonRecipe) and recipe.whole))
        types.append(RecordType(group.column, group.name, last.type))
    if last is None:
        raise nothing_readable(rejected)
    columns = tuple((one.column, one.type) for one in types)
    plan = replace(
        last,
        reader="",
        type=struct_ddl(columns),
        columns=columns,
        writers=tuple(writers),
        rejected=once(rejected),
        recipe=JsonRecipe(kinds=tuple(kinds), checks=tuple(checks)),
    )
    return plan, tuple(types)


def _composed(group: Group, wish: Wish) -> DecodePlan:
    reader, losers = union(group.known, wish)
    plan = compose(group.known, reader, wish)
    lost = {one.schema_id for one in losers}
    left = tuple(one for one in plan.writers if one.schema_id not in lost)
    return replace(plan, writers=left, rejected=(*losers, *plan.rejected))


def _names(one: Known) -> tuple[str, ...]:
    """The title of a schema, or the subject without its ending where it has none."""
    value = one.schema.root.value
    title = value.get("title") if isinstance(value, dict) else None
    return (title,) if isinstance(title, str) and title else (one.subject.removesuffix("-value").removesuffix("-key"),)
