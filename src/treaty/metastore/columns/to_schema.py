"""The schema of a source whose statement has columns: as `treaty.spark` derives one, given the latest version of the subject."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treaty.core.limits import COLUMNS
from treaty.core.names import Subject
from treaty.core.refusals import FormatNotAllowed, Invalid, Reason
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, Columns, Decimal, Scalar, Struct
from treaty.formats.avro.model import AvroEnum, AvroFixed, AvroRecord
from treaty.formats.format import InvalidSchemaError
from treaty.metastore.columns.allowed_types import refuse_absent_types
from treaty.metastore.columns.declared import ColumnDifference, settle_columns
from treaty.metastore.columns.from_schema import Side, refuse_twins
from treaty.metastore.columns.pins import PinnedVersion
from treaty.metastore.columns.plan_functions import derive_decoded_columns, derive_text, parse_resolved
from treaty.metastore.columns.sql_types import print_bare_type
from treaty.plan.encoding.options import DeriveOptions
from treaty.plan.errors import PlanError

FORMATS = ("AVRO", "JSON", "PROTOBUF")
"""Formats of which schemas are derived."""
SCALARS_OF_AVRO = frozenset(
    ("boolean", "int32", "int64", "float32", "float64", "string", "binary", "date", "timestamp", "timestamp_ntz")
)
"""Scalars that a schema of Avro which is derived from them gives back; it has a text for ``variant``."""
NAMED_CLASHES = 3
"""The most columns that one refusal names in its message; its details name all."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


@dataclass(frozen=True, slots=True)
class SchemaChoices:
    """What a statement says of a schema that is made of its columns.

    `subject` is where it is to be registered, `side` the half of the record. `full_name` is the name of the record or the
    message (of JSON the title); without one that of the latest version, else one made of the subject's. `wrapped` says
    whether a single column is a field of a record; None: as the latest version has it, else it is one. With `wrappers` a new scalar
    of Protobuf that may be null is a wrapper, else an `optional` field.
    """

    subject: Subject
    format: str
    side: Side = "value"
    full_name: str = ""
    wrapped: bool | None = None
    wrappers: bool = False
    """Whether a new scalar of Protobuf that may be null is a wrapper, and not an `optional` field."""


@dataclass(frozen=True, slots=True)
class DerivedSchema:
    """A schema that was made of columns, to be registered, and the columns that the source then has.

    `decoded` are those of a decoded row: there may be more, from the latest version, and in JSON numbers are wider.
    `notes` are sentences about what the schema does not keep.
    """

    draft: Draft
    columns: tuple[Column, ...]
    decoded: Columns
    notes: tuple[str, ...] = ()


def schema_of_columns(
    columns: Sequence[Column], choices: SchemaChoices, latest: PinnedVersion | None = None
) -> DerivedSchema:
    """The schema of rows with these columns: the latest version where it holds them, grown where it does not.

    Columns that are those of the latest version, as `columns_of_schema` has them, are held by it whatever they are: so a
    statement that was printed from a source comes to the same version, also where it has unions, recursion or any JSON.
    A nullable field has the default null. What a format can't say stays in the columns: in JSON INT, FLOAT and BINARY; in
    Protobuf comments, and whether an array or a map may be null. A column is nullable where the schema takes null for it
    although it was declared NOT NULL (a message of Protobuf, a field of the latest version), and a note says so.

    Raises `Invalid` for no columns, a name twice, a type that the format does not have, a column that the latest version
    has with another type, and a name that is none; `FormatNotAllowed` where the latest version is of another format.
    """
    _refuse_bad_choices(columns, choices, latest)
    refuse_twins(columns, f"the {choices.side}'s columns")
    draft = _find_held(columns, choices, latest)
    if draft is None:
        refuse_absent_types(columns, choices.format)
        derive = _derive_record if _is_wrapped(columns, choices, latest) else _derive_bare
        draft = derive(columns, choices, latest)
    if _are_kept(columns, choices, latest):
        return DerivedSchema(draft, tuple(columns), Columns(tuple(columns)))
    decoded = _decode(draft, columns, choices, latest)
    refuse_twins(decoded.columns, f"the {choices.side}'s columns beside those of {choices.subject}")
    settled = settle_columns(columns, decoded.columns, choices.format)
    _refuse_clashes(settled.clashes, choices, latest)
    notes = tuple(_note_null(one, choices) for one in settled.differences if one.is_null)
    return DerivedSchema(draft, settled.columns, decoded, notes)


