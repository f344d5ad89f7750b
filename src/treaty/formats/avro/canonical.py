"""Canonical text: a schema printed as the Java library prints it, member for member."""

from collections.abc import Collection, Mapping

from treaty.core.limits import SCHEMA_DEPTH
from treaty.formats.avro.model import (
    ABSENT,
    KINDS,
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    Props,
    simple_of,
    space_of,
)
from treaty.formats.avro.rules import EXPECTED
from treaty.formats.json_printer import print_json, print_string
from treaty.formats.json_reader import text_error

_WORDS = frozenset(KINDS) | {"record", "enum", "array", "map", "union", "fixed"}
_PLAIN: Mapping[str, str] = {kind: f'"{kind}"' for kind in KINDS}


def print_schema(schema: AvroSchema, printed_names: Collection[str] = ()) -> str:
    """The text of a schema; the types in `printed_names` appear by name only, every other one where it is first used."""
    return print_plainly(schema, printed_names)[0]


def print_plainly(schema: AvroSchema, printed_names: Collection[str] = ()) -> tuple[str, bool]:
    """The same text, and whether a parser surely reads an equal schema from it.

    True if each definition is printed as a definition and each reference as a name, and the schema has no alias of a type
    and no infinite number, which are printed in another form.
    """
    printer = _Printer(schema.names, set(printed_names))
    printer.write(schema.root, None, 1)
    text = "".join(printer.parts)
    return text, printer.plain and not printed_names and 'Infinity"' not in text


class _Printer:
    """Appends the parts of one text; `known` grows by each name that has been printed."""

    __slots__ = ("_known", "_names", "parts", "plain")

    def __init__(self, names: Mapping[str, NamedType], printed_names: set[str]) -> None:
        self._names = names
        self._known = printed_names
        self.parts: list[str] = []
        self.plain = True
        """Whether no definition was printed as a name or the other way round, and no type has an alias."""

    def write(self, node: AvroType, space: str | None, depth: int) -> None:
        """Append one type as it stands inside the namespace `space`."""
        plain = _print_plain(node, depth)
        if plain is not None:
            self.parts.append(plain)
            return
        if isinstance(node, AvroReference):
            if node.full in self._known:
                self.parts.append(print_string(name_within(node.full, space)))
                return
            node = self._names[node.full]
            self.plain = False
        if depth > SCHEMA_DEPTH:
            message = f"the schema nests deeper than the limit SCHEMA_DEPTH of {SCHEMA_DEPTH} once names are resolved"
            raise text_error("SCHEMA_TOO_DEEP", message, EXPECTED["SCHEMA_TOO_DEEP"])
        if isinstance(node, AvroUnion):
            self._union(node, space, depth)
        else:
            self._nested(node, space, depth)

    def _nested(self, node: AvroPrimitive | AvroArray | AvroMap | NamedType, space: str | None, depth: int) -> None:
        if isinstance(node, AvroPrimitive):
            self.parts.append(f'{{"type":{_PLAIN[node.kind]}')
            self._close(node.props)
        elif isinstance(node, AvroArray):
            self.parts.append('{"type":"array","items":')
            self.write(node.items, space, depth + 1)
            self._close(node.props)
        elif isinstance(node, AvroMap):
            self.parts.append('{"type":"map","values":')
            self.write(node.values, space, depth + 1)
            self._close(node.props)
        else:
            self._named(node, space, depth)

    def _union(self, node: AvroUnion, space: str | None, depth: int) -> None:
        separator = "["
        for branch in node.branches:
            self.parts.append(separator)
            self.write(branch, space, depth + 1)
            separator = ","
        self.parts.append("]" if node.branches else "[]")

    def _named(self, node: NamedType, space: str | None, depth: int) -> None:
        if node.full in self._known:
            self.parts.append(print_string(name_within(node.full, space)))
            self.plain = False
            return
        self._known.add(node.full)
        inner = space_of(node.full) or None
        word = "error" if isinstance(node, AvroRecord) and node.error else node.kind
        head = f'{{"type":"{word}","name":{print_string(simple_of(node.full))}'
        if inner != space:
            head += f',"namespace":{print_string(inner or "")}'
        if node.doc is not None:
            head += f',"doc":{print_string(node.doc)}'
        self.parts.append(head)
        if isinstance(node, AvroRecord):
            self._fields(node.fields, inner, depth)
        elif isinstance(node, AvroEnum):
            self.parts.append(f',"symbols":[{",".join(map(print_string, node.symbols))}]')
            if node.default is not None:
                self.parts.append(f',"default":{print_string(node.default)}')
        else:
            self.parts.append(f',"size":{node.size}')
        aliases = [print_string(name_within(alias, inner)) for alias in node.aliases]
        self.plain = self.plain and not aliases
        self._close(node.props, f',"aliases":[{",".join(aliases)}]' if aliases else "")

    def _fields(self, fields: tuple[Field, ...], space: str | None, depth: int) -> None:
        parts = self.parts
        separator = ',"fields":['
        for field in fields:
            plain = _print_plain(field.type, depth + 3)
            parts.append(f'{separator}{{"name":{print_string(field.name)},"type":{plain or ""}')
            if plain is None:
                self.write(field.type, space, depth + 3)
            separator = ","
            if field.doc is not None:
                parts.append(f',"doc":{print_string(field.doc)}')
            if field.default is not ABSENT:
                parts.append(f',"default":{print_json(field.default)}')
            if field.order != "ascending":
                parts.append(f',"order":"{field.order}"')
            if field.aliases:
                parts.append(f',"aliases":[{",".join(map(print_string, field.aliases))}]')
            if field.props:
                self._close(field.props)
            else:
                parts.append("}")
        parts.append("]" if fields else ',"fields":[]')

    def _close(self, props: Props, rest: str = "") -> None:
        for name, value in props:
            self.parts.append(f",{print_string(name)}:{print_json(value)}")
        self.parts.append(rest + "}")


def _print_plain(node: AvroType, depth: int) -> str | None:
    """The text of a primitive without properties, or of a union of such, as most fields have it; None for other types."""
    if type(node) is AvroPrimitive:
        return None if node.props else _PLAIN[node.kind]
    if type(node) is not AvroUnion or depth > SCHEMA_DEPTH:
        return None
    words = []
    for branch in node.branches:
        if type(branch) is not AvroPrimitive or branch.props:
            return None
        words.append(_PLAIN[branch.kind])
    return f"[{','.join(words)}]"


def name_within(full: str, space: str | None) -> str:
    """How a name is written inside a namespace: short where that is the same one and can't be taken for a type's word."""
    head, _, last = full.rpartition(".")
    return last if head and head == space and last not in _WORDS else full
