"""Names of sources, types and columns: which may be, and which are taken."""

from collections.abc import Mapping
from typing import Any

from tests.simulation.judging.model.metastore.state import key_of
from tests.simulation.judging.model.refusing import No
from treaty.core import limits
from treaty.core.names import is_visible
from treaty.core.refusals import InvalidSource, SourceExists

BUILT_IN = frozenset(
    [
        "boolean",
        "tinyint",
        "byte",
        "smallint",
        "short",
        "int",
        "integer",
        "bigint",
        "long",
        "float",
        "real",
        "double",
        "decimal",
        "dec",
        "numeric",
        "string",
        "varchar",
        "char",
        "character",
        "binary",
        "date",
        "timestamp",
        "timestamp_ntz",
        "timestamp_ltz",
        "time",
        "interval",
        "array",
        "map",
        "struct",
        "variant",
        "void",
    ]
)
"""Names that types of SQL have already."""


def is_word(name: str) -> bool:
    """Whether a text can be a name: it is seen whole, and can be quoted."""
    if not 1 <= len(name) <= limits.NAME_LENGTH or not is_visible(name):
        return False
    control = any(ord(char) < 32 or 127 <= ord(char) < 160 or 0xD800 <= ord(char) < 0xE000 for char in name)
    return not control and "`" not in name and name == name.strip(" ")


def refuse_bad_name(name: str, rule: str = "SOURCE_NAME") -> None:
    if not is_word(name) or (rule == "TYPE_NAME" and key_of(name) in BUILT_IN):
        raise No(InvalidSource, rule)


def refuse_taken(there: Mapping[str, Any], name: str, rule: str, *, besides: str = "") -> None:
    """Refuse a name that Spark would take for another one; the same key is looked at elsewhere."""
    key = key_of(name)
    if any(other not in (key, besides) and other.lower() == key.lower() for other in there):
        raise No(SourceExists, rule)
