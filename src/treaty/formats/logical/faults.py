"""What can be wrong with a text of logical types, and with turning it into a format or a schema into it."""

from collections.abc import Mapping

from treaty.core.finding import Diagnostic
from treaty.core.limits import LOGICAL_DEPTH, LOGICAL_MEMBERS
from treaty.formats.format import InvalidSchemaError

EXPECTED: Mapping[str, str] = {
    "LOGICAL_SYNTAX": "STRUCT Name (member TYPE [NOT NULL] [DEFAULT value] [COMMENT 'text'], ...)",
    "LOGICAL_TYPE": "a type such as INT, STRING, DECIMAL(10, 2), ARRAY<INT>, MAP<STRING, INT>, ENUM or STRUCT",
    "LOGICAL_NUMBER": "a number in the range of the type",
    "LOGICAL_NAME_TWICE": "names that differ",
    "LOGICAL_NAME": "a name that the format allows",
    "LOGICAL_RECURSIVE": "types that do not contain themselves",
    "LOGICAL_DEFAULT": "a value of the member's type, or NULL where it may be null",
    "LOGICAL_UNSUPPORTED": "what both the format and logical types have",
    "LOGICAL_DEPTH": f"at most {LOGICAL_DEPTH} types inside each other",
    "LOGICAL_MEMBERS": f"at most {LOGICAL_MEMBERS} members, names written out",
}
"""By rule, what is expected."""


def fault(
    rule: str, path: str, message: str, expected: str = "", *, line: int = 0, column: int = 0
) -> InvalidSchemaError:
    """An error with one fault about a member, which `path` leads to by names with slashes."""
    return InvalidSchemaError((Diagnostic(rule, path, message, expected or EXPECTED[rule], line, column),))
