"""Programs with Spark, those of the README, of the how-tos and those in examples/: they run and print what the pages say."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))}
SAYS: Mapping[str, tuple[str, ...]] = {
    "arrow_pandas": ("1099511627776", "gift", "MALFORMED"),
    "spark_batch": ("MALFORMED", "TRAILING", "BAD_MAGIC", "{1099511627776, bob, gift}"),
    "spark_encode": ("would be registered", "[00 00 00 00 01", "[00 00 00 00 02", "versions: (1, 2)"),
    "spark_from_avro": ("|1099511627776|gift|", "NULL"),
    "spark_history": ("not fine", '"code": "RESOLUTION"'),
    "spark_keyed": ("|  1|anne|",),
    "spark_pipeline": ("treaty pipeline replay", "MALFORMED"),
    "spark_replay": ("UNKNOWN_ID", "1 of 1 bad rows are good now", "gift"),
    "spark_sql": ("ann|", "Aarhus", "NULL"),
    "spark_stream": ("|1099511627776|gift|", "batch 1: good", "MALFORMED"),
    "spark_types": ("shop.Order", "shop.Pay", "cents", "950"),
}
"""What an example prints, among other things."""
NOISES = ("Assume no metadata directory", "Path does not exist: good", "PATH_NOT_FOUND", "ExecutionListenerBus")
PROGRAM = re.compile(r"```python\n(.*?)```\n+```text\n(.*?)```", re.DOTALL)
SPARK_PAGES = [f"howto/{page.name}" for page in sorted((ROOT / "docs" / "howto").glob("spark*.md"))]
PAGES = {
    f"{page}-{number}": found
    for page in ("spark.md", "howto/tables.md", *SPARK_PAGES)
    for number, found in enumerate(PROGRAM.findall((ROOT / "docs" / page).read_text("utf-8")))
}
"""Programs of the pages, each with what it prints."""
PAGES["README.md"] = PROGRAM.findall((ROOT / "README.md").read_text("utf-8"))[1]

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


@pytest.fixture(scope="module")
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which those ran that tests of this run ask for."""
    asked = {program_name(one.callspec.params["name"]) for one in request.session.items if one.path == Path(__file__)}  # type: ignore[attr-defined] # all of them have parameters
    folder, files = tmp_path_factory.mktemp("programs"), write_programs(tmp_path_factory.mktemp("texts"))
    files = [file for file in files if file.stem in asked]
    words = [sys.executable, "-m", "tests.docs.together", str(folder), *map(str, files)]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    for noise in NOISES:
        assert noise not in run.stderr, f"Spark logs what a reader takes for a failure: {noise}"
    return folder


def write_programs(folder: Path) -> list[Path]:
    """The files of all programs; those of pages are written into the folder."""
    files = list(EXAMPLES.values())
    for name, (text, _) in PAGES.items():
        files.append(folder / f"{program_name(name)}.py")
        files[-1].write_text(text, encoding="utf-8")
    return files


def program_name(name: str) -> str:
    """The name of a program's file and folder."""
    return re.sub(r"\W+", "_", name)


def printed(ran: Path, name: str) -> str:
    failed = ran / name / "failed.txt"
    assert not failed.exists(), failed.read_text("utf-8")
    return (ran / name / "printed.txt").read_text("utf-8")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_and_shows_what_it_is_for(name: str, ran: Path) -> None:
    found = printed(ran, name)

    assert SAYS[name], "every example has something to show"
    for said in SAYS[name]:
        assert said in found


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", PAGES)
def test_a_program_of_a_page_prints_what_the_page_says(name: str, ran: Path) -> None:
    assert PAGES[name][1] in printed(ran, program_name(name))
