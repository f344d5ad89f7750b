"""COMPARE keeps those rows of a source alone that one of the two bodies may take."""

import pytest
from pyspark.sql import SparkSession

from treaty.spark.runner.comparison.compared_filters import RowCondition, filter_rows, find_conditions

pytestmark = pytest.mark.jvm
BODIES = {
    "SELECT id FROM STREAM flights WHERE delay > 10": [("flights", "delay > 10")],
    "SELECT '🙂', f.id FROM STREAM Flights AS f WHERE f.delay > 10 /* '' */ AND f.carrier <> 'a''b'": [
        ("f", "f.delay > 10 /* '' */ AND f.carrier <> 'a''b'")
    ],
    "SELECT carrier, count(*) AS n FROM `flights` WHERE delay BETWEEN 1 AND 9 GROUP BY carrier HAVING n > 1": [
        ("flights", "delay BETWEEN 1 AND 9")
    ],
    "SELECT id FROM flights WHERE (delay + 1) * 2 > 10 OR (carrier IN ('AA', 'B'))": [
        ("flights", "(delay + 1) * 2 > 10 OR (carrier IN ('AA', 'B'))")
    ],
    "SELECT id FROM flights WHERE (delay) IS NULL": [],
    "SELECT id FROM flights WHERE coalesce(*) = 1": [],
    "SELECT id FROM flights WHERE size(array(* EXCEPT (carrier))) = 2": [],
    "SELECT id FROM flights WHERE id < 3 UNION ALL SELECT id FROM flights g WHERE g.id > 4": [
        ("g", "g.id > 4"),
        ("flights", "id < 3"),
    ],
    "SELECT f.id FROM (SELECT * FROM flights WHERE id < 3) f JOIN (SELECT * FROM flights g WHERE id > 1) g ON f.id = g.id WHERE f.delay > 1": [
        ("g", "id > 1"),
        ("flights", "id < 3"),
    ],
    "SELECT id FROM flights WHERE id < 3 UNION ALL SELECT delay FROM flights": [],
    "SELECT id FROM flights": [],
    "WITH f AS (SELECT * FROM flights WHERE id > 1) SELECT id FROM f WHERE id < 9": [],
    "WITH flights AS (SELECT id * 2 AS id FROM flights) SELECT id FROM flights WHERE id > 10": [],
    "SELECT id FROM flights WHERE id > 1 UNION ALL SELECT x FROM (WITH flights AS (SELECT 1 AS x) SELECT * FROM flights WHERE x > 0)": [],
    "SELECT id FROM flights WHERE id IN (SELECT delay FROM flights WHERE id > 1)": [],
    "SELECT id FROM flights WHERE id > (SELECT max(id) FROM airports)": [],
    "SELECT f.id FROM flights f JOIN airports a ON f.id = a.id WHERE f.id > 1": [],
    "SELECT id FROM airports WHERE id > 1": [],
}


@pytest.mark.parametrize("body", BODIES)
def test_the_rows_that_a_body_takes_meet_a_condition_that_is_in_its_text(spark: SparkSession, body: str) -> None:
    conditions = find_conditions(spark, body, "flights")
    assert [(one.alias, one.text) for one in conditions] == BODIES[body]


def test_rows_that_meet_one_of_the_conditions_are_kept(spark: SparkSession) -> None:
    session = spark.newSession()
    rows = session.createDataFrame(
        [(1, 5, "a"), (2, None, "b"), (3, 50, "c"), (4, -1, None)], "id INT, delay INT, carrier STRING"
    )
    late = RowCondition("f", "f.delay > 10")
    named = RowCondition("FLIGHTS", "flights.carrier = 'a' OR delay IS NULL")
    assert [row.id for row in filter_rows(rows, [late]).collect()] == [3]
    assert [row.id for row in filter_rows(rows, [late, named]).collect()] == [1, 2, 3]
    first = RowCondition("f", "f.id = 1 -- and no more")
    assert [row.id for row in filter_rows(rows, [first, late]).collect()] == [1, 3]
    assert [row.id for row in filter_rows(rows, [named, first, late]).collect()] == [1, 2, 3]
    assert filter_rows(rows, [late, named]).columns == rows.columns
    assert session.catalog.listTables() == []
