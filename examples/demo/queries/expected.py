"""What the table of delays must have, by a computation without Spark and without Treaty's decoders."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq

from examples.demo import data
from examples.demo.paths import DemoPaths
from treaty.arrow.delta_log import NoTableError, list_delta_files, newest_version, read_columns

COLUMNS = ("carrier", "hour", "flights", "departed", "minutes", "delay")
NEW_YORK = ZoneInfo("America/New_York")

DelayRow = tuple[str, int, int, int, int | None, float | None]
"""A row of the table: carrier, hour in New York, flights, departed flights, minutes, minutes of each departed flight."""
Delay = Callable[[int], int]
"""What a departure delay counts as, in minutes."""


def count_all(minutes: int) -> int:
    """Count a delay as it is, negative for a flight that left early."""
    return minutes


def count_late(minutes: int) -> int:
    """Count a flight that left early as one on time."""
    return max(minutes, 0)


@dataclass(slots=True)
class DelayTotals:
    """Totals of one carrier and hour."""

    flights: int = 0
    delays: list[int] = field(default_factory=list)

    def row(self, carrier: str, hour: int) -> DelayRow:
        """The row of the table. Spark's sum and mean of no value are null."""
        minutes, departed = sum(self.delays), len(self.delays)
        known = (minutes, minutes / departed) if departed else (None, None)
        return (carrier, hour, self.flights, departed, *known)


@dataclass(frozen=True, slots=True)
class ExpectedDelays:
    """The flights of the package by their offset, and which of them were damaged: it computes the table anew."""

    root: Path
    flights: list[tuple[str, int, int | None]]
    """By offset: carrier, scheduled hour in New York, departure delay in minutes."""

    @classmethod
    def read(cls, root: Path, total: int) -> "ExpectedDelays":
        """Read the flights of the package."""

        @cache
        def hour_of(seconds: int) -> int:
            return data.instant(seconds).astimezone(NEW_YORK).hour

        rows = (
            (flight["carrier"], hour_of(flight["time_hour"]), flight["dep_delay"]) for flight in data.flights(total)
        )
        return cls(root, list(rows))

    def compute(self, files: Iterable[str], count: Delay) -> list[DelayRow]:
        """Return the rows of the table after these files of events, by carrier and hour."""
        totals: dict[tuple[str, int], DelayTotals] = defaultdict(DelayTotals)
        for name in files:
            truth = pq.read_table(Path(DemoPaths(self.root).truth) / name, columns=["offset", "damage"])
            for offset, damage in zip(*(truth[column].to_pylist() for column in truth.column_names), strict=True):
                if damage:
                    continue
                carrier, hour, delay = self.flights[offset]
                group = totals[carrier, hour]
                group.flights += 1
                if delay is not None:
                    group.delays.append(count(delay))
        return [group.row(*key) for key, group in sorted(totals.items())]


def read_delays(folder: Path) -> tuple[int, list[DelayRow]]:
    """Return the newest version of the table and its rows, by carrier and hour; -1 and no rows while there is none."""
    try:
        version = newest_version(folder)
    except (NoTableError, FileNotFoundError):
        return -1, []
    files = list_delta_files(folder, frozenset(COLUMNS), version)
    return version, sorted(tuple(row[name] for name in COLUMNS) for row in read_columns(files, COLUMNS).to_pylist())
