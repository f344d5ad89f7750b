"""The rows of EXPLAIN REPLACE COMPARE: what differs, as a listing."""

from treaty.metastore.compared_results import ONLY_OLD, ComparedRow, ResultComparison, RowCounts, list_comparison


def test_a_comparison_of_rows_is_listed_with_counts_columns_and_a_sample() -> None:
    counts = RowCounts(old=5, new=4, equal=1, only_old=2, only_new=1, differing=1)
    row = ComparedRow(ONLY_OLD, (("k", '"a"'), ("n", "1")), times=2)
    compared = ResultComparison("as batches", (("f", "version 3"),), (), counts, (("n", 1),), ("x",), ("y",), (row,))
    rows = list(list_comparison(compared))
    assert ("range", "f", "version 3") in rows
    assert [detail for part, _, detail in rows if part == "rows"] == ["5", "4", "1", "2", "1", "1"]
    assert ("column differs", "n", "in 1 row") in rows
    assert [name for part, name, _ in rows if part == "column"] == ["x", "y"]
    assert rows[-1] == ("only in the old", 'k "a", n 1', "2 times")