def _refuse_bad_choices(columns: Sequence[Column], choices: SchemaChoices, latest: PinnedVersion | None) -> None:
    if choices.format not in FORMATS:
        raise Invalid.of(
            "SOURCE_FORMAT",
            f"no schema of {choices.format} is made of columns: choose {', '.join(FORMATS)}, or register a schema and leave the columns out",
            new=choices.format,
            allowed=", ".join(FORMATS),
        )
    if not columns:
        raise Invalid.of("SOURCE_COLUMNS", f"the {choices.side} has no columns: write at least one", allowed="a column")
    if latest is not None and latest.schema.format != choices.format:
        raise FormatNotAllowed.of(
            "SOURCE_FORMAT",
            f"{latest.subject} has schemas of {latest.schema.format}, and the statement says {choices.format}: say {latest.schema.format}, or "
            "name another subject",
            old=latest.schema.format,
            new=choices.format,
            subject=str(latest.subject),
            allowed=latest.schema.format,
        )
    if choices.full_name and not _NAME.fullmatch(choices.full_name) and choices.format != "JSON":
        raise Invalid.of(
            "SCHEMA_NAME",
            f"{choices.full_name!r} is no name of a record or message: letters, digits and underscores, with points between, are",
            new=choices.full_name,
            allowed="a name such as shop.Order",
        )


def _find_held(columns: Sequence[Column], choices: SchemaChoices, latest: PinnedVersion | None) -> Draft | None:
    """The latest version where its columns are the declared ones, by name and type; None where they are others."""
    if latest is None or (choices.full_name and choices.format == "JSON"):
        return None
    draft = Draft(latest.schema.text, choices.format, latest.references)
    if choices.format == "AVRO" and choices.full_name not in {"", find_root_name(latest.schema)}:
        return None
    try:
        decoded = _decode(draft, columns, choices, latest)
    except Invalid:
        return None
    if choices.wrapped is decoded.whole and len(columns) == 1:  # the statement says it otherwise than the version
        return None
    same = {column.name: print_bare_type(column.type) for column in decoded} == {
        column.name: print_bare_type(column.type) for column in columns
    }
    return draft if same and len(columns) == len(decoded.columns) else None


def find_root_name(schema: ResolvedSchema) -> str:
    """The full name of the record, enum or fixed that an Avro schema is; "" where it is a type without a name."""
    model = parse_resolved(schema)
    root = model.resolve(model.root)
    return root.full if isinstance(root, AvroRecord | AvroEnum | AvroFixed) else ""


def _is_wrapped(columns: Sequence[Column], choices: SchemaChoices, latest: PinnedVersion | None) -> bool:
    """Whether the columns are fields of a record. Raises `Invalid` where they have to be, and shall not."""
    if choices.wrapped is False:
        if why := _find_fields(columns, choices.format):
            raise Invalid.of(
                "SCHEMA_WRAPPED",
                f"WRAP_SINGLE_VALUE = 'false' is for one column of AVRO or JSON without fields, and {why}: leave it out",
                new="false",
                allowed="true",
            )
        return False
    if choices.wrapped is None and latest is not None and len(columns) == 1 and choices.format in _BARE:
        return not derive_decoded_columns(latest.schema).whole
    return True


def _find_fields(columns: Sequence[Column], format_: str) -> str:
    """What of the columns has to be a field of a record, as a clause; "" where nothing has."""
    if len(columns) != 1:
        return f"{len(columns)} columns are fields"
    if isinstance(columns[0].type, Struct):
        return f"{columns[0].name} is a STRUCT, whose fields would be the columns"
    return "" if format_ in _BARE else f"a schema of {format_} is a message"


