"""What a runner says of files that are leaving is of its last look, and of nothing before it."""

from collections.abc import Callable

from treaty.spark.runner.file_records import TABLE, QueryFileRecord
from treaty.spark.runner.leftovers import LeavingFiles, SweptFiles
from treaty.spark.runner.service.sweep_thread import FileSweep, SweepReport

GONE = QueryFileRecord(TABLE, 9, "gone", "/data/gone", "gone")
LEAVING = LeavingFiles(QueryFileRecord(TABLE, 8, "late", "/data/late", "late"), 86_400_000, returns=True)


def fail() -> SweptFiles:
    raise OSError("the root can't be listed")


def make_sweep(*looks: Callable[[], SweptFiles]) -> tuple[FileSweep, list[bool], list[QueryFileRecord]]:
    """A sweep whose thread does nothing, the rights that it has from look to look, and what it has removed."""
    order, rights = iter(looks), [True] * len(looks)
    removed: list[QueryFileRecord] = []

    def sweep_files() -> SweptFiles:
        return next(order)()

    sweep = FileSweep(sweep_files, lambda: rights.pop(0), removed.append)
    sweep.close()
    return sweep, rights, removed


def test_a_look_says_what_is_leaving_and_what_could_not_be_removed() -> None:
    sweep, _, removed = make_sweep(lambda: SweptFiles((LEAVING,), (GONE,), ("the table of x", "the table of y")))
    sweep.sweep_once()
    assert sweep.report == SweepReport((LEAVING,), "the table of x; the table of y")
    assert removed == [GONE]


def test_after_a_look_that_failed_nothing_is_said_to_be_leaving() -> None:
    sweep, _, _ = make_sweep(lambda: SweptFiles((LEAVING,)), fail, lambda: SweptFiles((LEAVING,)))
    sweep.sweep_once()
    sweep.sweep_once()
    assert sweep.report == SweepReport((), "OSError: the root can't be listed")
    sweep.sweep_once()
    assert sweep.report == SweepReport((LEAVING,))


def test_a_runner_that_may_not_sweep_any_more_says_no_error_of_before() -> None:
    sweep, rights, _ = make_sweep(fail, lambda: SweptFiles((LEAVING,)))
    rights[:] = [True, False, True]
    sweep.sweep_once()
    sweep.sweep_once()
    assert sweep.report == SweepReport()
    sweep.sweep_once()
    assert sweep.report == SweepReport((LEAVING,))
