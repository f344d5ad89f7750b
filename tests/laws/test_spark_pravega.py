"""Pravega's frames: encodings say schema and codec, and what a codec can't undo is a bad row within bounded memory."""

import gzip
import random
import tracemalloc
from collections.abc import Iterator

import pyarrow as pa
import pytest

from tests.frames import frame, header, record
from treaty.arrow import decode
from treaty.arrow.framings import make_reframer
from treaty.arrow.packed_payloads import make_unpacker
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.groups.codecs import GZIP
from treaty.core.limits import INFLATED_BYTES
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.refusals import NotFound
from treaty.core.schema import Draft
from treaty.core.state.columns import Column, Scalar
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.encoding.encode_plans import make_encode_plan
from treaty.plan.encoding.options import EncodeOptions
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError
from treaty.plan.frame_format import PlannedEncoding, encodings_of
from treaty.plan.value import DecodePlan

V1 = record(("name", "string"))
V2 = record(("name", "string"), ("n", "int", 7))
SNAPPY = pa.Codec("snappy")


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as found:
        yield found


def put(registry: Connection, *texts: str) -> list[int]:
    return [registry.ask(Register(subject_of("o-value"), Draft(text))).answer.version.schema_id for text in texts]


def encoded(number: int, payload: bytes) -> bytes:
    return b"\x01" + number.to_bytes(4, "big") + payload


def test_a_table_of_encodings_is_a_framing(registry: Connection) -> None:
    first, second = put(registry, V1, V2)
    table = {
        0: (first, ""),
        1: (second, "application/x-gzip"),
        7: (second, "snappy"),
        8: (second, "none"),
        9: (999, ""),
    }
    plan = make_plan(registry, "o-value", framing=table)
    assert DecodePlan.from_json(plan.to_json()) == plan
    (third,) = put(registry, record(("name", "string"), ("n", "int", 7), ("more", "int", 1)))
    assert extend(plan, registry, [third]).framing == plan.framing
    payload = frame(second, V2, {"name": "x" * 50, "n": 3})[5:]
    packed = {1: gzip.compress(payload), 7: SNAPPY.compress(payload).to_pybytes()}
    assert encodings_of(plan.framing) == {
        number: PlannedEncoding(one, "" if codec == "none" else codec)
        for number, (one, codec) in table.items()
        if one != 999
    }
    reframe = make_reframer(plan, "value")
    for value, expected in (
        (encoded(0, b"\2a"), (header(first) + b"\2a", None)),
        (encoded(1, packed[1]), (header(second) + payload, None)),
        (encoded(7, packed[7]), (header(second) + payload, None)),
        (encoded(1, packed[1][:-1]), (None, "MALFORMED")),
        (encoded(1, packed[1] + b"x"), (None, "MALFORMED")),
        (encoded(7, packed[7][:-1]), (None, "MALFORMED")),
        (encoded(7, payload), (None, "MALFORMED")),
        (encoded(1, b""), (None, "MALFORMED")),
        (encoded(8, payload), (header(second) + payload, None)),
        (encoded(9, b""), (None, "UNKNOWN_ID")),
        (header(first) + b"\2a", (None, "BAD_MAGIC")),
        (b"\1\0", (None, "TOO_SHORT")),
        (None, (None, None)),
    ):
        found, why = reframe(value, None)
        assert (found, why and why.partition(":")[0]) == expected, value


def test_what_is_said_of_a_frame_that_the_plan_does_not_know(registry: Connection) -> None:
    (first,) = put(registry, V1)
    values = pa.array([b"\1\xff\xff\xff\xfe", encoded(5, b""), encoded(2**31 - 1, b"x")], pa.binary())
    found = decode(values, make_plan(registry, "o-value", framing={0: (first, "")})).to_pylist()
    numbers = (-2, 5, 2**31 - 1)
    assert [row["error"]["message"] for row in found] == [
        f"the group has no encoding {number}, or the plan was made before it" for number in numbers
    ]
    heads = decode(pa.array([b"\6\2a"], pa.binary()), make_plan(registry, "o-value", framing="version")).to_pylist()
    assert heads[0]["error"]["message"] == "no schema of the plan has this head (framing version)"


def test_codecs_that_nobody_knows_and_a_missing_table_are_told(registry: Connection) -> None:
    (first,) = put(registry, V1)
    with pytest.raises(PlanError, match=r"encoding 3 has the codec 'vault'.*gzip"):
        make_plan(registry, "o-value", framing={3: (first, "vault")})
    with pytest.raises(PlanError, match="Pravega's framing needs a group"):
        make_plan(registry, reader=V1, ids=[first], framing="pravega")


