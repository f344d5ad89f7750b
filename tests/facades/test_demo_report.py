"""What the demo prints and shows of a run, on a terminal of 80 columns and as a page; the run itself is in tests/real."""

import io
import re
from pathlib import Path

import pytest
from click import UsageError
from rich.console import Console

from examples.demo.charts import ChartBar, draw_vertical_bars
from examples.demo.command import empty_folder
from examples.demo.demo_run import DemoResult
from examples.demo.page import build_page
from examples.demo.progress import print_report, show_progress
from examples.demo.schemas import VERSIONS

PROOF = {"expected": 30, "good": 28, "bad": 2, "distinct": 30, "rows": 30, "misplaced": 0, "holds": True}
AIRLINES = ["AirTran Airways Corporation", "ExpressJet Airlines Inc.", "Southwest Airlines Co."]


@pytest.fixture
def result() -> DemoResult:
    """A run of 30 flights, as the job reports it."""
    flights = {"flights": 28, "delay": 4.5}
    figures = {
        "versions": [{"schema_version": 1, "flights": 28}],
        "reasons": [
            {"code": "MALFORMED", "rows": 2, "message": "the record ends in the field carrier", "payload": "00"}
        ],
        "hours": [{"hour": 5, **flights}],
        "carriers": [{"carrier": "UA", **flights}],
        "rain": [{"rain": True, **flights}, {"rain": False, **flights}],
        "before": [("dest", "string")],
        "after": [("dest", "string"), ("air_time", "int")],
        "dimensions": dict.fromkeys(("weather", "planes", "airlines"), PROOF),
        "airlines": [{"airline": name, "flights": 54_173, "dry": 12.3, "rain": 33.9, "age": None} for name in AIRLINES],
    }
    proof = {**PROOF, "planted": [{"damage": "record cut short", "code": "MALFORMED", "count": 2}]}
    return DemoResult(
        30,
        batches=[{"batch": 0, "rows": 30, "seconds": 2.0, "versions": 1}],
        refused=["carrier: a string becomes an int"],
        figures=figures,
        proof=proof,
        encoding=1.0,
    )


def test_the_report_fits_80_columns(result: DemoResult, tmp_path: Path) -> None:
    out = io.StringIO()
    print_report(Console(file=out, width=80, color_system=None), result, tmp_path / "report.html")
    lines = out.getvalue().splitlines()

    for name in (*AIRLINES, "MALFORMED"):
        assert sum(name in line for line in lines) == 1
    commands = [line for line in lines if str(tmp_path) in line]
    assert [Path(line.split()[0]).name for line in commands] == ["Report:", "Next:", "treaty"]
    assert not [line for line in lines if len(line) > 80 and line not in commands]


def test_a_path_is_a_link_where_a_terminal_shows_links(result: DemoResult, tmp_path: Path) -> None:
    out = io.StringIO()
    page = tmp_path / "report.html"
    print_report(Console(file=out, width=80, force_terminal=True), result, page)

    assert re.search(rf"\x1b]8;[^;]*;{re.escape(page.as_uri())}\x1b\\", out.getvalue())


def test_axes_of_a_chart_have_titles() -> None:
    drawn = draw_vertical_bars([ChartBar("0", 1.5, "1.5 s"), ChartBar("1", 0.5, "0.5 s")], "time", "seconds", "batch")

    assert re.findall(r">([a-z]+)</text>", drawn) == ["seconds", "batch"]


def test_the_page_says_what_each_axis_is_and_has_the_schemas(result: DemoResult) -> None:
    page = build_page(result)

    charts = re.findall(r"<svg.*?</svg>", page)
    titles = [re.findall(r">([a-z ]{5,})</text>", chart) for chart in charts]
    assert [one for one in titles if one] == [["seconds", "batch"], ["minutes", "scheduled hour"]]
    assert page.count("<details>") == len(VERSIONS) + 1
    assert '"name": "air_time"' in page
    assert "http" not in page.replace("http-equiv", "")


def test_a_step_that_takes_two_lines_is_indented() -> None:
    out = io.StringIO()
    with show_progress(Console(file=out, width=80, color_system=None), 10) as listener:
        listener.say("[b]version 2[/b] registered with id 7: " + "a long sentence " * 4)
    lines = [line.rstrip() for line in out.getvalue().splitlines() if "sentence" in line]

    assert lines[0].startswith("  · version 2 registered")
    assert lines[1].startswith("    ")


def test_a_demo_replaces_the_folder_of_a_demo_only(tmp_path: Path) -> None:
    folder = empty_folder(tmp_path / "demo")
    (folder / "registry.db").touch()
    assert not (empty_folder(folder) / "registry.db").exists()

    other = tmp_path / "data"
    other.mkdir()
    (other / "registry.db").touch()
    with pytest.raises(UsageError, match="not from a demo"):
        empty_folder(other)
    assert (other / "registry.db").exists()
