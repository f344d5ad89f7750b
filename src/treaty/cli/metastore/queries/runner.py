"""`treaty runner`: carries out the queries of a registry on Spark."""

from typing import TYPE_CHECKING, Any

import click

from treaty.cli.cluster_options import read_clusters
from treaty.cli.metastore.queries.folders import Folder, FolderType, join_folder, make_folder
from treaty.cli.metastore.queries.service import default_name, has_iceberg, read_settings, run_isolated, run_service
from treaty.cli.metastore.queries.service_options import HEAP, ServiceOptions
from treaty.cli.registry import connection
from treaty.cli.spark import is_verbose, needs_jvm, needs_spark, verbose
from treaty.cli.terminal import screen
from treaty.cli.terminal.errors import ReportedError

if TYPE_CHECKING:
    from treaty.spark.runner.file_records import QueryFileRecord
    from treaty.spark.runner.once import QueryReport

CHECKPOINTS = "_checkpoints"
"""The folder of checkpoints below the root of the files, where none is named. Spark passes over names that begin with an underscore."""

DATA = "data"
"""The root of files below the shared root, where none is named."""


class QueriesFailedError(ReportedError):
    """Queries failed; their reasons are printed before."""

    exit_code = 1


EXIT = "Exit code 0: it was stopped, or with --once all queries were worked off. 1: some failed, or Spark has ended. 2: unusable input."


@click.command("runner", epilog=EXIT)
@click.option("--root", metavar="SHARED", envvar="TREATY_RUNNER_ROOT", type=FolderType(),
              help="The folder that all runners of this registry share: checkpoints, and who is alive. A path, or a URL that Spark reads, such as s3a://bucket/folder.")  # fmt: skip
@click.option(
    "--name", metavar="NAME", help="The name of this runner; the same at each start. By default that of the machine."
)
@click.option("--files", envvar="TREATY_FILES", metavar="ROOT", type=FolderType(exists=True),
              help="The root of the folders that PATH names: of files and tables, a path or a URL. By default data below SHARED.")  # fmt: skip
@click.option("--cluster", "clusters", envvar="TREATY_CLUSTER", multiple=True, metavar="NAME=FILE",
              help="A Kafka cluster that sources name (the default is main): a properties file with bootstrap.servers and credentials, "
              "or kafka://host:port. Repeatable.")  # fmt: skip
@click.option("--master", default="local[*]", show_default=True, metavar="MASTER", help="Where Spark runs.")
@click.option("--memory", default=HEAP, show_default=True, metavar="SIZE", help="The heap of Spark's driver.")
@click.option("--conf", "settings", multiple=True, metavar="NAME=VALUE", help="Setting for Spark. Repeatable.")
@click.option("--iceberg", is_flag=True, help="Load Iceberg, also where no source is an Iceberg table yet.")
@click.option(
    "--isolate",
    is_flag=True,
    help="A process with a driver of its own for each query, with the heap of --memory: what ends one ends no other.",
)
@click.option("--isolated-part", hidden=True, help="Run this part alone, as its runner says on the standard input.")
@click.option("--listen", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT",
              help="Where /status and /metrics are answered; port 0: a free one, which is printed.")  # fmt: skip
@click.option("--once", is_flag=True, help="Work off what is there, and end.")
@click.option("--checkpoints", metavar="DIR", type=FolderType(),
              help=f"The folder of the checkpoints, which CHECKPOINT_ROOT of a query lies below: checkpoints below --root without it, and with --once without --root {CHECKPOINTS} below --files.")  # fmt: skip
