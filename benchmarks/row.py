"""`Row`: one measured figure, the baseline it is compared with, and the goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    `value` and `baseline` are in `unit`; `ratio` is value / baseline. `goal` is the most that the ratio may be, or the
    value where there is no baseline; the least where `rising` says that more is better. None means that the line is for
    information. `limit` says what keeps the figure from being better.
    """

    name: str
    value: float
    unit: str
    baseline: float | None = None
    ratio: float | None = None
    goal: float | None = None
    rising: bool = False
    limit: str = ""
    interval: tuple[float, float] | None = None
    """The least and the greatest ratio of the turns."""

    @property
    def met(self) -> bool | None:
        """Tell whether the goal was met; None without a goal."""
        judged = self.value if self.ratio is None else self.ratio
        if self.goal is None:
            return None
        return judged >= self.goal if self.rising else judged <= self.goal


def against(
    name: str,
    value: float,
    baseline: float,
    *,
    unit: str,
    goal: float | None = None,
    rising: bool = False,
    limit: str = "",
) -> Row:
    """Compare a value with its baseline, measured in the same run."""
    return Row(name, value, unit, baseline, value / baseline, goal, rising, limit)


def against_turns(
    name: str,
    values: Sequence[float],
    baselines: Sequence[float],
    *,
    unit: str,
    goal: float | None = None,
    limit: str = "",
) -> Row:
    """Compare values with their baselines, one of each from every turn: medians, and the interval of the turns' ratios."""
    ratios = [value / baseline for value, baseline in zip(values, baselines, strict=True)]
    interval = (min(ratios), max(ratios))
    return Row(name, median(values), unit, median(baselines), median(ratios), goal, limit=limit, interval=interval)
