"""`treaty produce` and `treaty consume` as a person uses them: a registry in a process, a real broker, pipes."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from confluent_kafka import Producer

from tests.real.running import Running, serving
from tests.servers.kafka import Kafka
from treaty.cli.main import group

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

ORDER = json.dumps({
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
})  # fmt: skip
PROTO = 'syntax = "proto3"; package shop; message First { int32 a = 1; } message Second { string name = 1; }'
JSON = '{"title": "Person", "type": "object", "properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}'
ORDERS = [
    {"id": 1, "price": "9.90", "note": "größe", "at": "2026-02-28T10:00:00.123000Z"},
    {"id": 2, "price": "-0.05", "note": None, "at": "1970-01-01T00:00:00Z"},
]
Treaty = Callable[..., Result]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, "--log", f"sqlite://{folder}/registry.db") as running:
        yield running


@pytest.fixture
def env(server: Running, kafka: Kafka) -> dict[str, str]:
    return {"TREATY_REGISTRY": server.base, "TREATY_KAFKA": kafka.bootstrap, "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def treaty(env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Treaty:
    monkeypatch.chdir(tmp_path)
    return lambda *words, stdin="": CliRunner(env=env).invoke(group, list(words), input=stdin)


def lines(*values: Any) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in values)


def read_back(done: Result) -> list[Any]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def write(kafka: Kafka, topic: str, *values: bytes | None, **more: Any) -> None:
    """Records that somebody else wrote."""
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    for one in values:
        producer.produce(topic, one, **more)
    assert producer.flush(30) == 0


def test_avro_there_and_back(treaty: Treaty, topic: str, tmp_path: Path) -> None:
    (tmp_path / "order.avsc").write_text(ORDER, "utf-8")
    produced = treaty(
        "produce", topic, "--schema", "order.avsc", "--key-field", "id", "--header", "from=test", stdin=lines(*ORDERS)
    )
    assert produced.exit_code == 0, produced.stderr
    assert f"2 records (36 bytes) sent to {topic}" in produced.stderr
    assert f"{topic}-value version 1, id " in produced.stderr

    assert read_back(treaty("consume", topic, "--values")) == ORDERS
    found = read_back(treaty("consume", topic, "--json"))
    assert [(one["key"], one["offset"], one["value"]) for one in found] == [("1", 0, ORDERS[0]), ("2", 1, ORDERS[1])]
    assert found[0]["headers"] == [["from", "test"]]
    assert found[0]["value_schema"]["format"] == "AVRO"
    shown = treaty("consume", topic, "--from", "1")
    assert shown.stdout.startswith("0:1  20")
    assert '  2  {"id": 2, "price": "-0.05", "note": null' in shown.stdout
    assert "    from: test\n" in shown.stdout
    assert f"1 record of {topic}." in shown.stderr


def test_records_go_from_topic_to_topic(treaty: Treaty, topic: str, kafka: Kafka, tmp_path: Path) -> None:
    """Keys under a schema, headers, times and delete markers come along; the schema's guid stands in a header."""
    (tmp_path / "order.avsc").write_text(ORDER, "utf-8")
    (tmp_path / "key.avsc").write_text('"long"', "utf-8")
    first = [
        {"key": 7, "value": ORDERS[0], "headers": {"a": "1"}, "timestamp": 1_700_000_000_000},
        {"key": 8, "value": None, "headers": [["b", {"base64": "/w=="}]], "timestamp": 1_700_000_000_001},
    ]
    words = ("--schema", "order.avsc", "--key-schema", "key.avsc", "--records", "--framing", "header")
    produced = treaty("produce", topic, *words, "--json", stdin=lines(*first))
    assert produced.exit_code == 0, produced.stderr
    assert json.loads(produced.stdout)["sent"] == 2
    out = treaty("consume", topic, "--json")
    copy = kafka.topic(f"{topic}-copy")
    again = treaty("produce", copy, *words, "--compression", "zstd", stdin=out.stdout)
    assert again.exit_code == 0, again.stderr

    found = [read_back(treaty("consume", one, "--json", "--keys", "schema")) for one in (topic, copy)]

    assert [one["key"] for one in found[0]] == [7, 8]
    assert [one["value"] for one in found[0]] == [ORDERS[0], None]
    assert [one["headers"] for one in found[0]] == [[["a", "1"]], [["b", {"base64": "/w=="}]]]
    members = ("key", "value", "headers", "timestamp")
    assert [{name: one[name] for name in members} for one in found[1]] == [
        {name: one[name] for name in members} for one in found[0]
    ]
    assert "1 delete marker" in treaty("consume", copy).stderr


