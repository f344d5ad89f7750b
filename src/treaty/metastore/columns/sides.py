"""Which version the key and the value of a source pin, or which schema is made for them; the columns that follow; and what is refused
(framings, primitive types, shared names).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from treaty.core.names import Subject
from treaty.core.refusals import FormatNotAllowed, Invalid
from treaty.core.registry import Exchange
from treaty.core.schema import Draft
from treaty.core.state.columns import Column, Columns, ColumnType, List, Scalar, Struct
from treaty.metastore.columns.from_schema import Side, columns_of_schema, refuse_twins
from treaty.metastore.columns.pins import PinnedVersion, find_latest_version, find_pinned_version, find_version_with_id
from treaty.metastore.columns.sql_types import print_bare_type
from treaty.metastore.columns.to_schema import FORMATS, SchemaChoices, find_root_name, schema_of_columns
from treaty.metastore.sql.properties import KAFKA, NONE

KAFKA_SCALARS = frozenset({"int32", "int64", "float32", "float64", "string", "binary"})
"""Types of a key in the format KAFKA: four or eight bytes of a number, UTF-8, or the bytes themselves."""
AVRO_FRAMINGS = frozenset({"md5", "single-object"})
"""Framings whose heads are fingerprints of Avro schemas."""
HEADER_TYPES: Mapping[str, ColumnType] = {
    "header": Scalar("binary"),
    "headers": List(Struct((Column("key", Scalar("string")), Column("value", Scalar("binary")))), nullable=True),
}
"""By role, the type of a column of one header, and of a column of all headers."""
SUBJECT_PROPERTIES: Mapping[Side, str] = {"key": "KEY_SUBJECT", "value": "SUBJECT"}
"""Properties that name the subject of each half."""


@dataclass(frozen=True, slots=True)
class SideRequest:
    """What a statement says of one half of a record.

    `format` is AVRO, JSON or PROTOBUF, of keys NONE and KAFKA too; "" where the statement leaves it to the schema.
    `columns` are those that it declares for this half, `subject` is where the schemas are, `schema_id` names one of them (-1:
    none). `wrapped` and `wrappers` are as in `SchemaChoices`.
    """

    side: Side
    format: str
    subject: Subject
    columns: tuple[Column, ...] = ()
    schema_id: int = -1
    full_name: str = ""
    wrapped: bool | None = None
    wrappers: bool = False
    framing: str = "prefix"

    @property
    def prefix(self) -> str:
        """What the properties of this half begin with."""
        return self.side.upper()


@dataclass(frozen=True, slots=True)
class SettledSide:
    """One half of a record as a source has it: with a pin, with a draft that is to be registered, or with neither.

    `columns` are those of the source, `decoded` those of a decoded row, in which they may have other types.
    """

    side: Side
    format: str
    columns: tuple[Column, ...] = ()
    decoded: Columns = field(default_factory=lambda: Columns(()))
    pin: PinnedVersion | None = None
    draft: Draft | None = None
    subject: Subject | None = None
    full_name: str = ""
    framing: str = "prefix"
    notes: tuple[str, ...] = ()


def settle_side(request: SideRequest) -> Exchange[SettledSide]:
    """The half of a source that a statement describes.

    Without columns it is read from the subject: the latest version, or the one with the schema id. With columns a schema
    is made of them, given the latest version. Raises `Invalid` for what does not go together, `FormatNotAllowed` for a schema of another
    format, and `NotFound` where a schema is missing.
    """
    if request.format in {NONE, KAFKA}:
        return _settle_plain(request)
    _refuse_bad_framing(request)
    if request.wrappers and request.format not in {"", "PROTOBUF"}:
        raise Invalid.of(
            "SOURCE_FORMAT",
            f"{request.prefix}_PROTOBUF_NULLABLE_REPRESENTATION = 'WRAPPER' is for PROTOBUF, and the {request.side} is {request.format}: leave it out",
            path=f"{request.prefix}_PROTOBUF_NULLABLE_REPRESENTATION",
            new="WRAPPER",
            allowed="no such property",
        )
    if request.columns and request.schema_id >= 0:
        raise Invalid.of(
            "SCHEMA_AND_COLUMNS",
            f"the {request.side} has columns and {request.prefix}_SCHEMA_ID = {request.schema_id}, and columns come from one of them: leave one out",
            path=f"{request.prefix}_SCHEMA_ID",
            new=str(request.schema_id),
            allowed="columns, or a schema id",
        )
    if request.columns:
        return (yield from _settle_declared(request))
    if request.schema_id >= 0:
        pin = yield from find_version_with_id(request.subject, request.schema_id, SUBJECT_PROPERTIES[request.side])
    else:
        pin = yield from find_pinned_version(request.subject)
    return settle_pinned(request, pin)


def settle_pinned(request: SideRequest, pin: PinnedVersion) -> SettledSide:
    """The half of a source whose columns come from a version: at a CREATE, and at each REFRESH SCHEMA."""
    format_ = pin.schema.format
    if request.format not in {"", format_}:
        raise FormatNotAllowed.of(
            "SOURCE_FORMAT",
            f"version {pin.number} of {pin.subject} is {format_}, and the statement says {request.prefix}_FORMAT = '{request.format}': say "
            f"'{format_}', or name another subject",
            path=f"{request.prefix}_FORMAT",
            old=format_,
            new=request.format,
            subject=str(pin.subject),
            allowed=format_,
        )
    _refuse_bad_framing(replace(request, format=format_))
    _refuse_other_name(request, pin)
    message = request.full_name if format_ == "PROTOBUF" else ""
    columns = columns_of_schema(pin.schema, side=request.side, message=message)
    return SettledSide(
        request.side,
        format_,
        columns.columns,
        columns,
        pin,
        subject=pin.subject,
        full_name=request.full_name,
        framing=request.framing,
    )


def _settle_declared(request: SideRequest) -> Exchange[SettledSide]:
    if not request.format:
        raise Invalid.of(
            "SOURCE_FORMAT",
            f"the {request.side} has columns and no format: say {request.prefix}_FORMAT = 'AVRO', 'JSON' or 'PROTOBUF'",
            path=f"{request.prefix}_FORMAT",
            allowed=", ".join(FORMATS),
        )
    latest = yield from find_latest_version(request.subject)
    choices = SchemaChoices(
        request.subject, request.format, request.side, request.full_name, request.wrapped, request.wrappers
    )
    derived = schema_of_columns(request.columns, choices, latest)
    return SettledSide(
        request.side,
        request.format,
        derived.columns,
        derived.decoded,
        draft=derived.draft,
        subject=latest.subject if latest else request.subject,
        full_name=request.full_name,
        framing=request.framing,
        notes=derived.notes,
    )


def _settle_plain(request: SideRequest) -> SettledSide:
    """A key without a schema."""
    if request.side == "value":
        raise Invalid.of(
            "SOURCE_FORMAT",
            f"VALUE_FORMAT = '{request.format}' is a format of keys alone: say one of {', '.join(FORMATS)}",
            path="VALUE_FORMAT",
            new=request.format,
            allowed=", ".join(FORMATS),
        )
    if request.schema_id >= 0 or request.full_name:
        word = "KEY_SCHEMA_ID" if request.schema_id >= 0 else "KEY_SCHEMA_FULL_NAME"
        raise Invalid.of(
            "SOURCE_FORMAT",
            f"KEY_FORMAT = '{request.format}' has no schema, and {word} names one: leave it out, or say the format of the schema",
            path=word,
            new=request.format,
            allowed=", ".join(FORMATS),
        )
    if request.format == NONE and request.columns:
        named = ", ".join(one.name for one in request.columns)
        raise Invalid.of(
            "SOURCE_FORMAT",
            f"KEY_FORMAT = 'NONE' means that keys are not read, and {named} is declared as one: say the format of the keys",
            path="KEY_FORMAT",
            new=NONE,
            allowed=", ".join((*FORMATS, KAFKA)),
        )
    if request.format == KAFKA:
        _refuse_no_primitive(request.columns)
    return SettledSide("key", request.format, request.columns, Columns(request.columns, whole=True), framing="none")


def _refuse_no_primitive(columns: Sequence[Column]) -> None:
    """Raise `Invalid` unless there is one column of a type that Kafka's own serializers write."""
    allowed = ", ".join(sorted(print_bare_type(Scalar(one)) for one in KAFKA_SCALARS))
    if len(columns) != 1:
        what = f"{len(columns)} columns are declared as the key" if columns else "no column is declared as the key"
        raise Invalid.of(
            "KEY_COLUMN",
            f"KEY_FORMAT = 'KAFKA' is one primitive, and {what}: declare one of {allowed}, or say another format",
            path="KEY_FORMAT",
            new=str(len(columns)),
            allowed="one column",
        )
    kind = columns[0].type
    if not isinstance(kind, Scalar) or kind.name not in KAFKA_SCALARS:
        raise Invalid.of(
            "KEY_COLUMN",
            f"{columns[0].name} is {print_bare_type(kind)}, and a key in the format KAFKA is one of {allowed}: declare one of these, or "
            "say another format",
            path=columns[0].name,
            new=print_bare_type(kind),
            allowed=allowed,
        )


