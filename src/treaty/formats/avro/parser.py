"""Schema text to model: the text's references first, then the text itself."""

from collections.abc import Iterator
from dataclasses import replace

from treaty.core.limits import REFERENCE_DEPTH, REFERENCES, SCHEMA_BYTES
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import AvroEnum, AvroFixed, AvroRecord, AvroReference, AvroSchema, NamedType
from treaty.formats.avro.schema_parser import SchemaParser
from treaty.formats.budget import spend
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_pointer import find_positions
from treaty.formats.json_text import read_json, text_error

_STORED_BYTES = 4 * SCHEMA_BYTES
"""A canonical text may be longer than the text that was sent: a dotted name becomes two members."""
_PER_STEP = 6
"""Characters that are read in a step."""


def parse_schema(resolved: ResolvedSchema, strict: bool) -> AvroSchema:  # noqa: FBT001 - the signature of `Format.parse`
    """The model of a text and its references.

    With `strict`, illegal names and defaults are faults; without it they are kept, as stored schemas may have
    them. References are never checked again. Raises `InvalidSchemaError` with all faults found, the first one first.
    """
    names: dict[str, NamedType] = {}
    outside = frozenset(_parse_references(resolved, names))
    reader = SchemaParser(names, strict)
    spend_reading(resolved.text)
    value = read_json(resolved.text, SCHEMA_BYTES if strict else _STORED_BYTES)
    try:
        root = reader.parse(value)
    except InvalidSchemaError as error:
        raise _add_positions(error, resolved.text) from None
    schema = AvroSchema(root, names, outside, resolved.text)
    if reader.forward:
        read_json(print_schema(schema, outside), _STORED_BYTES)  # later definitions may print deeper than the text is
    return schema


def spend_reading(text: str) -> None:
    """Count the steps of reading a text."""
    spend(len(text) // _PER_STEP)


def _add_positions(error: InvalidSchemaError, text: str) -> InvalidSchemaError:
    """The same faults with line and column."""
    spend(len(text) >> 2)
    places = find_positions(text, {one.path for one in error.faults})
    faults = (replace(one, line=places[one.path][0], column=places[one.path][1]) for one in error.faults)
    return InvalidSchemaError(tuple(faults))


def _parse_references(resolved: ResolvedSchema, names: dict[str, NamedType]) -> Iterator[str]:
    """Read the references into `names`; the full names of their top-level types."""
    for bound in _list_references(resolved.bindings, set(), 1):
        spend_reading(bound.meaning.text)
        try:
            root = SchemaParser(names, strict=False).parse(read_json(bound.meaning.text, _STORED_BYTES))
        except InvalidSchemaError as error:
            first = error.faults[0]
            # Not where it stands: answers are remembered by meaning, and equal texts may stand in other subjects.
            message = f"the reference {bound.name!r}: {first.message}"
            raise InvalidSchemaError((replace(first, message=message),)) from None
        if isinstance(root, AvroRecord | AvroEnum | AvroFixed | AvroReference):
            yield root.full


def _list_references(
    bindings: tuple[ResolvedReference, ...], visited: set[str], depth: int
) -> Iterator[ResolvedReference]:
    """All bindings, those that another one needs before it; of two under one name the first counts."""
    if bindings and depth > REFERENCE_DEPTH:
        limit = f"references nest deeper than the limit REFERENCE_DEPTH of {REFERENCE_DEPTH}"
        raise text_error("REFERENCES_TOO_DEEP", limit, f"at most {REFERENCE_DEPTH} links in a chain")
    for bound in bindings:
        if bound.name not in visited:
            visited.add(bound.name)
            if len(visited) > REFERENCES:
                limit = f"more references than the limit REFERENCES of {REFERENCES}"
                raise text_error("TOO_MANY_REFERENCES", limit, f"at most {REFERENCES}, those of references included")
            yield from _list_references(bound.meaning.bindings, visited, depth + 1)
            yield bound
