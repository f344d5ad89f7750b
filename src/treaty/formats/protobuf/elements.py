"""The named parts of a Protobuf file: messages, enums, services and what is in them, with their comments and places, in the order in which lints, validators and the search go through them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from treaty.formats.format import SchemaElement
from treaty.formats.protobuf.model import Enum, EnumValue, Field, Message, OneOf, ProtoSchema, RpcMethod, RpcService

Node = Message | Enum | RpcService | RpcMethod | Field | OneOf | EnumValue

_WORDS: Mapping[type[Node], str] = {
    Message: "message",
    Enum: "enum",
    RpcService: "service",
    RpcMethod: "method",
    Field: "field",
    OneOf: "oneof",
    EnumValue: "value",
}


@dataclass(frozen=True, slots=True)
class NamedDefinition:
    """Something with a name: its full name, and what it is."""

    full: str
    node: Node

    @property
    def kind(self) -> str:
        """What it is, in one word."""
        return _WORDS[type(self.node)]


_KINDS: Mapping[str, str] = {
    "message": "type",
    "enum": "type",
    "field": "field",
    "value": "symbol",
    "service": "service",
    "method": "method",
    "oneof": "oneof",
}


def list_definitions(schema: ProtoSchema) -> Iterator[NamedDefinition]:
    """Everything in a file that has a name, from the first to the last."""
    scope = schema.file.package
    tops: list[Node] = [*schema.file.messages, *schema.file.enums, *schema.file.services]
    waiting = [NamedDefinition(f"{scope}.{one.name}" if scope else one.name, one) for one in reversed(tops)]
    for extend in schema.file.extends:
        waiting += (NamedDefinition(f"{scope}.{one.name}" if scope else one.name, one) for one in extend.fields)
    while waiting:
        definition = waiting.pop()
        yield definition
        scope = (
            definition.full if isinstance(definition.node, Message | RpcService) else definition.full.rpartition(".")[0]
        )
        inner = reversed(_list_inner(definition.node))
        waiting += (NamedDefinition(f"{scope}.{each.name}" if scope else each.name, each) for each in inner)


def _list_inner(node: Node) -> list[Node]:
    match node:
        case Message():
            extended = [one for extend in node.extends for one in extend.fields]
            return [*node.fields, *node.oneofs, *extended, *node.messages, *node.enums]
        case OneOf():
            return [*node.fields]
        case Enum():
            return [*node.values]
        case RpcService():
            return [*node.methods]
        case Field(group=Message() as group):
            return [group]
    return []


def list_elements(schema: ProtoSchema) -> Iterator[SchemaElement]:
    """Everything in a file that has a name, from the first to the last; a group is a field and a message."""
    depths: dict[str, int] = {}
    for definition in list_definitions(schema):
        if isinstance(definition.node, Message):
            depths[definition.full] = depths.get(definition.full.rpartition(".")[0], 0) + 1
        yield _element(definition, depths)


def _element(definition: NamedDefinition, depths: Mapping[str, int]) -> SchemaElement:
    """A definition; the depth of a field is that of its message, which counts the messages around it."""
    place, node = definition.node.place, definition.node
    depth = depths.get(definition.full.rpartition(".")[0], 0) if isinstance(node, Field) else 0
    doc = None if isinstance(node, Field) and node.group is not None else node.doc
    column = place.column if place.line else 0
    return SchemaElement(
        _KINDS[definition.kind],
        definition.kind,
        node.name,
        definition.full,
        definition.full,
        doc,
        depth,
        place.line,
        column,
    )
