"""Makes Avro decode plans: rewrites each writer for the reader, and combines all of them in one envelope schema."""

import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.data.columns import derive_columns as table_columns
from treaty.formats.avro.data.free_values import claims_much, gives_much
from treaty.formats.avro.model import (
    AvroArray,
    AvroMap,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    is_null,
)
from treaty.formats.avro.schema_parser import SchemaParser
from treaty.formats.format import InvalidSchemaError
from treaty.plan.avro.bounds import find_bounded, find_walled, is_deeper
from treaty.plan.avro.chances import takes_some
from treaty.plan.avro.columns import columns, ddl, has_one_column
from treaty.plan.avro.defaults import drop_long_defaults, drop_wrong_defaults
from treaty.plan.avro.envelope import EnvelopeSchemas, make_ending, make_envelope
from treaty.plan.avro.fitted_writer import FittedWriter, HiddenField, fit_writer
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import MergeError, merge_next
from treaty.plan.ddl import list_docs
from treaty.plan.errors import PlanError, nothing_readable, refuse_schema, refuse_value, reject_schema
from treaty.plan.format_plans import LOSSY, REFUSE, AvroFormatPlan, CutUnion, FieldRepair, RepairedRecord
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import DecodePlan, RejectedSchema, WriterSchema


def union(versions: Sequence[RegisteredSchema], lossy: str = REFUSE) -> tuple[AvroSchema, list[RejectedSchema]]:
    """All versions as one reader, oldest first, and those that have no part in it. Raises `PlanError` for a `lossy`
    that is none, and where there is no version.
    """
    _check_lossy(lossy)
    if not versions:
        raise nothing_readable(())
    merged, losers = versions[0].schema, []
    assert merged is not None
    joined = [merged]
    for version in versions[1:]:
        assert version.schema is not None
        try:
            merged = merge_next(merged, version.schema, joined, lossy)
        except MergeError as error:
            losers.append(reject_schema(version, error))
        else:
            joined.append(version.schema)
    return merged, losers


def find_base(before: DecodePlan, versions: Sequence[RegisteredSchema], lossy: str) -> list[RegisteredSchema]:
    """The reader of a plan of a union as its oldest version, where it is another one than the union of the versions that
    are still there: so types of unions keep their columns when a version is deleted, or imported between others.
    """
    if versions and show_reader(union(versions, lossy)[0]) == before.reader:
        return []
    return [RegisteredSchema(-1, before.subject, 0, "AVRO", parse_avro(before.reader))]


def show_reader(reader: AvroSchema) -> str:
    """The text of a reader as a plan has it, without defaults that no row can have."""
    return print_schema(drop_wrong_defaults(reader)[0])


def _check_lossy(lossy: str) -> None:
    if lossy not in LOSSY:
        raise PlanError(f"lossy = {lossy!r} is not allowed; allowed are {', '.join(LOSSY)}")


def compose(
    versions: Iterable[RegisteredSchema], reader: AvroSchema, depth: int = 3, lossy: str = REFUSE
) -> DecodePlan:
    """The plan for these writers and this reader, without a registry. Raises `PlanError` if no writer can be read, and
    `InvalidSchemaError` for a reader of more columns than COLUMNS.
    """
    _check_lossy(lossy)
    reader, dropped = drop_wrong_defaults(reader)
    reader, long = drop_long_defaults(reader)
    opened, bounded, docs = _open_reader(reader, depth)
    writers: list[WriterSchema] = []
    shapes = WriterShapes(bounded)
    branches: list[int] = []
    rejected: list[RejectedSchema] = []
    partly: list[tuple[int, str]] = []
    for version in {one.schema_id: one for one in versions}.values():
        assert version.schema is not None
        writer = find_walled(version.schema)
        fitted = shapes.fit(writer)
        findings = (*compare(reader, version.schema), *fitted.findings)
        if findings and (fitted.findings or not takes_some(reader, version.schema, findings)):
            rejected.append(refuse_schema(version, findings))
        else:
            if refused := (*findings, *fitted.unread):
                partly.append((version.schema_id, refuse_value(version, refused)))
            writers.append(_list_writer(version))
            branches.append(shapes.place(writer, fitted))
    if not writers:
        raise nothing_readable(rejected)
    woven = _weave(shapes.fitted, bounded)
    return DecodePlan(
        subject="",
        format="AVRO",
        reader_name="given",
        reader=print_schema(reader),
        type=ddl(opened.root, opened.names),
        columns=columns(opened),
        writers=tuple(writers),
        rejected=tuple(rejected),
        recipe=AvroFormatPlan(
            woven.writer,
            woven.reader,
            woven.union,
            woven.tail,
            woven.whole,
            *_list_changes(bounded, writers, [shapes.fitted[place] for place in branches]),
            tuple(branches),
            ending=make_ending(woven.writer, woven.reader, *(f"{one.schema_id}" for one in writers)).hex(),
            lossy=lossy,
            partly=tuple(partly),
            dropped=(*dropped, *long),
            counts=gives_much(opened) or any(claims_much(AvroSchema(one.root, one.names)) for one in shapes.fitted),
        ),
        depth=depth,
        docs=docs,
    ).with_engine("spark")


def _list_writer(version: RegisteredSchema) -> WriterSchema:
    assert version.schema is not None
    return WriterSchema(version.schema_id, version.subject, version.version, print_schema(version.schema))


