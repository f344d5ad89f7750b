"""A column type printed: the one form that rows keep, which Spark's DDL parser takes where no user type is in it."""

from treaty.core.column_types.tokens import print_name, print_text
from treaty.core.column_types.types import (
    SQL_TYPE_WORDS,
    SqlArray,
    SqlDecimal,
    SqlField,
    SqlMap,
    SqlScalar,
    SqlTime,
    SqlType,
    UserType,
)

_RESERVED = frozenset({"NOT", "NULL", "COMMENT"})
"""Names of fields that stand between back quotes, beside those with other characters than A-Z, a-z, 0-9 and _."""


_RESERVED_TYPES = SQL_TYPE_WORDS | {"AS", "FOR"}
"""Names of user types that stand between back quotes: after a column, AS begins a computed one, and FOR a watermark."""


def print_column_type(kind: SqlType) -> str:
    """Return the canonical text of a type; `parse_column_type` reads it as an equal value."""
    match kind:
        case SqlScalar(name):
            return name
        case SqlDecimal(precision, scale):
            return f"DECIMAL({precision}, {scale})"
        case SqlTime(precision):
            return f"TIME({precision})"
        case SqlArray(element):
            return f"ARRAY<{print_column_type(element)}>"
        case SqlMap(key, value):
            return f"MAP<{print_column_type(key)}, {print_column_type(value)}>"
        case UserType(name):
            return print_name(name, _RESERVED_TYPES)
    return f"STRUCT<{', '.join(map(_print_field, kind.fields))}>"


def _print_field(field: SqlField) -> str:
    text = f"{print_name(field.name, _RESERVED)}: {print_column_type(field.type)}"
    return text + print_options(nullable=field.nullable, comment=field.comment)


def print_options(*, nullable: bool, comment: str) -> str:
    """Return what follows the type of a field or column: `` NOT NULL COMMENT 'text'``, or nothing."""
    return ("" if nullable else " NOT NULL") + (f" COMMENT {print_text(comment)}" if comment else "")
