"""`treaty runner` as a service: signals, the session of Spark, what is printed while it runs."""

import json
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import click

from treaty.cli.cluster_options import read_clusters
from treaty.cli.metastore.queries.folders import describe_unwritable, join_folder, make_folder, print_folder
from treaty.cli.metastore.queries.isolated import make_command, make_variables, run_part
from treaty.cli.metastore.queries.service_options import ServiceOptions
from treaty.cli.pipeline.jvm_end import end_with_spark, silence_libraries
from treaty.cli.registry import connection
from treaty.cli.spark import is_verbose, needs_jvm, needs_spark
from treaty.cli.terminal import screen
from treaty.cli.terminal.errors import ReportedError, end_by_signal
from treaty.cli.terminal.source import UnusableError

if TYPE_CHECKING:
    from treaty.core.registry import Registry
    from treaty.spark.runner.file_records import QueryFileRecord
    from treaty.spark.runner.query_start import QueryStarter
    from treaty.spark.runner.service.part_status import PartStatus

COLORS = {"RUNNING": "green", "FAILED": "red", "RETRYING": "yellow", "WAITING": "yellow"}
OWN_HEAP = "512m"
"""The heap of a runner whose queries have processes of their own."""


class RunnerEndedError(ReportedError):
    """The runner has ended and was not asked to; the message has the reason and the remedy."""

    exit_code = 1


def run_service(options: ServiceOptions) -> None:
    """Run until SIGTERM or SIGINT; the batches that run are finished then."""
    host, port = _parse_listen(options.listen)
    ending = Event()
    with needs_spark():
        from treaty.spark.runner.service.http_status import StatusServer, find_public_host  # noqa: PLC0415 (these load Spark, which --help must not need)
        from treaty.spark.runner.service.part_process import PartProcess  # noqa: PLC0415
        from treaty.spark.runner.service.runner import (  # noqa: PLC0415
            LeaseLostError,
            QueryRunner,
            RunnerEvents,
            RunnerPlace,
            SparkEndedError,
        )
        from treaty.spark.runner.service.shared_files import open_root  # noqa: PLC0415

    make_folder(options.root)
    printer = _StatePrinter(as_json=options.as_json)
    with (
        connection.open_registry(options.registry) as client,
        end_with_spark(ending),
        end_by_signal(ending, silence_libraries),
    ):
        own = replace(options, master="local[1]", memory=OWN_HEAP) if options.isolate else options
        starter = make_starter(own, client.registry, printer.say_note)
        spark = starter.spark
        events = RunnerEvents(
            printer.say_state, printer.say_unreachable, printer.say_wait, printer.say_ready, printer.say_removed
        )
        start_part = (
            (lambda part: PartProcess(part, make_command(options, part), printer.say_state, make_variables(options)))
            if options.isolate
            else None
        )
        runner = QueryRunner(starter, events, start_part)
        public = find_public_host(host)
        with closing(_listen(lambda: StatusServer(runner.status, host, port, public), options.listen)) as server:
            try:
                runner.run(RunnerPlace(options.name, open_root(spark, options.root), server.address), ending)
            except OSError as error:  # what keeps the lease is a file there
                raise UnusableError(describe_unwritable(options.root, error)) from error
            except LeaseLostError as lost:
                raise RunnerEndedError(str(lost), "RUNNER_LOST") from lost
            except SparkEndedError as ended:
                if not ending.is_set():
                    raise RunnerEndedError(str(ended), "SPARK_ENDED") from ended
        printer.say_end(options.name)
        if ending.is_set():
            spark.stop()


def make_starter(options: ServiceOptions, registry: "Registry", on_note: Callable[[str, str], None]) -> "QueryStarter":
    """Open a session of Spark; return what starts queries in it."""
    from treaty.spark.runner.query_start import QueryStarter  # noqa: PLC0415 (loads Spark)

    clusters = read_clusters(options.clusters)
    spark = _open_session(options, iceberg=options.iceberg or has_iceberg(registry))
    checkpoints = print_folder(options.checkpoints or join_folder(options.root, "checkpoints"))
    return QueryStarter(spark, registry, options.files, checkpoints, clusters=clusters, on_note=on_note)


def run_isolated(options: ServiceOptions, key: str) -> None:
    """Run one part in this process, as its runner says."""
    with needs_spark():
        run_part(options, key, lambda own, registry: make_starter(own, registry, _StatePrinter(as_json=False).say_note))


