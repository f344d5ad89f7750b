"""Types of SQL as types of columns and back: those that a statement says, and those that a decoded row has."""

from collections.abc import Mapping

from treaty.core.column_types import (
    ColumnTypeError,
    SqlArray,
    SqlDecimal,
    SqlField,
    SqlMap,
    SqlScalar,
    SqlStruct,
    SqlTime,
    SqlType,
    TypeLookup,
    UserType,
    expand_type,
    print_column_type,
)
from treaty.core.refusals import Invalid
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct

SQL_WORDS: Mapping[str, str] = {
    "null": "VOID",
    "boolean": "BOOLEAN",
    "int32": "INT",
    "int64": "BIGINT",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "string": "STRING",
    "binary": "BINARY",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "variant": "VARIANT",
}
"""By scalar of `treaty.core.state.columns.SCALARS`."""
NARROW: Mapping[str, str] = {"TINYINT": "int32", "SMALLINT": "int32"}
"""Types that no format has, which columns have as INT, as the columns of frames do that Spark encodes."""
_SCALARS: Mapping[str, str] = {word: name for name, word in SQL_WORDS.items()} | dict(NARROW)


def _find_no_type(key: str) -> SqlType | None:
    del key
    return None


def read_sql_type(kind: SqlType, lookup: TypeLookup = _find_no_type) -> ColumnType:
    """The type of a column that a statement declares, user types written out.

    Elements of arrays and values of maps may be null. TINYINT and SMALLINT are INT. Raises `ColumnTypeError` for a user
    type that there is not, and `Invalid` for TIME, which no decoded row has.
    """
    return _read(expand_type(kind, lookup))


def _read(kind: SqlType) -> ColumnType:
    match kind:
        case SqlScalar(name):
            return Scalar(_SCALARS[name])
        case SqlDecimal(precision, scale):
            return Decimal(precision, scale)
        case SqlArray(element):
            return List(_read(element), nullable=True)
        case SqlMap(key, value):
            return Map(_read(key), _read(value), nullable=True)
        case SqlStruct(fields):
            return Struct(tuple(Column(one.name, _read(one.type), one.nullable, one.comment) for one in fields))
        case SqlTime():
            raise Invalid.of(
                "COLUMN_TYPE",
                f"{print_column_type(kind)} is no type of a source: rows are decoded without times of day. Declare BIGINT for "
                "microseconds since midnight, or STRING",
                new=print_column_type(kind),
                allowed="BIGINT or STRING",
            )
    assert isinstance(kind, UserType), "every other type has its case"
    raise ColumnTypeError("TYPE_UNKNOWN", f"there is no type {kind.name}")


def make_sql_type(kind: ColumnType) -> SqlType:
    """The SQL type of a column's type. Whether elements and values may be null is left out, as SQL has no word for it."""
    match kind:
        case Scalar(name):
            return SqlScalar(SQL_WORDS[name])
        case Decimal(precision, scale):
            return SqlDecimal(precision, scale)
        case List(element):
            return SqlArray(make_sql_type(element))
        case Map(key, value):
            return SqlMap(make_sql_type(key), make_sql_type(value))
    return SqlStruct(tuple(SqlField(one.name, make_sql_type(one.type), one.nullable, one.doc) for one in kind.columns))


def print_sql_type(kind: ColumnType) -> str:
    """The text of a column's type, as rows of the metastore keep it: with NOT NULL and COMMENT of fields."""
    return SQL_WORDS[kind.name] if isinstance(kind, Scalar) else print_column_type(make_sql_type(kind))


def print_bare_type(kind: ColumnType) -> str:
    """The text of a column's type without NOT NULL and COMMENT of fields, for messages and comparisons."""
    return SQL_WORDS[kind.name] if isinstance(kind, Scalar) else print_column_type(_strip(make_sql_type(kind)))


def _strip(kind: SqlType) -> SqlType:
    match kind:
        case SqlArray(element):
            return SqlArray(_strip(element))
        case SqlMap(key, value):
            return SqlMap(_strip(key), _strip(value))
        case SqlStruct(fields):
            return SqlStruct(tuple(SqlField(one.name, _strip(one.type)) for one in fields))
    return kind
