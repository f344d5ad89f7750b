"""Exercises in SQL, end to end on files: `tests/cases/exercises` has statements, records, and the rows that are expected.

A file has statements of the metastore, ``RUN`` (what `treaty runner --once` does), and ``EXPECT source [(columns) VALUES] (row), …``.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from treaty.assemble import connect
from treaty.core.column_types.tokens import print_name, split_tokens
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.registry import Registry
from treaty.core.sources import Source
from treaty.metastore import Metastore
from treaty.metastore.execution.context import PlanningOptions
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.statements import StatementPlanner
from treaty.spark.runner.once import OnceRunner, QueryReport
from treaty.spark.runner.source_frames import SourceOpener
from treaty.spark.sql_tests.differences import list_differences
from treaty.spark.sql_tests.files import CaseRows, read_test

CASES = Path(__file__).parent / "cases" / "exercises"
EXERCISES = sorted(one.stem for one in CASES.glob("*.sql"))
"""Names of all exercises."""


class Exercise:
    """A registry of its own over a folder, and a Spark that plans and runs its queries."""

    def __init__(self, spark: SparkSession, registry: Registry, metastore: Metastore, root: Path) -> None:
        self.spark, self.registry, self.metastore, self.root = spark, registry, metastore, root
        self.reports: list[QueryReport] = []

    def carry_out(self, text: str) -> Iterator[str]:
        """Carry out the statements of a text; gives what differs from what is expected, and why a query failed."""
        for statement in split_statements(text):
            word = split_tokens(statement)[0].keyword
            if word == "RUN":
                self.reports = []
                runner = OnceRunner(self.spark, self.registry, self.root, self.root / "_checkpoints")
                runner.run(self.reports.append)
                yield from (f"{one.name} failed: {one.error}" for one in self.reports if one.error)
            elif word == "EXPECT":
                yield from (
                    f"{statement[:60]}: {one}" for one in self.compare(read_test("exercise", statement).expected[0])
                )
            else:
                self.metastore.run(statement)

    def compare(self, wanted: CaseRows) -> list[str]:
        """What differs between the table of a source and the rows that are expected; their values are cast to its types."""
        source = self.registry.ask(DescribeSource(wanted.source)).answer.source
        columns = [
            one for one in source.columns if not wanted.columns or one.name.lower() in map(str.lower, wanted.columns)
        ]
        if wanted.columns:
            columns = [next(one for one in columns if one.name.lower() == name.lower()) for name in wanted.columns]
        names = [one.name for one in columns]
        table = self.read_table(source).select(*map(print_name, names))
        rows = []
        if wanted.rows:
            listed = ", ".join(f"c{at}" for at in range(len(names)))
            cast = ", ".join(f"CAST(c{at} AS {one.type})" for at, one in enumerate(columns))
            given = self.spark.sql(f"SELECT {cast} FROM VALUES {wanted.rows} AS given({listed})")
            rows = [tuple(row) for row in given.collect()]
        return list_differences(names, rows, [tuple(row) for row in table.collect()], ordered=wanted.is_ordered)

    def read_table(self, source: Source) -> DataFrame:
        """The rows of a lake table now: none before the first row has made the table, as of bad rows."""
        folder = SourceOpener(self.spark, self.registry, self.root).folder(source)
        if not any((Path(folder) / "_delta_log").glob("*.json")):
            return self.spark.createDataFrame(
                [], ", ".join(f"{print_name(one.name)} {one.type}" for one in source.columns)
            )
        return self.spark.read.format("delta").load(folder)


def split_statements(text: str) -> list[str]:
    """The statements of a text, without their semicolons."""
    statements, start = [], -1
    for token in split_tokens(text):
        if token.kind == "end" or token.text == ";":
            if start >= 0:
                statements.append(text[start : token.start])
            start = -1
        elif start < 0:
            start = token.start
    return statements


def run_exercise(spark: SparkSession, folder: Path, text: str) -> list[str]:
    """Carry out an exercise in a folder; returns what is otherwise than expected."""
    root = folder / "data"
    root.mkdir()
    with connect("memory:") as registry, closing(RecordDestinations(files=root)) as destination:
        planner = StatementPlanner(BodyPlanner(spark, folder / "views"))
        metastore = Metastore(registry.registry, destination=destination, planning=PlanningOptions(planner))
        return [*Exercise(spark, registry.registry, metastore, root).carry_out(text)]
