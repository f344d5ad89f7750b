"""The log of a command: ``--log-config``, settings of its client library, and where it is by default."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
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
        settings = parse_settings(words, "--log-config")
    except KafkaSettingsError as error:
        raise click.UsageError(str(error)) from error
    for name, value in settings:
        if "\n" in value:
            raise click.UsageError(f"--log-config: the value of {name} has several lines; put it in a file")
    return settings


def make_default_url(home: Path) -> str:
    """Return the URL of the SQLite log in the user's data folder; a missing folder is created."""
    folder = home / "treaty"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise click.ClickException(
            f"cannot create the folder {folder}: {reason.strerror}; choose another place: treaty serve --log sqlite:///absolute/path.db"
        ) from None
    if not os.access(folder, os.W_OK):
        raise click.ClickException(
            f"cannot write to {folder}; choose another place: treaty serve --log sqlite:///absolute/path.db"
        )
    return f"sqlite://{folder / 'registry.db'}"