def test_a_small_payload_that_becomes_a_huge_one_asks_for_no_more_than_the_limit() -> None:
    unpack = make_unpacker({b"g": "gzip", b"s": "snappy"})
    bomb = gzip.compress(bytes(4 * INFLATED_BYTES), 1)
    claims = b"\xff\xff\xff\xff\x07" + b"\0" * 40
    tracemalloc.start()
    assert unpack(b"g" + bomb) == (None, f"it unpacks to more than {INFLATED_BYTES} bytes (limit INFLATED_BYTES)")
    assert unpack(b"s" + claims)[0] is None
    assert unpack(b"g" + gzip.compress(b"a") + gzip.compress(b"b")) == (b"ab", None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * INFLATED_BYTES


@pytest.mark.parametrize("codec", ["gzip", "snappy"])
def test_damage_never_raises(codec: str) -> None:
    dice = random.Random(codec)
    unpack = make_unpacker({b"x": codec})
    good = gzip.compress(b"abc" * 90) if codec == "gzip" else SNAPPY.compress(b"abc" * 90).to_pybytes()
    assert unpack(b"x" + good) == (b"abc" * 90, None)
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(dice.randrange(1, 4)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        found, why = unpack(b"x" + bytes(data[: dice.randrange(len(data) + 1)]))
        assert (found is None) == (why is not None)
        assert found is None or len(found) <= INFLATED_BYTES


def test_a_plan_of_a_group_has_its_encodings_and_further_ones_by_id(registry: Connection) -> None:
    first, second = put(registry, V1, V2)
    registry.add_codec("o-value", "vault", (("key", "7"),))
    for ordinal, codec in ((0, ""), (1, "vault")):
        registry.assign_encoding("o-value", ordinal, codec)
    plan = make_plan(registry, "o-value", framing="pravega")
    assert plan.known == {0, 1}
    assert plan.known_schemas == {first, second}
    assert encodings_of(plan.framing) == {
        0: PlannedEncoding(first),
        1: PlannedEncoding(second, "vault", (("key", "7"),)),
    }
    assert DecodePlan.from_json(plan.to_json()) == plan
    assert extend(plan, registry, [5, 1]) is plan
    reframe = make_reframer(plan, "value")
    found, why = reframe(encoded(1, b"\2a"), None)
    assert (found, (why or "").partition(" has ")[0]) == (None, "MALFORMED: no installed package")
    with pytest.raises(NotFound):
        make_plan(registry, "nobody", framing="pravega")


def test_payloads_lose_the_zeros_that_java_packs_behind_them(registry: Connection) -> None:
    first, second = put(registry, V1, V2)
    plan = make_plan(registry, "o-value", framing={0: (first, "gzip"), 1: (second, "snappy"), 2: (first, "")})
    reframe = make_reframer(plan, "value")
    for record_, zeros in (({"name": "x", "n": 0}, 90), ({"name": "\0", "n": 0}, 1), ({"name": "", "n": 3}, 0)):
        payload = frame(second, V2, record_)[5:]
        packed = SNAPPY.compress(payload + bytes(zeros)).to_pybytes()
        assert reframe(encoded(1, packed), None) == (header(second) + payload, None)
    for whole in (b"\2a\0\1\0", b"\2a\1", b"\4a\0\0x"):
        assert reframe(encoded(0, gzip.compress(whole)), None) == (header(first) + whole, None)
    assert reframe(encoded(2, b"\2a\0"), None) == (header(first) + b"\2a\0", None)


def test_encode_plans_write_the_heads_that_decode_plans_know(registry: Connection) -> None:
    columns = [Column("name", Scalar("string"))]
    for framing in ("version", "md5", "single-object", "prefix"):
        options = EncodeOptions(schema=V1, register=True, framing=framing)
        plan = make_encode_plan(registry, "o-value", columns, options)
        assert EncodePlan.from_json(plan.to_json()) == plan
        heads = dict(make_plan(registry, "o-value", framing=framing).framing.heads)
        assert heads.get(plan.head, 1) == 1
        assert (plan.head in heads) == (framing != "prefix")
    registry.add_codec("o-value", GZIP)
    packed = make_encode_plan(registry, "o-value", columns, EncodeOptions(framing="pravega", codec="gzip"))
    assert (packed.head, packed.codec) == ("0100000000", GZIP)
    assert EncodePlan.from_json(packed.to_json()) == packed
    assert f"codec    {GZIP}" in packed.explain()
