"""The context of pipeline commands: which registry they ask (that of the file, else of --registry or TREATY_REGISTRY; none is refused), the
description read from the file, a Spark session, and exit codes.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from treaty.assemble import PASSING_ERRORS, UNUSABLE_ERRORS
from treaty.cli.pipeline.description_table import DescriptionError
from treaty.cli.spark import is_verbose, needs_jvm
from treaty.cli.spark_progress import show_tasks
from treaty.cli.terminal.registry_url import connect_to as opened_registry
from treaty.cli.terminal.source import UnusableError
from treaty.client.connection import Connection
from treaty.core.refusals import RegistryError

if TYPE_CHECKING:
    from treaty.cli.pipeline.description import PipelineDescription, SparkSettings
    from treaty.spark.pipelines.source import Source

FINE, FAILED = 0, 1
"""Exit codes; an unusable file, registry or session is 2."""

file = click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))
registry = click.option(
    "--registry",
    default="",
    envvar="TREATY_REGISTRY",
    show_envvar=True,
    metavar="URL",
    help="Registry, if the file names none: http(s)://[user@]host:port, or the URL of a log.",
)


class PipelineContext(NamedTuple):
    """The description of a pipeline, its Spark session and its registry."""

    description: "PipelineDescription"
    spark: Any
    registry: Connection


def read_file(path: Path) -> "PipelineDescription":
    """Read the file. Raises `UnusableError`."""
    from treaty.cli.pipeline.description import read_description  # noqa: PLC0415 (loads Spark, which --help must not need)

    try:
        return read_description(path, os.environ)  # noqa: TID251 (a file of a pipeline may name variables)
    except DescriptionError as error:
        raise UnusableError(f"{path}: {error}") from error


@contextmanager
def open_pipeline(path: Path, url: str, *, spinner: bool = True) -> Iterator[PipelineContext]:
    """Open the context of a pipeline for the block; `spinner`: on a terminal, running tasks are shown in it."""
    described = read_file(path)
    where = described.registry or url
    if not where:
        raise UnusableError(f"{path}: registry is missing; set it in the file, with --registry or in TREATY_REGISTRY")
    try:
        client = opened_registry(where)
    except (*UNUSABLE_ERRORS, *PASSING_ERRORS, RegistryError, ValueError) as error:
        raise UnusableError(f"{error}; name a registry, for instance http://host:port") from error
    with client, start_session(described, spinner=spinner) as spark:
        yield PipelineContext(described, spark, client)


def start_session(described: "PipelineDescription", *, spinner: bool = True) -> AbstractContextManager[Any]:
    """Start the Spark session of a pipeline, with the packages that its source and tables need."""
    pipeline = described.pipeline
    formats = {pipeline.good_table.format, pipeline.bad_table.format}
    session = start_spark(described.name, described.session, pipeline.source, formats)
    return show_tasks(described.name, session) if spinner else session


@contextmanager
def start_spark(name: str, settings: "SparkSettings", source: "Source | None", formats: set[str]) -> Iterator[Any]:
    """Start a Spark session for the block, called ``treaty NAME``, with the packages for a source and for tables of these formats.

    `formats` are those of lakes, such as ``delta``. A session that runs already is used as it is, and is left running at the end of
    the block. Without --verbose, Spark says nothing but errors. Raises `UnusableError` where Spark can't start (`needs_jvm`).
    """
    from treaty.spark.pipelines.source import KafkaSource  # noqa: PLC0415 (loads Spark, which --help must not need)
    from treaty.spark.session import is_running  # noqa: PLC0415
    from treaty.spark.session import session as start  # noqa: PLC0415

    was_running = is_running()
    with needs_jvm():
        spark = start(
            f"treaty {name}",
            master=settings.master,
            memory=settings.memory,
            delta="delta" in formats,
            iceberg="iceberg" in formats,
            kafka=isinstance(source, KafkaSource),
            settings=dict(settings.options),
            verbose=is_verbose(),
        )
    if not is_verbose():
        spark.sparkContext.setLogLevel("ERROR")
        _silence_observations(spark)
    try:
        yield spark
    finally:
        if not was_running:
            spark.stop()


def _silence_observations(spark: Any) -> None:
    """Turn off a logger of Spark that prints a stack trace for each table that does not exist yet."""
    log4j = spark.sparkContext._jvm.org.apache.logging.log4j  # noqa: SLF001 - there is no other way to a logger
    log4j.core.config.Configurator.setLevel("org.apache.spark.sql.util.ExecutionListenerBus", log4j.Level.OFF)
