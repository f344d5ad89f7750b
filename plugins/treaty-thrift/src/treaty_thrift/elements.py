"""The named parts of a text, for validators. Comments are not kept, so none has documentation."""

from collections.abc import Iterator

from treaty.formats.format import SchemaElement
from treaty_thrift.model import Constant, Definition, Enum, Record, Service, ThriftSchema


def list_elements(schema: ThriftSchema) -> Iterator[SchemaElement]:
    """Records, enums, typedefs and services of the own text with what is in them, from the first to the last."""
    for one in schema.document.definitions:
        if not isinstance(one, Constant):
            kind, word = _name_kind(one)
            yield SchemaElement(kind, word, one.name, f"/{one.name}", one.name, doc=None)
        yield from _list_inner(one)


def _name_kind(one: Definition) -> tuple[str, str]:
    if isinstance(one, Record):
        return "type", one.kind
    return ("service", "service") if isinstance(one, Service) else ("type", type(one).__name__.lower())


def _list_inner(one: Definition) -> Iterator[SchemaElement]:
    match one:
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
