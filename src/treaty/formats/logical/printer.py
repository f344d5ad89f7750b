"""Logical types printed: each member on a line of its own, everything written out that a shorter spelling means."""

import re
from decimal import Decimal

from treaty.core.limits import LOGICAL_DEPTH, LOGICAL_MEMBERS, SCHEMA_BYTES
from treaty.formats.logical.model import (
    SCALARS,
    SHORT,
    DefaultLiteral,
    LogicalArray,
    LogicalEnum,
    LogicalMap,
    LogicalScalar,
    LogicalStruct,
    LogicalType,
    StructMember,
    logical_error,
)

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset((*SCALARS, *SHORT, "STRUCT", "ROW", "ENUM", "ARRAY", "MAP", "NOT", "NULL", "DEFAULT", "COMMENT"))


def print_struct(struct: LogicalStruct) -> str:
    """The text of a struct. What comes again under its name is defined the first time only.

    Raises `InvalidSchemaError` where one name means two things, and past the limits of depth and members.
    """
    return _Printer(struct).struct(struct, "", 1)


def quote_name(name: str) -> str:
    """A name, in back quotes where it would be read as something else."""
    if _PLAIN.fullmatch(name) and name.upper() not in _KEYWORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


def quote_full_name(name: str) -> str:
    """A name with points, each part in quotes where it needs them."""
    parts = name.split(".")
    return ".".join(map(quote_name, parts)) if all(parts) else quote_name(name)


def quote_text(text: str) -> str:
    """A text in single quotes."""
    return "'" + text.replace("'", "''") + "'"


def print_literal(value: DefaultLiteral) -> str:
    """A value as it stands after DEFAULT."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return quote_text(value)
        case Decimal():
            return str(value)
    return str(value)


class _Printer:
    __slots__ = ("_count", "_named", "_size")

    def __init__(self, root: LogicalStruct) -> None:
        self._count = 0
        self._size = 0
        self._named: dict[str, LogicalType] = {root.name: root}

    def _is_defined(self, kind: LogicalStruct | LogicalEnum, path: str) -> bool:
        """Whether the name has been defined already, as just this."""
        if not kind.name:
            return False
        self._grow(path, kind.name)
        before = self._named.get(kind.name)
        if before is not None and before is not kind and before != kind:
            raise logical_error("LOGICAL_NAME_TWICE", path, f"the name {kind.name!r} means two types")
        self._named[kind.name] = kind
        return before is not None

    def struct(self, struct: LogicalStruct, path: str, depth: int) -> str:
        """A struct as it is defined."""
        if depth > LOGICAL_DEPTH:
            raise logical_error(
                "LOGICAL_DEPTH", path, f"the types nest deeper than the limit LOGICAL_DEPTH of {LOGICAL_DEPTH}"
            )
        name = f" {quote_full_name(struct.name)}" if struct.name else ""
        if not struct.members:
            return f"STRUCT{name} ()"
        pad = "  " * depth
        lines = [f"{pad}{self._member(one, path, depth)}" for one in struct.members]
        return f"STRUCT{name} (\n" + ",\n".join(lines) + f"\n{pad[2:]})"

    def _member(self, member: StructMember, outer: str, depth: int) -> str:
        path = f"{outer}/{member.name}"
        self._grow(path, member.name, member.comment)
        parts = [quote_name(member.name), self._type(member.type, path, depth)]
        if not member.nullable:
            parts.append("NOT NULL")
        if member.default is not None:
            parts.append(f"DEFAULT {print_literal(member.default.value)}")
        if member.comment:
            parts.append(f"COMMENT {quote_text(member.comment)}")
        return " ".join(parts)

    def _grow(self, path: str, *texts: str) -> None:
        """Count a member or symbol, and what it says."""
        self._count += 1
        self._size += sum(map(len, texts))
        if self._count > LOGICAL_MEMBERS:
            raise logical_error(
                "LOGICAL_MEMBERS", path, f"more members than the limit LOGICAL_MEMBERS of {LOGICAL_MEMBERS}"
            )
        if self._size > SCHEMA_BYTES:
            raise logical_error(
                "LOGICAL_MEMBERS", path, f"the text is longer than the limit SCHEMA_BYTES of {SCHEMA_BYTES}"
            )

    def _type(self, kind: LogicalType, path: str, depth: int) -> str:
        if depth > LOGICAL_DEPTH:
            raise logical_error(
                "LOGICAL_DEPTH", path, f"the types nest deeper than the limit LOGICAL_DEPTH of {LOGICAL_DEPTH}"
            )
        match kind:
            case LogicalScalar(name, numbers):
                return f"{name}({', '.join(map(str, numbers))})" if numbers else name
            case LogicalArray(element, nullable):
                return f"ARRAY<{self._type(element, path, depth + 1)}{'' if nullable else ' NOT NULL'}>"
            case LogicalMap(key, value, nullable):
                inside = self._type(value, path, depth + 1)
                return f"MAP<{self._type(key, path, depth + 1)}, {inside}{'' if nullable else ' NOT NULL'}>"
            case LogicalEnum():
                return self._enum(kind, path)
        if self._is_defined(kind, path):
            return quote_full_name(kind.name)
        return self.struct(kind, path, depth + 1)

    def _enum(self, kind: LogicalEnum, path: str) -> str:
        name = quote_full_name(kind.name) if kind.name else ""
        if self._is_defined(kind, path):
            return name
        for symbol in kind.symbols:
            self._grow(path, symbol)
        return f"ENUM{' ' * bool(name)}{name} ({', '.join(map(quote_text, kind.symbols))})"
