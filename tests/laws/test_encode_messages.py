"""Protobuf written in whole columns: the bytes are those of Protobuf's own runtime, for rows of any file."""

import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given
from hypothesis import strategies as st

from tests.frames import header
from tests.messages import filled, proto, with_names
from treaty.arrow.encoding.changes import find_unscaled
from treaty.arrow.encoding.outline import make_columnar_writer
from treaty.arrow.encoding.protobuf import FEW, make_batch_writer
from treaty.arrow.encoding.rows import find_descriptor, make_row_encoder
from treaty.arrow.protobuf.rows import decoder_of
from treaty.arrow.types import arrow_type, kind_of
from treaty.core.state.columns import Column, Struct
from treaty.plan.ddl import parse_type
from treaty.plan.encoding.fit import ColumnConversion
from treaty.plan.encoding.options import ENCODE_DEFAULTS
from treaty.plan.encoding.planner import compose as compose_encode
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.options import DecodeOptions
from treaty.plan.protobuf.planner import compose
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_text

FILES = 120
ROWS = 20
WIDE = Context(prec=80)
DECIMALS = (
    'syntax = "proto3"; package any; import "confluent/type/decimal.proto"; import "confluent/meta.proto"; message M {'
    ' confluent.type.Decimal d = 1 [(confluent.field_meta) = { params: [{ key: "precision", value: "38" }, { key: "scale", value: "4" }] }];'
    " int32 n = 2; }"
)


def planned(text: str) -> tuple[EncodePlan, Any]:
    """The plan that writes rows with all columns of a file's first message, and what reads a frame to such a row."""
    known = RegisteredSchema(7, "s", 1, "PROTOBUF", parse_text("PROTOBUF", text))
    reading = compose([known], known.schema, DecodeOptions(2))
    columns = parse_type(reading.engine_type)
    assert isinstance(columns, Struct)
    solid = tuple(Column(one.name, one.type, nullable=False) for one in columns.columns)
    kind = kind_of(reading)
    read = decoder_of(reading, kind)

    def read_row(frame: bytes) -> Any:
        record, *why = read(frame)
        return with_names(record, kind), *why

    return compose_encode(known, solid, ENCODE_DEFAULTS), read_row


def kind_of_rows(plan: EncodePlan) -> pa.DataType:
    return arrow_type(parse_type(plan.fit.type))


class MissingError(Exception):
    """A null where Spark's checks would refuse the row."""


def fitted(fit: ColumnConversion, value: Any) -> Any:
    """What Spark's columns make of a value before a worker gets it (see `treaty.spark.encoding.conversion`)."""
    if value is None:
        if fit.required:
            raise MissingError
        return None
    inner = [part.fit for part in fit.parts]
    match fit.way:
        case "record":
            return {part.name: fitted(part.fit, value[part.source]) for part in fit.parts}
        case "items":
            return [fitted(inner[0], one) for one in value]
        case "entries":
            pairs = value.items() if isinstance(value, dict) else value
            return [(fitted(inner[0], key), fitted(inner[1], one)) for key, one in pairs]
        case "wrap":
            return {"value": fitted(inner[0], value)}
        case "day":
            return {"year": value.year, "month": value.month, "day": value.day}
        case "instant":
            seconds, micros = divmod(
                value if isinstance(value, int) else round(value.timestamp() * 1_000_000), 1_000_000
            )
            return {"seconds": seconds, "nanos": micros * 1000}
    return value


def rows_of(dice: random.Random, text: str) -> Iterator[tuple[EncodePlan, list[Any]]]:
    """Rows that messages were read to; none where no message of the file can be read."""
    plan, read = planned(text)
    made = GetMessageClass(find_descriptor(plan))
    good = []
    for _ in range(ROWS):
        record, *_ = read(header(7) + b"\0" + filled(dice, made()).SerializePartialToString())
        with suppress(MissingError):
            good += [fitted(plan.fit, record)] if record is not None else []
    if good:
        yield plan, good


def alone(plan: EncodePlan, rows: pa.Array) -> list[tuple[bytes | None, str | None]]:
    """Rows written one by one."""
    write = make_row_encoder(plan, rows.type)
    return [write(one) for one in rows.to_pylist()]


def told(found: pa.Array) -> list[tuple[bytes | None, str | None]]:
    return [(one["payload"], one["said"]) for one in found.to_pylist()]


def test_what_is_written_in_columns_is_what_the_runtime_writes() -> None:
    quick = slow = 0
    for seed in range(FILES):
        dice = random.Random(seed)
        for plan, found in rows_of(dice, proto(dice, groups=seed % 10 == 0)):
            rows = pa.array(found, kind_of_rows(plan))
            expected = alone(plan, rows)
            columns = make_columnar_writer(plan, rows.type)
            if columns is not None and all(said is None for _, said in expected):
                assert columns(rows).to_pylist() == [one for one, _ in expected], (seed, plan.explain())
                quick += len(rows)
            slow += columns is None
            holes = pa.array([None if dice.random() < 0.3 else one for one in found], rows.type)
            assert told(make_batch_writer(plan)(holes)) == alone(plan, holes), seed
            assert told(make_batch_writer(plan)(rows.slice(1))) == expected[1:], seed
    assert quick > FILES * ROWS / 3
    assert slow > 0