def _derive_record(columns: Sequence[Column], choices: SchemaChoices, latest: PinnedVersion | None) -> Draft:
    options = DeriveOptions(choices.format, name=choices.full_name, wrappers=choices.wrappers)
    registered = latest.as_registered() if latest else None
    try:
        return derive_text(columns, choices.subject, options, registered, latest.references if latest else ())
    except PlanError as error:
        raise Invalid.of(
            "COLUMN_TYPE", f"no schema of {choices.format} is made of the {choices.side}'s columns: {error}"
        ) from error


def _derive_bare(columns: Sequence[Column], choices: SchemaChoices, latest: PinnedVersion | None) -> Draft:
    """The schema of a column alone, which is no field of a record; a null is a delete marker, so it is not nullable."""
    column = replace(columns[0], nullable=False)
    if latest is not None:
        derived = derive_decoded_columns(latest.schema)
        if (
            derived.whole
            and not settle_columns(
                (replace(column, name=derived.columns[0].name),), derived.columns, choices.format
            ).clashes
        ):
            return Draft(latest.schema.text, choices.format, latest.references)
    record = _derive_record((column,), choices, None)
    return Draft(
        json.dumps(_BARE[choices.format](json.loads(record.text), column.name), ensure_ascii=False), choices.format
    )


def _bare_avro(record: dict[str, Any], name: str) -> Any:
    del name
    return record["fields"][0]["type"]


def _bare_json(document: dict[str, Any], name: str) -> Any:
    return {"$schema": document["$schema"], "title": document["title"], **document["properties"][name]}


_BARE: Mapping[str, Any] = {"AVRO": _bare_avro, "JSON": _bare_json}
"""By format, the schema of the only field of a record as one of its own."""


def _are_kept(columns: Sequence[Column], choices: SchemaChoices, latest: PinnedVersion | None) -> bool:
    """Whether a decoded row has just these columns, so that the new text need not be parsed for them: scalars of a new record of
    Avro.
    """
    if latest is not None or choices.format != "AVRO" or choices.full_name or choices.wrapped is False:
        return False
    for column in columns:
        is_scalar = isinstance(column.type, Scalar) and column.type.name in SCALARS_OF_AVRO
        if not is_scalar and not isinstance(column.type, Decimal):
            return False
    return len(columns) <= COLUMNS


def _decode(draft: Draft, columns: Sequence[Column], choices: SchemaChoices, latest: PinnedVersion | None) -> Columns:
    """The columns of rows that are decoded with the new schema; a single one has the name that was declared."""
    bindings = latest.schema.bindings if latest and draft.references else ()
    schema = ResolvedSchema(draft.format, draft.text, bindings)
    message = choices.full_name if choices.format == "PROTOBUF" else ""
    try:
        derived = derive_decoded_columns(schema, message=message)
    except (InvalidSchemaError, PlanError) as error:
        raise Invalid.of(
            "SOURCE_COLUMNS", f"the {choices.side}'s columns make no valid schema of {choices.format}: {error}"
        ) from error
    return replace(derived, columns=(replace(derived.columns[0], name=columns[0].name),)) if derived.whole else derived


def _refuse_clashes(clashes: Sequence[ColumnDifference], choices: SchemaChoices, latest: PinnedVersion | None) -> None:
    if not clashes:
        return
    where = f"version {latest.number} of {latest.subject}" if latest else f"a schema of {choices.format}"
    details = tuple(_describe_clash(one, where) for one in clashes)
    more = f" (and {len(details) - NAMED_CLASHES} more)" if len(details) > NAMED_CLASHES else ""
    first = clashes[0]
    raise Invalid(
        Reason(
            "COLUMN_CLASH",
            f"{'; '.join(details[:NAMED_CLASHES])}{more}. Declare them so, leave the columns out, or name another subject",
            path=first.path,
            old=first.decoded,
            new=first.declared,
            allowed=first.decoded or "the names of the schema",
            details=details,
        )
    )


def _describe_clash(difference: ColumnDifference, where: str) -> str:
    if not difference.decoded:
        return f"{difference.path} is called otherwise in {where}"
    return f"{difference.path} is {difference.declared} in the statement and {difference.decoded} in {where}"


def _note_null(difference: ColumnDifference, choices: SchemaChoices) -> str:
    return (
        f"{difference.path} was declared NOT NULL, and the {choices.side}'s schema takes null there: rows may have it"
    )
