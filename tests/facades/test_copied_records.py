"""Records that `treaty consume --json` prints are the ones that `treaty produce --records` reads, member by member."""

import json
from itertools import product
from pathlib import Path

import pytest

from treaty.assemble import connect
from treaty.cli.records.consume import RecordPrinter
from treaty.cli.records.input_records import (
    MEMBERS,
    PASSED,
    UNSET,
    InputRecord,
    InvalidInput,
    encode_bytes,
    read_records,
)
from treaty.client.kafka.consumer import TopicRecord
from treaty.client.kafka.producer import ANY
from treaty.client.records.decoder import RecordDecoder
from treaty.client.serializers.avro import AvroSerializer

KEYS = (None, b"", b"k", "é\n".encode(), b"\xff\0", b'{"base64":"AA=="}', b"null", b"0")
HEADERS = ((), (("a", b""),), (("a", b"1"), ("a", b"\xff\0"), ("", b"x")))
VALUES = (None, "", "tea", "\0")
PARTITIONS, TIMES = (0, 7), (None, 0, 5)
"""The smallest value of each member, and others."""


def test_what_is_printed_of_a_record_is_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topic = []
    with connect("memory:") as registry:
        write = AvroSerializer(registry, '"string"')
        printer = RecordPrinter(registry, RecordDecoder(registry), "auto", "json", raw=False)
        for offset, (key, headers, value, partition, time) in enumerate(
            product(KEYS, HEADERS, VALUES, PARTITIONS, TIMES)
        ):
            data = write(value, "t").data
            topic.append((TopicRecord(partition, offset, key, data, headers, time), value))
            printer.show(topic[-1][0])
    (tmp_path / "records").write_text(capsys.readouterr().out, "utf-8")
    copied = [*read_records([str(tmp_path / "records")], records=True)]
    for (record, value), item in zip(topic, copied, strict=True):
        assert isinstance(item, InputRecord), item
        assert (item.value, encode_bytes(item.key), item.headers) == (value, record.key, record.headers)
        assert (item.partition, item.time) == (record.partition, record.time or 0)


READ: dict[str, InputRecord | None] = {
    "{}": InputRecord("1", None),
    '{"partition": null, "timestamp": null, "headers": null}': InputRecord("1", None),
    '{"partition": 0}': InputRecord("1", None, partition=0),
    '{"key": null}': InputRecord("1", None, None),
    '{"key": ""}': InputRecord("1", None, ""),
    '{"key": 0}': InputRecord("1", None, 0),
    '{"value": false}': InputRecord("1", False),
    '{"headers": {"a": ""}}': InputRecord("1", None, headers=(("a", b""),)),
    **{f'{{"{name}": "x"}}': InputRecord("1", None) for name in sorted(PASSED)},
    **dict.fromkeys(
        ('{"partition": -1}', '{"partition": false}', '{"timestamp": -1}', '{"timestamp": 1.0}', '{"headers": [["a"]]}',
         '{"other": 1}', '{"error": {}}'),
    ),
}  # fmt: skip
"""By members of a record: what is read of them beside a value that is null; None where that is refused."""


@pytest.mark.parametrize("members", READ)
def test_a_member_with_its_smallest_value_is_one_that_is_there(tmp_path: Path, members: str) -> None:
    sent, read = json.loads(members), READ[members]
    (tmp_path / "records").write_text(json.dumps({"value": None} | sent))
    (item,) = read_records([str(tmp_path / "records")], records=True)
    if read is None:
        assert isinstance(item, InvalidInput)
        return
    assert isinstance(item, InputRecord)
    assert (item.value, item.key, item.headers) == (read.value, read.key, read.headers)
    assert (item.partition, item.time) == (read.partition, read.time)
    assert (item.key is UNSET) is ("key" not in sent)
    assert (item.partition == ANY) is (sent.get("partition") is None)
    assert sent.keys() <= MEMBERS | PASSED
