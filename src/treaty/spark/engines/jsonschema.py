"""JSON by Spark's own `from_json`: a document that is not of the columns' types is a bad row, and never half a record.

`from_json` stops at the end of the first value and says nothing of what follows, nor of members that it was not asked for. So each
payload is read as the only item of a list, the first of two members of a map; the second one marks the end. What is not exactly
one value has more items, more members, or no end: the names of both are known to this process alone.

What `from_json` refuses is read once more, by Treaty's own reader in Python workers: it knows that 1.0 is an integer, and which value does
not fit its column. The workers get nulls for all other rows. A plan of columns that hold whatever `from_json` takes has no such step.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType, StringType, StructField, StructType

from treaty.arrow.decoded import collect_rows, list_frames
from treaty.arrow.jsonschema.rows import WRONG_VALUE, make_row_reader
from treaty.arrow.jsonschema.validity import make_checker
from treaty.arrow.types import kind_of
from treaty.plan.ddl import quote_name, struct_ddl
from treaty.plan.format_plans import JsonFormatPlan, JsonKind
from treaty.plan.value import DecodePlan
from treaty.spark.engines.engine import DECODED, SECRET, DecodeEngine, barrier, join_conditions
from treaty.spark.engines.workers import PARTS
from treaty.spark.frames import map_frame_id

CORRUPT, BOTH = "_treaty_corrupt", "_treaty_both"
ITEMS, END = (hashlib.blake2b(name, key=SECRET, digest_size=12).hexdigest() for name in (b"items", b"end"))
BEFORE, BEHIND = f'{{"{BOTH}":{{"{ITEMS}":[', f'],"{END}":[]}}}}'
ONE, MINE, REST, WRONG = "_treaty_one", "_treaty_mine", "_treaty_rest", "_treaty_wrong"
AGAIN = "_treaty_again"
"""The column with what Treaty's own reader makes of a row that `from_json` refuses: its record, or a code and a sentence."""
HAVE_LIMITS = re.compile(r"\b(INT|BIGINT|DECIMAL|DATE|TIMESTAMP|TIMESTAMP_NTZ)\b")
"""Spark types with values that `from_json` refuses and Treaty's own reader takes, or explains."""
READ = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": CORRUPT,
    "allowNonNumericNumbers": "false",
    "allowSingleQuotes": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSSSSS][XXX]",
    "timeZone": "UTC",
    "enableDateTimeParsingFallback": "false",
}
"""Options of `from_json`. A time without a zone is one in UTC; without `timeZone` it would be one of the session's zone. Without the last
one, the text "123" would be the day 123 after 1970 began.
"""
LARGE = "_treaty_large"
MANY_SECONDS = r"(^|[:,\[\s])-?(9[2-9][0-9]{11}|[0-9]{14,})"
"""What a document with a number of more seconds than 64 bits of microseconds hold has in it. `from_json` would let such a time wrap around."""
HAVE_TIMES = re.compile(r"\bTIMESTAMP(_NTZ)?\b")


def _decode(frame: DataFrame, plan: DecodePlan, column: str) -> DataFrame:
    value, recipe = F.col(column), _read_json_part(plan)
    parts = [_read(plan, value, one).alias(one.column or ONE) for one in _list_kinds(plan)]
    parts.append(map_frame_id(value, {one.schema_id: True for one in plan.writers}).alias(MINE))
    if recipe.rest:
        parts.append(_read_rest(plan, _read_text(value)).alias(REST))
    if HAVE_TIMES.search(plan.engine_type):
        parts.append(_read_text(value).rlike(MANY_SECONDS).alias(LARGE))
    if recipe.checks:
        frame = frame.withColumn(WRONG, _make_validator(recipe)(value))
        parts.append(F.col(WRONG).alias(WRONG))
    decoded = frame.withColumn(DECODED, barrier(F.struct(*parts)))
    if not _reads_again(plan):
        return decoded
    refused = F.when(F.col(DECODED)[MINE] & ~_is_readable(plan), value)
    return decoded.withColumn(AGAIN, _make_second_reader(plan)(refused))


def _reads_again(plan: DecodePlan) -> bool:
    return HAVE_LIMITS.search(plan.engine_type) is not None


def _make_second_reader(plan: DecodePlan) -> Callable[[Column], Column]:
    """From a frame to a struct of `PARTS`, by Treaty's own reader; null for null. Members without a column are left to Spark."""
    recipe = _read_json_part(plan)
    columns = tuple(pair for pair in plan.columns if pair[0] != recipe.rest or not recipe.rest)
    type_ = struct_ddl(columns) if recipe.rest else plan.engine_type
    inner = replace(plan, columns=columns, type=type_, recipe=replace(recipe, rest="")) if recipe.rest else plan
    fields = [StructField(PARTS[0], DataType.fromDDL(type_)), *(StructField(name, StringType()) for name in PARTS[1:])]

    def read(frames: Iterator[pa.Array]) -> Iterator[pa.Array]:
        kind = kind_of(inner)
        row = make_row_reader(inner)
        for batch in frames:
            if batch.null_count == len(batch):
                yield pa.nulls(len(batch), pa.struct([(PARTS[0], kind), *((name, pa.string()) for name in PARTS[1:])]))
                continue
            rows = collect_rows(map(row, list_frames(batch)), kind)
            parts = [rows.record, rows.code, rows.said]
            yield pa.StructArray.from_arrays(parts, names=PARTS, mask=batch.is_null())

    return cast("Callable[[Column], Column]", arrow_udf(read, StructType(fields)))  # type: ignore[call-overload]  # as below


