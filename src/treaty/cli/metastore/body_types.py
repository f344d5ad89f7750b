"""The queries of a project typed by Spark, in a process of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from treaty.cli.metastore.wait_notice import WaitNotice
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.core.refusals import InvalidSource
from treaty.core.sources import SourceColumn
from treaty.distribution import install_command
from treaty.metastore.project.lock import list_sources_of
from treaty.metastore.project.objects import SqlProject
from treaty.metastore.project.typed_sources import PlanBody, TypedSource
from treaty.metastore.sql.statements import CreateSourceStatement

if TYPE_CHECKING:
    from treaty.spark.planner.questions import QueryBody, ReadableSource


@contextmanager
def open_body_planner(project: SqlProject, bodies: bool | None) -> Iterator[PlanBody | None]:  # noqa: FBT001 (yes, no, or as installed)
    """Open what types queries for the block; None where there is no query, where it is not wanted, or without Spark, which is noted.

    The process is started at the first query. Raises `UnusableError` where it can't be.
    """
    has_queries = any(statement.body for _, statement in list_sources_of(project))
    if not has_queries or bodies is False:
        yield None
        return
    if bodies is None and find_spec("pyspark") is None:
        screen.say(f"note: queries are not typed without Spark: {install_command('spark')}", err=True)
        yield None
        return
    from treaty.spark.planner.questions import BodyRefusedError, PlannerEndedError  # noqa: PLC0415 (an extra)
    from treaty.spark.planner.service.supervisor import PlannerProcess  # noqa: PLC0415

    planner = PlannerProcess()

    def plan_body(statement: CreateSourceStatement, sources: tuple[TypedSource, ...]) -> tuple[SourceColumn, ...]:
        try:
            return planner.plan(_query_of(statement, sources)).columns
        except BodyRefusedError as refused:
            raise InvalidSource.of(refused.code, refused.message, path="/sql", allowed=refused.hint) from refused

    try:
        with WaitNotice("planning"):
            yield plan_body
    except PlannerEndedError as ended:
        raise UnusableError(f"{ended}; --no-bodies checks the rest") from ended
    finally:
        planner.close()


def _query_of(statement: CreateSourceStatement, sources: tuple[TypedSource, ...]) -> "QueryBody":
    from treaty.spark.planner.questions import QueryBody  # noqa: PLC0415 (an extra)

    key = tuple(column.name for column in statement.columns if column.role == "key")
    unbounded = statement.property("ALLOW_UNBOUNDED_STATE") == "true"
    readable = tuple(_make_readable(source, place) for place, source in enumerate(sources, 1))
    return QueryBody(statement.name, statement.kind, statement.body, readable, key, statement.final, unbounded)


def _make_readable(source: TypedSource, generation: int) -> "ReadableSource":
    from treaty.spark.planner.questions import ReadableSource  # noqa: PLC0415 (an extra)

    columns = tuple(name.strip() for name in source.properties["DEDUPLICATE"].split(",") if name.strip())
    joinable = source.properties["MATERIALIZE"] == "delta"
    watermark = source.properties["WATERMARK"]
    return ReadableSource(source.name, source.kind, generation, source.columns, watermark, columns, joinable)
