"""The library where it is not alone: a real cluster of two workers, and a real Connect server. The program is a user's."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treaty
from tests.behaviours.served import Served, served
from tests.orders import VERSIONS, Kind, Order, kinds, order, plain
from tests.real import spark_program
from tests.servers.cluster import Cluster
from tests.servers.connect import connect_server, write_settings
from treaty.assemble import connect
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.spark.jars import spark_home

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.soak]  # six JVMs on two cores

ROWS, BAD, FILES = 300, 20, 2
SECONDS = 800


@dataclass(slots=True)
class Given:
    """Frames of three formats in a folder, a registry that knows them, and the rows that they are."""

    folder: Path
    server: Served
    shop: Mapping[str, Kind]
    rows: dict[str, list[Order]] = field(default_factory=dict)

    def found(self, place: str) -> list[dict[str, Any]]:
        """What the program wrote, in order."""
        rows: list[dict[str, Any]] = pq.read_table(self.folder / place).to_pylist()
        return sorted(rows, key=lambda one: int(one["place"]))

    def check(self) -> Mapping[str, Any]:
        """See that all that the program made is right; returns what it told."""
        for name, expected in self.rows.items():
            found = self.found(f"out/{name}")
            assert [plain(one["record"]) for one in found if one["error"] is None] == expected
            assert [one["error"]["code"] for one in found if one["error"]] == ["TOO_SHORT"] * BAD
        orders = self.rows["AVRO"]
        straight = self.found("straight")
        assert [(one["name"], one["n"]) for one in straight] == [(one["name"], one["n"]) for one in orders]
        batches = self.found("batches")
        assert [one["name"] for one in batches] == [one["name"] for one in orders]
        assert len({one["batch"] for one in batches}) == FILES
        for place in ("out/again", "out/column"):
            again = [self.shop["AVRO"].read(one["value"][5:], VERSIONS[-1]) for one in self.found(place)]
            assert again == orders
        told: dict[str, Any] = json.loads((self.folder / "told.json").read_text("utf-8"))
        states = sorted({one["state"] for one in orders})
        counted = [[state, sum(one["state"] == state for one in orders)] for state in states]
        assert told["view"] == [[None, BAD], *counted]
        assert (told["engine"], told["column"]) == ("spark", ROWS)
        assert all("MISSING" not in told[f"explain {name}"] for name in self.rows)
        return told


@pytest.fixture
def given(tmp_path: Path) -> Iterator[Given]:
    (tmp_path / "protoc").mkdir()
    shop = kinds(tmp_path / "protoc")
    with served("memory:") as server, connect(server.url) as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        made = Given(tmp_path, server, shop)
        dice = random.Random(3)
        for name, kind in shop.items():
            writes = [kind.written_by("ours", registry, version, name.lower()) for version in VERSIONS]
            values = []
            for at in range(ROWS):
                version = at % len(VERSIONS)
                row = order(dice, version, f"order {at}")
                values.append(writes[version](kind.value(row, version))[0])
                made.rows.setdefault(name, []).append(kind.read(values[-1][5 + len(kind.head) :], version))
            store(tmp_path / "in" / name, [*values, *[b"oops"] * BAD])
        yield made


def store(folder: Path, values: Sequence[bytes]) -> None:
    folder.mkdir(parents=True)
    for part in range(FILES):
        at = range(part, len(values), FILES)
        frames = pa.array([values[one] for one in at], pa.binary())
        pq.write_table(pa.table({"place": pa.array(at, pa.int32()), "value": frames}), folder / f"{part}.parquet")


def submit(given: Given, words: Sequence[str], mode: str, **more: str) -> None:
    """Run the program as a user does; it knows the library only from where it is installed."""
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **more}
    command = [*words, str(spark_program.__file__), given.server.url, str(given.folder), mode]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
        cwd=given.folder, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-6000:]


def archive(folder: Path) -> str:
    """The library as the documentation says it is made into a zip."""
    return shutil.make_archive(str(folder / "treaty"), "zip", Path(treaty.__file__).parents[1], "treaty")


def homes(told: Mapping[str, Any]) -> set[str]:
    """What the library of Python workers lies in."""
    return {Path(one).parts[-4] for one in told["library"]}


def test_a_cluster_of_two_workers(given: Given, figure: Callable[[str], None]) -> None:
    """The library goes along as a zip, which the workers use and no other copy."""
    begin, cluster = time.monotonic(), Cluster()
    began = time.monotonic()
    try:
        words = [
            str(spark_home() / "bin" / "spark-submit"),
            "--master",
            cluster.url,
            "--py-files",
            archive(given.folder),
        ]
        submit(given, [*words, "--properties-file", write_settings(given.folder)], "pipeline")
        executors = cluster.executors()
    finally:
        cluster.stop()
        shutil.rmtree(cluster.folder, ignore_errors=True)
    told = given.check()
    assert told["pipeline"] == [ROWS, BAD]
    assert executors == 2
    assert homes(told) == {"treaty.zip"}
    figure(
        f"{3 * (ROWS + BAD)} rows in three formats on {executors} executors: {began - begin:.0f} s to start, {time.monotonic() - began:.0f} s to run"
    )


def test_a_connect_server(given: Given) -> None:
    """Everything but pipelines, which say why not and what to do."""
    archive(given.folder)
    with connect_server(given.folder) as remote:
        submit(given, [sys.executable], "connect", SPARK_REMOTE=remote)
    told = given.check()
    assert homes(told) == {"treaty.zip"}
    assert "does not run on Spark Connect" in told["refused"]
    assert "foreachBatch" in told["refused"]
