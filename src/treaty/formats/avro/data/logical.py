"""What the values of two leaves mean, where Avro itself compares base types only."""

from collections.abc import Iterator

from treaty.core.finding import Finding
from treaty.formats.avro.model import AvroFixed, AvroPrimitive
from treaty.formats.avro.normal_form import get_logical_type
from treaty.formats.avro.rules import DECIMAL_MISMATCH, LOGICAL_TYPE_MISMATCH
from treaty.formats.json_pointer import ValuePath, format_pointer

LOGICAL_RULES = frozenset({DECIMAL_MISMATCH.id, LOGICAL_TYPE_MISMATCH.id})
"""Identifiers of the rules below."""


def logical_findings(
    reader: AvroPrimitive | AvroFixed, writer: AvroPrimitive | AvroFixed, path: ValuePath
) -> Iterator[Finding]:
    """What differs between two logical types in force; a leaf without one takes and gives any meaning.

    Decimals may grow in precision: each value of the writer is one of the reader then, and has the same bytes.
    """
    old, new = get_logical_type(writer), get_logical_type(reader)
    if old is None or new is None:
        return
    if old != new:
        words = f"expected: {old}, found: {new}"
        where = format_pointer((path, "logicalType"))
        yield LOGICAL_TYPE_MISMATCH.finding(where, words, writer=old, reader=new)
    elif old == "decimal":
        (was, was_scale), (has, has_scale) = _digits(writer), _digits(reader)
        if has_scale != was_scale or has < was:
            where = format_pointer((path, "scale" if has_scale != was_scale else "precision"))
            sides = (f"decimal({has}, {has_scale})", f"decimal({was}, {was_scale})")
            words = f"expected: {sides[1]}, found: {sides[0]}"
            yield DECIMAL_MISMATCH.finding(where, words, writer=sides[1], reader=sides[0])


def _digits(leaf: AvroPrimitive | AvroFixed) -> tuple[int, int]:
    """Precision and scale of a decimal."""
    members = dict(leaf.props)
    precision, scale = members["precision"], members.get("scale", 0)
    assert isinstance(precision, int)
    assert isinstance(scale, int)
    return precision, scale
