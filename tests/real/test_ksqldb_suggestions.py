"""The bodies that the importer suggests for queries of ksqlDB, planned on Spark: each is planned, or its refusal and its notes name what a hand has to do."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from treaty.client.connection import Connection
from treaty.core.refusals import RegistryError
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.ksqldb.commands import read_backup, take_all
from treaty.metastore.ksqldb.importer import import_state
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.statements import StatementPlanner

pytestmark = pytest.mark.jvm
BY_HAND = {
    "CSAS_NAMED_11": "nothing keeps its newest rows",
    "CSAS_KEYED_14": "Spark's queries have no PARTITION BY",
    "CTAS_PER_DRIVER_6": "nothing keeps its newest rows",
}
"""By query, why its suggestion needs a hand; all others are planned as they are."""
CASES = Path(__file__).parents[1] / "cases" / "ksqldb"


@pytest.mark.parametrize("case", sorted(CASES.glob("*.backup")), ids=lambda case: case.stem)
def test_a_suggestion_is_planned_or_says_what_it_needs(
    spark: SparkSession, registry: Connection, tmp_path: Path, case: Path
) -> None:
    metastore = Metastore(registry.registry, planning=PlanningOptions(StatementPlanner(BodyPlanner(spark, tmp_path))))
    report = import_state(metastore, take_all(read_backup(case)))
    refusals: dict[str, str] = {}
    unsaid: list[str] = []
    for query in report.queries:
        try:
            metastore.run(query.suggestion, dry_run=True)
        except RegistryError as refused:
            refusals[query.query_id] = str(refused)
            unsaid += [] if query.notes else [query.suggestion]
    assert not unsaid, "a note says what is left to do"
    assert list(refusals) == [name for name in BY_HAND if name in {one.query_id for one in report.queries}]
    assert all(BY_HAND[name] in text for name, text in refusals.items()), refusals