def choose_key_format(format_: str, columns: Sequence[Column], *, names_schema: bool) -> str:
    """The format of a key where the statement leaves it out: that of the schema where it names one, NONE without columns,
    KAFKA for one primitive. `names_schema`: it has KEY_SUBJECT or KEY_SCHEMA_ID.

    Raises `Invalid` for columns that are no primitive: their format has to be said.
    """
    if format_ or names_schema:
        return format_
    if not columns:
        return NONE
    if len(columns) == 1 and isinstance(columns[0].type, Scalar) and columns[0].type.name in KAFKA_SCALARS:
        return KAFKA
    raise Invalid.of(
        "SOURCE_FORMAT",
        f"the key ({', '.join(one.name for one in columns)}) is no single primitive, so its format has to be said: KEY_FORMAT = 'AVRO', 'JSON' "
        "or 'PROTOBUF'",
        path="KEY_FORMAT",
        allowed=", ".join(FORMATS),
    )


def _refuse_bad_framing(request: SideRequest) -> None:
    if request.framing in AVRO_FRAMINGS and request.format not in {"", "AVRO"}:
        raise Invalid.of(
            "SOURCE_FRAMING",
            f"FRAMING = '{request.framing}' is a fingerprint of Avro, and the {request.side} is {request.format}: take prefix, header, version or none",
            path="FRAMING",
            new=request.framing,
            allowed="prefix, header, version, none",
        )