def _open_reader(
    reader: AvroSchema, depth: int
) -> tuple[AvroSchema, AvroSchema, tuple[tuple[tuple[str, ...], str], ...]]:
    """A reader with its recursive records opened, the same with the branches that lie deeper, and what it says of its fields.

    First of all, as its columns are counted.
    """
    opened = find_bounded(reader, depth)
    return opened, find_bounded(reader, depth, keeps_deeper=True), tuple(list_docs(table_columns(opened, depth)))


def _list_changes(
    reader: AvroSchema, writers: Sequence[WriterSchema], fitted: Sequence[FittedWriter]
) -> tuple[tuple[FieldRepair, ...], tuple[RepairedRecord, ...], tuple[CutUnion, ...]]:
    """What an engine changes of the records that Avro makes, and in which of them."""
    repairs, cuts = tuple(_repairs(reader, writers, fitted)), tuple(_list_cuts(reader, reader.root, ()))
    paths = [*(one.path for one in repairs), *(one.path for one in cuts)]
    return repairs, tuple(_layouts(reader, paths)), cuts


def _weave(fitted: Sequence[FittedWriter], reader: AvroSchema) -> EnvelopeSchemas:
    """Make the envelope. Its reader keeps all of Avro's rules: what an executor's parser refused would end a job, and not a
    row.
    """
    woven = make_envelope(fitted, reader)
    try:
        SchemaParser({}, strict=True).parse(json.loads(woven.reader))
    except InvalidSchemaError as error:
        raise PlanError(f"no schema can read these versions: {error}. Choose another reader, such as latest") from None
    return woven


def _repairs(
    reader: AvroSchema, writers: Sequence[WriterSchema], fitted: Sequence[FittedWriter]
) -> Iterable[FieldRepair]:
    """Every place of the reader where a hidden field stands, with the ids that fill it."""
    users: dict[HiddenField, list[int]] = {}
    for writer, fitted_writer in zip(writers, fitted, strict=True):
        for secret in fitted_writer.hidden:
            users.setdefault(secret, []).append(writer.schema_id)
    if not users:
        return
    for path, record in _records(reader, reader.root, ()):
        for secret, ids in users.items():
            if secret.record == record.full:
                kind = next(field.type for field in record.fields if field.name == secret.field)
                yield FieldRepair(path, secret.field, secret.name, tuple(ids), secret.how, ddl(kind, reader.names))


def _list_cuts(reader: AvroSchema, node: AvroType, path: tuple[str, ...]) -> Iterable[CutUnion]:
    """Every place of the reader where some types of a union lie beyond the depth."""
    match node:
        case AvroReference():
            named = reader.names[node.full]
            for field in named.fields if isinstance(named, AvroRecord) else ():
                yield from _list_cuts(reader, field.type, (*path, field.name))
        case AvroArray():
            yield from _list_cuts(reader, node.items, (*path, "[]"))
        case AvroMap():
            yield from _list_cuts(reader, node.values, (*path, "{}"))
        case AvroUnion():
            parts = [part for part in node.branches if not is_null(part)]
            within_depth = [part for part in parts if not is_deeper(part)]
            if 0 < len(within_depth) < len(parts):
                union = AvroUnion(tuple(within_depth))
                number = ddl(union, reader.names) if has_one_column(union, reader.names) else ""
                yield CutUnion(path, len(within_depth), number)
            for place, part in enumerate(within_depth):
                yield from _list_cuts(reader, part, path if len(parts) == 1 else (*path, f"member{place}"))


def _layouts(reader: AvroSchema, below: Iterable[tuple[str, ...]]) -> Iterable[RepairedRecord]:
    """The records in or below which something is repaired."""
    paths = {one[:end] for one in below for end in range(len(one) + 1)}
    if not paths:
        return
    for path, record in _records(reader, reader.root, ()):
        if path in paths:
            yield RepairedRecord(path, tuple(field.name for field in record.fields))


def _records(reader: AvroSchema, node: AvroType, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], AvroRecord]]:
    match node:
        case AvroReference():
            named = reader.names[node.full]
            if isinstance(named, AvroRecord):
                yield path, named
                for field in named.fields:
                    yield from _records(reader, field.type, (*path, field.name))
        case AvroArray():
            yield from _records(reader, node.items, (*path, "[]"))
        case AvroMap():
            yield from _records(reader, node.values, (*path, "{}"))
        case AvroUnion():
            parts = [part for part in node.branches if not is_null(part)]
            for place, part in enumerate(parts):
                yield from _records(reader, part, path if len(parts) == 1 else (*path, f"member{place}"))


@dataclass(slots=True)
class WriterShapes:
    """The shapes of writers as a reader sees them, in the order of their branches."""

    reader: AvroSchema
    fitted: list[FittedWriter] = field(default_factory=list)
    places: dict[Hashable, int] = field(default_factory=dict)

    def fit(self, writer: AvroSchema) -> FittedWriter:
        """The writer fitted to the reader, under names that no branch has."""
        return fit_writer(writer, self.reader, "w")

    def place(self, writer: AvroSchema, fitted: FittedWriter) -> int:
        """The branch of a writer that was looked at: that of its shape, or a new one."""
        text = print_schema(AvroSchema(fitted.root, fitted.names))
        key = (text, fitted.aliases, fitted.hidden, fitted.extra)
        if key not in self.places:
            self.places[key] = len(self.fitted)
            self.fitted.append(fit_writer(writer, self.reader, f"w{len(self.fitted)}"))
        return self.places[key]
