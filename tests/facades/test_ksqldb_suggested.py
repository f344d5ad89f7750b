"""What a suggestion says of the clauses of a query, alone and together: windows, HAVING, WITHIN, and tables beside streams."""

import pytest

from treaty.metastore.ksqldb.suggestions import GRACE, HAVING, suggest_body

STREAMS = {"S", "R"}
WINDOW = "WINDOW TUMBLING (SIZE 1 HOUR{}) "
GROUPED = "CREATE TABLE x AS SELECT k, COUNT(*) FROM {} {}GROUP BY k{} EMIT CHANGES;"
JOINED = "s a JOIN r b {}ON a.k = b.k"


@pytest.mark.parametrize("window", ["", WINDOW.format("")])
@pytest.mark.parametrize("having", ["", " HAVING COUNT(*) > 1"])
def test_having_is_refused_only_without_a_window(window: str, having: str) -> None:
    notes = suggest_body(GROUPED.format("s", window, having), STREAMS).notes
    assert (HAVING in notes) == (bool(having) and not window)


@pytest.mark.parametrize("window", ["", WINDOW.format(""), WINDOW.format(", GRACE PERIOD 2 HOURS")])
@pytest.mark.parametrize("within", ["", "WITHIN 5 MINUTES ", "WITHIN (5 MINUTES, 6 MINUTES) "])
def test_both_sides_of_a_join_have_the_delay_that_its_window_says(window: str, within: str) -> None:
    body = suggest_body(GROUPED.format(JOINED.format(within), window, ""), STREAMS).body
    delay = "2 HOURS" if "GRACE" in window else GRACE if window or within else ""
    assert body.count("WATERMARK") == 2 * bool(delay)
    assert body.count(f"DELAY OF INTERVAL {delay} ") == 2 * bool(delay)
    bounds = {"": 0, "WITHIN 5 MINUTES ": 2, "WITHIN (5 MINUTES, 6 MINUTES) ": 1}[within]
    assert body.count("INTERVAL 5 MINUTES") == bounds
    assert body.count("- INTERVAL 5 MINUTES AND") == bool(within)


@pytest.mark.parametrize(
    ("sources", "tables"),
    [("s", ""), ("t", ""), ("s JOIN r ON true", ""), ("t JOIN u ON true", ""), ("s JOIN t ON true", "t"), ("t JOIN s ON true", "t"),
     ("s JOIN t ON true JOIN `u` ON true", "t, u"), ("`S` JOIN s ON true", ""), ("s JOIN r ON true JOIN t ON true", "t")],
)  # fmt: skip
def test_tables_beside_a_stream_are_named(sources: str, tables: str) -> None:
    notes = [
        note
        for note in suggest_body(f"CREATE STREAM x AS SELECT * FROM {sources};", STREAMS).notes
        if "beside a stream" in note
    ]
    assert [note.partition(" is read")[0] for note in notes] == [tables] * bool(tables)
