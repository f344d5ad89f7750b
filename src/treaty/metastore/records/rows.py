"""INSERT, UPDATE and DELETE as records: literals by column, cast and encoded, before any record is sent."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from treaty.client.kafka.producer import ANY, OutgoingRecord
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import HEADER_OF, Headers
from treaty.core.column_types import lower_name
from treaty.core.refusals import Invalid
from treaty.core.sources import TABLE_KIND, Source
from treaty.core.state.columns import Column, Map, Scalar
from treaty.metastore.columns.sides import HEADER_TYPES
from treaty.metastore.records.literals import UnfitLiteralError, cast_literal, show_literal
from treaty.metastore.records.sides import Encode, RecordSide, make_encoder
from treaty.metastore.sql.values import ArrayLiteral, ColumnCondition, SqlLiteral

TIMESTAMPS = ("_timestamp", "rowtime")
"""Names under which the time of a record is set; the second is ksqlDB's."""
PARTITION, HEADERS = "_partition", "_headers"
Row = Mapping[str, SqlLiteral]
"""Literals by key of column: names with A-Z as a-z."""


@dataclass(frozen=True, slots=True)
class RecordSchema:
    """What records of a source are made of: the halves, and the columns of headers."""

    source: Source
    key: RecordSide | None
    value: RecordSide
    names: Mapping[str, str] = field(default_factory=dict)
    """The spelling of each column by its key."""

    @property
    def key_columns(self) -> tuple[Column, ...]:
        """The columns of the key; none where keys are not read."""
        return () if self.key is None else self.key.columns


def make_schema(source: Source, key: RecordSide | None, value: RecordSide) -> RecordSchema:
    """Return what the records of a source are made of."""
    return RecordSchema(source, key, value, {lower_name(one.name): one.name for one in source.columns})


# ------------------------------------------------------------------------------------------------- statements as rows


def insert_rows(schema: RecordSchema, columns: Sequence[str], rows: Sequence[Sequence[SqlLiteral]]) -> list[Row]:
    """Return the rows of an INSERT by column. Raises `Invalid` for a column that there is not, and for too many values or too few."""
    _refuse_unknown(schema, columns, rows[0])
    keys = [_key_of(schema, name) for name in columns] if columns else _all_columns(schema, len(rows[0]))
    if len(set(keys)) != len(keys):
        twice = next(name for name in keys if keys.count(name) > 1)
        raise Invalid.of("COLUMN_TWICE", f"the column {twice} is there twice", path="/sql", new=twice, allowed="once")
    return [dict(zip(keys, row, strict=True)) for row in rows]


def _refuse_unknown(schema: RecordSchema, columns: Sequence[str], row: Sequence[SqlLiteral]) -> None:
    """Raise `Invalid` for columns that there are not; the message has what else is wrong with the first row."""
    unknown: list[Invalid] = []
    unfit: list[str] = []
    typed = {lower_name(one.name): one for side in (schema.key, schema.value) if side for one in side.columns}
    for name, literal in zip(columns, row, strict=False):
        try:
            column = typed.get(_key_of(schema, name))
            if column is not None:
                cast_literal(literal, column.type, column.name)
        except UnfitLiteralError as error:
            unfit.append(str(error))
        except Invalid as error:
            unknown.append(error)
    if unknown:
        first = unknown[0].reason
        message = "; ".join([*(refusal.reason.message for refusal in unknown), *unfit])
        raise Invalid(replace(first, message=message, details=tuple(refusal.reason.allowed for refusal in unknown[1:])))


def _all_columns(schema: RecordSchema, count: int) -> list[str]:
    """Return the columns that values without a list of columns are for: all, or all that are no headers."""
    source = schema.source
    for roles in (("key", "value", "header"), ("key", "value")):
        names = [one.name for one in source.columns if one.role in roles]
        if len(names) == count:
            return [lower_name(name) for name in names]
    names = [one.name for one in source.columns if one.role != "header"]
    raise Invalid.of(
        "VALUE_COUNT", f"the rows have {count} values, and {source.name} has {len(names)} columns", path="/sql", new=str(count),
        allowed=f"a value for each of {', '.join(names)}; or name the columns before VALUES",
    )  # fmt: skip