def _refuse_other_name(request: SideRequest, pin: PinnedVersion) -> None:
    """Raise `Invalid` where the statement names a record that the version is not; messages are looked up by their name."""
    format_ = pin.schema.format
    if not request.full_name or format_ == "PROTOBUF":
        return
    name = find_root_name(pin.schema) if format_ == "AVRO" else ""
    if name == request.full_name:
        return
    had = f"is called {name}" if name else "has no name"
    raise Invalid.of(
        "SCHEMA_NAME",
        f"version {pin.number} of {pin.subject} {had}, and the statement says {request.prefix}_SCHEMA_FULL_NAME = '{request.full_name}': "
        "leave it out",
        path=f"{request.prefix}_SCHEMA_FULL_NAME",
        old=name,
        new=request.full_name,
        allowed=name or "no name",
    )


def refuse_bad_headers(columns: Sequence[tuple[Column, str]]) -> None:
    """Raise `Invalid` for a column of headers that has not the type of its role, ``header`` or ``headers``."""
    for column, role in columns:
        header_type = print_bare_type(HEADER_TYPES[role])
        if print_bare_type(column.type) != header_type:
            word = "all headers are" if role == "headers" else "a header is"
            raise Invalid.of(
                "HEADER_COLUMN",
                f"{column.name} is {print_bare_type(column.type)}, and {word} {header_type}: declare it so",
                path=column.name,
                new=print_bare_type(column.type),
                allowed=header_type,
            )


def refuse_shared_names(key: SettledSide, value: SettledSide, headers: Sequence[Column] = ()) -> None:
    """Raise `Invalid` where key, value and headers have columns of one name, or of names that differ in case alone."""
    if not key.columns and not headers:
        return  # those of the value are different from each other
    names = {one.name.lower(): one.name for one in value.columns}
    shared = next((one.name for one in key.columns if one.name.lower() in names), None)
    if shared is not None:
        raise Invalid.of(
            "COLUMN_TWICE",
            f"key and value both have a column {shared}, and to SQL that is one name: declare the key's column under another name, or leave the "
            "keys out by KEY_FORMAT = 'NONE'",
            path=shared,
            old=shared,
            new=names[shared.lower()],
            allowed="names that differ in more than upper and lower case",
        )
    refuse_twins((*key.columns, *value.columns, *headers), "the source")
