"""Decode plans for formats of plug-ins: by their columns, their comparison and their way to read payloads."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Columns
from treaty.formats.format import Format, InvalidSchemaError
from treaty.plan.ddl import columns_ddl, list_docs, struct_ddl
from treaty.plan.errors import PlanError, nothing_readable, refuse_schema, reject_schema
from treaty.plan.format_plans import PayloadFormatPlan
from treaty.plan.jsonschema import merge_columns
from treaty.plan.options import DecodeOptions
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import ROWS, DecodePlan, RejectedSchema, WriterSchema


def is_decodable(form: Format[Any]) -> bool:
    """Whether rows of a format can be decoded by what its record has."""
    return form.columns is not None and bool(form.payloads)


def union(form: Format[Any], versions: Sequence[RegisteredSchema]) -> tuple[Columns, list[RejectedSchema]]:
    """The columns of all versions, which meet by name; a version that becomes no columns is left out."""
    derived, losers = [], []
    for version in versions:
        try:
            derived.append(version.schema if isinstance(version.schema, Columns) else _derive(form, version.schema))
        except InvalidSchemaError as error:
            losers.append(reject_schema(version, error))
    if not derived:
        raise nothing_readable(losers)
    return reduce(merge_columns, derived), losers


def compose(form: Format[Any], versions: Sequence[RegisteredSchema], reader: Any, options: DecodeOptions) -> DecodePlan:
    """The plan for these writers; those that the reader can't read are rejected. Raises `PlanError` without a writer."""
    merged = reader if isinstance(reader, Columns) else None
    writers, rejected = [], []
    for version in {one.schema_id: one for one in versions}.values():
        findings = () if merged else form.compare(reader, version.schema, "STRICT")
        if findings:
            rejected.append(refuse_schema(version, findings))
        else:
            writers.append(version)
    if not writers:
        raise nothing_readable(rejected)
    columns = merged or _derive(form, reader)
    column_types = columns_ddl(columns)
    return DecodePlan(
        subject="",
        format=form.name,
        reader_name="given",
        reader="" if merged else form.show(reader, False).canonical,
        type=column_types[0][1] if columns.whole else struct_ddl(column_types),
        columns=() if columns.whole else column_types,
        writers=tuple(
            WriterSchema(
                version.schema_id, version.subject, version.version, form.show(version.schema, False).canonical
            )
            for version in writers
        ),
        rejected=tuple(rejected),
        recipe=plan_format(form, writers, None if merged else _resolve_reader(form, reader, versions), options),
        engine=ROWS,
        docs=tuple(list_docs(columns)),
    )


def plan_format(
    form: Format[Any], writers: Sequence[RegisteredSchema], reader: ResolvedSchema | None, options: DecodeOptions
) -> PayloadFormatPlan:
    """The format's own part of a plan for rows of these writers; without a reader each is read as it was written."""
    resolved = ((one.schema_id, resolve_known(form, one)) for one in writers)
    return PayloadFormatPlan.make(choose_encoding(form, options.encoding), reader, resolved)


def choose_encoding(form: Format[Any], name: str) -> str:
    """The way to write values that is named, or the usual one. Raises `PlanError` for one that the format does not have."""
    if name and name not in form.payloads:
        raise PlanError(f"encoding = {name!r} is none of {form.name}; there are {', '.join(form.payloads)}")
    return name or next(iter(form.payloads))


def _derive(form: Format[Any], schema: Any) -> Columns:
    assert form.columns is not None, "a format that can be decoded has columns"
    return form.columns(schema)


def _resolve_reader(form: Format[Any], reader: Any, versions: Sequence[RegisteredSchema]) -> ResolvedSchema:
    """The reader with its references where it is a version, else the text that was given, which has none."""
    version = next((one for one in versions if one.schema == reader), None)
    return resolve_known(form, version) if version else ResolvedSchema(form.name, form.show(reader, False).canonical)


def resolve_known(form: Format[Any], schema: RegisteredSchema) -> ResolvedSchema:
    """A schema with its references; without them the canonical text."""
    return schema.meaning or ResolvedSchema(form.name, form.show(schema.schema, False).canonical)
