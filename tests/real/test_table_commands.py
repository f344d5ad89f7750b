"""`treaty table` and `treaty check --history` on tables that are there: made, drifted, evolved, read with a candidate."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from tests.frames import frame, record
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark.lake import tables
from treaty.spark.lake.table import FORMATS, LakeTable, WriteId

pytestmark = pytest.mark.jvm

V1 = record({"name": "name", "type": "string", "doc": "what it is called"}, ("n", "int"))
V2 = record(
    ("name", "string"), ("n", "long"), {"name": "note", "type": ["null", "string"], "default": None, "doc": "said"}
)


def run(registry: str, *words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(group, [*words, "--registry", registry, "--json"])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str], int]:
    url = f"sqlite://{tmp_path / 'log.db'}"

    def register(text: str) -> int:
        with connect(url) as found:
            found.ask(SetConfig(Scope("*"), Config(level="NONE")))
            return found.ask(Register(subject_of("orders-value"), Draft(text))).answer.version.schema_id

    return register


def test_a_table_is_made_evolved_and_compared_and_its_records_are_read(
    spark: SparkSession, tmp_path: Path, put: Callable[[str], int]
) -> None:
    registry, one = f"sqlite://{tmp_path / 'log.db'}", put(V1)
    places = {format_: str(tmp_path / format_) for format_ in FORMATS}
    options = {format_: ("orders-value", "--format", format_, "--table", place) for format_, place in places.items()}
    for words in options.values():
        assert run(registry, "table", "diff", *words, code=1)["missing"]
        assert run(registry, "table", "create", *words)["changed"]
    two = put(V2)
    for format_, words in options.items():
        news = run(registry, "table", "diff", *words, code=1)
        assert [(each["kind"], each["column"]) for each in news["changes"]] == [("widen", "n"), ("add", "note")]
        run(registry, "table", "evolve", *words)
        assert not run(registry, "table", "diff", *words)["drift"]
        place = LakeTable(places[format_], format_)
        found = tables.schema(spark, place)
        assert found is not None
        assert [(each.name, each.dataType.simpleString(), each.metadata["comment"]) for each in (found[0], found[2])] == [
            ("name", "string", "what it is called"), ("note", "string", "said"),
        ]  # fmt: skip
    tables.append(spark.createDataFrame([("a", 1)], "name STRING, offset BIGINT"), place, WriteId("a", 0))
    assert [each["kind"] for each in run(registry, "table", "diff", *words, code=1)["changes"]] == ["extra"]
    assert not run(registry, "table", "diff", *words, "--extra-column", "offset")["drift"]

    values = [frame(one, V1, {"name": "a", "n": 1})] * 5 + [frame(two, V2, {"name": "b", "n": 2**40, "note": None})]
    frames = spark.createDataFrame(
        [(value, at) for at, value in enumerate([*values, None, b"oops"])], "payload BINARY, at INT"
    )
    for format_ in FORMATS:
        tables.append(frames, LakeTable(str(tmp_path / f"raw-{format_}"), format_), WriteId("a", 0))
    frames.filter("at < 6").write.parquet(str(tmp_path / "files"))
    small, wide = tmp_path / "small.avsc", tmp_path / "wide.avsc"
    small.write_text(V1, "utf-8")
    wide.write_text(record(("name", "string"), ("n", "double"), ("more", ["null", "int"], None)), "utf-8")
    for format_ in FORMATS:
        checked = ("check", str(small), "--subject", "orders-value", "--history", str(tmp_path / f"raw-{format_}"))
        told = run(registry, *checked, code=1)
        assert (told["rows"], told["good"], told["deletes"], told["fine"]) == (8, 5, 1, False)
        assert [(each["schema_id"], each["code"], each["rows"]) for each in told["troubles"]] == [
            (None, "TOO_SHORT", 1), (two, "RESOLUTION", 1),
        ]  # fmt: skip
        assert told["narrowed"] == [{"field": "n", "old": "bigint", "new": "int", "rows": 1}]
    wider = ("check", str(wide), "--subject", "orders-value", "--history")
    told = run(registry, *wider, str(tmp_path / "files"), "--sample", "0.9")
    assert (told["fine"], told["share"], told["empty"]) == (True, 0.9, ["more"])
    nothing = run(registry, *wider, str(tmp_path / "files"), "--column", "at", code=2)
    assert "the column with the frames is unknown: at" in nothing["error"]["message"]
    assert "cannot be read" in run(registry, *wider, str(tmp_path / "nowhere"), code=2)["error"]["message"]
