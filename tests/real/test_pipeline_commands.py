"""`treaty pipeline` from a file to tables: planned, stopped and gone on with, told, replayed, failed; and over a pattern of real topics."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField
from pyspark.sql import SparkSession

from tests.behaviours.served import served
from tests.frames import record
from tests.orders import KEY, confluents, kinds, order, plain
from tests.real.pipeline_files import V1, V2, Lines, put, sound
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.cli.pipeline.context import read_file
from treaty.client.connection import Connection
from treaty.spark import LakeTable
from treaty.spark.lake import tables
from treaty.spark.pipelines.reports.local_status import read_local_status
from treaty.spark.pipelines.reports.status import status

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


PROGRESS = ("reading ", "batch ", "the first batch", "1 row", "   good:", "   bad:", "   next:")
"""How the lines begin that a run prints on stderr."""


@dataclass
class Commands:
    """`treaty pipeline` over a file, in this process and its session."""

    lines: Lines
    root: Path

    @property
    def file(self) -> Path:
        return self.root / "orders.toml"

    def describe(self, log: str, more: str = "") -> None:
        root = self.root
        self.file.write_text(
            f'registry = "{log}"\ncheckpoint = "{root}/checkpoint"\nsubject = "orders-value"\nkeep = ["offset"]\n'
            f'[source.files]\npath = "{root}/in"\nschema = "offset BIGINT, value BINARY"\nmax_files = 1\n'
            f'[good]\nplace = "{root}/good"\nformat = "parquet"\n[trigger]\nkind = "available"\n'
            f'[bad]\nplace = "{root}/bad"\nformat = "parquet"\n{more}\n'
        )

    def __call__(self, name: str, code: int, *words: str) -> Result:
        done = CliRunner().invoke(group, ["pipeline", name, str(self.file), *words])
        assert done.exit_code == code, done.output
        return done

    def compare_status(self) -> None:
        """The status that is read without Spark is the one that Spark reads."""
        pipeline = read_file(self.file).pipeline
        assert read_local_status(pipeline) == status(pipeline, self.lines.spark)

    def told(self, name: str, code: int) -> Any:
        return json.loads(self(name, code, "--json").stdout)


@pytest.mark.soak  # what programs of pages print, `spark_pipeline` too, is looked through in each run
@pytest.mark.rest
def test_a_first_run_prints_no_stack_trace(tmp_path: Path) -> None:
    """Spark logged an error of 80 lines for each table that was not there yet."""
    log, file = f"sqlite://{tmp_path / 'log.db'}", tmp_path / "orders.toml"
    with connect(log) as registry:
        put(registry, V1, "orders-value")
    events = tmp_path / "events"
    events.mkdir()
    pq.write_table(pa.table({"value": pa.array([b"no frame"], pa.binary())}), events / "one.parquet")
    file.write_text(
        f'registry = "{log}"\ncheckpoint = "{tmp_path}/checkpoint"\nsubject = "orders-value"\n'
        f'[source.files]\npath = "{events}"\nschema = "value BINARY"\n[trigger]\nkind = "available"\n'
        f'[good]\nplace = "{tmp_path}/good"\n[bad]\nplace = "{tmp_path}/bad"\n'
    )
    words = [sys.executable, "-m", "treaty.cli.main", "pipeline", "run", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "1 bad" in done.stdout + done.stderr
    first, *_, good, bad, after = done.stderr.splitlines()
    assert first == f"reading {events}: 1 file of the format parquet, 0.0 MB"
    assert (good.split(), bad.split()) == (
        ["good:", f"{tmp_path}/good", "(delta)"],
        ["bad:", f"{tmp_path}/bad", "(delta)"],
    )
    assert after.split()[:5] == ["next:", "treaty", "pipeline", "status", f"{file};"]
    assert [line for line in done.stderr.splitlines() if not line.startswith(PROGRESS)] == []


def test_commands_plan_run_tell_and_replay(spark: SparkSession, tmp_path: Path) -> None:
    lines, log = Lines(spark, tmp_path), f"sqlite://{tmp_path / 'log.db'}"
    command = Commands(lines, tmp_path)
    command.describe(log)
    connect(log).close()
    assert "orders-value" in command.told("plan", 1)["subjects"][0]["refused"][0]
    with connect(log) as registry:
        first = put(registry, V1, "orders-value")
        for turn in range(4):
            lines.write(*sound(first, V1, turn))
        lines.write(*((value, "UNKNOWN_ID") for value, _ in sound(first + 1, V2, 7)))
        (planned,) = command.told("plan", 0)["subjects"]
        assert (planned["creates"], planned["ids"][0]["id"]) == (True, first)
        assert planned["columns"][1] == {"name": "n", "type": "INT"}
        assert "would be created" in command("plan", 0).stdout
        stop_and_go_on(command)
        tell_and_replay(command, registry, first)
        command.describe(log, "most = 0")
        lines.write((b"oops!", "BAD_MAGIC"))
        failed = command("run", 1)
        assert "TooManyBadRowsError: batch 5 of orders-value: 1 of 1 rows are bad, allowed are 0" in failed.stderr


def stop_and_go_on(command: Commands) -> None:
    """SIGTERM ends the stream after the running batch; the next run has the rest."""
    commits = command.root / "checkpoint" / "commits"
    terminated = threading.Thread(target=_terminate_after, args=(commits / "0",))
    terminated.start()
    stopped = command("run", 0, "--metrics-port", "0")
    terminated.join()
    assert "metrics on http://127.0.0.1:" in stopped.stderr
    assert "Stopped: " in stopped.stderr
    assert len(list(commits.glob("[0-9]*"))) < 5
    batches = [json.loads(line) for line in command("run", 0, "--json").stdout.splitlines()]
    assert [one["bad"] for one in batches][-1] == 1
    assert batches[-1]["by"] == [{"topic": "", "id": -1, "code": "UNKNOWN_ID", "rows": 1}]
    command.lines.check()


def tell_and_replay(command: Commands, registry: Connection, first: int) -> None:
    """What is still bad is told; after a fix it is not bad any more."""
    seen = command.told("status", 0)
    assert (seen["last"]["batch"], seen["no_lag"], seen["plans"][0]["ids"]) == (4, "the source is no topic", [first])
    assert {(one["id"], one["code"]): one["rows"] for one in seen["total"]} == {(first, ""): 4, (-1, "UNKNOWN_ID"): 1}
    assert [(one["code"], one["rows"]) for one in seen["still_bad"]] == [("UNKNOWN_ID", 1)]
    assert "still bad: 1 UNKNOWN_ID" in command("status", 0).stdout
    command.compare_status()
    assert command.told("replay", 1)["reasons"] == {"UNKNOWN_ID": 1}
    put(registry, V2, "orders-value")
    assert "1 bad row, 1 are good now" in command("replay", 0).stdout
    assert command.told("status", 0)["still_bad"] == []
    command.compare_status()


def _terminate_after(commit: Path) -> None:
    """Tell this very process to end, as soon as a stream has ended its first batch."""
    while not commit.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)


BAD = 5
"""Records of each sending whose header is cut short."""
KEY_2 = record(("id", "long"), ("zone", "string", "north"), name="Key")


@dataclass
class Keys:
    """A pipeline of the keys of all topics whose names begin alike, each with its schema's guid in a header."""

    command: Commands
    kafka: "Kafka"
    url: str
    start: str = field(default_factory=lambda: f"keys{time.time_ns()}-")
    read: Counter[tuple[str, str]] = field(default_factory=Counter)

    def describe(self) -> None:
        root = self.command.root
        self.command.file.write_text(
            f'registry = "{self.url}"\ncheckpoint = "{root}/checkpoint"\npart = "key"\nframing = "header"\nmessage = "shop.Order"\n'
            f'keep = ["topic", "partition", "offset"]\n[source.kafka]\nservers = "{self.kafka.bootstrap}"\n'
            f'pattern = "{self.start}.*"\n[good]\nplace = "{root}/good/{{topic}}"\nformat = "parquet"\n'
            f'[bad]\nplace = "{root}/bad"\nformat = "parquet"\n[trigger]\nkind = "available"\n'
        )

    def send(self, topic: str, serializer: Any, values: Sequence[Any], subject: str = "") -> None:
        """Records with these keys; the last few lose their header's end, and most have a null value."""
        producer = Producer({"bootstrap.servers": self.kafka.bootstrap})
        write = confluents(serializer, subject or topic, MessageField.KEY)
        for number, (key, headers) in enumerate(map(write, values)):
            cut: Any = [(name, mark[:9] if number >= len(values) - BAD else mark) for name, mark in headers]
            producer.produce(topic, None if number % 3 else b"value", key, number % 2, headers=cut)
        assert producer.flush(30) == 0

    def run(self) -> int:
        """Run to the end; returns the batches."""
        batches = [json.loads(line) for line in self.command("run", 0, "--json").stdout.splitlines()]
        for one in (each for batch in batches for each in batch["by"]):
            self.read[one["topic"], one["code"]] += one["rows"]
        return len(batches)

    def rows(self, spark: SparkSession, topic: str) -> list[dict[str, Any]]:
        """What the topic's table has."""
        table = tables.read(spark, LakeTable(f"{self.command.root}/good/{topic}", "parquet"))
        found: list[dict[str, Any]] = table.drop("topic", "partition", "offset").toArrow().to_pylist()
        return found


