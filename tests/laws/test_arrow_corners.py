"""Arrow at the corners: slices of frames, columns under other names, heads with indexes, and sentences without end."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.frames import frame, header, record
from treaty.arrow import decode
from treaty.arrow.cells import find_widest
from treaty.arrow.decoded import collect_rows, list_frames
from treaty.arrow.framings import make_reframer
from treaty.arrow.payloads import make_fit
from treaty.arrow.record_files import FileRecord, write_records
from treaty.client.connection import Connection
from treaty.core.limits import FAULT_CHARACTERS
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.core.state.columns import Map, Scalar
from treaty.plan.decode_plans import make_plan
from treaty.plan.frame_format import PRAVEGA, FrameFormat
from treaty.plan.rows import Names

ORDER = record(("id", "int"), ("note", ["null", "string"], None))


def put(registry: Connection, *texts: str, subject: str = "s") -> list[int]:
    return [registry.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id for text in texts]


def test_frames_of_a_slice_are_those_of_the_slice() -> None:
    values = [b"a", None, b"", b"bcd", None, b"e"]
    whole = pa.array(values, pa.binary())
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        for start in range(len(values) + 1):
            for end in range(start, len(values) + 1):
                assert list_frames(whole.cast(kind).slice(start, end - start)) == values[start:end]


def test_columns_have_the_names_that_are_asked_for(registry: Connection) -> None:
    """Of frames too: of those that no plan knows the id is told as far as there is one."""
    (number,) = put(registry, ORDER)
    good, strange = frame(number, ORDER, {"id": 1, "note": "x"}), header(2**31 - 1) + b"x"
    frames = pa.table(
        {"value": pa.array([good, strange, b"\0\xff\xff\xff\xff", b"\0\0", None, b"\1" + good[1:]], pa.binary())}
    )
    names = Names(error="wrong", schema_id="number", version="version", subject="from", prefix="o_")
    rows = decode(frames, make_plan(registry, "s"), names=names, flatten=True)
    assert rows.column_names == ["value", "wrong", "number", "version", "from", "o_id", "o_note"]
    assert rows["number"].to_pylist() == [number, 2**31 - 1, None, None, None, None]
    assert (rows["version"].to_pylist(), rows["from"].to_pylist()) == ([1, *[None] * 5], ["s", *[None] * 5])
    assert rows["o_id"].to_pylist() == [1, *[None] * 5]
    errors = [one and (one["code"], one["schema_id"]) for one in rows["wrong"].to_pylist()]
    assert errors == [
        None,
        ("UNKNOWN_ID", 2**31 - 1),
        ("UNKNOWN_ID", None),
        ("TOO_SHORT", None),
        None,
        ("BAD_MAGIC", None),
    ]


@pytest.mark.parametrize("part", ["value", "key"])
@pytest.mark.parametrize("name", ["headers", "meta"])
def test_headers_are_read_from_the_column_that_is_named(registry: Connection, name: str, part: str) -> None:
    """The first header of the name counts; without one a frame has the prefix."""
    (number,) = put(registry, ORDER)
    payload = frame(number, ORDER, {"id": 7, "note": None})[5:]
    plan = make_plan(registry, "s", framing="header")
    stamp = b"\1" + bytes.fromhex(plan.framing.heads[0][0])
    word = f"__{part}_schema_id"
    rows = [
        ([(word, stamp)], payload, 7), ([("x", b"y"), (word, stamp), (word, b"\0")], payload, 7), (None, header(number) + payload, 7),
        ([(word, None), (word, stamp)], header(number) + payload, 7), ([(word, stamp + payload)], b"", 7), ([("__other", stamp)], payload, None),
    ]  # fmt: skip
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    pairs = [None if one is None else [{"key": key, "value": value} for key, value in one] for one, _, _ in rows]
    table = pa.table({"value": pa.array([one for _, one, _ in rows], pa.binary()), name: pa.array(pairs, kind)})
    records = decode(table, plan, headers=name, part=part)["record"].to_pylist()
    assert [one and one["id"] for one in records] == [one for _, _, one in rows]


def test_a_head_has_the_indexes_of_its_message(registry: Connection) -> None:
    text = 'syntax = "proto3"; message A { int32 a = 1; } message B { int32 b = 1; }'
    registry.ask(Register(subject_of("p"), Draft(text, "PROTOBUF")))
    plan = make_plan(registry, "p", message="B")
    heads = (("0100000000", plan.writers[0].schema_id), ("0100000001", plan.writers[0].schema_id))
    framed = replace(plan, framing=FrameFormat(PRAVEGA, heads, indexes=(("0100000001", "0202"),)))
    reframe = make_reframer(framed, "value")
    front = header(plan.writers[0].schema_id)
    assert reframe(bytes.fromhex("0100000001") + b"x", None) == (front + b"\2\2x", None)
    assert reframe(bytes.fromhex("0100000000") + b"x", None) == (front + b"x", None)


def test_a_sentence_of_a_bad_row_has_an_end() -> None:
    decoded = collect_rows([(None, "MALFORMED", "x" * 10 * FAULT_CHARACTERS), (1, None, None)], pa.int32())
    assert len(decoded.said[0].as_py()) <= FAULT_CHARACTERS
    assert (decoded.record.to_pylist(), decoded.code.to_pylist()) == ([None, 1], ["MALFORMED", None])


def test_the_widest_item_is_looked_for_inside_of_all_lists_and_maps() -> None:
    wide = pa.struct([(f"f{at}", pa.int32()) for at in range(9)])
    for kind, widest in (
        (pa.list_(wide), 10), (pa.map_(pa.string(), wide), 30), (pa.map_(pa.string(), pa.list_(wide)), 10),
        (pa.list_(pa.struct([("a", pa.map_(pa.string(), wide))])), 30), (pa.struct([("a", pa.int32()), ("b", pa.list_(wide))]), 10), (wide, 0),
    ):  # fmt: skip
        assert find_widest(kind) == widest, kind


def test_keys_and_values_of_maps_are_made_to_fit_alike() -> None:
    fit = make_fit(Map(Scalar("string"), Scalar("string"), nullable=True))
    assert fit({1: {"a": 2}, "k": None}) == [("1", '{"a":2}'), ("k", None)]


def test_a_record_without_headers_has_null_in_its_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = write_records(
        tmp_path_factory.mktemp("files"), [FileRecord(None, b"v", (), 5), FileRecord(b"k", None, [("h", b"x")], 6)]
    )
    rows = pq.read_table(path).to_pylist()
    assert [one["headers"] for one in rows] == [None, [{"key": "h", "value": b"x"}]]
    assert [(one["key"], one["value"], one["timestamp"].microsecond) for one in rows] == [
        (None, b"v", 5000),
        (b"k", None, 6000),
    ]
