"""Decode plans for formats of plug-ins: by their columns, their comparison and their way to read payloads."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Columns
from treaty.formats.format import Format, InvalidSchemaError
from treaty.plan.ddl import columns_ddl, list_docs, struct_ddl
from treaty.plan.documents import merge_columns
from treaty.plan.errors import PlanError, nothing_readable, refuse_schema, reject_schema
from treaty.plan.format_plans import PayloadFormatPlan
from treaty.plan.options import DecodeOptions
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import ROWS, DecodePlan, RejectedSchema, WriterSchema


def is_decodable(form: Format[Any]) -> bool:
    """Whether rows of a format can be decoded by what its record has."""
    return form.columns is not None and bool(form.payloads)


def union(form: Format[Any], known: Sequence[RegisteredSchema]) -> tuple[Columns, list[RejectedSchema]]:
    """The columns of all versions, which meet by name; a version that becomes no columns is left out."""
    made, losers = [], []
    for one in known:
        try:
            made.append(one.schema if isinstance(one.schema, Columns) else _derive(form, one.schema))
        except InvalidSchemaError as wrong:
            losers.append(reject_schema(one, wrong))
    if not made:
        raise nothing_readable(losers)
    return reduce(merge_columns, made), losers


def compose(form: Format[Any], known: Sequence[RegisteredSchema], reader: Any, options: DecodeOptions) -> DecodePlan:
    """The plan for these writers; those that the reader can't read are rejected. Raises `PlanError` without a writer."""
    merged = reader if isinstance(reader, Columns) else None
    writers, rejected = [], []
    for one in {one.schema_id: one for one in known}.values():
        findings = () if merged else form.compare(reader, one.schema, "STRICT")
        if findings:
            rejected.append(refuse_schema(one, findings))
        else:
            writers.append(one)
    if not writers:
        raise nothing_readable(rejected)
    made = merged or _derive(form, reader)
    found = columns_ddl(made)
    return DecodePlan(
        subject="",
        format=form.name,
        reader_name="given",
        reader="" if merged else form.show(reader, False).canonical,
        type=found[0][1] if made.whole else struct_ddl(found),
        columns=() if made.whole else found,
        writers=tuple(
            WriterSchema(one.schema_id, one.subject, one.version, form.show(one.schema, False).canonical)
            for one in writers
        ),
        rejected=tuple(rejected),
        recipe=plan_format(form, writers, None if merged else _resolve_reader(form, reader, known), options),
        engine=ROWS,
        docs=tuple(list_docs(made)),
    )


def plan_format(
    form: Format[Any], writers: Sequence[RegisteredSchema], reader: ResolvedSchema | None, options: DecodeOptions
) -> PayloadFormatPlan:
    """The format's own part of a plan for rows of these writers; without a reader each is read as it was written."""
    known = ((one.schema_id, resolve_known(form, one)) for one in writers)
    return PayloadFormatPlan.make(choose_encoding(form, options.encoding), reader, known)


def choose_encoding(form: Format[Any], name: str) -> str:
    """The way to write values that is named, or the usual one. Raises `PlanError` for one that the format does not have."""
    if name and name not in form.payloads:
        raise PlanError(f"encoding = {name!r} is none of {form.name}; there are {', '.join(form.payloads)}")
    return name or next(iter(form.payloads))


def _derive(form: Format[Any], schema: Any) -> Columns:
    assert form.columns is not None, "a format that can be decoded has columns"
    return form.columns(schema)


def _resolve_reader(form: Format[Any], reader: Any, known: Sequence[RegisteredSchema]) -> ResolvedSchema:
    """The reader with its references where it is a version, else the text that was given, which has none."""
    found = next((one for one in known if one.schema == reader), None)
    return resolve_known(form, found) if found else ResolvedSchema(form.name, form.show(reader, False).canonical)


def resolve_known(form: Format[Any], one: RegisteredSchema) -> ResolvedSchema:
    """A schema with its references; without them the canonical text."""
    return one.meaning or ResolvedSchema(form.name, form.show(one.schema, False).canonical)
