"""The text by which equal schemas are found: equal for two schemas exactly where Java's ``Schema.equals`` and the comparison of
docs, aliases and defaults of enums that Confluent's registry adds call them equal.

The order of properties, of aliases and of the keys of a default or a property does not count there; whether a record is called
an error does not either. Everything else does: docs, the order of fields, symbols and branches, 1 against 1.0.
"""

from dataclasses import replace

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
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

    `resolved` is its text as it is, which comes back where there is nothing to sort.
    """
    spend(len(resolved) >> 4)
    sorter = _Sorter()
    root = sorter.type(schema.root)
    names = {full: sorter.named(node) for full, node in schema.names.items()}
    return print_schema(AvroSchema(root, names, schema.outside)) if sorter.changed else resolved


class _Sorter:
    """Sorts each named type once, so that a definition stays one object."""

    __slots__ = ("_sorted", "changed")

    def __init__(self) -> None:
        self._sorted: dict[int, NamedType] = {}
        self.changed = False
        """Whether anything was in another order."""

    def type(self, node: AvroType) -> AvroType:
        """Return a type with its members in order."""
        if isinstance(node, AvroPrimitive):
            return replace(node, props=self._props(node.props)) if node.props else node
        match node:
            case AvroReference():
                return node
            case AvroArray():
                return AvroArray(self.type(node.items), self._props(node.props))
            case AvroMap():
                return AvroMap(self.type(node.values), self._props(node.props))
            case AvroUnion():
                return AvroUnion(tuple(map(self.type, node.branches)))
        return self.named(node)

    def named(self, node: NamedType) -> NamedType:
        """Return a definition with its members in order."""
        if id(node) not in self._sorted:
            aliases, props = self._aliases(node.aliases), self._props(node.props)
            if isinstance(node, AvroEnum | AvroFixed):
                self._sorted[id(node)] = replace(node, aliases=aliases, props=props)
            else:
                self.changed = self.changed or node.error
                fields = tuple(map(self._field, node.fields))
                self._sorted[id(node)] = AvroRecord(node.full, fields, node.doc, aliases, props)
        return self._sorted[id(node)]

    def _field(self, field: Field) -> Field:
        default = field.default
        if isinstance(default, list | dict):
            default = self._value(default)
        elif not field.props and len(field.aliases) < 2 and self.type(field.type) is field.type:
            return field
        return replace(
            field,
            type=self.type(field.type),
            default=default,
            aliases=self._aliases(field.aliases),
            props=self._props(field.props),
        )

    def _aliases(self, aliases: tuple[str, ...]) -> tuple[str, ...]:
        if len(aliases) < 2:
            return aliases
        in_order = tuple(sorted(aliases))
        self.changed = self.changed or in_order != aliases
        return in_order

    def _props(self, props: Props) -> Props:
        if not props:
            return props
        names = [name for name, _ in props]
        in_order = sorted(names)
        self.changed = self.changed or names != in_order
        return tuple((name, self._value(value)) for name, value in sorted(props, key=lambda member: member[0]))

    def _value(self, value: Json) -> Json:
        """Return a value with its keys sorted at every level."""
        if isinstance(value, dict):
            names = list(value)
            in_order = sorted(names)
            self.changed = self.changed or names != in_order
            return {name: self._value(value[name]) for name in in_order}
        if isinstance(value, list):
            members = []
            for item in value:  # a loop, because every frame of a comprehension counts where values nest deep
                members.append(self._value(item))
            return members
        return value
