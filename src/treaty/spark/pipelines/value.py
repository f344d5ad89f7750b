"""`Pipeline`: where frames come from, how they are read, and where rows go, as a frozen value."""

from collections.abc import Callable
from dataclasses import dataclass

from treaty.spark.lake.table import Table
from treaty.spark.plan.value import DecodePlan


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Where rows come from and go to.

    `column` holds the frames and `keep` names further columns of the source that both tables get. A table that is only a
    path is a Delta table; the plans lie under the checkpoint, which is a path too. `with_id` and `with_version` name columns of the good
    table for the schema id and version of a row, empty for none. Delete markers (null values) are counted in the steps;
    a table that is only appended to has no place for them. `message` names a Protobuf message. `evolution` says what may
    happen to the table of good rows (see `treaty.spark.lake.lakes.EVOLUTIONS`). A batch with more than `most_bad` bad rows, or a larger
    share of them than `worst_share` (0 to 1), ends the stream once they are written.
    """

    subject: str
    good: str | Table
    bad: str | Table
    checkpoint: str
    reader: str | int = "union"
    column: str = "value"
    keep: tuple[str, ...] = ()
    with_id: str = ""
    with_version: str = ""
    message: str = ""
    evolution: str = "widen"
    most_bad: int | None = None
    worst_share: float = 1.0

    @property
    def good_table(self) -> Table:
        """Where good rows go."""
        return _table(self.good)

    @property
    def bad_table(self) -> Table:
        """Where bad rows go."""
        return _table(self.bad)


def _table(place: str | Table) -> Table:
    if isinstance(place, Table):
        return place
    return Table(place if "/" in place else f"./{place}")


class TooManyBadRowsError(RuntimeError):
    """A batch has more bad rows than the pipeline lets pass; they are in the table of bad rows, with their reasons."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a batch has just done: ``planned``, ``good``, ``extended``, ``late``, ``bad``; counts where they are known."""

    batch: int
    name: str
    counts: tuple[tuple[str, int], ...] = ()
    seconds: float = 0.0
    plan: DecodePlan | None = None


Watch = Callable[[Step], None]
"""Told after every step of a batch, in the stream's own thread."""
