"""JSON in whole columns: what pyarrow's reader is let to read is what the row reader reads, of any document and of any bytes."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
import pytest

from tests.documents import make_document, make_frames, make_schema
from tests.frames import header
from treaty.arrow.decoded import DecodedBatch, RowResult, read_by_row
from treaty.arrow.jsonschema.batches import HALVES, NUMBER, TRIES, make_document_reader
from treaty.arrow.jsonschema.rows import make_row_reader
from treaty.arrow.jsonschema.values import print_double
from treaty.arrow.types import kind_of
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.jsonschema import compose
from treaty.plan.options import DecodeOptions
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_text
from treaty.plan.value import DecodePlan


def planned(*schemas: Any, validate: bool = False) -> DecodePlan:
    known = [
        RegisteredSchema(place, DEFAULT_CONTEXT, place, "JSON", parse_text("JSON", json.dumps(schema)))
        for place, schema in enumerate(schemas, 7)
    ]
    return compose(known, known[0].schema, DecodeOptions(validate=validate))


def parts_of(batch: DecodedBatch) -> tuple[pa.Array, pa.Array, pa.Array]:
    for part in (batch.record, batch.code, batch.said):
        part.validate(full=True)
    return batch.record, batch.code, batch.said


def require_alike(plan: DecodePlan, frames: list[bytes | None]) -> DecodedBatch:
    kind, given = kind_of(plan), pa.array(frames, pa.binary())
    slow = read_by_row(make_row_reader(plan), kind)(given)
    batch = make_document_reader(plan, kind)(given)
    for mine, other in zip(parts_of(batch), parts_of(slow), strict=True):
        assert mine.type == other.type
        if not mine.equals(other):
            wrong = [
                (frame, left, right)
                for frame, left, right in zip(frames, mine, other, strict=True)
                if left != right and str(left) != str(right)
            ]
            assert wrong == [], wrong[:3]
    return slow


@pytest.mark.parametrize("validate", [False, True])
@pytest.mark.parametrize("first", [0, pytest.param(1_000, marks=pytest.mark.soak)])
def test_any_documents_are_the_same_rows(first: int, *, validate: bool, figure: Callable[[str], None]) -> None:
    rows = good = 0
    for seed in range(first, first + (3_000 if first else 60)):
        dice = random.Random(seed)
        schema, _ = make_schema(dice)
        plan = planned(schema, validate=validate)
        assert plan.engine == "arrow"
        frames = list(make_frames(dice, schema, 7, dice.choice((1, 5, 40, 120))))
        slow = require_alike(plan, frames)
        rows += len(frames)
        good += len(frames) - slow.record.null_count
    assert good > rows // 3
    figure(f"{rows} documents, {good} of them records, alike in columns and row by row")


PLAIN = re.compile(r"-?\d+\.\d+")
SCIENTIFIC = re.compile(r"-?[1-9]\.\d+E-?\d+")


@pytest.mark.parametrize("exponent", range(-6, 12))
@pytest.mark.parametrize("digits", ["1", "1.5", "9.5", "9.999999999999998", "1.000000000000001"])
def test_a_double_is_printed_as_java_prints_it(digits: str, exponent: int) -> None:
    """From a thousandth up to ten million, which is left out, it is plain; all others have one digit before the point."""
    size = float(f"{digits}e{exponent}")
    for number in (size, -size):
        text = print_double(number)
        assert float(text) == number
        assert (PLAIN if 1e-3 <= size < 1e7 else SCIENTIFIC).fullmatch(text), text


def test_numbers_in_a_column_of_text_are_printed_as_java_prints_them() -> None:
    schema = {"type": "object", "properties": {"s": {"type": ["string", "number"]}}}
    numbers = {
        "9999999.5": "9999999.5",
        "1500000.0": "1500000.0",
        "1e6": "1000000.0",
        "1e7": "1.0E7",
        "1e-3": "0.001",
        "1e-4": "1.0E-4",
    }
    frames: list[bytes | None] = [header(7) + f'{{"s":{number}}}'.encode() for number in numbers]
    texts = [row["s"] for row in require_alike(planned(schema), frames).record.to_pylist()]
    assert texts == [*numbers.values()]


ROW = {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}


def never(value: bytes | None) -> RowResult:
    raise AssertionError(f"read row by row: {value!r}")


def test_good_documents_are_read_in_columns_alone() -> None:
    for validate in (False, True):
        for seed in range(40):
            dice = random.Random(seed)
            schema, _ = make_schema(dice)
            plan = planned(schema, validate=validate)
            kind = kind_of(plan)
            frames = pa.array([header(7) + make_document(dice, schema).encode() for _ in range(20)], pa.binary())
            there = frames.filter(read_by_row(make_row_reader(plan), kind)(frames).record.is_valid())
            there = there.filter(pc.invert(pc.match_substring_regex(there, r"^.{5}\{\s*\}")))
            batches = make_document_reader(plan, kind).__self__  # type: ignore[attr-defined]  # a method of the reader
            assert not replace(batches, row=never).read(there).record.null_count


FORGED = (
    (b'{"n":1},"x":{"n":2}',), (b'{"n":1}\n{"n":2}', b" "), (b'{"n":1}\n{"NUMBER":1,"n":2}', b""), (b'{"n":1,"x":', b'{"n":2}}'),
    (b'{"n":1,"x":{"a":[', b'{"n":2}]}}{}'), (b'{"n":1}{"n":2}', b'{"n":3'), (b'{"NUMBER":0,"n":5}',), (b'{"n":1,"s":"', b'{"n":2}"}'),
    (b'{"n":1}]}', b'{"n":2}'), (b'{"n":1,"x":NaN}', b'{"n":2,"s":"NaN"}'),
)  # fmt: skip
"""Documents that reach into their neighbours, or beyond their own end."""


def test_no_document_reaches_into_another_one() -> None:
    """pyarrow's reader takes lines as it finds them: two objects in one, or one in two, with the same number of rows."""
    plan = planned(ROW)
    for name in (b"_number", NUMBER.encode()):  # the name is known to nobody; with it a row could give itself a number
        for texts in FORGED:
            some = [header(7) + text.replace(b"NUMBER", name) for text in texts]
            require_alike(plan, [header(7) + b'{"n":0}', *some, header(7) + b'{"n":9}'])


