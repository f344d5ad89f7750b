"""``--log-config``: settings of the client library of a log, for all commands that open one."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from treaty.assemble import LOG_CONFIG
from treaty.client.kafka.cluster_settings import parse_settings
from treaty.core.kafka import KafkaSettingsError
from treaty.core.schema import Pairs

T = TypeVar("T", bound=Callable[..., Any])


class _SettingLines(click.ParamType[str]):
    """An argument of the command line, or a line of the environment variable; values may contain spaces."""

    name = "text"

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        return [line.strip() for line in rv.splitlines() if line.strip()]


def log_config_option(*, callback: Callable[..., Any] | None = None) -> Callable[[T], T]:
    """Return the option; with a callback it is not passed to the command."""
    return click.option(
        "--log-config",
        "log_config",
        multiple=True,
        type=_SettingLines(),
        envvar=LOG_CONFIG,
        show_envvar=True,
        expose_value=callback is None,
        callback=callback,
        metavar="NAME=VALUE|FILE",
        help="For a Kafka log: setting of librdkafka, or a properties file with settings. Put secrets in a file. Repeatable.",
    )


def parse_log_config(words: Sequence[str]) -> Pairs:
    """Parse settings. Raises `click.UsageError`, whose message contains no values."""
    try:
        found = parse_settings(words, "--log-config")
    except KafkaSettingsError as error:
        raise click.UsageError(str(error)) from error
    for name, value in found:
        if "\n" in value:
            raise click.UsageError(f"--log-config: the value of {name} has several lines; put it in a file")
    return found
