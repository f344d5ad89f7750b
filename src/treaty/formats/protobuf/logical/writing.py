"""Logical types written as a Protobuf file."""

import re
from dataclasses import dataclass, replace

from treaty.formats.logical.model import (
    LogicalArray,
    LogicalMap,
    LogicalScalar,
    LogicalStruct,
    LogicalType,
    StructMember,
    logical_error,
)
from treaty.formats.logical.parser import parse_struct
from treaty.formats.protobuf.logical.words import (
    CONNECT,
    FLINK,
    LENGTHS,
    MESSAGES,
    NANOS,
    NOT_NULL,
    PRECISION,
    SCALARS,
    SMALL,
)
from treaty.formats.protobuf.printing.constants import quoted

_META = "confluent/meta.proto"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYS = frozenset(("STRING", "INT", "BIGINT", "BOOLEAN"))
_RESERVED = range(19_000, 20_000)
"""Numbers that no field may have."""
_ALWAYS = "NOT NULL, which repeated fields and maps always are in Protobuf"

Parameters = tuple[tuple[str, str], ...]


def written(text: str) -> str:
    """The Protobuf file that a text of logical types describes; members are numbered in their order.

    Structs and enums stand inside the message that names them first. Raises `InvalidSchemaError` for a text that is
    none, and for what Protobuf does not have.
    """
    struct = parse_struct(text)
    if not struct.name:
        raise logical_error("LOGICAL_NAME", "", "the STRUCT has no name, and a message needs one", "STRUCT Name (...)")
    package, _, name = struct.name.rpartition(".")
    for part in package.split(".") if package else ():
        _checked(part, "")
    writer = _Writer("." if re.search(r"(?i)google|confluent", text) else "")
    lines = writer.message(struct, name, "", "", "")
    head = ['syntax = "proto3";', *([f"package {package};"] if package else [])]
    return "\n".join([*head, *(f'import "{one}";' for one in sorted(writer.imports)), *lines, ""])


def _checked(name: str, path: str) -> str:
    if not _NAME.fullmatch(name):
        raise logical_error(
            "LOGICAL_NAME", path, f"{name[:100]!r} is no name in Protobuf", "letters, digits and underscores"
        )
    return name


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a member stands: the message around it, its full name there, and the lines that are written so far."""

    message: str
    inside: str
    path: str
    lines: list[str]
    pad: str

    def to(self, name: str) -> "_Spot":
        """The place of a member of this name."""
        return replace(self, path=f"{self.path}/{name}")


class _Writer:
    """Writes messages; `_known` tells where the types with a name stand. `_point` begins names of other packages."""

    __slots__ = ("_known", "_point", "imports")

    def __init__(self, point: str) -> None:
        self._point = point
        self._known: dict[str, str] = {}
        self.imports: set[str] = set()

    def message(self, struct: LogicalStruct, name: str, outer: str, path: str, pad: str) -> list[str]:
        """The lines of a message."""
        inside = f"{outer}.{_checked(name, path)}" if outer else _checked(name, path)
        lines: list[str] = []
        spot = _Spot(name, inside, path, lines, pad + "  ")
        for place, member in enumerate(struct.members, 1):
            number = place if place < _RESERVED[0] else place + len(_RESERVED)
            at = spot.to(member.name)
            kind, parameters = self._field(member, at)
            options = self._options(member.comment, parameters)
            lines.append(f"{pad}  {kind} {_checked(member.name, at.path)} = {number}{options};")
        return [f"{pad}message {name} {{", *lines, f"{pad}}}"]

    def _options(self, comment: str, parameters: Parameters) -> str:
        if not comment and not parameters:
            return ""
        self.imports.add(_META)
        said = [f"doc: {quoted(comment.encode('utf-8', 'replace'))}"] if comment else []
        pairs = ", ".join(f'{{key: "{key}", value: "{value}"}}' for key, value in parameters)
        said += [f"params: [{pairs}]"] if parameters else []
        return f" [({self._point}confluent.field_meta) = {{{', '.join(said)}}}]"

    def _field(self, member: StructMember, spot: _Spot) -> tuple[str, Parameters]:
        """Label and type of a field, and its parameters; what is to be defined before it goes to the lines."""
        path = spot.path
        if member.default is not None and member.default.value is not None:
            raise logical_error("LOGICAL_UNSUPPORTED", path, "a default", "no DEFAULT: fields of proto3 have none")
        kind = member.type
        own = f"{spot.message}_{member.name}"
        if isinstance(kind, LogicalArray | LogicalMap):
            part = kind.element if isinstance(kind, LogicalArray) else kind.value
            if member.nullable or kind.nullable:
                raise logical_error("LOGICAL_UNSUPPORTED", path, "an ARRAY or MAP that is null or holds null", _ALWAYS)
            if isinstance(part, LogicalArray | LogicalMap):
                raise logical_error(
                    "LOGICAL_UNSUPPORTED", path, "an ARRAY or MAP inside another", "a STRUCT around the inner one"
                )
            found = self._type(part, own, spot)
            return (f"repeated {found}" if isinstance(kind, LogicalArray) else _map(kind, found, path)), _said(part)
        found = self._type(kind, own, spot)
        if isinstance(kind, LogicalStruct) or kind.name in MESSAGES:
            return found, _said(kind) + (() if member.nullable else ((NOT_NULL, "true"),))
        return f"optional {found}" if member.nullable else found, _said(kind)

    def _type(self, kind: LogicalType, own: str, spot: _Spot) -> str:
        assert not isinstance(kind, LogicalArray | LogicalMap)
        if isinstance(kind, LogicalScalar):
            if kind.name in SCALARS:
                return SCALARS[kind.name]
            message, home = MESSAGES[kind.name]
            self.imports.add(home)
            return self._point + message
        if kind.name in self._known:
            return self._known[kind.name]
        name = _checked(kind.name or own, spot.path)
        if kind.name:
            self._known[kind.name] = f"{spot.inside}.{name}"
        if isinstance(kind, LogicalStruct):
            spot.lines.extend(self.message(kind, name, spot.inside, spot.path, spot.pad))
        else:
            symbols = [f"{spot.pad}  {_checked(one, spot.path)} = {at};" for at, one in enumerate(kind.symbols)]
            spot.lines.extend([f"{spot.pad}enum {name} {{", *symbols, f"{spot.pad}}}"])
        return name


def _map(kind: LogicalMap, value: str, path: str) -> str:
    if kind.key.name not in _KEYS:
        expected = "keys of type STRING, INT, BIGINT or BOOLEAN"
        raise logical_error("LOGICAL_UNSUPPORTED", path, f"a MAP with keys of type {kind.key.name}", expected)
    return f"map<{SCALARS[kind.key.name]}, {value}>"


def _said(kind: LogicalType) -> Parameters:
    """What the type in Protobuf does not say."""
    if not isinstance(kind, LogicalScalar):
        return ()
    if kind.name in SMALL:
        return ((CONNECT, SMALL[kind.name]),)
    if kind.name == "DECIMAL":
        return ("precision", str(kind.numbers[0])), ("scale", str(kind.numbers[1]))
    if kind.name in MESSAGES:
        local: Parameters = ((FLINK, "timestamp"),) if kind.name == "TIMESTAMP" else ()
        return (*local, *((PRECISION, str(one)) for one in kind.numbers if one != NANOS))
    names = LENGTHS if kind.name in ("CHAR", "BINARY") else LENGTHS[1:]
    return tuple((name, str(kind.numbers[0])) for name in names) if kind.numbers else ()
