"""Canonical text: a schema printed as the Java library prints it, member for member."""

from collections.abc import Collection, Mapping

from treaty.core.limits import SCHEMA_DEPTH
from treaty.formats.avro.model import (
    ABSENT,
    KINDS,
    Array,
    Enum,
    Field,
    Map,
    Named,
    Primitive,
    Props,
    Record,
    Reference,
    Schema,
    Type,
    Union,
    simple_of,
    space_of,
)
from treaty.formats.avro.rules import EXPECTED
from treaty.formats.literal import literal, quoted
from treaty.formats.text import fault

_WORDS = frozenset(KINDS) | {"record", "enum", "array", "map", "union", "fixed"}
_PLAIN: Mapping[str, str] = {kind: f'"{kind}"' for kind in KINDS}


def print_schema(schema: Schema, known: Collection[str] = ()) -> str:
    """The text of a schema; the types in `known` appear by name only, every other one where it is first used."""
    printer = _Printer(schema.names, set(known))
    printer.write(schema.root, None, 1)
    return "".join(printer.parts)


class _Printer:
    """Appends the parts of one text; `known` grows by each name that has been printed."""

    __slots__ = ("_known", "_names", "parts")

    def __init__(self, names: Mapping[str, Named], known: set[str]) -> None:
        self._names = names
        self._known = known
        self.parts: list[str] = []

    def write(self, node: Type, space: str | None, depth: int) -> None:
        """Append one type as it stands inside the namespace `space`."""
        if isinstance(node, Primitive) and not node.props:
            self.parts.append(_PLAIN[node.kind])
            return
        if isinstance(node, Reference):
            if node.full in self._known:
                self.parts.append(quoted(name_within(node.full, space)))
                return
            node = self._names[node.full]
        if depth > SCHEMA_DEPTH:
            message = f"the schema nests deeper than the limit SCHEMA_DEPTH of {SCHEMA_DEPTH} once names are resolved"
            raise fault("SCHEMA_TOO_DEEP", message, EXPECTED["SCHEMA_TOO_DEEP"])
        if isinstance(node, Union):
            self._union(node, space, depth)
        else:
            self._nested(node, space, depth)

    def _nested(self, node: Primitive | Array | Map | Named, space: str | None, depth: int) -> None:
        if isinstance(node, Primitive):
            self.parts.append(f'{{"type":{_PLAIN[node.kind]}')
            self._close(node.props)
        elif isinstance(node, Array):
            self.parts.append('{"type":"array","items":')
            self.write(node.items, space, depth + 1)
            self._close(node.props)
        elif isinstance(node, Map):
            self.parts.append('{"type":"map","values":')
            self.write(node.values, space, depth + 1)
            self._close(node.props)
        else:
            self._named(node, space, depth)

    def _union(self, node: Union, space: str | None, depth: int) -> None:
        separator = "["
        for branch in node.branches:
            if type(branch) is Primitive and not branch.props:
                self.parts.append(separator + _PLAIN[branch.kind])
            else:
                self.parts.append(separator)
                self.write(branch, space, depth + 1)
            separator = ","
        self.parts.append("]" if node.branches else "[]")

    def _named(self, node: Named, space: str | None, depth: int) -> None:
        if node.full in self._known:
            self.parts.append(quoted(name_within(node.full, space)))
            return
        self._known.add(node.full)
        inner = space_of(node.full) or None
        word = "error" if isinstance(node, Record) and node.error else node.kind
        head = f'{{"type":"{word}","name":{quoted(simple_of(node.full))}'
        if inner != space:
            head += f',"namespace":{quoted(inner or "")}'
        if node.doc is not None:
            head += f',"doc":{quoted(node.doc)}'
        self.parts.append(head)
        if isinstance(node, Record):
            self._fields(node.fields, inner, depth)
        elif isinstance(node, Enum):
            self.parts.append(f',"symbols":[{",".join(map(quoted, node.symbols))}]')
            if node.default is not None:
                self.parts.append(f',"default":{quoted(node.default)}')
        else:
            self.parts.append(f',"size":{node.size}')
        aliases = [quoted(name_within(alias, inner)) for alias in node.aliases]
        self._close(node.props, f',"aliases":[{",".join(aliases)}]' if aliases else "")

    def _fields(self, fields: tuple[Field, ...], space: str | None, depth: int) -> None:
        parts = self.parts
        separator = ',"fields":['
        for field in fields:
            if isinstance(field.type, Primitive) and not field.type.props:
                parts.append(f'{separator}{{"name":{quoted(field.name)},"type":{_PLAIN[field.type.kind]}')
            else:
                parts.append(f'{separator}{{"name":{quoted(field.name)},"type":')
                self.write(field.type, space, depth + 3)
            separator = ","
            if field.doc is not None:
                parts.append(f',"doc":{quoted(field.doc)}')
            if field.default is not ABSENT:
                parts.append(f',"default":{literal(field.default)}')
            if field.order != "ascending":
                parts.append(f',"order":"{field.order}"')
            if field.aliases:
                parts.append(f',"aliases":[{",".join(map(quoted, field.aliases))}]')
            self._close(field.props)
        parts.append("]" if fields else ',"fields":[]')

    def _close(self, props: Props, rest: str = "") -> None:
        for name, value in props:
            self.parts.append(f",{quoted(name)}:{literal(value)}")
        self.parts.append(rest + "}")


def name_within(full: str, space: str | None) -> str:
    """How a name is written inside a namespace: short where that is the same one and can't be taken for a type's word."""
    head, _, last = full.rpartition(".")
    return last if head and head == space and last not in _WORDS else full
