"""The text by which equal schemas are found: equal for two schemas exactly where Java's ``Schema.equals`` and the comparison of
docs, aliases and defaults of enums that Confluent's registry adds call them equal.

The order of properties, of aliases and of the keys of a default or a property does not count there; whether a record is called
an error does not either. Everything else does: docs, the order of fields, symbols and branches, 1 against 1.0.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    ABSENT,
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
)
from treaty.formats.budget import spend
from treaty.formats.json_printer import Json


def print_sameness(schema: AvroSchema, resolved: str) -> str:
    """Return the text of a schema with everything sorted whose order does not count, its references inlined.

    `resolved` is its text as it is, which comes back where there is nothing to sort, as in most schemas.
    """
    spend(len(resolved) >> 5)
    if _is_type_sorted(schema.root) and all(map(_is_definition_sorted, schema.names.values())):
        return resolved
    spend(len(resolved) >> 3)
    sorter = _Sorter()
    names = {full: sorter.named(node) for full, node in schema.names.items()}
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
        return self.named(node)

    def named(self, node: NamedType) -> NamedType:
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
