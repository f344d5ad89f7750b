"""Avro schemas in the form in which fastavro keeps parsed ones, made of a model.

fastavro's own parser looks a short name up in the namespace around it alone, and refuses logical types that Avro ignores. Here all names
are full, and a logical type that is not in force is left out.
"""

from typing import Any

from treaty.client.compiled.logical import READERS
from treaty.formats.avro.model import (
    AbsentDefault,
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
from treaty.formats.avro.normal_form import get_logical_type

Parsed = dict[str, Any]


def print_parsed(schema: AvroSchema) -> tuple[Any, Parsed]:
    """Return the top-level type and all named types by their full names. A type is defined where it stands first, then named."""
    printer = _ParsedPrinter(schema)
    root = printer.write(schema.root)
    for full in schema.names:
        printer.name(full)
    return root, printer.named


def mark_parsed(schema: Parsed, named: Parsed) -> Parsed:
    """Return a record with the mark by which fastavro takes it as parsed, and with the named types of all its parts."""
    return {**schema, "__fastavro_parsed": True, "__named_schemas": {**named, schema["name"]: schema}}


class _ParsedPrinter:
    """Prints the types of one schema."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self.named: Parsed = {}

    def write(self, node: AvroType) -> Any:
        """Return a type."""
        match node:
            case AvroReference():
                return self.name(node.full)
            case AvroUnion():
                return [self.write(one) for one in node.branches]
            case AvroArray():
                return {**dict(node.props), "type": "array", "items": self.write(node.items)}
            case AvroMap():
                return {**dict(node.props), "type": "map", "values": self.write(node.values)}
            case AvroPrimitive():
                props = _props(node, node.props)
                return {**props, "type": node.kind} if props else node.kind
        return self.name(node.full)

    def name(self, full: str) -> Any:
        """Return the definition of a named type, or its name where it has been defined before."""
        if full in self.named:
            return full
        node = self._schema.names[full]
        parsed: Parsed = self._head(node)
        self.named[full] = parsed
        if isinstance(node, AvroRecord):
            parsed["fields"] = [self._field(one) for one in node.fields]
        return parsed

    def _head(self, node: NamedType) -> Parsed:
        more = {"aliases": list(node.aliases)} if node.aliases else {}
        match node:
            case AvroEnum():
                if node.default is not None:
                    more["default"] = node.default  # type: ignore[assignment]
                return {**dict(node.props), **more, "type": "enum", "name": node.full, "symbols": list(node.symbols)}
            case AvroFixed():
                return {**_props(node, node.props), **more, "type": "fixed", "name": node.full, "size": node.size}
        return {**dict(node.props), **more, "type": "error" if node.error else "record", "name": node.full}

    def _field(self, field: Field) -> Parsed:
        parsed: Parsed = {**dict(field.props), "name": field.name, "type": self.write(field.type)}
        if field.aliases:
            parsed["aliases"] = list(field.aliases)
        if not isinstance(field.default, AbsentDefault):
            parsed["default"] = field.default
        return parsed


def _props(node: AvroPrimitive | AvroFixed, props: Props) -> Parsed:
    """The properties of a leaf, without a logical type that Avro ignores."""
    properties = dict(props)
    if f"{node.kind}-{properties.get('logicalType')}" in READERS and get_logical_type(node) is None:
        del properties["logicalType"]
    return properties
