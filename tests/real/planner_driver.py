"""A planner that kills itself: with `before` once it has a plan, before that is committed, with `after` once it is committed."""

import os
import signal
import sys
from threading import Event

from treaty.assemble import connect
from treaty.core.messages.metastore.plans import PlanOutcome, WaitingStatement
from treaty.core.registry import Exchange
from treaty.metastore.execution.planner import PlannedQuery, Planner
from treaty.metastore.sql.statements import CreateSourceStatement
from treaty.spark.planner.service.jobs import PlanningLoop
from treaty.spark.planner.service.statements import StatementPlanner
from treaty.spark.planner.service.supervisor import PlannerProcess


class KilledPlanner:
    """Plans a statement and kills its process with SIGKILL, after that of its JVM."""

    def __init__(self, planner: Planner, bodies: PlannerProcess) -> None:
        self._planner, self._bodies = planner, bodies

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        planned = yield from self._planner.plan(statement)
        end(self._bodies)
        return planned


def end(bodies: PlannerProcess) -> None:
    os.killpg(bodies.pid, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def main(url: str, when: str) -> None:
    bodies = PlannerProcess()
    bodies.start()
    statements = StatementPlanner(bodies)
    planner = KilledPlanner(statements, bodies) if when == "before" else statements

    def tell(_job: WaitingStatement, outcome: PlanOutcome | None) -> None:
        if outcome is not None:
            end(bodies)

    print("ready", flush=True)
    with connect(url) as registry:
        loop = PlanningLoop(registry.registry, planner, "killed", on_outcome=tell, on_unreachable=print)
        loop.run(Event())


if __name__ == "__main__":
    main(*sys.argv[1:])
