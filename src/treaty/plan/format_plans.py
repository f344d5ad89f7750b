"""Recipes: what a decode plan holds for one format only, or for several record types, as frozen values that can be
stored.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.plan.options import DecodeChoices

REFUSE, DOUBLE, ALLOW = "refuse", "double", "allow"
LOSSY = (REFUSE, DOUBLE, ALLOW)
"""What may be lost in Avro: nothing; digits of whole numbers of 64 bits beside fractions; these and digits of times."""
RESTS = {"map": "MAP<STRING, STRING>", "variant": "VARIANT"}
"""Types of the column for members of JSON documents without a column of their own."""


@dataclass(frozen=True, slots=True)
class FieldRepair:
    """A field whose value is in a hidden field for rows of some writers.

    `path` leads from the record to the field's owner: names, ``[]`` for the items of an array, ``{}`` for the values of
    a map. `how` is the conversion, `type` the Spark type that the field shall have.
    """

    path: tuple[str, ...]
    field: str
    hidden: str
    ids: tuple[int, ...]
    how: str
    type: str


@dataclass(frozen=True, slots=True)
class RepairedRecord:
    """The fields of a record in which, or below which, something is repaired."""

    path: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CutUnion:
    """A union some of whose types lie beyond the depth; these are the last members of its struct, and have no column.

    `path` leads from the record to it, `kept` counts the members before them. One of these is the column by itself, and
    two of numbers are one column of the Spark type `number`, empty otherwise.
    """

    path: tuple[str, ...]
    kept: int
    number: str = ""


@dataclass(frozen=True, slots=True)
class FieldDefault:
    """The default of the field at `path` that an engine puts in: the schema of a record with this field alone, and the
    bytes of that as hex.
    """

    path: tuple[str, ...]
    schema: str
    value: str


@dataclass(frozen=True, slots=True)
class AvroFormatPlan:
    """How Avro rows are read: what Spark's `from_avro` gets, and how the two texts are woven (see `plan.avro.envelope`)."""

    writer_text: str
    reader_text: str
    union: bool
    tail: str
    whole: str
    repairs: tuple[FieldRepair, ...] = ()
    layouts: tuple[RepairedRecord, ...] = ()
    cuts: tuple[CutUnion, ...] = ()
    """Unions of which values beyond the depth are left out."""
    branches: tuple[int, ...] = ()
    """The place in the union for each writer of the plan."""
    ending: str = ""
    """Eight bytes as hex, from which those behind each payload are made (see `plan.avro.envelope`)."""
    lossy: str = "refuse"
    """What may be lost: by a union of further versions, and by times in a coarser unit (see `DecodeOptions`)."""
    partly: tuple[tuple[int, str], ...] = ()
    """Ids of which the reader takes some values and not others, with what is said of a row that has another."""
    dropped: tuple[str, ...] = ()
    """Defaults of the reader that no row gets, as sentences: rows of versions that lack the field are bad."""
    counts: bool = False
    """Whether a few bytes may claim very many values that take none, so that an engine has to count them; Spark's does not."""
    defaults: tuple[FieldDefault, ...] = ()
    """What stands for fields in records of their own that are missing; an engine makes them, and no plan is stored with any."""

    def branch(self, place: int) -> int:
        """The place in the union for the writer at `place` of the plan."""
        return self.branches[place]

    def choices(self, columns: Mapping[str, str]) -> DecodeChoices:
        """What was wished of the plan; `columns` are its types by name."""
        return DecodeChoices(lossy=self.lossy)

    def explain(self) -> Iterator[str]:
        """Lines for people."""
        for fix in self.repairs:
            where = "/".join((*fix.path, fix.field))
            yield f"  converts {where}: {fix.how} for ids {', '.join(map(str, fix.ids))}"
        for default in self.dropped:
            yield f"  drops    {default}; rows that need it are RESOLUTION"
        if self.counts:
            yield "  counts   values that take no bytes (limit AVRO_FREE_VALUES), which Spark's from_avro does not"

    @staticmethod
    def read_stored(parts: dict[str, Any]) -> "AvroFormatPlan":
        """Read the stored form."""
        repairs = (
            FieldRepair(**{**part, "path": tuple(part["path"]), "ids": tuple(part["ids"])}) for part in parts["repairs"]
        )
        layouts = (RepairedRecord(tuple(part["path"]), tuple(part["fields"])) for part in parts["layouts"])
        branches = tuple(parts["branches"])
        partly = tuple((number, sentence) for number, sentence in parts["partly"])
        members = {"repairs": tuple(repairs), "layouts": tuple(layouts), "branches": branches, "partly": partly}
        members |= {"cuts": tuple(CutUnion(**{**part, "path": tuple(part["path"])}) for part in parts["cuts"])}
        members |= {"dropped": tuple(parts["dropped"]), "defaults": ()}
        return AvroFormatPlan(**{**parts, **members})