def test_partitions_that_a_topic_does_not_have_are_dropped_where_that_is_asked_for(
    treaty: Treaty, topic: str, tmp_path: Path
) -> None:
    (tmp_path / "n.avsc").write_text('"int"', "utf-8")
    words = ("produce", topic, "--schema", "n.avsc", "--records")
    record = lines({"value": 1, "partition": 4})
    refused, dropped = treaty(*words, stdin=record), treaty(*words, "--no-partition", stdin=record)

    assert refused.exit_code == 1
    assert f"the record names partition 4, but {topic} has 1 partition; --no-partition ignores it" in refused.stderr
    assert dropped.exit_code == 0, dropped.stderr
    assert "1 record " in dropped.stderr


def test_three_formats_in_one_topic(treaty: Treaty, topic: str, tmp_path: Path) -> None:
    (tmp_path / "order.avsc").write_text(ORDER, "utf-8")
    (tmp_path / "all.proto").write_text(PROTO, "utf-8")
    (tmp_path / "person.json").write_text(JSON, "utf-8")
    (tmp_path / "one.json").write_text('{\n  "age": 3\n}\n', "utf-8")
    by_record = ("--strategy", "topic-record")
    done = [
        treaty("produce", topic, "--schema", "order.avsc", *by_record, stdin=lines(ORDERS[0])),
        treaty("produce", topic, "--schema", "all.proto", "--record", "shop.Second", *by_record, stdin=lines({"name": "x"})),
        treaty("produce", topic, "one.json", "--schema", "person.json", "--format", "json", *by_record),
    ]  # fmt: skip
    assert [one.exit_code for one in done] == [0, 0, 0], [one.stderr for one in done]

    found = read_back(treaty("consume", topic, "--json"))

    assert [one["value"] for one in found] == [ORDERS[0], {"name": "x"}, {"age": 3}]
    assert [one["value_schema"]["format"] for one in found] == ["AVRO", "PROTOBUF", "JSON"]
    assert all(
        f"{topic}-{name} version 1" in one.stderr
        for name, one in zip(("shop.Order", "shop.Second", "Person"), done, strict=True)
    )


def test_values_that_do_not_fit_are_told_with_line_and_path(treaty: Treaty, topic: str, tmp_path: Path) -> None:
    (tmp_path / "order.avsc").write_text(ORDER, "utf-8")
    mixed = lines(ORDERS[0], {**ORDERS[1], "id": "x"}) + "{no json\n\n" + lines(ORDERS[1])

    stopped = treaty("produce", topic, "--schema", "order.avsc", stdin=mixed)
    assert stopped.exit_code == 1
    assert '<stdin>:2: at /id: "x" is not a long' in stopped.stderr
    assert "1 record (" in stopped.stderr
    assert "line 3" not in stopped.stderr

    skipped = treaty("produce", topic, "--schema", "latest", "--skip-bad", "--json", stdin=mixed)
    assert skipped.exit_code == 1
    assert "<stdin>:3: not JSON" in skipped.stderr
    assert {name: json.loads(skipped.stdout)[name] for name in ("sent", "bad", "lost")} == {
        "sent": 2,
        "bad": 2,
        "lost": 0,
    }
    assert len(read_back(treaty("consume", topic, "--values"))) == 3


def test_a_dry_run_shows_bytes_and_writes_nothing(treaty: Treaty, topic: str, tmp_path: Path, server: Running) -> None:
    (tmp_path / "s.avsc").write_text('{"type":"record","name":"S","fields":[{"name":"a","type":"string"}]}', "utf-8")
    dry = treaty("produce", topic, "--schema", "s.avsc", "--key", "k", "--dry-run", stdin=lines({"a": "hi"}, None))
    assert dry.exit_code == 0, dry.stderr
    assert "key:      6b" in dry.stdout
    assert "value:    00 ???????? 04 68 69" in dry.stdout
    assert "value:    none (a tombstone)" in dry.stdout
    assert f"{topic}-value" not in server.get("/subjects")
    assert treaty("consume", topic, "--values").stdout == ""

    treaty("schema", "register", f"{topic}-value", "s.avsc")
    known = treaty("produce", topic, "--framing", "header", "--dry-run", "--json", stdin=lines({"a": "hi"}))
    (record,) = json.loads(known.stdout)["records"]
    assert record["value"] == "04 68 69"
    assert record["header __value_schema_id"].startswith("01 ")
    (tmp_path / "t.avsc").write_text('{"type":"record","name":"S","fields":[{"name":"b","type":"int"}]}', "utf-8")
    refused = treaty("produce", topic, "--schema", "t.avsc", "--dry-run", stdin=lines({"b": 1}))
    assert refused.exit_code == 2
    assert "would be refused as a version" in refused.stderr