def _make_validator(plan_part: JsonFormatPlan) -> Callable[[Column], Column]:
    """What the schemas have against documents, as a column; only the sentences leave the Python workers."""

    def find_violations(frames: Iterator[pa.Array]) -> Iterator[pa.Array]:
        check = make_checker(plan_part)
        for batch in frames:
            yield pa.array([check(each) for each in list_frames(batch)], pa.string())

    return cast("Callable[[Column], Column]", arrow_udf(find_violations, "string"))  # type: ignore[call-overload]  # its stub forgets words


def _read_rest(plan: DecodePlan, text: Column) -> Column:
    """Members that have no column, as the plan wants them."""
    kinds = dict(plan.columns)
    names = [F.lit(name) for name in kinds if name != _read_json_part(plan).rest]
    members = F.try_parse_json(text).try_cast("MAP<STRING, VARIANT>")
    other_members = (
        F.map_filter(members, lambda name, _: ~F.array_contains(F.array(*names), name)) if names else members
    )
    if kinds[_read_json_part(plan).rest] == "VARIANT":
        return F.to_variant_object(other_members)
    return F.transform_values(other_members, lambda _, one: F.to_json(one))


def _read_text(value: Column) -> Column:
    return F.substring(value, 6, 2**31 - 1).cast("string")


def _read(plan: DecodePlan, value: Column, kind: JsonKind) -> Column:
    """The columns of a record and `CORRUPT`, for the rows of a kind's ids; null for all others."""
    ids = set(kind.ids)
    of_kind = map_frame_id(value, {one.schema_id: True for one in plan.writers if one.schema_id in ids})
    # Bytes that are no UTF-8 would become replacement signs, and those a good row. What is null stays null all the way:
    # a condition around the whole would take the text out of the frame once for the condition and once for the value.
    readable = F.concat(F.lit(BEFORE), F.try_validate_utf8(_read_text(F.when(of_kind, value))), F.lit(BEHIND))
    return F.from_json(readable, f"STRUCT<{BOTH}: MAP<STRING, ARRAY<{kind.type}>>, {CORRUPT}: STRING>", READ)


def _read_json_part(plan: DecodePlan) -> JsonFormatPlan:
    assert isinstance(plan.recipe, JsonFormatPlan)
    return plan.recipe


def _list_kinds(plan: DecodePlan) -> tuple[JsonKind, ...]:
    """The record types; a plan of one as one without a column of its own."""
    recipe = _read_json_part(plan)
    ids = tuple(one.schema_id for one in plan.writers)
    read = struct_ddl(tuple(pair for pair in plan.columns if pair[0] != recipe.rest)) if recipe.rest else plan.type
    return recipe.kinds or (JsonKind("", read, ids, recipe.whole),)


def _is_readable(plan: DecodePlan) -> Column:
    """Whether a row is one value of its columns' types and nothing else."""
    read = [_is_one_value(one, F.col(DECODED)[one.column or ONE]) for one in _list_kinds(plan)]
    is_readable = join_conditions(read, Column.__or__)
    return is_readable & ~F.col(DECODED)[LARGE] if HAVE_TIMES.search(plan.engine_type) else is_readable


def _is_one_value(kind: JsonKind, part: Column) -> Column:
    """Whether the payload was one value and nothing else; null may be one only where a document need not be an object."""
    both = part[BOTH]
    is_single = (
        part.isNotNull()
        & part[CORRUPT].isNull()
        & (F.size(both) == 2)
        & F.try_element_at(both, F.lit(END)).isNotNull()
        & (F.size(_read_items(part)) == 1)
    )
    return is_single if kind.whole else is_single & _read_item(part).isNotNull()


def _read_items(part: Column) -> Column:
    return F.try_element_at(part[BOTH], F.lit(ITEMS))


def _read_item(part: Column) -> Column:
    return F.get(_read_items(part), F.lit(0))


def _is_good(plan: DecodePlan) -> Column:
    fine = _is_readable(plan)
    if _read_json_part(plan).checks:
        fine &= F.col(DECODED)[WRONG].isNull()
    return fine | _is_read_again(plan) if _reads_again(plan) else fine


def _is_read_again(plan: DecodePlan) -> Column:
    """Whether a row that `from_json` refuses is a record; never null."""
    return F.col(AGAIN).isNotNull() & F.col(AGAIN)["code"].isNull() & ~_is_readable(plan)


def _read_record(plan: DecodePlan, value: Column) -> Column:
    del value
    recipe = _read_json_part(plan)
    parts = [_read_item(F.col(DECODED)[one.column or ONE]) for one in _list_kinds(plan)]
    record = parts[0]
    if recipe.kinds:
        record = F.struct(*(part.alias(one.column) for one, part in zip(recipe.kinds, parts, strict=True)))
    if _reads_again(plan):
        record = F.when(_is_read_again(plan), F.col(AGAIN)["record"]).otherwise(record)
    return record.withField(quote_name(recipe.rest), F.col(DECODED)[REST]) if recipe.rest else record


def _find_code(plan: DecodePlan, value: Column) -> Column:
    del value
    bad = F.coalesce(F.col(AGAIN)["code"], F.lit("MALFORMED")) if _reads_again(plan) else F.lit("MALFORMED")
    return F.when(_is_readable(plan), "INVALID").otherwise(bad)


def _find_message(plan: DecodePlan, value: Column) -> Column:
    del value
    decoded = F.col(DECODED)
    sentence = F.coalesce(F.col(AGAIN)["said"], F.lit(WRONG_VALUE)) if _reads_again(plan) else F.lit(WRONG_VALUE)
    broken = F.when(decoded[MINE] & ~_is_readable(plan), sentence)
    return broken.otherwise(decoded[WRONG]) if _read_json_part(plan).checks else broken


SPARK_JSON = DecodeEngine(_decode, _is_good, _read_record, _find_code, _find_message)