@dataclass(frozen=True, slots=True)
class MessageIndexes:
    """Message indexes of a writer, as hex: those that mean the reader's message, and what the others mean by name."""

    schema_id: int
    mine: tuple[str, ...]
    others: tuple[tuple[str, str], ...] = ()
    fields: tuple[tuple[str, int], ...] = ()
    """Where the reader's message holds one message of each record type: the number of its field by message index."""


@dataclass(frozen=True, slots=True)
class ProtobufFormatPlan:
    """How Protobuf rows are read: by the reader's message alone, since the wire knows fields by number.

    `files` are descriptors of files in Base64, each after those that it imports; `message` is a full name.
    """

    files: tuple[str, ...]
    message: str
    heads: tuple[MessageIndexes, ...]
    defaults: bool = False
    """Whether a field that is not set has its default and not null."""
    unknown: str = ""
    """The column for fields that the message does not have; without one they are dropped."""

    def choices(self, columns: Mapping[str, str]) -> DecodeChoices:
        """What was wished of the plan; `columns` are its types by name."""
        return DecodeChoices(message=self.message, defaults=self.defaults, unknown=bool(self.unknown))

    def explain(self) -> Iterator[str]:
        """Lines for people."""
        return iter(())

    @staticmethod
    def read_stored(parts: dict[str, Any]) -> "ProtobufFormatPlan":
        """Read the stored form."""
        heads = tuple(
            MessageIndexes(
                part["schema_id"],
                tuple(part["mine"]),
                tuple((head, name) for head, name in part["others"]),
                tuple((head, number) for head, number in part["fields"]),
            )
            for part in parts["heads"]
        )
        return ProtobufFormatPlan(tuple(parts["files"]), parts["message"], heads, parts["defaults"], parts["unknown"])


@dataclass(frozen=True, slots=True)
class JsonKind:
    """One of several record types: its column, its Spark type, its ids; `whole` where the documents are no objects."""

    column: str
    type: str
    ids: tuple[int, ...]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class JsonFormatPlan:
    """How JSON rows are read: into the columns of the plan. `whole`: the document is no object, and one column has it.

    With `kinds` each of the plan's columns is a record type, and the rows of its ids are read into it. `checks` are
    schemas by id, with all references inside, that documents are checked by; `rest` is the column for members that have
    none. `plain` are ids of draft 4, to which a number with a point or an exponent is no integer.
    """

    whole: bool = False
    kinds: tuple[JsonKind, ...] = ()
    checks: tuple[tuple[int, str], ...] = ()
    rest: str = ""
    plain: tuple[int, ...] = ()

    def choices(self, columns: Mapping[str, str]) -> DecodeChoices:
        """What was wished of the plan; `columns` are its types by name."""
        rest = next((way for way, kind in RESTS.items() if columns.get(self.rest) == kind), "")
        return DecodeChoices(validate=bool(self.checks), rest=rest)

    def explain(self) -> Iterator[str]:
        """Lines for people."""
        if self.checks:
            yield "  checks   documents by the schemas that they were written with"
        if self.plain:
            named = ", ".join(map(str, self.plain))
            yield f"  integers have no point and no exponent in rows of ids {named}, which are of draft 4"

    @staticmethod
    def read_stored(parts: dict[str, Any]) -> "JsonFormatPlan":
        """Read the stored form."""
        kinds = (JsonKind(**{**one, "ids": tuple(one["ids"])}) for one in parts["kinds"])
        checks = ((number, text) for number, text in parts["checks"])
        plain = tuple(parts["plain"])
        return JsonFormatPlan(**{**parts, "kinds": tuple(kinds), "checks": tuple(checks), "plain": plain})


