"""`treaty produce`, `consume` and `decode` with records of groups, as a person uses them."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.group_records import Order, writing
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.cli.records.consume import RecordPrinter
from treaty.client.groups.deserializer import GroupDeserializer
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.kafka.consumer import TopicRecord
from treaty.client.records.decoder import RecordDecoder
from treaty.client.serializers.frames import encode_encoding

PAYLOAD = b"\6tea\6"


@pytest.fixture
def registry(tmp_path: Path) -> str:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url) as found:
        for codec in ("", "gzip"):
            GroupSerializer(found, "orders", Order, writing("AVRO", codec))
    return url


def run(registry: str, *words: str, stdin: bytes | None = None, code: int = 0) -> Result:
    done = CliRunner().invoke(group, [*words, "--registry", registry], input=stdin)
    assert done.exit_code == code, done.output
    return done


def test_decode_explains_an_encoding_and_what_it_packs(registry: str) -> None:
    plain = run(registry, "decode", (encode_encoding(0) + PAYLOAD).hex(), "--group", "orders", "--json")
    pieces = json.loads(plain.stdout)["steps"]
    assert [one["offset"] for one in pieces] == [0, 1, 5, 9]
    packed = gzip.compress(PAYLOAD + bytes(99))  # as Java packs it
    told = run(registry, "decode", (encode_encoding(1) + packed).hex(), "--group", "orders").stdout
    assert "1: ordinal 0 of orders, codec application/x-gzip" in told
    assert "a payload of 5 bytes, packed" in told
    assert "tea" in told
    for data, why in (
        (encode_encoding(1) + packed[:-1], "the gzip stream is cut short"),
        (encode_encoding(7), "has no encoding 7"),
        (b"\0\0\0\0\0", "begins with 0x01"),
        (encode_encoding(0) + PAYLOAD + b"x", "left after the record"),
    ):
        assert why in run(registry, "decode", data.hex(), "--group", "orders", code=1).output


def test_produce_writes_encoding_ids_and_packs(registry: str) -> None:
    value = b'{"item":"tea","count":3}\n'
    words = ("produce", "orders", "--subject", "orders", "--framing", "pravega", "--dry-run", "--json")
    (plain,) = json.loads(run(registry, *words, stdin=value).stdout)["records"]
    assert plain["value"] == f"01 00 00 00 00 {PAYLOAD.hex(' ')}"
    (packed,) = json.loads(run(registry, *words, "--codec", "gzip", stdin=value).stdout)["records"]
    data = bytes.fromhex(packed["value"])
    assert (data[:5], gzip.decompress(data[5:])) == (encode_encoding(1), PAYLOAD)
    for more, why, code in (
        (("--codec", "lz77"), "no installed package has the codec 'lz77'", 2),
        (("--codec", "snappy"), "has no codec 'application/x-snappy-framed'", 1),
        (("--schema", "1"), "choose latest or a file", 2),
        (("--framing", "prefix", "--codec", "gzip"), "--codec needs --framing pravega", 2),
    ):
        assert why in run(registry, *words, *more, stdin=value, code=code).output


def test_consume_prints_values_of_a_group(registry: str, capsys: pytest.CaptureFixture[str]) -> None:
    with connect(registry) as found:
        values = GroupDeserializer(found, "orders")
        printer = RecordPrinter(found, RecordDecoder(found), "auto", "values", raw=False, group="orders", values=values)
        for offset, value in enumerate((encode_encoding(0) + PAYLOAD, None, encode_encoding(1) + b"\xff\xff")):
            printer.show(TopicRecord(0, offset, b"k", value))
    told = capsys.readouterr()
    assert [json.loads(line) for line in told.out.splitlines()] == [{"item": "tea", "count": 3}, None]
    assert "0:2 value: MALFORMED: no gzip stream" in told.err
    assert "packed payload, not read" in told.err
    assert (printer.count, printer.bad, printer.markers) == (3, 1, 1)