def _key_of(schema: RecordSchema, name: str) -> str:
    key = lower_name(name)
    if key in schema.names or key in {*TIMESTAMPS, PARTITION, HEADERS}:
        return key
    near = get_close_matches(key, schema.names, 1)
    hint = f"did you mean {schema.names[near[0]]}?" if near else f"one of {', '.join(schema.names.values())}"
    raise Invalid.of(
        "COLUMN_UNKNOWN", f"{schema.source.name} has no column {name}", path="/sql", new=name,
        allowed=f"{hint}; beside its own columns _timestamp, _headers and _partition",
    )  # fmt: skip


def update_row(
    schema: RecordSchema, values: Iterable[tuple[str, SqlLiteral]], conditions: Sequence[ColumnCondition]
) -> Row:
    """Return the row of an UPDATE: the key of its conditions, and all value columns. Raises `Invalid` where one is missing."""
    row = dict(_key_row(schema, conditions, "UPDATE"))
    for name, literal in values:
        key = _key_of(schema, name)
        if key in row:
            raise Invalid.of(
                "UPDATE_KEY", f"{name} is a column of the key, and a row keeps its key", path="/sql", new=name,
                allowed="DELETE and INSERT, or columns of the value",
            )  # fmt: skip
        row[key] = literal
    missing = [one.name for one in schema.value.columns if lower_name(one.name) not in row]
    if missing:
        raise Invalid.of(
            "UPDATE_COLUMNS", f"UPDATE writes the whole value, and sets no {', '.join(missing)}", path="/sql",
            old=", ".join(missing), allowed="SET of all columns that are not of the key",
        )  # fmt: skip
    return row


def delete_row(schema: RecordSchema, conditions: Sequence[ColumnCondition]) -> Row:
    """Return the key of a DELETE."""
    return _key_row(schema, conditions, "DELETE")


def _key_row(schema: RecordSchema, conditions: Sequence[ColumnCondition], word: str) -> Row:
    source = schema.source
    if source.kind != TABLE_KIND:
        raise Invalid.of(
            "NOT_A_TABLE", f"{word} is of rows of a table, and {source.name} is a stream, whose records stay", path="/sql",
            new=source.name, allowed="INSERT INTO, which adds a record",
        )  # fmt: skip
    keys = {lower_name(one.name): one.name for one in schema.key_columns}
    row: dict[str, SqlLiteral] = {}
    for condition in conditions:
        key = _key_of(schema, condition.column)
        if key not in keys or key in row:
            why = "is no column of the key" if key not in keys else "is there twice"
            raise Invalid.of(
                "KEY_CONDITION", f"{condition.column} {why}, and {word} finds its row by the key", path="/sql",
                new=condition.column, allowed=" AND ".join(f"{name} = …" for name in keys.values()),
            )  # fmt: skip
        row[key] = condition.value
    missing = [name for key, name in keys.items() if key not in row]
    if missing:
        raise Invalid.of(
            "KEY_CONDITION", f"the condition has no {', '.join(missing)}, and {word} finds its row by the whole key", path="/sql",
            old=", ".join(missing), allowed=" AND ".join(f"{name} = …" for name in keys.values()),
        )  # fmt: skip
    return row


# ---------------------------------------------------------------------------------------------------- rows as records


class _UnfitCellsError(Exception):
    """Values of one row do not fit their columns."""

    def __init__(self, unfit: Sequence[UnfitLiteralError]) -> None:
        """Say of each what is wrong with it."""
        super().__init__("; ".join(map(str, unfit)))
        self.unfit = unfit


