"""Decoded rows as changes of a keyed table: the key, whether it is a delete, its place in the order, and the columns."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.plan.ddl import quote_name
from treaty.plan.errors import PlanError
from treaty.plan.rows import Names
from treaty.plan.value import DecodePlan
from treaty.spark.decode import decode
from treaty.spark.keyed.options import OPS, DebeziumEnvelope, KeyedTableOptions
from treaty.spark.lake.comments import Docs

KEY, KEY_ERROR = "_treaty_key", "_treaty_key_error"
DELETED, EMPTIED = "_deleted", "_emptied"
"""Whether a change deletes its row, and whether it deletes all rows."""
VERSION = "_version"
"""The column of a table for the version of its rows."""


def decode_keys(frame: DataFrame, keyed: KeyedTableOptions, plan: DecodePlan | None) -> DataFrame:
    """The frame with its keys decoded, and why a key is bad."""
    if plan is None:
        return frame
    names = Names(KEY, KEY_ERROR)
    return decode(frame, plan, column=keyed.column, names=names, part="key")


def add_change_errors(
    decoded: DataFrame, keyed: KeyedTableOptions, *, value: str, record: str, error: str
) -> DataFrame:
    """The decoded rows, with an error where the value is good and the change is none: a bad key, an unknown operation."""
    message = _find_message(decoded, keyed, value, record)
    error_type = decoded.schema[error].dataType
    parts_of_error = {
        "code": F.lit("INVALID"),
        "message": message,
        "schema_id": F.lit(None).cast("int"),
        "payload": F.col(quote_name(value)),
    }
    change_error = F.when(message.isNotNull(), F.struct(*(part.alias(name) for name, part in parts_of_error.items())))
    parts = [F.col(error)]
    if KEY_ERROR in decoded.columns:
        bad = F.col(KEY_ERROR)
        key_error = {
            "code": bad["code"],
            "message": F.concat(F.lit("key: "), bad["message"]),
            "schema_id": bad["schema_id"],
            "payload": F.col(quote_name(value)),
        }
        parts.append(F.when(bad.isNotNull(), F.struct(*(part.alias(name) for name, part in key_error.items()))))
    ready = decoded.withColumn(error, F.coalesce(*parts, change_error).cast(error_type))
    return ready.withColumn(record, F.when(F.col(error).isNull(), F.col(record)))


def _find_message(decoded: DataFrame, keyed: KeyedTableOptions, value: str, record: str) -> Column:
    """Why a row whose value could be read is no change; null where it is one."""
    none = F.lit(None).cast("string")
    emptied = _is_truncate(keyed, record)
    keyless = F.lit(False)
    for column in _select_keys(decoded, keyed, record).values():
        keyless |= column.isNull()
    message = F.when(keyless & ~emptied, F.lit("the key is null, or a part of it: the row that it means is unknown"))
    if keyed.envelope is None:
        return message
    op = F.col(record)[keyed.envelope.op]
    row = _select_row(keyed, record)
    strange = F.coalesce(op.isin(*OPS), F.lit(False))
    alive = F.col(quote_name(value)).isNotNull()
    return (
        F.when(alive & ~strange, F.concat(F.lit("the operation is "), F.coalesce(op, F.lit("null")), F.lit(f", none of {', '.join(OPS)}")))
        .when(alive & row.isNull() & (op != "t") & (op != "d"), F.concat(F.lit("there is no row in an event with the operation "), op))
        .otherwise(message if keyed.subject or _has_all_keys(decoded, keyed) else F.when(alive, message).otherwise(none))
    )  # fmt: skip


def _has_all_keys(decoded: DataFrame, keyed: KeyedTableOptions) -> bool:
    return all(name in decoded.columns for name in keyed.key)


def _is_truncate(keyed: KeyedTableOptions, record: str) -> Column:
    if keyed.envelope is None:
        return F.lit(False)
    return F.coalesce(F.col(record)[keyed.envelope.op] == "t", F.lit(False))


def _select_row(keyed: KeyedTableOptions, record: str) -> Column:
    """The row of a change: the value itself, or what the envelope has."""
    envelope = keyed.envelope
    if envelope is None:
        return F.col(record)
    change = F.col(record)
    return F.when(change[envelope.op] == "d", change[envelope.before]).otherwise(change[envelope.after])


def _list_row_columns(decoded: DataFrame, keyed: KeyedTableOptions, record: str) -> StructType:
    kind = decoded.schema[record].dataType
    if isinstance(kind, StructType) and keyed.envelope is not None:
        for name in (keyed.envelope.before, keyed.envelope.after, keyed.envelope.op):
            if name not in kind.names:
                raise PlanError(
                    f"an envelope has {keyed.envelope}, and the values have no field {name!r}: {kind.names}"
                )
        kind = kind[keyed.envelope.after].dataType
    if not isinstance(kind, StructType):
        raise PlanError("a table with a key needs values with fields; these are one value each")
    return kind


def _select_keys(decoded: DataFrame, keyed: KeyedTableOptions, record: str) -> Mapping[str, Column]:
    """The columns of the key, by name."""
    if KEY in decoded.columns:
        kind = decoded.schema[KEY].dataType
        if not isinstance(kind, StructType):
            return {(keyed.key or ("key",))[0]: F.col(KEY)}
        _require_columns(keyed.key, kind.names, f"the key's schema {keyed.subject}")
        return {name: F.col(KEY)[name] for name in keyed.key or kind.names}
    inside = _list_row_columns(decoded, keyed, record)
    _require_columns(
        keyed.key, (*decoded.columns, *inside.names), "what the pipeline keeps and among the value's fields"
    )
    row = _select_row(keyed, record)
    return {name: F.col(quote_name(name)) if name in decoded.columns else row[name] for name in keyed.key}


def _require_columns(names: tuple[str, ...], had: tuple[str, ...] | list[str], where: str) -> None:
    for name in names:
        if name not in had:
            raise PlanError(f"there is no key column {name!r} in {where}; there is {', '.join(had) or 'nothing'}")


def select_changes(
    decoded: DataFrame, keyed: KeyedTableOptions, kept_names: tuple[str, ...], *, value: str, record: str, error: str
) -> DataFrame:
    """The changes of decoded and checked rows: key, columns kept, order, version, the row's columns, and what it does.

    Delete markers that belong to no key, as Debezium sends them after a delete where keys are not decoded, are left
    out.
    """
    keys, inside = _select_keys(decoded, keyed, record), _list_row_columns(decoded, keyed, record)
    row, change = _select_row(keyed, record), F.col(record)
    names = [*keys, *(name for name in (*kept_names, *keyed.order) if name not in keys)]
    other_fields = [one for one in inside.fields if one.name not in names]
    key_columns = {name: keys.get(name, F.col(quote_name(name))) for name in dict.fromkeys(names)}
    row_columns = {**key_columns, **{one.name: row[one.name] for one in other_fields}}
    if keyed.version:
        at = change
        for part in keyed.version.split("."):
            at = at[part]
        row_columns[VERSION] = at
    deleted = change.isNull()
    if keyed.envelope is not None:
        deleted |= change[keyed.envelope.op] == "d"
    row_columns[DELETED], row_columns[EMPTIED] = deleted, _is_truncate(keyed, record)
    good = decoded.filter(F.col(error).isNull() & (F.col(record).isNotNull() | F.col(quote_name(value)).isNull()))
    selected = good.select(*(column.alias(name) for name, column in row_columns.items()))
    keyless = F.lit(False)
    for name in keys:
        keyless |= F.col(quote_name(name)).isNull()
    return selected.filter(~keyless | F.col(EMPTIED))


def list_key_columns(decoded: DataFrame, keyed: KeyedTableOptions, record: str) -> tuple[str, ...]:
    """The columns of the key in the table."""
    return tuple(_select_keys(decoded, keyed, record))


def select_docs(plan: DecodePlan, envelope: DebeziumEnvelope | None) -> Docs:
    """What the schema says of the table's columns."""
    if envelope is None:
        return plan.docs
    return tuple((path[1:], doc) for path, doc in plan.docs if path[0] == envelope.after and len(path) > 1)
