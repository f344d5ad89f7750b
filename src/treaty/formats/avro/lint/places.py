"""Every place of a schema's own text that advice can be about, and advice as a row."""

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
)
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


def make_lint(id_: str, purpose: str, inspect: Inspection) -> LintRule[AvroSchema]:
    """Advice as a row: what `inspect` yields becomes faults with line and column."""

    def find(schema: AvroSchema) -> tuple[Diagnostic, ...]:
        advice = [
            Diagnostic(id_, format_pointer(path), message, expected) for path, message, expected in inspect(schema)
        ]
        places = find_positions(schema.text, {one.path for one in advice}) if advice and schema.text else {}
        return tuple(replace(one, line=line, column=column) for one in advice for line, column in [_at(places, one)])

    return LintRule(id_, purpose, find)


def _at(places: Mapping[str, tuple[int, int]], one: Diagnostic) -> tuple[int, int]:
    return places.get(one.path, (0, 0))
