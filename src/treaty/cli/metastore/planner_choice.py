"""What plans the queries of a command: any planner of the registry, or one that the command starts and ends."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import click

from treaty.distribution import install_command

if TYPE_CHECKING:
    from treaty.core.registry import Exchange
    from treaty.metastore.execution.context import PlanningOptions
    from treaty.metastore.execution.planner import PlannedQuery, Planner
    from treaty.metastore.sql.statements import CreateSourceStatement

PlannerChoice: TypeAlias = Literal["auto", "registry", "local"]
"""Any planner of the registry; a JVM of this program; or the second where Spark is installed and the first does not come."""
AUTO: PlannerChoice = "auto"
LOCAL: PlannerChoice = "local"
ASK_SECONDS = 3
"""Seconds for which planners of a server may take a query before this program plans it."""
_META = "treaty.planner"


def _set_choice(context: click.Context, _option: click.Parameter, value: str) -> None:
    context.meta[_META] = value


def add_planner_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --planner to a command; `read_planner_choice` reads it."""
    return click.option(
        "--planner", type=click.Choice(["auto", "registry", "local"]), default=AUTO, show_default=True, expose_value=False,
        callback=_set_choice,
        help="What plans queries: registry, any planner of the registry; local, a JVM that this command starts and ends; auto, a "
        f"JVM where Spark is installed, over a server once no planner of it has taken the query for {ASK_SECONDS} seconds.",
    )(command)  # fmt: skip


def read_planner_choice() -> PlannerChoice:
    """Return --planner of the running command."""
    return cast("PlannerChoice", click.get_current_context().meta.get(_META, AUTO))


def starts_planner(choice: PlannerChoice) -> bool:
    """Return whether a command plans queries itself, if they come to it."""
    return choice == LOCAL or (choice == AUTO and find_spec("pyspark") is not None)


def is_server(url: str) -> bool:
    """Return whether a registry is a server, which may have planners of its own."""
    return url.startswith(("http://", "https://"))


@contextmanager
def open_planning(choice: PlannerChoice, url: str) -> Iterator["PlanningOptions"]:
    """Open what plans queries for the block; a JVM starts with the first query and ends with the block.

    Raises `UnusableError` with the remedy for `local` without Spark.
    """
    from treaty.metastore.execution.context import ASK_PLANNERS, PlanningOptions  # noqa: PLC0415 (a client of a server needs it not)

    if choice == LOCAL:
        from treaty.cli.spark import needs_spark  # noqa: PLC0415 (what commands on Spark share)

        with needs_spark():
            import treaty.spark  # noqa: F401, PLC0415 (an extra)
    if not starts_planner(choice):
        yield ASK_PLANNERS
        return
    with ExitStack() as stack:
        seconds = ASK_SECONDS if choice == AUTO and is_server(url) else 0
        yield PlanningOptions(_LatePlanner(stack), ask_seconds=seconds)


class _LatePlanner:
    """A planner that is loaded with the first query: Spark is large, and most statements have none."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._planner: Planner | None = None

    def plan(self, statement: "CreateSourceStatement") -> "Exchange[PlannedQuery]":
        """Plan the query of a statement, as `Planner` says."""
        self._planner = self._planner or self._start()
        return (yield from self._planner.plan(statement))

    def _start(self) -> "Planner":
        from treaty.cli.spark import is_verbose, needs_spark  # noqa: PLC0415 (as above)

        with needs_spark():
            from treaty.spark.planner.service.statements import StatementPlanner  # noqa: PLC0415 (these load Spark)
            from treaty.spark.planner.service.supervisor import PlannerProcess  # noqa: PLC0415
        return StatementPlanner(self._stack.enter_context(closing(PlannerProcess(verbose=is_verbose()))))


def describe_planner_wait(choice: PlannerChoice) -> str:
    """Return what a statement with a query waits for."""
    if starts_planner(choice):
        return "planning"
    return f"waiting for a planner; `treaty planner` starts one, where none runs{_without_spark()}"


def _without_spark() -> str:
    return "" if find_spec("pyspark") is not None else f", and needs Spark: {install_command('spark')}"