def encode_rows(schema: RecordSchema, rows: Sequence[Row], *, delete: bool = False) -> list[OutgoingRecord]:
    """Return the records of rows; with `delete` they are tombstones, and the value columns of the rows are NULL.

    Raises `Invalid` for the first row with values that do not fit: it names column, value and type of each, and which row it is
    where there are several.
    """
    try:
        key = None if schema.key is None else make_encoder(schema.key)
        value = make_encoder(schema.value)
    except BadValueError as error:
        raise Invalid.of("SOURCE_SCHEMA", f"{schema.source.name} can't be written: {error}", path="/sql") from error
    records: list[OutgoingRecord] = []
    for place, row in enumerate(rows, 1):
        try:
            records.append(_encode_row(schema, row, (key, value), place, delete=delete))
        except (UnfitLiteralError, _UnfitCellsError) as error:
            raise _make_refusal(error, f"row {place}: " if len(rows) > 1 else "") from error
    return records


def _encode_row(
    schema: RecordSchema, row: Row, encoders: tuple[Encode | None, Encode], place: int, *, delete: bool
) -> OutgoingRecord:
    encode_key, encode_value = encoders
    key = value = None
    key_headers: Headers = ()
    value_headers: Headers = ()
    if encode_key is not None and schema.key is not None:
        cells = _cells(schema.key, row)
        if _has_key(schema, cells, place):
            key, key_headers = _encode(encode_key, schema.key, cells, row, place)
    if delete:
        _refuse_values(schema, row, place)
    else:
        cells = _cells(schema.value, row)
        value, value_headers = _encode(encode_value, schema.value, cells, row, place)
    return OutgoingRecord(
        schema.source.place, key, value, (*_headers(schema, row), *key_headers, *value_headers),
        _partition(row, schema), _time(row, schema),
    )  # fmt: skip


def _cells(side: RecordSide, row: Row) -> dict[str, Any]:
    """Return the values of one half of a row by name of column; what the row leaves out is left out. Raises `_UnfitCellsError`."""
    cells: dict[str, Any] = {}
    unfit: list[UnfitLiteralError] = []
    for column in side.columns:
        key = lower_name(column.name)
        if key not in row:
            continue
        literal = row[key]
        if literal is None and not column.nullable:
            unfit.append(UnfitLiteralError(column.name, literal, column.type, "it is never NULL"))
            continue
        try:
            cells[column.name] = cast_literal(literal, column.type, column.name)
        except UnfitLiteralError as error:
            unfit.append(error)
    if unfit:
        raise _UnfitCellsError(unfit)
    return cells


def _make_refusal(error: "UnfitLiteralError | _UnfitCellsError", where: str) -> Invalid:
    first = error if isinstance(error, UnfitLiteralError) else error.unfit[0]
    return Invalid.of(
        "VALUE_UNFIT", f"{where}{error}; nothing was sent", path=first.path, old=first.type, new=first.shown,
        allowed=first.type,
    )  # fmt: skip


def _has_key(schema: RecordSchema, cells: Mapping[str, Any], place: int) -> bool:
    """Return whether a row has a key. Raises `Invalid` for a row of a table without its whole key."""
    missing = [one.name for one in schema.key_columns if cells.get(one.name) is None]
    if schema.source.kind == TABLE_KIND and missing:
        raise Invalid.of(
            "KEY_NULL", f"row {place} has no {', '.join(missing)}, and a row of a table has its whole key; nothing was sent",
            path=missing[0], new="NULL", allowed="a value for each column of the key",
        )  # fmt: skip
    return len(missing) < len(schema.key_columns)


def _encode(encode: Encode, side: RecordSide, cells: Mapping[str, Any], row: Row, place: int) -> tuple[bytes, Headers]:
    try:
        return encode(cells)
    except BadValueError as error:
        column = _column_of(str(error), side)
        literal_text = show_literal(row.get(lower_name(column))) if column else ""
        where = f"{column} = {literal_text}: " if column else ""
        tail = "; a tombstone needs AS DELETE" if side.part == "value" and not any(cells.values()) else ""
        raise Invalid.of(
            "VALUE_UNFIT", f"row {place} does not fit the schema of the {side.part}: {where}{error}; nothing was sent{tail}",
            path=column or "/sql", new=literal_text, allowed=f"a value that schema {side.known.schema_id} takes" if side.known else "",
        ) from error  # fmt: skip


