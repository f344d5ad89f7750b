"""Statements parsed in this process and carried out with requests of a registry: for a log, for CASCADE, and for queries that this program may plan. `statement_session` chooses."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treaty.cli.cluster_options import open_destinations, read_clusters
from treaty.cli.metastore.planner_choice import AUTO, LOCAL, PlannerChoice, open_planning
from treaty.cli.metastore.result_printer import describe_failure
from treaty.cli.metastore.statement_session import ConfirmDrop
from treaty.cli.registry.failures import report_failures
from treaty.cli.terminal import registry_url
from treaty.core.messages.metastore.sources import DropSource, SourcesDropped
from treaty.core.refusals import RegistryError
from treaty.core.registry import CALL, CallOptions, Registry
from treaty.light_dataclass import dataclass
from treaty.metastore.execution.context import PlanningOptions
from treaty.metastore.execution.results import diagnostic_bodies, place_body, result_body
from treaty.metastore.records.steps import RecordDestination
from treaty.metastore.script_run import parse_statements, run_parsed, run_parsed_atomic, with_warnings
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.script import ParsedStatement, StatementScript
from treaty.metastore.sql.statements import DropSourceStatement
from treaty.wire.metastore import error_body, status_of
from treaty.wire.statements import StatementResultBody

if TYPE_CHECKING:
    from treaty.metastore.compared_results import QueryComparer


@dataclass(slots=True)
class SessionTarget:
    """Where the statements of a session are carried out: a `StatementTarget`."""

    registry: Registry
    destination: RecordDestination
    planning: PlanningOptions
    call: CallOptions = CALL


class RegistrySession:
    """Statements over a connection, which is open until the session is closed."""

    def __init__(
        self,
        url: str,
        clusters: Sequence[str] = (),
        files: Path | None = None,
        *,
        planner: PlannerChoice = AUTO,
        root: Path | None = None,
        topics: Sequence[str] = (),
    ) -> None:
        """Open the registry; a missing SQLite file becomes a new one. Records go to these clusters, and below the folder `files`.

        `planner` says what plans queries; with `local` a JVM of this program also compares queries whose data is below `root` and in the clusters of `topics`.
        """
        with ExitStack() as opened:
            destination = opened.enter_context(closing(open_destinations(clusters, files)))
            opened.enter_context(report_failures())
            registry = opened.enter_context(closing(registry_url.open_at(url, "create")))
            planning = opened.enter_context(open_planning(planner, url))
            if planner == LOCAL and (root is not None or topics):  # it loads Spark at once
                planning = replace(planning, comparer=_open_comparer(registry, root, topics))
            self._target = SessionTarget(registry, destination, planning)
            self._open = opened.pop_all()

    def run(
        self,
        text: str,
        variables: Mapping[str, str],
        confirm: ConfirmDrop,
        *,
        dry_run: bool = False,
        atomic: bool = False,
    ) -> Iterator[StatementResultBody]:
        """Yield the result of each statement as soon as it is carried out, or with `atomic` all once all of them are."""
        failed = ""
        try:
            script = parse_statements(text, variables)
            if atomic:
                yield from self._run_atomic(text, script, confirm, dry_run=dry_run)
                return
            for place, parsed in enumerate(script.statements):
                failed = parsed.text
                statement = parsed if dry_run else self._confirm(parsed, confirm)
                result = run_parsed(self._target, statement, dry_run=dry_run, place=place)
                yield result_body(with_warnings(result, script, parsed))
        except RegistryError as error:
            body = error_body(error, diagnostic_bodies(error))
            body.failed = failed
            raise describe_failure(text, body, status_of(error)) from error

    def close(self) -> None:
        """Close the registry."""
        self._open.close()

    def _run_atomic(
        self, text: str, script: StatementScript, confirm: ConfirmDrop, *, dry_run: bool
    ) -> Iterator[StatementResultBody]:
        """Yield the results of a script of one commit."""
        confirmed = [one if dry_run else self._confirm(one, confirm) for one in script.statements]
        outcome = run_parsed_atomic(self._target, replace(script, statements=tuple(confirmed)), dry_run=dry_run)
        if outcome.error is not None:
            body = error_body(outcome.error, diagnostic_bodies(outcome.error))
            body.failed, body.place = outcome.failed, place_body(outcome)
            raise describe_failure(text, body, status_of(outcome.error)) from outcome.error
        yield from map(result_body, outcome.results)

    def _confirm(self, parsed: ParsedStatement, confirm: ConfirmDrop) -> ParsedStatement:
        """Return a DROP with the digest of what goes along, after the user has seen it."""
        drop = parsed.value
        if not isinstance(drop, DropSourceStatement) or not drop.cascade or drop.digest:
            return parsed
        request = DropSource(drop.name, drop.kind, drop.if_exists, cascade=True, dry_run=True)
        going: SourcesDropped = self._target.registry.ask(request, self._target.call).answer
        if not going.names:
            return parsed
        confirm(going.names)
        confirmed = replace(drop, digest=going.digest)
        return replace(parsed, value=confirmed, head=print_statement(confirmed))


def _open_comparer(registry: Registry, root: Path | None, topics: Sequence[str]) -> "QueryComparer":
    """What compares queries; its JVM starts with the first comparison, and ends with the program. Without a root there are topics alone."""
    from treaty.cli.spark import is_verbose, needs_jvm, needs_spark  # noqa: PLC0415 (what commands on Spark share)

    clusters = read_clusters(topics)
    with needs_spark():
        from treaty.cli.metastore.queries.service import has_iceberg  # noqa: PLC0415 (as below)
        from treaty.spark.runner.comparison.query_comparison import BatchComparer  # noqa: PLC0415 (these load Spark)
        from treaty.spark.session import session  # noqa: PLC0415

    def start() -> Any:
        with needs_jvm():
            spark = session("treaty sql", iceberg=has_iceberg(registry), kafka=bool(clusters), verbose=is_verbose())
        if not is_verbose():
            spark.sparkContext.setLogLevel("ERROR")
        return spark

    return BatchComparer(start, registry, root, clusters=clusters)
