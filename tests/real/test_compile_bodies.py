"""`treaty compile` with Spark: queries are typed over the columns of files and lock, one after the other, without a registry."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from treaty.cli.main import group

pytestmark = pytest.mark.jvm
OUTER = "CREATE TYPE money AS DECIMAL(9, 2); CREATE STREAM orders (id BIGINT KEY, total money, at TIMESTAMP) WITH (KAFKA_TOPIC = 'orders', VALUE_FORMAT = 'AVRO', WATERMARK = 'at DELAY OF INTERVAL 10 seconds')"
FILES = {
    "carriers": "CREATE TABLE carriers (code STRING PRIMARY KEY, name STRING NOT NULL) WITH (KAFKA_TOPIC = 'c', VALUE_FORMAT = 'AVRO')",
    "copy": "CREATE STREAM copy WITH (KAFKA_TOPIC = 'orders')",
    "large": "CREATE STREAM large AS SELECT id, total * 2 AS doubled FROM STREAM orders WHERE total > 10",
    "per_id": "CREATE TABLE per_id AS SELECT id, max(doubled) AS most FROM STREAM large GROUP BY id",
    "late": "CREATE STREAM late AS SELECT totl FROM STREAM copy",
    "next": "CREATE STREAM next AS SELECT * FROM STREAM late",
}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    def run_words(*words: str, code: int = 0) -> Result:
        done = CliRunner().invoke(group, list(words), env={"TREATY_REGISTRY": f"sqlite://{tmp_path / 'log.db'}"})
        assert done.exit_code == code, done.output
        return done

    return run_words


def test_queries_are_typed_in_their_order_and_refused_at_their_files(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    folder = tmp_path / "sql"
    folder.mkdir()
    for name, text in FILES.items():
        folder.joinpath(f"{name}.sql").write_text(text, "utf-8")
    run("sql", "-e", OUTER)
    run("lock", str(folder))
    tmp_path.joinpath("log.db").unlink()
    ended = run("compile", str(folder), "--json", code=1)
    assert ended.stderr == "planning\n"
    compiled = json.loads(ended.stdout)
    assert {one["name"]: one["columns"] for one in compiled["objects"]} == {
        "carriers": ["code STRING PRIMARY KEY", "name STRING NOT NULL"],
        "copy": ["total DECIMAL(9, 2)", "at TIMESTAMP"],
        "large": ["id BIGINT", "doubled DECIMAL(11, 2)"],
        "per_id": ["id BIGINT PRIMARY KEY", "most DECIMAL(11, 2)"],
        "late": [],
        "next": [],
    }
    (problem,) = compiled["problems"]
    assert (problem["file"], problem["line"]) == (str(folder / "late.sql"), 1)
    assert "totl" in problem["message"]
