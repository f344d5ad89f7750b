"""What commands that use Kafka share: brokers and settings from options, and the exit when Kafka does not answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from treaty.cli.terminal.source import UnusableError
from treaty.client.kafka.cluster_settings import parse_cluster
from treaty.client.kafka.library import KafkaClientError, KafkaMissingError
from treaty.core.kafka import KafkaCluster, KafkaSettingsError

kafka_config = click.option(
    "--kafka-config",
    "kafka_config",
    multiple=True,
    envvar="TREATY_KAFKA_CONFIG",
    show_envvar=True,
    metavar="NAME=VALUE|FILE",
    help="Setting of librdkafka, or a properties file with settings. Put secrets in a file. Repeatable.",
)
kafka_brokers = click.option(
    "--kafka",
    default="",
    envvar="TREATY_KAFKA",
    show_envvar=True,
    metavar="HOST:PORT",
    help="Brokers, separated by commas. Not needed if the settings have them.",
)


def find_cluster(brokers: str, settings: Sequence[str]) -> KafkaCluster:
    """Return the brokers and settings of a command; the program ends with exit code 2 if no broker is named."""
    try:
        cluster, _ = parse_cluster(brokers, settings)
    except KafkaSettingsError as error:
        missing = str(error).startswith("no Kafka broker is named")
        raise UnusableError("no Kafka broker is named; give --kafka host:port" if missing else str(error)) from error
    return cluster


@contextmanager
def exit_on_kafka_error() -> Iterator[None]:
    """End the program with exit code 2 if Kafka fails in the block."""
    try:
        yield
    except (KafkaClientError, KafkaMissingError, KafkaSettingsError) as error:
        raise UnusableError(str(error)) from error
