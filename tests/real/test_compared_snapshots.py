"""EXPLAIN REPLACE COMPARE over Iceberg tables: both queries read the same snapshots, as batches, and as streams where windows count."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.real.query_places import FLIGHTS, MORE, ROWS, Place
from tests.real.test_query_comparison import LATER, MINUTES, compare, counts, list_files, open_metastore
from treaty.core.refusals import Invalid
from treaty.spark.lake import iceberg
from treaty.spark.lake.table import LakeTable

pytestmark = pytest.mark.jvm
LATE = """CREATE STREAM late WITH (CONNECTOR = 'iceberg', PATH = 'ice/late', WATERMARK = 'ts DELAY OF INTERVAL 10 seconds')
AS SELECT id, carrier, delay, ts FROM STREAM flights"""
SUMS = "CREATE TABLE sums WITH (CONNECTOR = 'iceberg', PATH = 'ice/sums') AS SELECT carrier, sum(delay) AS delay FROM STREAM flights GROUP BY carrier"
KEPT = (
    "STREAM kept WITH (CONNECTOR = 'delta', PATH = 'tables/kept') AS SELECT id, delay FROM STREAM late WHERE delay > {}"
)
TOTAL = "TABLE total (carrier STRING PRIMARY KEY, delay BIGINT) WITH (CONNECTOR = 'delta', PATH = 'tables/total') AS SELECT carrier, delay FROM sums WHERE delay > {}"
LATE_MINUTES = MINUTES.replace("flights", "late")


def name_range(rows: Any) -> str:
    (words,) = [detail for part, name, detail in rows if (part, name) == ("range", "late")]
    return str(words)


def test_snapshots_are_compared_as_batches_and_as_streams(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    metastore = open_metastore(place)
    metastore.run(f"{LATE}; {SUMS}")
    times = []
    for values in (ROWS, MORE, LATER):
        place.insert("flights", values)
        assert {one.error for one in place.run().values()} == {""}
        times.append(datetime.now(UTC).isoformat())
    metastore.run(f"CREATE {KEPT.format(5)}; CREATE {LATE_MINUTES.format('sum(delay)')}")
    before = list_files(place.root)
    table = iceberg.name(place.spark, LakeTable(str(place.root / "ice" / "late"), "iceberg"))
    history = place.spark.table(f"{table}.history").orderBy("made_current_at").collect()
    _created, first, second, third = (row["snapshot_id"] for row in history if row["is_current_ancestor"])

    rows = compare(metastore, KEPT.format(15))
    assert (counts(rows), name_range(rows)) == ((6, 3, 3, 3, 0, 0), f"snapshot {third} of the Iceberg table")
    rows = compare(metastore, KEPT.format(15), f"TO '{times[0]}'")
    assert (counts(rows), name_range(rows)) == ((3, 2, 2, 1, 0, 0), f"snapshot {first} of the Iceberg table")
    rows = compare(metastore, KEPT.format(15), f"FROM '{times[0]}' TO '{times[1]}'")
    assert counts(rows) == (1, 1, 1, 0, 0, 0)
    assert (
        name_range(rows) == f"what was appended to the Iceberg table behind snapshot {first}, up to snapshot {second}"
    )
    assert counts(compare(metastore, KEPT.format(15), f"FROM '{times[2]}'")) == (0, 0, 0, 0, 0, 0)

    parts = [tuple(one) for one in compare(metastore, LATE_MINUTES.format("max(delay)"))]
    (way,) = [detail for part, _, detail in parts if part == "compared"]
    assert way.startswith("as streams, since late has a watermark")
    assert "the same 3 batches" in way
    assert counts(parts) == (3, 3, 2, 1, 1, 0), "as of the files whose rows the table has"
    left = "1 left out as they came after the watermark; 1 still in the state, for windows that are open"
    assert [row for row in parts if row[0] == "late rows"] == [("late rows", "old", left), ("late rows", "new", left)]
    assert list_files(place.root) == before

    catalog = table.split(".", 1)[0]
    place.spark.sql(
        f"CALL {catalog}.system.expire_snapshots(table => 'late', older_than => TIMESTAMP '2999-01-01', retain_last => 1)"
    )
    metastore.run(f"CREATE {TOTAL.format(5)}")
    assert counts(compare(metastore, TOTAL.format(25))) == (2, 1, 1, 1, 0, 0)
    for create, span, words in (
        (KEPT, f"FROM '{times[0]}'", "were expired"),
        (KEPT, "TO '2020-01-01T00:00:00Z'", "had no snapshot before"),
        (TOTAL, f"FROM '{times[0]}'", "sums is an Iceberg table with a key"),
    ):
        with pytest.raises(Invalid, match=words) as refused:
            compare(metastore, create.format(15), span)
        assert refused.value.reason.rule == "COMPARE_RANGE"
        assert refused.value.reason.allowed
    assert counts(compare(metastore, KEPT.format(15))) == (6, 3, 3, 3, 0, 0)
