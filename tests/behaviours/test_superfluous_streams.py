"""Streams of bad rows that a folder of SQL does not ask for any more."""

from tests.behaviours.test_projects import STREAM, apply, names_of, plan_of
from treaty import connect
from treaty.metastore.metastore import Metastore
from treaty.metastore.project import apply_plan


def test_a_stream_of_bad_rows_that_no_file_asks_for_is_noted_and_pruned() -> None:
    with connect("memory:") as connection:
        check_superfluous(Metastore(connection.registry))


def check_superfluous(metastore: Metastore) -> None:
    text = STREAM.format("s").replace("'AVRO'", "'AVRO', BAD_ROWS = true")
    apply(metastore, text, STREAM.format("t"), label="mine")
    for action in ("change", "unchanged"):
        plan = plan_of(metastore, STREAM.format("s"), STREAM.format("t"), label="mine")
        (step, other) = plan.steps
        assert (step.action, step.refusal, other.notes) == (action, None, ())
        apply_plan(metastore, plan)
    assert step.notes == (
        "s has a stream of bad rows s_bad, and its file does not say BAD_ROWS = true: `treaty apply --prune` with its label drops it",
    )
    assert apply(metastore, STREAM.format("s"), STREAM.format("t"), prune=True)[-1] != "drop s_bad", (
        "without a label nothing is dropped"
    )
    plan = plan_of(metastore, STREAM.format("s"), STREAM.format("t"), label="mine", prune=True)
    assert [(one.action, one.name, one.notes) for one in plan.steps] == [
        ("unchanged", "s", ()), ("unchanged", "t", ()), ("drop", "s_bad", ()),
    ]  # fmt: skip
    apply_plan(metastore, plan)
    assert names_of(metastore) == ["s", "t"]
    apply(metastore, text, STREAM.format("t"), label="mine", prune=True)
    assert names_of(metastore) == ["s", "s_bad", "t"]
