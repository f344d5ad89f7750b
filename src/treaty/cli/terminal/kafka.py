"""What commands that use Kafka share: where it is, how to get in, and what its failures are called."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from treaty.cli.terminal.source import UnusableError
from treaty.client.kafka.errors import KafkaClientError
from treaty.client.kafka.library import KafkaMissingError
from treaty.core.kafka import KafkaSettingsError

kafka_config = click.option(
    "--kafka-config",
    "kafka_config",
    multiple=True,
    envvar="TREATY_KAFKA_CONFIG",
    show_envvar=True,
    metavar="NAME=VALUE|FILE",
    help="A setting of librdkafka, or a properties file of them; secrets belong into a file.",
)
kafka_brokers = click.option(
    "--kafka",
    default="",
    envvar="TREATY_KAFKA",
    show_envvar=True,
    metavar="HOST:PORT",
    help="Brokers, with commas between them; may be left out where the settings name them.",
)


@contextmanager
def exit_on_kafka_error() -> Iterator[None]:
    """What Kafka can't do ends the program with exit code 2 and a sentence."""
    try:
        yield
    except (KafkaClientError, KafkaMissingError, KafkaSettingsError) as error:
        raise UnusableError(str(error)) from error