@pytest.mark.soak  # `test_pipelines` has topics, `test_spark_kafka` headers, and the commands are those of the test before
@pytest.mark.rest
def test_topics_of_a_pattern_whose_keys_are_named_in_headers(
    spark: SparkSession, kafka: "Kafka", tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """Avro in the one, Protobuf in the other, which is made between two runs; what was unknown comes back."""
    (tmp_path / "protoc").mkdir()
    kind, begin = kinds(tmp_path / "protoc")["PROTOBUF"], time.monotonic()
    by_header = {"schema.id.serializer": header_schema_id_serializer}
    with served("memory:") as server, SchemaRegistryClient({"url": server.url}) as client:
        keys = Keys(Commands(Lines(spark, tmp_path), tmp_path), kafka, server.url)
        keys.describe()
        assert "name topics with --topic" in keys.command("plan", 0).stdout
        avro = kafka.topic(f"{keys.start}avro", 2)
        keys.send(avro, AvroSerializer(client, KEY, conf=by_header), [{"id": at} for at in range(150 + BAD)])
        assert f"{tmp_path}/good/{avro} would be created" in keys.command("plan", 0, "--topic", avro).stdout
        assert keys.run() == 1

        proto = kafka.topic(f"{keys.start}proto", 2)
        messages = [kind.value(order(random.Random(at), 2, str(at)), 2) for at in range(150)]
        keys.send(proto, kind.theirs(client, 2, "header"), [*messages, *messages[:BAD]])
        strange = [{"id": at, "zone": "south"} for at in range(50 + BAD)]
        keys.send(avro, AvroSerializer(client, KEY_2, conf=by_header), strange, subject="elsewhere")
        assert keys.run() == 1
        bad = {(avro, "TOO_SHORT"): 2 * BAD, (avro, "UNKNOWN_ID"): 50, (proto, "TOO_SHORT"): BAD}
        assert keys.read == {(avro, ""): 150, (proto, ""): 150, **bad}
        seen = keys.command.told("status", 0)
        assert (seen["lag"], [one["topic"] for one in seen["plans"]]) == (0, [avro, proto])
        assert {(one["topic"], one["code"]): one["rows"] for one in seen["still_bad"]} == bad
        with connect(server.url) as registry:
            put(registry, KEY_2, f"{avro}-key")
        assert "50 are good now" in keys.command("replay", 1).stdout
    assert {one["code"] for one in keys.command.told("status", 0)["still_bad"]} == {"TOO_SHORT"}
    zones = Counter((row["id"], row["zone"]) for row in keys.rows(spark, avro))
    assert zones == Counter([*((at, None) for at in range(150)), *((at, "south") for at in range(50))])
    expected = [kind.read(one.SerializeToString(), 2) for one in messages]
    assert sorted(map(plain, keys.rows(spark, proto)), key=lambda one: int(one["name"])) == expected
    figure(f"{sum(keys.read.values())} records of two topics, plan to replay: {time.monotonic() - begin:.0f} s")


SOURCES: dict[str, tuple[str, str, str]] = {
    "no folder": ('path = "{root}/away"\nschema = "value BINARY"', "", "PATH_NOT_FOUND"),
    "no column": (
        'path = "{root}/in"\nschema = "payload BINARY"',
        "",
        'no column value, which holds the frames; column = "payload" names it',
    ),
    "no column of this name": (
        'path = "{root}/in"\nschema = "value BINARY, raw BINARY"',
        'column = "frames"',
        'column = "value" or column = "raw" names it',
    ),
    "no binary column": ('path = "{root}/in"\nschema = "text STRING"', "", "none is BINARY: there are text"),
    "another type": ('path = "{root}/in"\nschema = "value STRING"', "", "the column value is STRING"),
    "no column to keep": (
        'path = "{root}/in"\nschema = "value BINARY"',
        'keep = ["offset"]',
        "no column offset, which",
    ),
    "no order of a keyed table": (
        'path = "{root}/in"\nschema = "value BINARY"',
        '[keyed]\nkey = ["n"]\norder = ["at"]\n',
        "no column at, which",
    ),
    "no such format": ('path = "{root}/in"\nformat = "parquett"\nschema = "value BINARY"', "", "parquett"),
    "no schema": ('path = "{root}/in"\nschema = "value BINARRY"', "", "source can't be opened"),
}
"""By fault: the source, more of the file, and what is said of it."""


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize("fault", SOURCES)
@pytest.mark.usefixtures("spark")
def test_a_source_that_can_not_be_read_is_said_before_anything_runs(fault: str, command: str, tmp_path: Path) -> None:
    source, more, said = SOURCES[fault]
    log, file = f"sqlite://{tmp_path / 'log.db'}", tmp_path / "orders.toml"
    (tmp_path / "in").mkdir()
    with connect(log) as registry:
        put(registry, V1, "orders-value")
    keyed = more.startswith("[")
    file.write_text(
        f'registry = "{log}"\ncheckpoint = "{tmp_path}/checkpoint"\nsubject = "orders-value"\n{"" if keyed else more}\n'
        f"[source.files]\n{source.format(root=tmp_path)}\n{more if keyed else ''}\n"
        f'[good]\nplace = "{tmp_path}/good"\n[bad]\nplace = "{tmp_path}/bad"\n'
    )
    done = CliRunner().invoke(group, ["pipeline", command, str(file)])

    assert done.exit_code == (1 if command == "plan" else 2), done.output
    assert isinstance(done.exception, SystemExit)
    assert said in done.output
    assert not (tmp_path / "checkpoint").exists()