def _column_of(message: str, side: RecordSide) -> str:
    """Return the column that an error of an encoder is about, by its pointer; empty where it names none."""
    _, mark, pointer = message.partition("at /")
    name = pointer.partition(":")[0].partition("/")[0] if mark else ""
    return name if any(one.name == name for one in side.columns) else ""


def _refuse_values(schema: RecordSchema, row: Row, place: int) -> None:
    """Raise `Invalid` for a value in a row that deletes."""
    named = [one.name for one in schema.value.columns if row.get(lower_name(one.name)) is not None]
    if named:
        raise Invalid.of(
            "DELETE_VALUES", f"row {place} deletes, and {', '.join(named)} has a value; nothing was sent", path=named[0],
            new=show_literal(row[lower_name(named[0])]), allowed="NULL, or no AS DELETE",
        )  # fmt: skip


# ----------------------------------------------------------------------------------------- time, partition and headers


def _list_pseudo_columns(row: Row, schema: RecordSchema, *names: str) -> Iterator[tuple[str, SqlLiteral]]:
    """Yield what a row says under names that no column of the source has."""
    yield from (
        (name, row[name]) for name in names if name in row and name not in schema.names and row[name] is not None
    )


def _time(row: Row, schema: RecordSchema) -> int:
    """Return the time of a record in ms since the epoch; 0 is now."""
    for name, literal in _list_pseudo_columns(row, schema, *TIMESTAMPS):
        if type(literal) is int:
            time = literal
        else:
            instant: datetime = cast_literal(literal, Scalar("timestamp"), name)
            time = int(instant.timestamp() * 1_000)
        if not 0 < time < 1 << 62:
            kind = Scalar("timestamp")
            raise UnfitLiteralError(name, literal, kind, "a record's time is after 1970-01-01")
        return time
    return 0


def _partition(row: Row, schema: RecordSchema) -> int:
    for name, literal in _list_pseudo_columns(row, schema, PARTITION):
        partition: int = cast_literal(literal, Scalar("int32"), name)
        if partition < 0:
            raise UnfitLiteralError(name, literal, Scalar("int32"), "partitions are 0 and up")
        return partition
    return ANY


def _headers(schema: RecordSchema, row: Row) -> Headers:
    """Return the headers of a record: of columns of one header, and of those of all headers."""
    headers: list[tuple[str, bytes]] = []
    for column in schema.source.columns:
        literal = row.get(lower_name(column.name))
        if column.role == "header" and column.header and literal is not None:
            headers.append((column.header, cast_literal(literal, HEADER_TYPES["header"], column.name)))
        elif column.role == "header" and literal is not None:
            headers += _list_headers(column.name, literal)
    for name, literal in _list_pseudo_columns(row, schema, HEADERS):
        headers += _list_headers(name, literal)
    for header, _ in headers:
        if header in HEADER_OF.values():
            raise Invalid.of(
                "HEADER_RESERVED", f"the header {header} says the schema of a record, and is set with FRAMING = 'header'",
                path=HEADERS, new=header, allowed="another name",
            )  # fmt: skip
    return tuple(headers)


def _list_headers(name: str, literal: SqlLiteral) -> list[tuple[str, bytes]]:
    if isinstance(literal, ArrayLiteral):
        listed = cast_literal(literal, HEADER_TYPES["headers"], name)
        return [(one.get("key") or "", one.get("value") or b"") for one in listed if one is not None]
    pairs = cast_literal(literal, Map(Scalar("string"), Scalar("binary"), nullable=True), name)
    return [(key, value or b"") for key, value in pairs.items()]
