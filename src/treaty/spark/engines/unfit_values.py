"""Which value of an Avro payload does not fit its column, and where it is: the sentence that Treaty's own reader has, in Spark's functions.

The payload is read without the logical types of values that may not fit. All these values become one list with their paths, in the order
of fields, and the first that does not fit is named. It all happens inside one function of lists, which Spark does not compile, so that
the methods of a plan stay small.
"""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.formats.avro.model import AvroArray, AvroMap, AvroRecord, AvroSchema, AvroType, AvroUnion, is_null
from treaty.plan.avro.columns import members
from treaty.plan.avro.envelope import WHOLE
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.limited import (
    MILLIS,
    MOST_MILLIS,
    SHOWN,
    SHOWN_PATH,
    WORD,
    Leaf,
    LimitedTypes,
    find_limit,
    strip_limits,
)
from treaty.plan.avro.logical_types import AvroLogicalType
from treaty.spark.engines.wrapped_fields import INSIDE

PATH, PLACE, VALUE = "col1", "col2", "col3"
"""Of a leaf: where it is, its limit as a place in a list, 0 for times, and its bytes in hexadecimal digits, or its milliseconds."""
LIST = f"ARRAY<STRUCT<{PATH}: STRING, {PLACE}: INT, {VALUE}: STRING>>"


def name_unfit(reader_text: str, tail: str, envelope: Column) -> Column:
    """The sentence about the first value of an envelope, read without limits, that its column can't hold; null for none."""
    reader, bare = parse_avro(reader_text), parse_avro(strip_limits(reader_text))
    leaves = _LeafLists(reader, bare, tail)

    def name_first(record: Column) -> Column:
        listed = leaves.list_values(reader.root, bare.root, record, "")
        unfit = F.filter(listed, lambda one: _is_unfit(one, leaves.limits))
        return F.get(F.transform(unfit, lambda one: _explain(one, leaves.limits)), F.lit(0))

    return F.get(F.transform(F.array(envelope), name_first), F.lit(0))


class _LeafLists:
    """Lists the leaves with a limit that a value has, of a reader and of the same without limits."""

    def __init__(self, reader: AvroSchema, bare: AvroSchema, tail: str) -> None:
        self.reader, self.bare, self.tail = reader, bare, tail
        self.limited = LimitedTypes(reader)
        self.limits: list[AvroLogicalType] = []
        """The different limits of decimals."""

    def place(self, leaf: Leaf) -> int:
        """The place of a leaf's limit: 0 for times, from 1 on for decimals."""
        limit = find_limit(leaf)
        assert limit is not None
        if limit.name in MILLIS:
            return 0
        if limit not in self.limits:
            self.limits.append(limit)
        return self.limits.index(limit) + 1

    def list_values(self, node: AvroType, bare: AvroType, part: Column, path: Column | str) -> Column:
        """The leaves of one value, as `LIST`."""
        resolved, plain = self.reader.resolve(node), self.bare.resolve(bare)
        match resolved, plain:
            case AvroRecord() as record, AvroRecord() as other:
                return _join(
                    [
                        self.list_values(field.type, same.type, part[field.name], _add_step(path, field.name))
                        for field, same in zip(record.fields, other.fields, strict=True)
                        if field.name != self.tail and self.limited.has_limit(field.type)
                    ]
                )
            case AvroArray(items=items), AvroArray(items=same):
                return _flatten(
                    F.transform(
                        part,
                        lambda item, index: self.list_values(
                            items, same, item, F.concat(_column(path), F.lit("/"), index)
                        ),
                    )
                )
            case AvroMap(values=values), AvroMap(values=same):
                return _flatten(
                    F.transform(
                        F.map_entries(part),
                        lambda entry: self.list_values(
                            values, same, entry["value"], F.concat(_column(path), F.lit("/"), entry["key"])
                        ),
                    )
                )
            case AvroUnion() as union, AvroUnion() as other:
                return self._list_choice(union, other, part, path)
            case _ if isinstance(resolved, Leaf) and find_limit(resolved) is not None:
                return F.array(_make_entry(self.place(resolved), part, path))
        return F.array().cast(LIST)

    def _list_choice(self, union: AvroUnion, bare: AvroUnion, part: Column, path: Column | str) -> Column:
        pairs = [pair for pair in zip(union.branches, bare.branches, strict=True) if not is_null(pair[0])]
        if len(pairs) == 1:
            return self.list_values(*pairs[0], part, path)
        names = members(union, self.reader.names)
        if names is None:  # numbers of two sizes, read as the larger one
            return _join([])
        return _join(
            [
                self.list_values(branch, same, part[name], path)
                for (branch, same), name in zip(pairs, names, strict=True)
                if self.limited.has_limit(branch)
            ]
        )


