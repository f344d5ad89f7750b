"""Every place of a schema's own text that advice can be about, and advice as a row."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from treaty.core.finding import Diagnostic
from treaty.formats.avro.model import Array, Enum, Field, Fixed, Map, Named, Record, Schema, Type, Union
from treaty.formats.place import Path, pointer, positions
from treaty.formats.rule import Lint

Told = tuple[Path, str, str]
"""Where advice is not followed, what stands there, and what was expected."""

Look = Callable[[Schema], Iterator[Told]]


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """A field, its record, and the way to the field."""

    path: Path
    field: Field
    record: Record


def types(schema: Schema) -> Iterator[tuple[Path, Type]]:
    """Every type of the text in its order; what references define is not part of it."""
    waiting: list[tuple[Path, Type]] = [(None, schema.root)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        match node:
            case Array(items):
                waiting.append(((path, "items"), items))
            case Map(values):
                waiting.append(((path, "values"), values))
            case Union(branches):
                waiting += reversed([((path, at), branch) for at, branch in enumerate(branches)])
            case Record(_, inside):
                way = (path, "fields")
                waiting += reversed([(((way, at), "type"), field.type) for at, field in enumerate(inside)])
            case _:
                pass


def named(schema: Schema) -> Iterator[tuple[Path, Named]]:
    """Every definition of a named type."""
    return ((path, node) for path, node in types(schema) if isinstance(node, Record | Enum | Fixed))


def fields(schema: Schema) -> Iterator[FieldPlace]:
    """Every field."""
    for path, node in types(schema):
        if isinstance(node, Record):
            for at, field in enumerate(node.fields):
                yield FieldPlace(((path, "fields"), at), field, node)


def row(id_: str, purpose: str, look: Look) -> Lint[Schema]:
    """Advice as a row: what `look` tells becomes faults with line and column."""

    def find(schema: Schema) -> tuple[Diagnostic, ...]:
        told = [Diagnostic(id_, pointer(path), message, expected) for path, message, expected in look(schema)]
        places = positions(schema.text, {one.path for one in told}) if told and schema.text else {}
        return tuple(replace(one, line=line, column=column) for one in told for line, column in [_at(places, one)])

    return Lint(id_, purpose, find)


def _at(places: Mapping[str, tuple[int, int]], one: Diagnostic) -> tuple[int, int]:
    return places.get(one.path, (0, 0))
