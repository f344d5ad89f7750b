"""`treaty bad replay`: bad rows are decoded again after a mend, and those that are good now are appended where they were left out."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from treaty.cli.cluster_options import read_clusters
from treaty.cli.metastore.bad.tables import (
    FILTERS,
    ROOT_OPTIONS,
    BadTable,
    add_options,
    describe_pipeline,
    find_root,
    find_tables,
    has_rows,
    is_pipeline,
    make_filter,
    may_have_rows,
)
from treaty.cli.metastore.queries.service import read_settings
from treaty.cli.metastore.queries.service_options import HEAP
from treaty.cli.pipeline.replay import run_replay
from treaty.cli.registry import connection
from treaty.cli.spark import is_verbose, needs_jvm, needs_spark, verbose
from treaty.cli.spark_progress import show_tasks
from treaty.cli.terminal import screen
from treaty.cli.terminal.confirmation import confirm
from treaty.cli.terminal.source import UnusableError
from treaty.client.connection import Connection
from treaty.plan.rows import BadRowFilter

if TYPE_CHECKING:
    from treaty.spark.runner.replays.replay import SourceReplay

ONCE_CHECKPOINTS, SHARED_CHECKPOINTS = "_checkpoints", "checkpoints"
"""The folder of checkpoints below the root of files without a shared root, and below the shared root."""
WORDS = {
    "appended": "appended to {reader}",
    "had": "{reader} has read as good ones already",
    "before": "stand before what {reader} reads",
    "unread": "{reader} has not come to yet, and reads by itself",
    "refused": "can't be appended to {reader}",
    "fails": "{reader} fails on, and are not appended",
}
"""What is said of rows by their result for a query."""


class ReplayOptions(TypedDict):
    """The options of the command that say where Spark, files and topics are, as click gives them."""

    files: Path | None
    root: Path | None
    checkpoints: Path | None
    clusters: tuple[str, ...]
    memory: str
    master: str
    settings: tuple[str, ...]


@click.command("replay", epilog="Exit code 0: no rows are left. 1: some are bad still, or a query lacks them. 2: unusable input.")  # fmt: skip
@click.argument("name", metavar="SOURCE|TABLE|PIPELINE.toml")
@add_options(*FILTERS)
@click.option("--dry-run", is_flag=True, help="Decode, and say what would be appended; write nothing.")
@add_options(*ROOT_OPTIONS)
@click.option("--checkpoints", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help=f"The folder of the checkpoints of the queries: {SHARED_CHECKPOINTS} below --root, or {ONCE_CHECKPOINTS} below --files, without it.")  # fmt: skip
@click.option("--cluster", "clusters", envvar="TREATY_CLUSTER", multiple=True, metavar="NAME=FILE",
              help="A Kafka cluster that sources name (the default is main), of queries that fill topics. Repeatable.")  # fmt: skip
@click.option("--memory", default=HEAP, show_default=True, metavar="SIZE", help="The heap of Spark's driver.")
@click.option("--master", default="local[*]", show_default=True, metavar="MASTER", help="Where Spark runs.")
@click.option("--conf", "settings", multiple=True, metavar="NAME=VALUE", help="Setting for Spark. Repeatable.")
@connection.yes
@verbose
@click.option("--registry", default="", envvar="TREATY_REGISTRY", show_envvar=True, metavar="URL",
              help="http(s)://[user@]host:port, or the URL of a log such as sqlite:///path.db. The file of a pipeline may name its own.")  # fmt: skip
@connection.as_json
def replay(
    *, name: str, reasons: tuple[str, ...], schema_id: int | None, dry_run: bool, yes: bool, registry: str, as_json: bool,
    **options: Unpack[ReplayOptions],
) -> None:  # fmt: skip
    """Decode bad rows again, after a mend: the schema is registered, or the source is bound to another version.

    What is good now is appended to the table or topic of each query that left it out, exactly once into tables, whatever is killed and
    however often this runs. Each row keeps its first reason; what is still bad gets its newest. A query that keeps state, or the newest row
    of each key, can't be appended to: the summary names the statement that makes its rows again. Queries may run meanwhile. A TABLE means the sources that it reads.

    \b
    Examples:
      treaty bad replay flights --root /shared --dry-run
      treaty bad replay flights --root /shared --reason UNKNOWN_ID --yes
      treaty bad replay orders.toml --yes --json
    """  # noqa: D301 - click wants the control character
    row_filter = make_filter(reasons, schema_id)
    if is_pipeline(name):
        if may_have_rows(describe_pipeline(name)) and not dry_run:
            confirm(f"Decode the bad rows of {name} again?", yes=yes)
        sys.exit(run_replay(Path(name), registry, row_filter, dry_run=dry_run, as_json=as_json))
    if not registry:
        raise click.UsageError("a source is described by a registry: name it by --registry, or in TREATY_REGISTRY")
    files, root = options["files"], options["root"]
    place = find_root(files, root)
    checkpoints = options["checkpoints"] or (
        root / SHARED_CHECKPOINTS if root is not None else place / ONCE_CHECKPOINTS
    )
    with connection.open_registry(registry) as client:
        tables = [table for table in find_tables(client, name, place) if has_rows(table.folder)]
        if not tables:
            screen.say_json([]) if as_json else screen.say(f"no bad rows of {name} are open", "green")
            return
        if not dry_run:
            confirm(f"Decode the bad rows of {', '.join(one.origin for one in tables)} again?", yes=yes)
        options["checkpoints"] = checkpoints.resolve()
        replays = _replay_sources(client, tables, place, row_filter, dry_run=dry_run, options=options)
    if as_json:
        screen.say_json([_members(one) for one in replays])
    else:
        for source_replay in replays:
            _say_replay(source_replay, dry_run=dry_run)
    sys.exit(1 if any(one.left for one in replays) else 0)


def _replay_sources(
    client: Connection, tables: list[BadTable], place: Path, row_filter: BadRowFilter, *, dry_run: bool, options: ReplayOptions
) -> "list[SourceReplay]":  # fmt: skip
    clusters = read_clusters(options["clusters"])
    with needs_spark():
        from treaty.plan.errors import PlanError  # noqa: PLC0415 (these load Spark, which --help must not need)
        from treaty.spark.pipelines.replay_lock import ReplayRunsError  # noqa: PLC0415
        from treaty.spark.runner.query_start import QueryStarter  # noqa: PLC0415
        from treaty.spark.runner.replays.replay import BadRowReplayer  # noqa: PLC0415
        from treaty.spark.runner.service.failures import SPARK_ERRORS, shorten_reason  # noqa: PLC0415

    replays: list[SourceReplay] = []
    with show_tasks("replay", _open_spark(options, kafka=bool(clusters))) as spark:
        starter = QueryStarter(spark, client.registry, place, str(options["checkpoints"]), clusters=clusters)
        for table in tables:
            assert table.bad is not None, "a pipeline is replayed by itself"
            replayer = BadRowReplayer(starter, table.bad, partial(_say_step, table.name))
            try:
                replays += replayer.run(row_filter, dry_run=dry_run)
            except (ReplayRunsError, PlanError) as error:
                raise UnusableError(str(error)) from error
            except SPARK_ERRORS as error:
                raise UnusableError(f"{table.origin}: {shorten_reason(str(error))}; the next replay continues where this one was") from error  # fmt: skip
    return replays


def _say_step(name: str, step: str) -> None:
    screen.say(f"{name}: {step}", err=True)


@contextmanager
def _open_spark(options: ReplayOptions, *, kafka: bool) -> Iterator[Any]:
    from treaty.spark.session import is_running, session  # noqa: PLC0415 (pyspark is large)

    was_running = is_running()
    with needs_jvm():
        spark = session(
            "treaty bad replay", master=options["master"], memory=options["memory"], delta=True, kafka=kafka,
            settings=read_settings(options["settings"]), verbose=is_verbose(),
        )  # fmt: skip
    if not is_verbose():
        spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        if not was_running:
            spark.stop()


def _members(source_replay: "SourceReplay") -> dict[str, Any]:
    results = [
        {
            "query": count.reader,
            "outcome": count.outcome,
            "code": count.code,
            "rows": count.rows,
            "message": count.message,
        }
        for count in source_replay.counts
    ]
    good, bad = source_replay.count("good"), source_replay.count("bad")
    return {"name": source_replay.name, "replay": source_replay.number, "rows": good + bad, "good": good, "bad": bad, "left": source_replay.left, "results": results, "remedies": dict(source_replay.remedies)}  # fmt: skip


def _say_replay(source_replay: "SourceReplay", *, dry_run: bool) -> None:
    good, bad = source_replay.count("good"), source_replay.count("bad")
    if not good + bad:
        screen.say(f"{source_replay.name}: none of its open rows is meant", "green")
        return
    head = "a replay would find" if dry_run else f"replay {source_replay.number}:"
    screen.say(f"{source_replay.name}: {head} {screen.format_count(good + bad, 'row')}, {good:,} good now, {bad:,} bad still", "yellow" if source_replay.left else "green")  # fmt: skip
    remedies = dict(source_replay.remedies)
    for counted in source_replay.counts:
        explained = {"fails"} if counted.reader in remedies else {"fails", "refused"}
        if counted.reader:
            screen.say(f"  {counted.rows:,} {WORDS[counted.outcome].format(reader=counted.reader)}{f': {counted.message}' if counted.code and counted.outcome in explained else ''}")  # fmt: skip
        elif counted.outcome == "bad":
            screen.say(f"  {counted.rows:,} {counted.code}: {counted.message}")
    for reader, statement in remedies.items():
        screen.say(f"  {reader} needs all its rows again: treaty sql -e {shlex.quote(statement)}", "yellow")
    if source_replay.left:
        screen.say(f"next: `treaty bad list {shlex.quote(source_replay.name)}` shows what is left", err=True)