@dataclass(frozen=True, slots=True)
class KeptSchema:
    """A schema's text, and for the name of each reference the place of the schema behind it, in a list of such schemas."""

    text: str
    references: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PayloadFormatPlan:
    """How rows of a format with `Format.payloads` are read: the way of writing, and the schemas.

    `schemas` has each text once, after those that it refers to; `writers` are places in it by id, `reader` is one. Without a
    reader (-1) each row is read as its writer's schema has it, and its fields get their columns by name. With `kinds` each of
    the plan's columns is a record type: ids and the columns that their records get.
    """

    encoding: str
    schemas: tuple[KeptSchema, ...]
    reader: int
    writers: tuple[tuple[int, int], ...]
    kinds: tuple[tuple[int, str], ...] = ()

    @staticmethod
    def make(
        encoding: str, reader: ResolvedSchema | None, writers: Iterable[tuple[int, ResolvedSchema]]
    ) -> "PayloadFormatPlan":
        """Keep the schemas of a plan."""
        schemas: list[KeptSchema] = []
        places: dict[bytes, int] = {}

        def keep(schema: ResolvedSchema) -> int:
            if schema.digest not in places:
                references = tuple((one.name, keep(one.meaning)) for one in schema.bindings)
                schemas.append(KeptSchema(schema.text, references))
                places[schema.digest] = len(schemas) - 1
            return places[schema.digest]

        placed = tuple((schema_id, keep(schema)) for schema_id, schema in writers)
        chosen = -1 if reader is None else keep(reader)
        return PayloadFormatPlan(encoding, tuple(schemas), chosen, placed)

    def resolve(self, format_: str) -> tuple[ResolvedSchema, ...]:
        """The schemas as their format parses them."""
        resolved: list[ResolvedSchema] = []
        for kept_schema in self.schemas:
            bound = (ResolvedReference(name, name, 0, resolved[place]) for name, place in kept_schema.references)
            resolved.append(ResolvedSchema(format_, kept_schema.text, tuple(bound)))
        return tuple(resolved)

    def choices(self, columns: Mapping[str, str]) -> DecodeChoices:
        """What was wished of the plan; `columns` are its types by name."""
        return DecodeChoices(encoding=self.encoding)

    def explain(self) -> Iterator[str]:
        """Lines for people."""
        yield f"  encoding {self.encoding}"

    @staticmethod
    def read_stored(parts: dict[str, Any]) -> "PayloadFormatPlan":
        """Read the stored form."""
        schemas = (
            KeptSchema(part["text"], tuple((name, place) for name, place in part["references"]))
            for part in parts["schemas"]
        )
        writers = tuple((schema_id, place) for schema_id, place in parts["writers"])
        kinds = tuple((schema_id, column) for schema_id, column in parts["kinds"])
        return PayloadFormatPlan(parts["encoding"], tuple(schemas), parts["reader"], writers, kinds)


FormatPlan = AvroFormatPlan | ProtobufFormatPlan | JsonFormatPlan | PayloadFormatPlan
FORMAT_PLANS: dict[str, type[FormatPlan]] = {
    "AVRO": AvroFormatPlan,
    "PROTOBUF": ProtobufFormatPlan,
    "JSON": JsonFormatPlan,
}
"""By format; every other has a `PayloadFormatPlan`."""


SHAPES = ("types", "wide", "variant")
"""What becomes of several record types: a struct per type, the columns of all types, or one VARIANT with the record."""


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record type: the column in which the engine gives its records, its full name, and the Spark type of a record."""

    column: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class RecordTypes:
    """The record types of a plan, in the order of their columns. `marker` is the column with a row's full name."""

    shape: str
    marker: str
    kinds: tuple[RecordType, ...]
    wanted: str = ""
    """The types that the caller named, with commas between; empty for all."""

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """What the engine gives: one column for each type, null but for the row's own."""
        return tuple((one.column, one.type) for one in self.kinds)

    @staticmethod
    def read_stored(parts: dict[str, object]) -> "RecordTypes":
        """Read the stored form."""
        kinds: list[dict[str, str]] = parts.pop("kinds")  # type: ignore[assignment]  # as it was stored
        return RecordTypes(kinds=tuple(RecordType(**one) for one in kinds), **parts)  # type: ignore[arg-type]  # as it was stored
