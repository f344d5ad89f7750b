"""Decimals of up to 18 digits, of which Spark's `from_avro` would read the lowest 64 bits alone: they are read with a digit more, tested,
and get their own type again.

A number beyond 64 bits would be another number without a word: 2^64 is 0 in a decimal of 10 digits.
"""

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.formats.avro.model import (
    AvroArray,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    is_null,
)
from treaty.plan.avro.columns import members
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.limited import LimitedTypes, find_limit, is_cut_by_spark, widen_decimals
from treaty.spark.engines.engine import join_conditions

FEW = 16
"""Decimals that are tested in the step itself; more are tested in a function of lists, which Spark does not compile."""


def has_wide_decimals(reader_text: str) -> bool:
    """Whether a reader has decimals that are read with a digit more."""
    return widen_decimals(reader_text) != reader_text


def list_wide_fields(reader_text: str) -> frozenset[str]:
    """The fields of the record in an envelope in which such decimals are."""
    if not has_wide_decimals(reader_text):
        return frozenset()
    reader = parse_avro(reader_text)
    types = LimitedTypes(reader, is_cut_by_spark)
    envelope = reader.resolve(reader.root)
    assert isinstance(envelope, AvroRecord)
    record = reader.resolve(envelope.fields[0].type)
    return (
        frozenset(field.name for field in record.fields if types.has_limit(field.type))
        if isinstance(record, AvroRecord)
        else frozenset()
    )


def find_wide_number(reader_text: str, value: Column) -> Column | None:
    """Whether a value, read by the widened reader, has a number with more digits than its decimal; never null. None where none can."""
    if not has_wide_decimals(reader_text):
        return None
    tests = _DecimalTests(parse_avro(reader_text))
    root = tests.reader.root
    listed = [*tests.list_tests(root, value)]
    if len(listed) <= FEW:
        return join_conditions(listed, Column.__or__)
    return F.exists(F.array(value), lambda one: join_conditions([*tests.list_tests(root, one)], Column.__or__))


class _DecimalTests:
    """Tests of the decimals that a value of a reader's types has."""

    def __init__(self, reader: AvroSchema) -> None:
        self.reader = reader
        self.types = LimitedTypes(reader, is_cut_by_spark)

    def list_tests(self, node: AvroType, part: Column) -> Iterator[Column]:
        """For each such decimal of a type, whether one of its numbers has too many digits; never null."""
        if not self.types.has_limit(node):
            return
        match self.reader.resolve(node):
            case AvroRecord() as record:
                for field in record.fields:
                    yield from self.list_tests(field.type, part[field.name])
            case AvroArray(items=items):
                yield self._test_items(items, part)
            case AvroMap(values=values):
                yield self._test_items(values, F.map_values(part))
            case AvroUnion() as union:
                branches = [one for one in union.branches if not is_null(one)]
                names = members(union, self.reader.names) or [None] * len(branches)
                for branch, name in zip(branches, names, strict=True):
                    yield from self.list_tests(branch, part if name is None else part[name])
            case AvroPrimitive() | AvroFixed() as leaf:
                limit = find_limit(leaf)
                assert limit is not None
                yield F.coalesce(F.abs(part) >= F.lit(10 ** (limit.precision - limit.scale)), F.lit(False))

    def _test_items(self, node: AvroType, items: Column) -> Column:
        def test(item: Column) -> Column:
            return join_conditions([*self.list_tests(node, item)], Column.__or__)

        return F.coalesce(F.exists(items, test), F.lit(False))