class CountedReader:
    """pyarrow's reader, with how many lines it reads."""

    def __init__(self) -> None:
        self.read = pj.read_json
        self.lines: list[int] = []

    def __call__(self, source: Any, *options: Any) -> pa.Table:
        text = source.read_buffer()
        try:
            table = self.read(pa.BufferReader(text), *options)
        except pa.ArrowInvalid as wrong:
            named = re.search(r"in row (\d+)", str(wrong))
            self.lines.append(int(named[1]) + 1 if named else text.to_pybytes().count(b"\n"))
            raise
        self.lines.append(len(table))
        return table


@pytest.mark.parametrize("share", [0.001, 0.03, 0.3])
def test_bad_rows_bound_how_much_is_read_again(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a batch with too many of them the next ones are read row by row."""
    good, plan = header(7) + b'{"n":1,"s":"abc"}', planned(ROW)
    for bad in (b'{"n":"7","s":"a"}', b'{"n":1.5}', b'{"n":1,"s":"a}', b"{"):
        dice, reader = random.Random(1), CountedReader()
        monkeypatch.setattr(pj, "read_json", reader)
        frames = pa.array([header(7) + bad if dice.random() < share else good for _ in range(4_000)], pa.binary())
        batches = make_document_reader(plan, kind_of(plan)).__self__  # type: ignore[attr-defined]  # a method of the reader
        first = batches.read(frames)
        assert sum(reader.lines) <= 6 * len(frames)
        assert len(reader.lines) <= 2 + len(frames) // TRIES + HALVES
        assert first.record.null_count == pc.sum(pc.not_equal(frames, good)).as_py()
        is_paused, before = batches.left > 0, len(reader.lines)
        batches.read(frames)
        assert (len(reader.lines) == before) == is_paused
        monkeypatch.setattr(pj, "read_json", reader.read)
