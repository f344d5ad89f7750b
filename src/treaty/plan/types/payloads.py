"""Several record types of a plug-in's format as one: a column for each, filled by the rows of its own ids."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from treaty.formats.format import Format
from treaty.plan.ddl import struct_ddl
from treaty.plan.errors import RESOLUTION, PlanError, drop_twins, nothing_readable
from treaty.plan.format_plans import RecordType
from treaty.plan.options import DecodeOptions
from treaty.plan.payloads import compose, plan_format, union
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.types.groups import RecordGroup, group_schemas, list_docs_inside
from treaty.plan.value import DecodePlan, RejectedSchema, WriterSchema


def plan_types(
    form: Format[Any], schemas: Sequence[RegisteredSchema], options: DecodeOptions
) -> tuple[DecodePlan, tuple[RecordType, ...]]:
    """The plan whose columns are the record types, each with the columns of all its versions. A type has the name that the
    format says, else that of its subject. Raises `PlanError` without a writer.
    """

    def list_names(schema: RegisteredSchema) -> tuple[str, ...]:
        return (
            form.show(schema.schema, False).type_name or schema.subject.removesuffix("-value").removesuffix("-key"),
        )

    kinds: list[tuple[int, str]] = []
    types: list[RecordType] = []
    writers: list[WriterSchema] = []
    rejected: list[RejectedSchema] = []
    docs: list[tuple[tuple[str, ...], str]] = []
    last: DecodePlan | None = None
    for group in group_schemas(schemas, list_names):
        try:
            last = _compose_group(form, group, options)
        except PlanError as error:
            rejected += [RejectedSchema(one.schema_id, RESOLUTION, str(error)) for one in group.known]
            continue
        rejected += last.rejected
        writers += last.writers
        kinds += ((one.schema_id, group.column) for one in last.writers)
        types.append(RecordType(group.column, group.name, last.type))
        docs += list_docs_inside(last, group.column)
    if last is None:
        raise nothing_readable(rejected)
    read = {one.schema_id for one in writers}
    recipe = plan_format(form, [one for one in schemas if one.schema_id in read], None, options)
    columns = tuple((one.column, one.type) for one in types)
    plan = replace(
        last,
        type=struct_ddl(columns),
        columns=columns,
        writers=tuple(writers),
        rejected=drop_twins(rejected),
        recipe=replace(recipe, kinds=tuple(kinds)),
        docs=tuple(docs),
    )
    return plan, tuple(types)


def _compose_group(form: Format[Any], group: RecordGroup, options: DecodeOptions) -> DecodePlan:
    reader, losers = union(form, group.known)
    lost = {one.schema_id for one in losers}
    plan = compose(form, [one for one in group.known if one.schema_id not in lost], reader, options)
    return replace(plan, rejected=(*losers, *plan.rejected))