ORDERS = (
    'syntax = "proto3"; package any; import "google/protobuf/struct.proto"; enum E { NONE = 0; ONE = 1; }'
    " message M { string name = 1; google.protobuf.Struct more = 2; repeated E kinds = 3; map<string, int32> by = 4; }"
)


def test_bad_rows_are_told_as_before_and_no_neighbour_is_touched() -> None:
    plan, _ = planned(ORDERS)
    kind = kind_of_rows(plan)
    good: dict[str, Any] = {"name": "a", "more": '{"n": [1, null]}', "kinds": ["ONE", "7"], "by": [("b", 1), ("a", 0)]}
    wrong: dict[int, dict[str, Any]] = {
        3: {"more": "{n"},
        FEW + 5: {"kinds": ["ONE", str(2**31)]},
        4 * FEW: {"more": "[]", "name": ""},
    }
    found: list[Any] = [{**good, **wrong.get(at, {}), "name": f"row {at}"} for at in range(6 * FEW)]
    found[5 * FEW] = None  # a delete marker
    rows = pa.array(found, kind)
    made = told(make_batch_writer(plan)(rows))
    assert made == alone(plan, rows)
    assert [at for at, (_, said) in enumerate(made) if said] == sorted(wrong)
    assert made[5 * FEW] == (None, None)


def test_a_text_that_is_no_utf8_is_a_bad_row() -> None:
    plan, _ = planned('syntax = "proto3"; package any; message M { string name = 1; }')
    names = pa.array([b"good", b"\xff", b"", "ä".encode()], pa.binary())
    rows = pa.StructArray.from_arrays([names.view(pa.string())], fields=list(kind_of_rows(plan)))
    made = told(make_batch_writer(plan)(rows))
    assert [payload for payload, _ in made] == [b"\n\4good", None, b"", b"\n\2\xc3\xa4"]
    assert [said is not None for _, said in made] == [False, True, False, False]


@given(st.lists(st.none() | st.integers(1 - 10**38, 10**38 - 1) | st.integers(-(2**64), 2**64), min_size=1))
def test_decimals_of_any_length_are_written_exactly(digits: list[int | None]) -> None:
    kind = pa.decimal128(38, 4)
    array = pa.array([None if one is None else Decimal(one).scaleb(-4, WIDE) for one in digits], kind)
    for found, one in zip(find_unscaled(array).to_pylist(), digits, strict=True):
        if one is not None:
            assert found == one.to_bytes(one.bit_length() // 8 + 1, "big", signed=True)
    plan, _ = planned(DECIMALS)
    rows = pa.array([{"d": one, "n": 1} for one in array.to_pylist()], pa.struct([("d", kind), ("n", pa.int32())]))
    made = GetMessageClass(find_descriptor(plan))
    columns = make_columnar_writer(plan, rows.type)
    assert columns is not None
    payloads = columns(rows).to_pylist()
    assert [(one, None) for one in payloads] == alone(plan, rows)
    for payload, one in zip(payloads, digits, strict=True):
        message: Any = made.FromString(payload)
        assert message.HasField("d") == (one is not None)
        if one is not None:
            assert int.from_bytes(message.d.value, "big", signed=True) == one
            assert (message.d.precision, message.d.scale) == (38, 4)


def test_a_machine_without_ptars_writes_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, _ = planned('syntax = "proto3"; package any; message M { optional int32 n = 1; }')
    rows = pa.array([{"n": 0}, {"n": None}, None], kind_of_rows(plan))
    expected = [(b"\x08\0", None), (b"", None), (None, None)]
    assert make_columnar_writer(plan, rows.type) is not None
    assert told(make_batch_writer(plan)(rows)) == expected
    monkeypatch.setitem(sys.modules, "ptars._lib", None)
    assert make_columnar_writer(plan, rows.type) is None
    assert told(make_batch_writer(plan)(rows)) == expected


def test_a_number_of_a_struct_that_would_lose_digits_is_a_bad_row() -> None:
    plan, _ = planned(ORDERS)
    numbers = {
        "9007199254740992": "", "9007199254740993": "as a double", "0.1": "", "0.30000000000000004": "", "1e300": "",
        "0.12345678901234567890": "as a double", "1e400": "as a double", "[1.50, -0.0]": "", '"9007199254740993"': "",
    }  # fmt: skip
    row = {"name": "a", "kinds": [], "by": []}
    rows = pa.array([{**row, "more": f'{{"n": {one}}}'} for one in numbers], kind_of_rows(plan))
    for (_, said), expected in zip(told(make_batch_writer(plan)(rows)), numbers.values(), strict=True):
        assert bool(said) == bool(expected)
        assert expected in (said or "")
        assert not said or said.startswith("/more: ")
