"""`treaty spark`: prints packages and settings for Spark sessions; also starts the session of other commands."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import click

from treaty.cli.spark_progress import show_tasks
from treaty.cli.terminal.options import SubcommandGroup
from treaty.cli.terminal.source import UnusableError

conf = click.option(
    "--conf", multiple=True, metavar="NAME=VALUE", help="Setting for Spark, such as a catalog's. Repeatable."
)
_VERBOSE = "treaty.spark.verbose"


def _set_verbose(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it so
    context.meta[_VERBOSE] = value


verbose = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_set_verbose,
    help="Also print what Spark itself prints: its start, the packages it fetches, its warnings.",
)


def is_verbose() -> bool:
    """Whether the running command has ``-v``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_VERBOSE) or context.params.get("verbose"))


@contextmanager
def needs_spark() -> Iterator[None]:
    """End the command with a remedy if an import of Spark in this block fails. Spark is large: import it late."""
    try:
        yield
    except ImportError as error:
        raise UnusableError(str(error)) from error


@contextmanager
def needs_jvm() -> Iterator[None]:
    """End the command with a remedy if Spark can't start in this block: no JDK, a jar that is not to be had, another session's server."""
    from treaty.spark.jars import NotFetchedError  # noqa: PLC0415 (pyspark is large, and may not be there)
    from treaty.spark.jvm_start import JvmStartError  # noqa: PLC0415
    from treaty.spark.session import NotOnConnectError  # noqa: PLC0415

    try:
        yield
    except (JvmStartError, NotFetchedError, NotOnConnectError) as error:
        raise UnusableError(str(error)) from error


def start_spark(title: str, settings: tuple[str, ...], *, delta: bool, iceberg: bool) -> AbstractContextManager[Any]:
    """Return the current Spark session or a new one, with packages and ``NAME=VALUE`` settings; without ``-v`` its
    warnings are not printed.
    """
    malformed = next((one for one in settings if "=" not in one), None)
    if malformed is not None:
        raise click.BadParameter(f"{malformed!r} is not NAME=VALUE", param_hint="--conf")
    conf = dict(one.split("=", 1) for one in settings)
    return show_tasks(title, _open_session(title, conf, delta=delta, iceberg=iceberg))


@contextmanager
def _open_session(title: str, settings: Mapping[str, str], *, delta: bool, iceberg: bool) -> Iterator[Any]:
    with needs_spark():
        from treaty.spark.session import is_running, session  # noqa: PLC0415 (pyspark is large, and may not be there)
    was_running = is_running()
    with needs_jvm():
        spark = session(title, delta=delta, iceberg=iceberg, settings=settings, verbose=is_verbose())
    if not is_verbose():
        spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        if not was_running:
            spark.stop()


@click.group("spark", cls=SubcommandGroup)
def command() -> None:
    """Print packages and settings for Spark sessions."""


@command.command("packages")
@click.option("--delta/--no-delta", default=True, show_default=True, help="Delta tables.")
@click.option("--iceberg/--no-iceberg", default=False, show_default=True, help="Iceberg tables.")
@click.option("--kafka/--no-kafka", default=False, show_default=True, help="Include the Kafka source and sink.")
@click.option("--conf", "as_conf", is_flag=True, help="Print lines for spark-defaults.conf.")
def packages(delta: bool, iceberg: bool, kafka: bool, as_conf: bool) -> None:  # noqa: FBT001 - click passes them so
    """Print the packages and settings that Treaty is tested with, as options of spark-submit."""
    with needs_spark():
        from treaty.spark import jars  # noqa: PLC0415
    needed = jars.packages(delta=delta, iceberg=iceberg, kafka=kafka)
    settings = {
        "spark.jars.packages": ",".join(needed.coordinates),
        "spark.jars.excludes": ",".join(needed.excludes),
        **needed.settings,
    }
    for name, value in settings.items():
        click.echo(f"{name} {value}" if as_conf else f'--conf "{name}={value}" \\')
    for jar in needed.jars:
        click.echo(f"# add the jar of {jar}, fetched by these coordinates, to spark.jars", err=True)
