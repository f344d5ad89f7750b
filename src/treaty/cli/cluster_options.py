"""Options about where the records of sources are, Kafka clusters by name and the root of folders of files; and about search."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treaty.core.kafka import KafkaCluster, KafkaSettingsError

if TYPE_CHECKING:
    from treaty.metastore.records.destinations import RecordDestinations

OPTIONS = (
    click.option(
        "--cluster",
        "clusters",
        envvar="TREATY_CLUSTER",
        multiple=True,
        metavar="NAME=FILE",
        help="A Kafka cluster that sources name (the default is main): a properties file with bootstrap.servers and credentials, "
        "or kafka://host:port. Repeatable.",
    ),
    click.option(
        "--files",
        envvar="TREATY_FILES",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="ROOT",
        help="The folder below which sources with CONNECTOR = 'files' are.",
    ),
)
SEARCH = (
    click.option(
        "--no-search",
        envvar="TREATY_NO_SEARCH",
        is_flag=True,
        help="Keep no search index. By default it is a file beside the state file, safe to delete.",
    ),
)


def add_server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a server's command, that of its search index too."""
    return add_cluster_options(SEARCH[0](command))


def add_cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def read_clusters(words: Sequence[str]) -> dict[str, KafkaCluster]:
    """Return the clusters by name. Raises `click.UsageError`, whose message contains no values of settings."""
    from treaty.client.kafka.cluster_settings import parse_named_clusters  # noqa: PLC0415 (few commands name a cluster)

    try:
        return parse_named_clusters(words)
    except KafkaSettingsError as error:
        raise click.UsageError(f"--cluster: {error}") from error


def open_destinations(words: Sequence[str], files: Path | None) -> "RecordDestinations":
    """Return the destinations of the options. Raises `click.UsageError`."""
    from treaty.metastore.records.destinations import RecordDestinations  # noqa: PLC0415 (it brings a client of Kafka)

    return RecordDestinations(read_clusters(words), files)


def cluster_flags(words: Sequence[str], files: Path | None, *, search: bool) -> Iterator[str]:
    """The same as arguments of a worker."""
    for word in words:
        yield from ("--cluster", word)
    if files is not None:
        yield from ("--files", str(files))
    if not search:
        yield "--no-search"
