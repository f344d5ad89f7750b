"""The named parts of a text, for validators. Comments are not kept, so none has documentation."""

from collections.abc import Iterator

from treaty.formats.format import SchemaElement
from treaty_thrift.model import Constant, Definition, Enum, Record, Service, ThriftSchema


def list_elements(schema: ThriftSchema) -> Iterator[SchemaElement]:
    """Records, enums, typedefs and services of the own text with what is in them, from the first to the last."""
    for definition in schema.document.definitions:
        if not isinstance(definition, Constant):
            kind, word = _name_kind(definition)
            yield SchemaElement(kind, word, definition.name, f"/{definition.name}", definition.name, doc=None)
        yield from _list_inner(definition)


def _name_kind(definition: Definition) -> tuple[str, str]:
    if isinstance(definition, Record):
        return "type", definition.kind
    return ("service", "service") if isinstance(definition, Service) else ("type", type(definition).__name__.lower())


def _list_inner(definition: Definition) -> Iterator[SchemaElement]:
    match definition:
        case Record(name=name, fields=fields):
            for each in fields:
                place = f"/{name}/{each.id}"
                yield SchemaElement("field", "field", each.name, place, f"{name}.{each.name}", doc=None, depth=1)
        case Enum(name=name, symbols=symbols):
            for symbol in symbols:
                place = f"/{name}/{symbol.name}"
                yield SchemaElement("symbol", "symbol", symbol.name, place, f"{name}.{symbol.name}", doc=None)
        case Service(name=name, functions=functions):
            for function in functions:
                place = f"/{name}/{function.name}"
                yield SchemaElement("method", "function", function.name, place, f"{name}.{function.name}", doc=None)