def test_bad_records_are_explained_and_counted(treaty: Treaty, topic: str, kafka: Kafka, tmp_path: Path) -> None:
    (tmp_path / "s.avsc").write_text('{"type":"record","name":"S","fields":[{"name":"a","type":"string"}]}', "utf-8")
    good = treaty("produce", topic, "--schema", "s.avsc", "--json", stdin=lines({"a": "hi"}))
    schema_id = json.loads(good.stdout)["value_schema"]["id"]
    front = b"\0" + schema_id.to_bytes(4, "big")
    write(kafka, topic, front + b"\x08hi", b"plain text", b"\0\x7f\xff\xff\xff", None, front + b"\x04hi!")

    found = treaty("consume", topic, "--values")
    assert found.exit_code == 1
    assert read_back(found) == [{"a": "hi"}, None]
    assert "0:1 value: MALFORMED:" in found.stderr
    assert "0:2 value: BAD_MAGIC: first byte is 0x70" in found.stderr
    assert "0:3 value: UNKNOWN_ID: no schema 2147483647" in found.stderr
    assert "0:5 value: TRAILING:" in found.stderr
    assert found.stderr.count("an id follows") == 2  # the first three are told byte by byte
    assert f"6 records of {topic} (4 bad, 1 delete marker)." in found.stderr

    raw = read_back(treaty("consume", topic, "--json", "--raw-on-error"))
    assert [one.get("error", {}).get("value", {}).get("code") for one in raw] == [
        None, "MALFORMED", "BAD_MAGIC", "UNKNOWN_ID", None, "TRAILING",
    ]  # fmt: skip
    assert raw[2]["value"] == {"base64": "cGxhaW4gdGV4dA=="}


def test_where_to_begin_and_when_to_stop(treaty: Treaty, kafka: Kafka, topic: str, tmp_path: Path) -> None:
    many = kafka.topic(f"{topic}-parts", partitions=3)
    (tmp_path / "n.avsc").write_text('"int"', "utf-8")
    for partition in range(3):
        records = [{"value": partition * 10 + n, "timestamp": 1_700_000_000_000 + n * 1000} for n in range(4)]
        words = ("--schema", "n.avsc", "--records", "--partition", str(partition))
        assert treaty("produce", many, *words, stdin=lines(*records)).exit_code == 0

    def values(*words: str) -> list[int]:
        done = treaty("consume", many, "--values", *words)
        assert done.exit_code == 0, done.stderr
        return sorted(read_back(done))

    assert values() == [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]
    assert values("--partition", "1") == [10, 11, 12, 13]
    assert values("--from", "-1") == [3, 13, 23]
    assert values("--from", "2", "--partition", "0") == [2, 3]
    assert values("--from", "end") == []
    assert values("--from", "2023-11-14T22:13:22Z") == [2, 3, 12, 13, 22, 23]
    assert len(values("--max-messages", "5")) == 5
    beyond = treaty("consume", many, "--from", "9")
    assert beyond.exit_code == 2
    assert "offset 9 is not in partition 0; it has 0 to 4" in beyond.stderr


LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # programs of a shell's background ignore it
from treaty.cli.main import main
main()
"""


def test_following_ends_with_ctrl_c(env: dict[str, str], treaty: Treaty, topic: str, tmp_path: Path) -> None:
    (tmp_path / "n.avsc").write_text('"int"', "utf-8")
    command = [sys.executable, "-c", LISTENING, "consume", topic, "--values", "--follow", "--from", "end"]
    treaty("produce", topic, "--schema", "n.avsc", stdin=lines(1))
    with subprocess.Popen(
        command, env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as following:
        try:
            shown = _first_shown(following, lambda: treaty("produce", topic, stdin=lines(2)))
            treaty("produce", topic, stdin=lines(3))
            while following.stdout is not None and shown != "3\n":
                assert shown == "2\n"
                shown = following.stdout.readline()
            following.send_signal(signal.SIGINT)
            _, said = following.communicate(timeout=60)
        finally:
            following.kill()

    assert following.returncode == 0
    assert f" records of {topic}." in said


def _first_shown(following: "subprocess.Popen[str]", produce: Callable[[], object]) -> str:
    """Produce until something is shown: what comes before a consumer has taken its place is not its to show."""
    assert following.stdout is not None
    for _ in range(60):
        produce()
        if select.select([following.stdout], [], [], 1.0)[0]:
            return following.stdout.readline()
    raise AssertionError("nothing was shown in a minute")


def test_delivery_that_fails_is_told(treaty: Treaty, kafka: Kafka, topic: str, tmp_path: Path) -> None:
    small = kafka.topic(f"{topic}-small", settings={"max.message.bytes": "200"})
    (tmp_path / "s.avsc").write_text('"string"', "utf-8")

    done = treaty("produce", small, "--schema", "s.avsc", "--json", stdin=lines("b" * 500))

    assert done.exit_code == 1
    assert "<stdin>:1: not delivered: Kafka at" in done.stderr
    assert {name: json.loads(done.stdout)[name] for name in ("sent", "lost")} == {"sent": 0, "lost": 1}


@pytest.mark.parametrize(
    "login",
    [
        "sasl.username=ann\nsasl.password=known only to ann\n",
        (
            "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
            '  username="ann" \\\n  password="known only to ann";\n'
        ),
    ],
    ids=["librdkafka's words", "Java's words"],
)
def test_a_broker_that_asks_for_a_password(
    treaty: Treaty, kafka: Kafka, topic: str, tmp_path: Path, login: str
) -> None:
    (tmp_path / "n.avsc").write_text('"int"', "utf-8")
    head = f"bootstrap.servers: {kafka.secured}\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
    (tmp_path / "client.properties").write_text(head + login, "utf-8")
    known = ("--kafka", "", "--kafka-config", "client.properties")

    produced = treaty("produce", topic, "--schema", "n.avsc", *known, stdin=lines(1, 2))
    assert produced.exit_code == 0, produced.stderr
    assert read_back(treaty("consume", topic, "--values", *known)) == [1, 2]
    for command in (("consume", topic), ("produce", topic)):
        refused = treaty(*command, *known, "--kafka-config", "sasl.password=geheim", stdin=lines(1))
        assert refused.exit_code == 2
        assert "authentication failed" in refused.stderr
        assert "geheim" not in refused.stderr
        assert "known only" not in refused.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("produce", "no-such-topic", "--schema", "n.avsc"), "there is no topic 'no-such-topic'"),
        (("produce", "TOPIC", "--schema", "n.avsc", "--partition", "4"), "has no partition 4; it has 0 to 0"),
        (("produce", "TOPIC", "--schema", "n.avsc", "--must-exist"), "not found"),
        (("produce", "TOPIC", "--schema", "1000000"), "not found"),
        (("produce", "TOPIC", "--strategy", "record"), "needs a record type with a name"),
        (("produce", "TOPIC", "--schema", "n.avsc", "--key", "a", "--key-field", "b"), "exclude each other"),
        (("consume", "no-such-topic"), "there is no topic 'no-such-topic'"),
        (("consume", "TOPIC", "--from", "yesterday"), "none of beginning, end, an offset"),
        (("consume", "TOPIC", "--kafka", "127.0.0.1:9"), "no Kafka broker answers at 127.0.0.1:9"),
        (("consume", "TOPIC", "--kafka-config", "secret.properties"), "No such configuration property"),
    ],
    ids=["topic", "partition", "must exist", "id", "strategy", "keys", "no topic", "place", "nobody", "property"],
)
def test_what_cannot_be_done_is_told(
    treaty: Treaty, topic: str, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "n.avsc").write_text('"int"', "utf-8")
    (tmp_path / "secret.properties").write_text("# mine\nsasl.pasword = geheim\n", "utf-8")

    done = treaty(*(topic if word == "TOPIC" else word for word in words), stdin=lines(1))

    assert done.exit_code in {1, 2}
    assert said in done.stderr
    assert "geheim" not in done.stderr
    assert "Traceback" not in done.stderr