def _column(path: Column | str) -> Column:
    return path if isinstance(path, Column) else F.lit(path)


def _add_step(path: Column | str, name: str) -> Column | str:
    if name in {WHOLE, INSIDE}:
        return path
    return f"{path}/{name}" if isinstance(path, str) else F.concat(path, F.lit(f"/{name}"))


def _join(lists: Sequence[Column]) -> Column:
    return F.concat(F.array().cast(LIST), *lists)


def _flatten(lists: Column) -> Column:
    return F.coalesce(F.flatten(lists), F.array().cast(LIST))


def _make_entry(place: int, part: Column, path: Column | str) -> Column:
    """A leaf as an item of `LIST`, whose limit is at a place of the limits; few calls, as there may be thousands of leaves."""
    value = F.hex(part) if place else part.cast("string")
    return F.struct(path if isinstance(path, Column) else F.lit(path), F.lit(place), value)


def _is_unfit(leaf: Column, limits: Sequence[AvroLogicalType]) -> Column:
    """Whether a leaf does not fit: hex digits are compared as texts, those of negative numbers behind as many F as make them alike."""
    bounds = [10**limit.precision for limit in limits]
    highest = _pick_text([f"{bound:X}" for bound in bounds], leaf)
    lowest = _pick_text([f"{16 ** (len(f'{bound:X}') + 1) - bound:X}" for bound in bounds], leaf)
    value = leaf[VALUE]
    digits, rest = F.regexp_replace(value, "^0+", ""), F.regexp_replace(value, "^F+", "")
    above = (F.length(digits) > F.length(highest)) | ((F.length(digits) == F.length(highest)) & (digits >= highest))
    below = (F.length(rest) >= F.length(lowest)) | (F.lpad(rest, F.length(lowest), F.lit("F")) <= lowest)
    outside = F.when(value == "", F.lit(True)).when(F.substring(value, 1, 1) >= "8", below).otherwise(above)
    late = F.abs(value.cast("decimal(20, 0)")) > MOST_MILLIS
    return F.coalesce(F.when(leaf[PLACE] == 0, late).otherwise(outside), F.lit(False))


def _pick_text(texts: Sequence[str], leaf: Column) -> Column:
    """The text for the limit of a leaf; null for a time."""
    return F.get(F.array(*(F.lit(text) for text in ("", *texts))), leaf[PLACE])


def _explain(leaf: Column, limits: Sequence[AvroLogicalType]) -> Column:
    path, value = leaf[PATH], leaf[VALUE]
    short = F.concat(F.substring(path, 1, SHOWN_PATH), F.lit("…"))
    where = F.when(F.length(path) > SHOWN_PATH, short).when(path == "", "/").otherwise(path)
    filler = F.when(F.substring(value, 1, 1) >= "8", "F").otherwise("0")
    size = F.length(value) / 2
    number = (
        F.when(value == "", "a number of no bytes")
        .when(size <= WORD, F.conv(F.lpad(value, F.lit(2 * WORD), filler), 16, -10))
        .when(size <= SHOWN, F.concat(F.lit("0x"), F.lower(value)))
        .otherwise(F.concat(F.lit("a number of "), size.cast("bigint"), F.lit(" bytes")))
    )
    limit = _pick_text([str(one) for one in limits], leaf)
    digits = F.concat(number, F.lit(" has not the digits of "), limit, F.lit(" without its point"))
    late = F.concat(value, F.lit(" milliseconds are beyond 64 bits of microseconds"))
    return F.concat(where, F.lit(": "), F.when(leaf[PLACE] == 0, late).otherwise(digits))