def read_settings(texts: Sequence[str]) -> dict[str, str]:
    """Return the settings of Spark that texts NAME=VALUE say. Raises `click.BadParameter`."""
    malformed = next((one for one in texts if "=" not in one), None)
    if malformed is not None:
        raise click.BadParameter(f"{malformed!r} is not NAME=VALUE", param_hint="--conf")
    return dict(one.split("=", 1) for one in texts)


def has_iceberg(registry: "Registry") -> bool:
    """Whether a source of a registry is an Iceberg table."""
    from treaty.core.messages.metastore.sources import ListSources  # noqa: PLC0415 (--help needs none of it)

    after = ""
    while True:
        page = registry.ask(ListSources(after=after)).answer
        if any(one.connector == "iceberg" for one in page.sources):
            return True
        if not page.last:
            return False
        after = page.last


def _open_session(options: ServiceOptions, *, iceberg: bool) -> Any:
    from treaty.spark.session import session  # noqa: PLC0415 (loads Spark)

    settings = read_settings(options.settings)
    with needs_jvm():
        spark = session(
            f"treaty runner {options.name}", master=options.master, memory=options.memory, delta=True, iceberg=iceberg,
            kafka=bool(options.clusters), settings=settings, verbose=is_verbose(),
        )  # fmt: skip
    if not is_verbose():
        spark.sparkContext.setLogLevel("OFF")
    return spark


def default_name() -> str:
    """Return the name of a runner that is given none: that of its machine."""
    return socket.gethostname()


def _parse_listen(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise click.BadParameter(f"{text!r} is not HOST:PORT, such as 127.0.0.1:9465", param_hint="--listen")
    return host.strip("[]"), int(port)


def _listen(opened: Any, where: str) -> Any:
    try:
        return opened()
    except OSError as error:
        raise UnusableError(f"cannot listen on {where}: {error.strerror or error}; say another --listen") from error


class _StatePrinter:
    """Prints states as they come, from any thread: as lines for people, or of JSON."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._lock = Lock()

    def say_ready(self, name: str, address: str) -> None:
        if self._as_json:
            self._say_json({"event": "ready", "runner": name, "address": address})
        else:
            screen.say(f"runner {name} is ready; {address}/status", "green", err=True)

    def say_wait(self, reason: str) -> None:
        if self._as_json:
            self._say_json({"event": "waiting", "reason": reason})
        else:
            screen.say(reason, "yellow", err=True)

    def say_end(self, name: str) -> None:
        if self._as_json:
            self._say_json({"event": "ended", "runner": name})
        else:
            screen.say(f"runner {name} has ended", err=True)

    def say_note(self, name: str, text: str) -> None:
        if self._as_json:
            self._say_json({"event": "note", "name": name, "text": text})
        else:
            screen.say(f"{name}: {text}", "yellow", err=True)

    def say_removed(self, record: "QueryFileRecord") -> None:
        if self._as_json:
            self._say_json({"event": "removed", "name": record.name, "kind": record.kind, "number": record.number, "folder": record.folder})  # fmt: skip
        else:
            screen.say(f"{record.name} is gone: its {record.kind} was removed, {record.folder}", err=True)

    def say_unreachable(self, reason: str) -> None:
        if self._as_json:
            self._say_json({"event": "registry_unreachable", "reason": reason})
        else:
            screen.say(f"the registry is asked again, and queries run on: {reason}", "yellow", err=True)

    def say_state(self, status: "PartStatus") -> None:
        if self._as_json:
            members = status.to_json()
            names = ("name", "part", "state", "reason", "remedy", "command", "attempts", "next_attempt", "incarnation")
            self._say_json({"event": "state", **{name: members[name] for name in names}})
            return
        name = status.name if status.part == "query" else f"{status.name} ({status.part} rows)"
        with self._lock:
            screen.say(
                f"{name}: {status.state}{f': {status.reason}' if status.reason else ''}", COLORS.get(status.state)
            )
            if status.reason:
                screen.say(f"  {status.to_json()['remedy']}: {status.command}")

    def _say_json(self, members: dict[str, Any]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")  # noqa: TID251 (the time of a line of the log)
        with self._lock:
            sys.stdout.write(f"{json.dumps({'time': now, **members})}\n")
            sys.stdout.flush()
