"""`treaty planner`: plans the queries of statements that wait in a registry."""

import os
import socket
from contextlib import closing
from threading import Event
from typing import TYPE_CHECKING

import click

from treaty.cli.registry import connection
from treaty.cli.spark import is_verbose, needs_spark, verbose
from treaty.cli.terminal import screen
from treaty.cli.terminal.errors import end_by_signal
from treaty.cli.terminal.source import UnusableError

if TYPE_CHECKING:
    from treaty.core.messages.metastore.plans import PlanOutcome, WaitingStatement

EXIT = "Exit code 0: it was stopped, or with --once nothing waits any more. 2: Spark does not start, or the registry can't be reached."


@click.command("planner", epilog=EXIT)
@click.option(
    "--name", metavar="NAME", help="The name of this planner, another one for each. By default host and process."
)
@click.option("--once", is_flag=True, help="End when no statement waits.")
@verbose
@connection.registry
@connection.as_json
def command(*, name: str | None, once: bool, registry: str, as_json: bool) -> None:
    """Plan the queries of CREATE … AS that are sent to a registry.

    A planner has a JVM of its own, which may end of a hostile query: that statement is refused, another JVM is started, and no
    running query notices. Any number of planners may work for one registry. SIGTERM and Ctrl-C stop it; a statement that it was
    working on is planned by another one.

    \b
    Examples:
      treaty planner --registry http://127.0.0.1:8081
      treaty planner --once --json
    """  # noqa: D301 - click wants the control character
    ending = Event()
    with needs_spark():
        from treaty.spark.planner.questions import PlannerEndedError  # noqa: PLC0415
        from treaty.spark.planner.service.jobs import PlanningLoop  # noqa: PLC0415 (these load Spark, which --help must not need)
        from treaty.spark.planner.service.statements import StatementPlanner  # noqa: PLC0415
        from treaty.spark.planner.service.supervisor import PlannerProcess  # noqa: PLC0415

    own = name or f"{socket.gethostname()}-{os.getpid()}"
    process = PlannerProcess(ending, verbose=is_verbose())
    with connection.open_registry(registry) as client, closing(process) as bodies, end_by_signal(ending):
        try:
            bodies.start()
        except PlannerEndedError as ended:
            raise UnusableError(str(ended), "PLANNER_ENDED") from ended
        if not as_json:
            screen.say(f"planner {own} is ready", "green", err=True)
        loop = PlanningLoop(
            client.registry, StatementPlanner(bodies), own,
            on_outcome=lambda job, outcome: _say_outcome(job, outcome, as_json=as_json),
            on_unreachable=lambda reason: screen.say(f"the registry is asked again: {reason}", "yellow", err=True),
        )  # fmt: skip
        loop.run(ending, once=once)
    if not as_json:
        screen.say(f"planner {own} has ended", err=True)


def _say_outcome(job: "WaitingStatement", outcome: "PlanOutcome | None", *, as_json: bool) -> None:
    state = "left" if outcome is None else outcome.state
    reason = "" if outcome is None or outcome.refusal is None else outcome.refusal.reason.message
    if as_json:
        screen.say_json({"name": job.name, "state": state, "reason": reason})
        return
    words = {"stored": "planned", "refused": f"refused: {reason}", "waiting": "planned too late, and free again"}
    screen.say(f"{job.name} {words.get(state, 'left to others')}", "green" if state == "stored" else None)
