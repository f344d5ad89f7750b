"""The programs of test_spark_programs.py once more, unchanged, on a Spark Connect server that ``SPARK_REMOTE`` names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_spark_programs import EXAMPLES, PAGES, ROOT, SAYS, printed, program_name, write_programs
from tests.servers.connect import connect_server

PIPELINES = (
    "spark_keyed",
    "spark_replay",
    "spark_stream",
    "spark.md-2",
    "howto/tables.md-0",
    "howto/spark-streams.md-0",
)
REFUSED = {
    **dict.fromkeys(PIPELINES, "a pipeline does not run on Spark Connect"),
    "spark_pipeline": "session() starts a Spark of its own",
    "howto/spark-streams.md-1": "Cannot serialize the function `foreachBatch`",
}
"""Programs that need the driver: pipelines, a command in a process of its own, and batches that use the program's registry."""

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which all of them ran."""
    folder, files = tmp_path_factory.mktemp("programs"), write_programs(tmp_path_factory.mktemp("texts"))
    place = tmp_path_factory.mktemp("server")
    with connect_server(place) as remote:
        words = [sys.executable, "-m", "tests.docs.together", str(folder), *map(str, files)]
        run = subprocess.run(
            words,
            cwd=place,
            env={**os.environ, "SPARK_REMOTE": remote, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 0, run.stderr[-3000:]
    return folder


@pytest.mark.parametrize("name", [*EXAMPLES, *PAGES])
def test_a_program_prints_on_connect_what_it_prints_else(name: str, ran: Path) -> None:
    stem = program_name(name)
    if name in REFUSED:
        assert REFUSED[name] in (ran / stem / "failed.txt").read_text("utf-8")
        return
    found = printed(ran, stem)
    for said in SAYS[name] if name in SAYS else [PAGES[name][1]]:
        assert said in found
