"""User types inside of column types: which ones a type names, and the type with all of them written out."""

from collections.abc import Callable, Iterator

from treaty.core.column_types.limits import TYPE_DEPTH, TYPE_PARTS
from treaty.core.column_types.types import (
    ColumnTypeError,
    SqlArray,
    SqlField,
    SqlMap,
    SqlScalar,
    SqlStruct,
    SqlType,
    UserType,
)

TypeLookup = Callable[[str], SqlType | None]
"""From the key of a user type, its name with A-Z as a-z, to what it stands for; None without such a type."""


def list_type_names(kind: SqlType) -> tuple[str, ...]:
    """Return the keys of the user types that a type names, each once, in order of appearance."""
    return () if isinstance(kind, SqlScalar) else tuple(dict.fromkeys(_list_names(kind)))


def _list_names(kind: SqlType) -> Iterator[str]:
    waiting = [kind]
    while waiting:
        match waiting.pop():
            case UserType() as named:
                yield named.key
            case SqlArray(element):
                waiting.append(element)
            case SqlMap(key, value):
                waiting += (value, key)
            case SqlStruct(fields):
                waiting.extend(field.type for field in reversed(fields))


def expand_type(kind: SqlType, lookup: TypeLookup) -> SqlType:
    """Return the type with user types written out, theirs too.

    Raises `ColumnTypeError`: TYPE_UNKNOWN for a name without a type, TYPE_RECURSIVE for a type inside itself, TYPE_DEPTH and
    TYPE_SIZE past the limits TYPE_DEPTH and TYPE_PARTS.
    """
    return kind if isinstance(kind, SqlScalar) else _Expansion(lookup).expand(kind, 1)


class _Expansion:
    """Writes names out and counts; `_open` are the keys of the types that are being written."""

    __slots__ = ("_lookup", "_open", "_parts")

    def __init__(self, lookup: TypeLookup) -> None:
        self._lookup = lookup
        self._open: dict[str, None] = {}
        self._parts = 0

    def expand(self, kind: SqlType, depth: int) -> SqlType:
        self._parts += 1
        if depth > TYPE_DEPTH:
            message = (
                f"the type, with its user types written out, nests deeper than the limit TYPE_DEPTH of {TYPE_DEPTH}"
            )
            raise ColumnTypeError("TYPE_DEPTH", message, hint="a flatter type")
        if self._parts > TYPE_PARTS:
            message = (
                f"the type, with its user types written out, has more parts than the limit TYPE_PARTS of {TYPE_PARTS}"
            )
            raise ColumnTypeError("TYPE_SIZE", message, hint="a smaller type")
        match kind:
            case UserType():
                return self._expand_name(kind, depth)
            case SqlArray(element):
                return SqlArray(self.expand(element, depth + 1))
            case SqlMap(key, value):
                return SqlMap(self.expand(key, depth + 1), self.expand(value, depth + 1))
            case SqlStruct(fields):
                return SqlStruct(
                    tuple(
                        SqlField(field.name, self.expand(field.type, depth + 1), field.nullable, field.comment)
                        for field in fields
                    )
                )
        return kind

    def _expand_name(self, named: UserType, depth: int) -> SqlType:
        if named.key in self._open:
            way = " uses ".join([*self._open, named.key])
            raise ColumnTypeError(
                "TYPE_RECURSIVE", f"the type {named.name} is inside itself: {way}", hint="another type"
            )
        kind = self._lookup(named.key)
        if kind is None:
            hint = f"CREATE TYPE {named.name} AS …"
            raise ColumnTypeError("TYPE_UNKNOWN", f"there is no type {named.name}", hint=hint)
        self._open[named.key] = None
        # A chain of names that stand for names alone gets deeper too, so that it ends.
        expanded = self.expand(kind, depth + isinstance(kind, UserType))
        del self._open[named.key]
        return expanded


def drop_not_null(kind: SqlType) -> SqlType:
    """Return a type whose parts may all be null: Spark casts no value that may be null to one that may not."""
    match kind:
        case SqlArray(element):
            return SqlArray(drop_not_null(element))
        case SqlMap(key, value):
            return SqlMap(drop_not_null(key), drop_not_null(value))
        case SqlStruct(fields):
            return SqlStruct(
                tuple(SqlField(field.name, drop_not_null(field.type), comment=field.comment) for field in fields)
            )
    return kind
