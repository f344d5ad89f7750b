"""Engines without a JVM give the same rows and codes: of any schema and of values at the edges of types, damaged frames too."""

import io
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from tests.edges import FORMATS, bare, make_case, make_plain
from treaty.arrow.decoded import DecodedBatch
from treaty.arrow.readers import reader_of
from treaty.arrow.types import kind_of
from treaty.plan.value import DecodePlan

ROWS = 8
OTHER = {"JSON": "spark", "PROTOBUF": "upb"}
"""The engine that a format is read by besides; on Arrow, JSON by `spark` is read in columns too, and by rows here."""


def read(plan: DecodePlan, frames: list[bytes]) -> DecodedBatch:
    return reader_of(plan, kind_of(plan))(pa.array(frames, pa.binary()))


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(("first", "count"), [(0, 40), pytest.param(1_000, 6_700, marks=pytest.mark.soak)])
def test_engines_give_the_same_rows_and_codes(
    format_: str, first: int, count: int, figure: Callable[[str], None]
) -> None:
    codes: Counter[str] = Counter()
    for seed in range(first, first + count):
        plan, frames = make_case(format_, random.Random(seed), ROWS)
        found = read(plan, frames)
        codes.update(one or "" for one in found.code.to_pylist())
        one_by_one = [read(replace(plan, engine=OTHER.get(format_, plan.engine)), [one]) for one in frames]
        for at, row in enumerate(one_by_one):
            assert make_plain(row.record[0]) == make_plain(found.record[at]), (seed, frames[at])
            assert (row.code[0], row.said[0]) == (found.code[at], found.said[at]), (seed, frames[at])
            assert found.code[at].as_py() != "INVALID" or found.said[at].as_py(), (seed, frames[at])
        if format_ == "AVRO":
            check_by_fastavro(plan, frames, found)
    figure(f"{count} schemas of {format_}: {dict(codes)}")
    assert min(codes[one] for one in ("", "MALFORMED", "INVALID")) > 0


def check_by_fastavro(plan: DecodePlan, frames: list[bytes], found: DecodedBatch) -> None:
    """The reference library reads the bytes without logical types; what they mean is counted here."""
    schema = json.loads(plan.writers[0].text)
    parsed = fastavro.parse_schema(bare(schema))
    for frame, code in zip(frames, found.code.to_pylist(), strict=True):
        source = io.BytesIO(frame[5:])
        try:
            value = fastavro.schemaless_reader(source, parsed, None)
        except Exception:  # noqa: BLE001 - whatever the library raises at damaged bytes
            continue
        if source.read():
            assert code in {"TRAILING", "MALFORMED"}
        else:
            assert (code == "INVALID") == (not fits(schema, value)), (plan.reader, value, code)


def fits(type_: Any, value: Any) -> bool:
    """Whether columns hold a value that was read without logical types."""
    if isinstance(type_, list):
        return value is None or fits(type_[1], value)
    if not isinstance(type_, dict):
        return True
    match type_["type"]:
        case "record":
            return all(fits(one["type"], value[one["name"]]) for one in type_["fields"])
        case "array":
            return all(fits(type_["items"], one) for one in value)
        case "map":
            return all(fits(type_["values"], one) for one in value.values())
    logical = type_.get("logicalType", "")
    if logical == "decimal":
        return bool(abs(int.from_bytes(value, "big", signed=True)) < 10 ** type_["precision"])
    return not logical.endswith("timestamp-millis") or bool(abs(value * 1000) < 2**63)


def test_a_case_has_what_it_says() -> None:
    """Names that differ in case alone and empty ones are among the cases."""
    plans = [make_case(format_, random.Random(seed), 1)[0] for format_ in FORMATS for seed in range(40)]
    names = [name for plan in plans for name, _ in plan.columns]
    assert {"a", "A", "userId", "userID", ""} <= set(names)