@click.option("--query", "names", multiple=True, metavar="NAME", help="With --once, only this query. Repeatable.")
@verbose
@connection.registry
@connection.as_json
def command(
    *,
    once: bool,
    checkpoints: Folder | None,
    names: tuple[str, ...],
    registry: str,
    as_json: bool,
    isolated_part: str | None,
    **options: Any,
) -> None:
    """Run the queries of a registry on Spark: over topics, files, Delta and Iceberg tables, into topics and tables.

    The runner follows the registry: it starts, pauses, resumes and ends queries within a second of the statement, each in a session of its own,
    and starts one again that fails. Runners with the same --root share the queries, and take over from one that is gone. Each row is written
    exactly once into tables, and at least once into topics, whatever is killed. Rows that can't be decoded are left out and
    counted; of a source with BAD_ROWS they are written into the table of its stream NAME_bad, below --files in the folder _bad. SIGTERM and Ctrl-C end it once the batches that run are finished.

    With --once each query reads what is there since its last run and has not been read, and the program ends; queries that read the
    results of others run after them.

    \b
    Examples:
      treaty runner --root /shared --files /data --registry http://127.0.0.1:8081
      treaty runner --root /shared --cluster main=kafka://127.0.0.1:9092
      treaty runner --root hdfs://namenode/treaty --files hdfs://namenode/data
      treaty runner --root /shared --listen 0.0.0.0:9465 --json
      treaty runner --once --files /data --query delays --json
    """  # noqa: D301 - click wants the control character
    root: Folder | None = options.pop("root")
    files: Folder | None = options.pop("files") or (join_folder(root, DATA) if root is not None else None)
    if once:
        if files is None:
            raise click.UsageError("--once reads and writes below a root: name it by --files ROOT")
        default = join_folder(root, "checkpoints") if root is not None else join_folder(files, CHECKPOINTS)
        service_options = ServiceOptions(
            "once", checkpoints or default, files, registry, as_json=as_json, **_of_spark(options)
        )
        _run_once(service_options, names)
        return
    if root is None or files is None:
        raise click.UsageError("a runner keeps its checkpoints in a folder: name it by --root SHARED, or say --once")
    if names:
        raise click.UsageError("--query goes with --once: a runner runs all queries, below --root")
    make_folder(files)
    name = options.pop("name") or default_name()
    service_options = ServiceOptions(name, root, files, registry, as_json=as_json, checkpoints=checkpoints, **options)
    run_service(service_options) if isolated_part is None else run_isolated(service_options, isolated_part)


def _of_spark(options: dict[str, Any]) -> dict[str, Any]:
    """The options that a run to the end takes, too."""
    return {name: options[name] for name in ("clusters", "master", "memory", "settings", "iceberg")}


def _run_once(options: ServiceOptions, names: tuple[str, ...]) -> None:
    """Work off what is there, and say what was done; the root of `options` is the folder of the checkpoints."""
    settings, clusters = read_settings(options.settings), read_clusters(options.clusters)
    with needs_spark():
        from treaty.spark.runner.once import OnceRunner, list_queries  # noqa: PLC0415 (these load Spark, which --help must not need)
        from treaty.spark.session import session  # noqa: PLC0415

    reports: list[QueryReport] = []

    def add(report: "QueryReport") -> None:
        reports.append(report)
        if not options.as_json:
            _say_report(report)

    with connection.open_registry(options.registry) as client:
        if not list_queries(client.registry):
            screen.say_json([]) if options.as_json else screen.say("no query to run: CREATE … AS makes one", err=True)
            return
        with needs_jvm():
            spark = session(
                "treaty runner", master=options.master, memory=options.memory, delta=True,
                iceberg=options.iceberg or has_iceberg(client.registry), kafka=bool(clusters), settings=settings, verbose=is_verbose(),
            )  # fmt: skip
        if not is_verbose():
            spark.sparkContext.setLogLevel("ERROR")
        runner = OnceRunner(spark, client.registry, options.files, options.root, clusters, _say_note, _say_removed)
        fine = runner.run(add, names)
    if options.as_json:
        screen.say_json(
            [
                {
                    "name": report.name,
                    "rows": report.rows,
                    "bad": report.bad,
                    "written": report.written,
                    "batches": report.batches,
                    "error": report.error,
                    "note": report.note,
                }
                for report in reports
            ]
        )
    if not fine:
        failed = ", ".join(report.name for report in reports if report.error)
        raise QueriesFailedError(f"queries failed: {failed}", "QUERIES_FAILED")


def _say_note(name: str, text: str) -> None:
    screen.say(f"{name}: {text}", "yellow", err=True)


def _say_removed(record: "QueryFileRecord") -> None:
    screen.say(f"{record.name} is gone: its {record.kind} was removed, {record.folder}", err=True)


def _say_report(report: "QueryReport") -> None:
    if report.error:
        screen.say(f"{report.name} failed: {report.error}", "red", err=True)
        return
    if report.note:
        screen.say(f"{report.name}: nothing to read: {report.note}", "yellow")
        return
    bad = f", {report.bad:,} of them bad and left out" if report.bad else ""
    screen.say(f"{report.name}: {report.rows:,} rows read{bad}, {report.written:,} written", "green")
