"""Every place of a schema's own text that advice and validators can be about, and advice as a row."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from treaty.core.finding import Diagnostic
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    simple_of,
)
from treaty.formats.format import SchemaElement
from treaty.formats.json_pointer import ValuePath, find_positions, format_pointer
from treaty.formats.rule import LintRule

Advice = tuple[ValuePath, str, str]
"""Where advice is not followed, what stands there, and what was expected."""

Inspection = Callable[[AvroSchema], Iterator[Advice]]


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """A field, its record, and the way to the field."""

    path: ValuePath
    field: Field
    record: AvroRecord


def list_types(schema: AvroSchema) -> Iterator[tuple[ValuePath, AvroType]]:
    """Every type of the text in its order; what references define is not part of it."""
    waiting: list[tuple[ValuePath, AvroType]] = [(None, schema.root)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        match node:
            case AvroArray(items):
                waiting.append(((path, "items"), items))
            case AvroMap(values):
                waiting.append(((path, "values"), values))
            case AvroUnion(branches):
                waiting += reversed([((path, at), branch) for at, branch in enumerate(branches)])
            case AvroRecord(_, inside):
                way = (path, "fields")
                waiting += reversed([(((way, at), "type"), field.type) for at, field in enumerate(inside)])
            case _:
                pass


def list_named_types(schema: AvroSchema) -> Iterator[tuple[ValuePath, NamedType]]:
    """Every definition of a named type."""
    return ((path, node) for path, node in list_types(schema) if isinstance(node, AvroRecord | AvroEnum | AvroFixed))


def list_fields(schema: AvroSchema) -> Iterator[FieldPlace]:
    """Every field."""
    for path, node in list_types(schema):
        if isinstance(node, AvroRecord):
            for at, field in enumerate(node.fields):
                yield FieldPlace(((path, "fields"), at), field, node)


def list_elements(schema: AvroSchema) -> tuple[SchemaElement, ...]:
    """Types, then fields, then symbols; what references define is not part of the text."""
    listed = [*_list_types(schema), *_list_fields(schema)]
    places = find_positions(schema.text, {one.path for one in listed}) if schema.text else {}
    placed = ((one, places.get(one.path, (0, 0))) for one in listed)
    return tuple(replace(one, line=line, column=column) for one, (line, column) in placed)


def _list_types(schema: AvroSchema) -> Iterator[SchemaElement]:
    for path, node in list_named_types(schema):
        pointer = format_pointer(path)
        doc = None if node.kind == "fixed" else node.doc or ""
        yield SchemaElement("type", node.kind, simple_of(node.full), pointer, node.full, doc)
        for at, symbol in enumerate(node.symbols if isinstance(node, AvroEnum) else ()):
            yield SchemaElement("symbol", "symbol", symbol, f"{pointer}/symbols/{at}", f"{node.full}.{symbol}", None)


def _list_fields(schema: AvroSchema) -> Iterator[SchemaElement]:
    """Fields; steps between are words of Avro and numbers, so the word ``fields`` stands for a field around."""
    for place in list_fields(schema):
        pointer, name = format_pointer(place.path), place.field.name
        depth = pointer.count("/fields/")
        yield SchemaElement(
            "field", "field", name, pointer, f"{place.record.full}.{name}", place.field.doc or "", depth
        )


def make_lint(id_: str, purpose: str, inspect: Inspection) -> LintRule[AvroSchema]:
    """Advice as a row: what `inspect` yields becomes faults with line and column."""

    def find(schema: AvroSchema) -> tuple[Diagnostic, ...]:
        advice = [
            Diagnostic(id_, format_pointer(path), message, expected) for path, message, expected in inspect(schema)
        ]
        places = find_positions(schema.text, {one.path for one in advice}) if advice and schema.text else {}
        return tuple(
            replace(finding, line=line, column=column)
            for finding in advice
            for line, column in [_find_place(places, finding)]
        )

    return LintRule(id_, purpose, find)


def _find_place(places: Mapping[str, tuple[int, int]], diagnostic: Diagnostic) -> tuple[int, int]:
    return places.get(diagnostic.path, (0, 0))
