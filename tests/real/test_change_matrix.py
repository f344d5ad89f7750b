"""What a change of a body is, cell by cell: what continues, what is refused before a checkpoint is touched, and what Spark would have taken."""

import shutil
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException

from tests.change_cells import CELLS, RIGHT, ROWS, STATEMENTS, WRONG, ChangeCell, ChangedBody
from tests.query_bodies import make_body
from tests.real.query_places import Place
from treaty.core.handlers.metastore.checkpoints.continuation import compare_plans
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, SourceDefinition
from treaty.core.refusals import Refusal
from treaty.core.sources import QueryPlan, Source
from treaty.spark.lake import delta
from treaty.spark.lake.table import LakeTable, is_missing
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.runner.query_end import work_off
from treaty.spark.runner.query_start import QueryStarter, TakeoverPart

pytestmark = pytest.mark.jvm
TableRows = list[dict[str, Any]]


# ------------------------------------------------------------------------------------------------------ what it is called


@pytest.fixture(scope="module")
def planner(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> BodyPlanner:
    root: Path = tmp_path_factory.mktemp("views")
    return BodyPlanner(spark, root)


@pytest.mark.parametrize("name", CELLS)
def test_a_change_is_what_its_plans_say(planner: BodyPlanner, name: str) -> None:
    cell = CELLS[name]
    change, reasons = compare_plans(plan(planner, cell.old), plan(planner, cell.new))
    assert change == cell.change, reasons
    assert any(cell.reason in one for one in reasons), reasons
    assert change != "compatible" or cell.spark == RIGHT


def plan(planner: BodyPlanner, body: ChangedBody) -> QueryPlan:
    return planner.plan(make_body(body.text, body.kind, {"is_final": body.is_final})).plan


# -------------------------------------------------------------------------------------- what becomes of an old checkpoint


@pytest.mark.parametrize("name", CELLS)
def test_an_old_checkpoint_is_continued_or_not_touched(place: Place, tmp_path: Path, name: str) -> None:
    """What is compatible has the rows that the new body would have had always; all else is refused, and the old query goes on."""
    cell, trial = CELLS[name], Trial(place, tmp_path)
    place.metastore.run(STATEMENTS)
    insert(place, "before")
    place.registry.ask(CreateSource(define(place, cell.old)))
    if cell.spark in {RIGHT, WRONG}:
        trial.run_fresh(define(place, cell.new))
    assert not place.run("t")["t"].error
    before, digest = read_rows(place, place.root / "tables" / "t"), digest_files(place.root)
    trial.copy()
    insert(place, "after")
    definition = define(place, cell.new)
    if cell.change == "compatible":
        place.registry.ask(CreateSource(definition, replace=True))
        assert not place.run("t")["t"].error
        trial.run_fresh(definition)
        assert is_right(cell, before, read_rows(place, place.root / "tables" / "t"), trial)
        return
    kept = place.registry.ask(DescribeSource("t")).answer.source
    with pytest.raises(Refusal):
        place.registry.ask(CreateSource(definition, replace=True))
    assert place.registry.ask(DescribeSource("t")).answer.source == kept
    assert {file: one for file, one in digest_files(place.root).items() if file in digest} == digest
    assert trial.take_over(cell, definition, before) == cell.spark
    report = place.run("t")["t"]
    assert (report.error, report.rows > 0) == ("", True)


def insert(place: Place, time: str) -> None:
    for source, rows in ROWS[time].items():
        place.insert(source, rows)


def define(place: Place, body: ChangedBody) -> SourceDefinition:
    reads = [name for name in ROWS["before"] if f" {name} " in f"{body.text} "]
    return place.define("t", body.kind, body.text, *reads, final=body.is_final)


def digest_files(root: Path) -> dict[str, str]:
    """The digest of each file of checkpoints and tables."""
    files = (one for folder in ("_checkpoints", "tables") for one in (root / folder).rglob("*") if one.is_file())
    return {str(one): sha256(one.read_bytes()).hexdigest() for one in files}


def read_rows(place: Place, folder: Path) -> TableRows:
    table = LakeTable(str(folder))
    return (
        []
        if is_missing(place.spark, str(folder))
        else [one.asDict() for one in delta.read(place.spark, table).collect()]
    )


class Trial:
    """Runs beside a place: of a body on a copy of the checkpoint of another one, and from the beginning."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place, self.folder = place, folder
        self.fresh: list[TableRows] = []

    def copy(self) -> None:
        """Keep what the query has now: its checkpoint and its table."""
        shutil.copytree(self.place.root / "_checkpoints", self.folder / "copied")
        if (self.place.root / "tables" / "t").exists():
            shutil.copytree(self.place.root / "tables" / "t", self.folder / "copied-table")

    def run_fresh(self, definition: SourceDefinition) -> None:
        """Work off what is there with a body that has always been, and note its rows."""
        self._run(definition, "fresh")
        self.fresh.append(read_rows(self.place, self.folder / "fresh-table"))

    def take_over(self, cell: ChangeCell, definition: SourceDefinition, before: TableRows) -> str:
        """Let Spark run a body on the checkpoint of the one before: a word of its error, or whether the rows are right."""
        try:
            self._run(definition, "copied")
        except PySparkException as error:
            return cell.spark if cell.spark in str(error) else str(error)
        self.run_fresh(definition)
        taken = read_rows(self.place, self.folder / "copied-table")
        return RIGHT if is_right(cell, before, taken, self) else WRONG

    def _run(self, definition: SourceDefinition, checkpoints: str) -> None:
        source: Source = self.place.registry.ask(DescribeSource("t")).answer.source
        assert source.query is not None
        assert definition.query is not None
        part = TakeoverPart(folder=str(self.folder / f"{checkpoints}-table"))
        starter = QueryStarter(
            self.place.spark, self.place.registry.registry, self.place.root, str(self.folder / checkpoints), part=part
        )
        query = replace(source.query, plan=definition.query)
        changed = replace(source, kind=definition.kind, columns=definition.columns, query=query)
        work_off(lambda: starter.start(changed))


def is_right(cell: ChangeCell, before: TableRows, after: TableRows, trial: Trial) -> bool:
    """Whether a table has what it had, and what the new body has made of the rows that came since; by key where the rows have one."""
    early, late = trial.fresh
    if cell.new.kind == "STREAM":
        fresh = Counter(map(freeze, late)) - Counter(map(freeze, early))
        return Counter(map(freeze, after)) == Counter(map(freeze, before)) + fresh
    then, first, last = index_rows(before), index_rows(early), index_rows(late)
    later = {key: row for key, row in last.items() if first.get(key) != row}
    return index_rows(after) == then | later and last.keys() <= (then | later).keys()


def index_rows(rows: TableRows) -> dict[tuple[Any, ...], frozenset[Any]]:
    """Rows of groups by their key: what is no number that was counted."""
    keyed = ("start", "carrier")
    return {tuple(row.get(name) for name in keyed): freeze(row) for row in rows}


def freeze(row: dict[str, Any]) -> frozenset[Any]:
    return frozenset((name, value) for name, value in row.items() if value is not None)
