"""The types of columns in SQL: a tree of frozen values, parsed and printed, with user types by name."""

from treaty.core.column_types.expansion import TypeLookup, drop_not_null, expand_type, list_type_names
from treaty.core.column_types.parser import parse_column_type
from treaty.core.column_types.printer import print_column_type
from treaty.core.column_types.types import (
    SQL_SCALARS,
    SQL_TYPE_WORDS,
    ColumnTypeError,
    SqlArray,
    SqlDecimal,
    SqlField,
    SqlMap,
    SqlScalar,
    SqlStruct,
    SqlTime,
    SqlType,
    UserType,
    lower_name,
)

__all__ = [
    "SQL_SCALARS",
    "SQL_TYPE_WORDS",
    "ColumnTypeError",
    "SqlArray",
    "SqlDecimal",
    "SqlField",
    "SqlMap",
    "SqlScalar",
    "SqlStruct",
    "SqlTime",
    "SqlType",
    "TypeLookup",
    "UserType",
    "drop_not_null",
    "expand_type",
    "list_type_names",
    "lower_name",
    "parse_column_type",
    "print_column_type",
]
