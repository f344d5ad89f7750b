"""Canonical text: a schema printed as the Java library prints it, member for member; and the text by which equal schemas are found.

That is equal for two schemas exactly where Java's ``Schema.equals`` and the comparison of docs, aliases and defaults of enums that
Confluent's registry adds call them equal. The order of properties, of aliases and of the keys of a default or a property does not
count there; whether a record is called an error does not either. Everything else does: docs, the order of fields, symbols and
branches, 1 against 1.0.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from treaty.core.limits import SCHEMA_DEPTH
from treaty.formats.avro.model import (
    ABSENT,
    KINDS,
    AvroArray,
    AvroEnum,
    AvroFixed,
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
from treaty.formats.budget import spend
from treaty.formats.json_text import Json, print_json, print_string, text_error

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
            self._write_nested(node, space, depth)

    def _write_nested(
        self, node: AvroPrimitive | AvroArray | AvroMap | NamedType, space: str | None, depth: int
    ) -> None:
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
            self._write_named(node, space, depth)

    def _union(self, node: AvroUnion, space: str | None, depth: int) -> None:
        separator = "["
        for branch in node.branches:
            self.parts.append(separator)
            self.write(branch, space, depth + 1)
            separator = ","
        self.parts.append("]" if node.branches else "[]")

    def _write_named(self, node: NamedType, space: str | None, depth: int) -> None:
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


# ------------------------------------------------------------------------------------------------------------- equality


def print_sameness(schema: AvroSchema, resolved: str) -> str:
    """Return the text of a schema with everything sorted whose order does not count, its references inlined.

    `resolved` is its text as it is, which comes back where there is nothing to sort, as in most schemas.
    """
    spend(len(resolved) >> 5)
    if _is_type_sorted(schema.root) and all(map(_is_definition_sorted, schema.names.values())):
        return resolved
    spend(len(resolved) >> 3)
    sorter = _Sorter()
    names = {full: sorter.sort_named(node) for full, node in schema.names.items()}
    return print_schema(AvroSchema(sorter.type(schema.root), names, schema.outside))


# ------------------------------------------------------------------------------------------------- is it sorted already


def _is_type_sorted(node: AvroType) -> bool:
    """Whether a type is in order; definitions inside are looked at by their names."""
    kind = type(node)
    if kind is AvroPrimitive:
        return not node.props or _are_props_sorted(node.props)  # type: ignore[union-attr]
    if kind is AvroUnion:
        return all(map(_is_type_sorted, node.branches))  # type: ignore[union-attr]
    if kind is AvroArray:
        return _are_props_sorted(node.props) and _is_type_sorted(node.items)  # type: ignore[union-attr]
    if kind is AvroMap:
        return _are_props_sorted(node.props) and _is_type_sorted(node.values)  # type: ignore[union-attr]
    return True


def _is_definition_sorted(node: NamedType) -> bool:
    if not (_are_props_sorted(node.props) and _are_words_sorted(node.aliases)):
        return False
    return type(node) is not AvroRecord or (not node.error and all(map(_is_field_sorted, node.fields)))


def _is_field_sorted(field: Field) -> bool:
    if not _is_type_sorted(field.type):
        return False
    if field.props or field.aliases:
        return _are_props_sorted(field.props) and _are_words_sorted(field.aliases) and _is_default_sorted(field)
    return _is_default_sorted(field)


def _is_default_sorted(field: Field) -> bool:
    default = field.default
    return not isinstance(default, list | dict) or _is_value_sorted(default)


def _are_props_sorted(props: Props) -> bool:
    if not props:
        return True
    return _are_words_sorted([name for name, _ in props]) and all(_is_value_sorted(value) for _, value in props)


def _are_words_sorted(words: Sequence[str]) -> bool:
    return len(words) < 2 or all(one <= other for one, other in pairwise(words))


def _is_value_sorted(value: Json) -> bool:
    if isinstance(value, dict):
        return _are_words_sorted(list(value)) and all(map(_is_value_sorted, value.values()))
    return not isinstance(value, list) or all(map(_is_value_sorted, value))


# ------------------------------------------------------------------------------------------------------------- sorting


class _Sorter:
    """Sorts each named type once, so that a definition stays one object."""

    __slots__ = ("_sorted",)

    def __init__(self) -> None:
        self._sorted: dict[int, NamedType] = {}

    def type(self, node: AvroType) -> AvroType:
        """Return a type with its members in order."""
        match node:
            case AvroPrimitive():
                return replace(node, props=_sort_props(node.props)) if node.props else node
            case AvroReference():
                return node
            case AvroArray():
                return AvroArray(self.type(node.items), _sort_props(node.props))
            case AvroMap():
                return AvroMap(self.type(node.values), _sort_props(node.props))
            case AvroUnion():
                return AvroUnion(tuple(map(self.type, node.branches)))
        return self.sort_named(node)

    def sort_named(self, node: NamedType) -> NamedType:
        """Return a definition with its members in order."""
        if id(node) not in self._sorted:
            aliases, props = tuple(sorted(node.aliases)), _sort_props(node.props)
            if isinstance(node, AvroEnum | AvroFixed):
                self._sorted[id(node)] = replace(node, aliases=aliases, props=props)
            else:
                fields = tuple(map(self._field, node.fields))
                self._sorted[id(node)] = AvroRecord(node.full, fields, node.doc, aliases, props)
        return self._sorted[id(node)]

    def _field(self, field: Field) -> Field:
        default = field.default if field.default is ABSENT else _sort_value(field.default)
        aliases = tuple(sorted(field.aliases))
        return Field(
            field.name, self.type(field.type), field.doc, default, field.order, aliases, _sort_props(field.props)
        )


def _sort_props(props: Props) -> Props:
    return tuple((name, _sort_value(value)) for name, value in sorted(props, key=lambda member: member[0]))


def _sort_value(value: Json) -> Json:
    """Return a value with its keys sorted at every level."""
    if isinstance(value, dict):
        return {name: _sort_value(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        members = []
        for item in value:  # a loop, because every frame of a comprehension counts where values nest deep
            members.append(_sort_value(item))
        return members
    return value
