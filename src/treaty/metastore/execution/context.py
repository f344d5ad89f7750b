"""What a statement is carried out with: its text, what its source must be, and who plans queries."""

from typing import TYPE_CHECKING

from treaty.core.limits import PLANNING_SECONDS
from treaty.core.messages.metastore.sources import ExpectedSource
from treaty.light_dataclass import dataclass

if TYPE_CHECKING:
    from treaty.metastore.compared_results import QueryComparer
    from treaty.metastore.execution.planner import Planner


@dataclass(frozen=True, slots=True)
class PlanningOptions:
    """How a query is planned: by this planner, or (None) by one that takes the job within `seconds`.

    With `ask_seconds` planners of the registry may take the job for as long, before `planner` plans it.
    `comparer` runs the queries of EXPLAIN REPLACE COMPARE, and is None where Spark or the data are not.
    """

    planner: "Planner | None" = None
    seconds: int = PLANNING_SECONDS
    comparer: "QueryComparer | None" = None
    ask_seconds: int = 0


ASK_PLANNERS = PlanningOptions()
"""Any planner may take the job, within PLANNING_SECONDS."""


@dataclass(frozen=True, slots=True)
class StatementContext:
    """What a statement is carried out with: its text, whether nothing is to be written, and what its source must be."""

    text: str
    dry_run: bool = False
    expected: ExpectedSource | None = None
    planning: PlanningOptions = ASK_PLANNERS
    """How queries are planned."""
