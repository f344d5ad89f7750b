"""Several JSON record types as one: a column for each, filled by the rows of its own ids."""

from collections.abc import Sequence
from dataclasses import replace

from treaty.plan.ddl import struct_ddl
from treaty.plan.errors import PlanError, drop_twins, nothing_readable
from treaty.plan.format_plans import JsonFormatPlan, JsonKind, RecordType
from treaty.plan.jsonschema import compose, union
from treaty.plan.options import DecodeOptions
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.types.groups import RecordGroup, group_schemas, list_docs_inside
from treaty.plan.value import DecodePlan, RejectedSchema, WriterSchema


def plan_types(
    schemas: Sequence[RegisteredSchema], options: DecodeOptions
) -> tuple[DecodePlan, tuple[RecordType, ...]]:
    """The plan whose columns are the record types, each with the columns of all its versions."""
    kinds: list[JsonKind] = []
    types: list[RecordType] = []
    writers: list[WriterSchema] = []
    rejected: list[RejectedSchema] = []
    last: DecodePlan | None = None
    engines: set[str] = set()
    checks: list[tuple[int, str]] = []
    plain: list[int] = []
    docs: list[tuple[tuple[str, ...], str]] = []
    if options.rest:
        raise PlanError("rest is for documents of one record type; leave it out, or read one type")
    for group in group_schemas(schemas, _names):
        try:
            last = _compose_group(group, options)
        except PlanError as error:
            rejected += [RejectedSchema(one.schema_id, "RESOLUTION", str(error)) for one in group.known]
            continue
        engines.add(last.engine)
        rejected += last.rejected
        writers += last.writers
        recipe = last.recipe
        checks += recipe.checks if isinstance(recipe, JsonFormatPlan) else ()
        plain += recipe.plain if isinstance(recipe, JsonFormatPlan) else ()
        ids = tuple(one.schema_id for one in last.writers)
        kinds.append(JsonKind(group.column, last.type, ids, whole=isinstance(recipe, JsonFormatPlan) and recipe.whole))
        types.append(RecordType(group.column, group.name, last.type))
        docs += list_docs_inside(last, group.column)
    if last is None:
        raise nothing_readable(rejected)
    columns = tuple((one.column, one.type) for one in types)
    plan = replace(
        last,
        reader="",
        type=struct_ddl(columns),
        columns=columns,
        writers=tuple(writers),
        rejected=drop_twins(rejected),
        recipe=JsonFormatPlan(kinds=tuple(kinds), checks=tuple(checks), plain=tuple(plain)),
        engine="arrow" if engines == {"arrow"} else "spark",
        docs=tuple(docs),
    )
    return plan, tuple(types)


def _compose_group(group: RecordGroup, options: DecodeOptions) -> DecodePlan:
    reader, losers = union(group.known, options)
    plan = compose(group.known, reader, options)
    lost = {one.schema_id for one in losers}
    left = tuple(one for one in plan.writers if one.schema_id not in lost)
    return replace(plan, writers=left, rejected=(*losers, *plan.rejected))


def _names(schema: RegisteredSchema) -> tuple[str, ...]:
    """The title of a schema, or the subject without its ending where it has none."""
    value = schema.schema.root.value
    title = value.get("title") if isinstance(value, dict) else None
    return (
        (title,) if isinstance(title, str) and title else (schema.subject.removesuffix("-value").removesuffix("-key"),)
    )
