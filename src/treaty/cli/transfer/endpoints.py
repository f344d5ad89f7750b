"""Source and target of a transfer: a registry, a dump or a topic; and its progress."""

import gzip
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast
from urllib.parse import parse_qs

from treaty.assemble import PASSING_ERRORS, UNUSABLE_ERRORS, connect
from treaty.cli.terminal import registry_url, screen
from treaty.cli.terminal.errors import announce_stop
from treaty.cli.terminal.kafka import exit_on_kafka_error
from treaty.cli.terminal.source import STDIN, UnusableError
from treaty.client.connection import Connection
from treaty.client.kafka.cluster_settings import parse_cluster
from treaty.client.kafka.registry_topic import read_topic
from treaty.client.transfer.dump import read_lines
from treaty.client.transfer.registry_image import RegistryImage, TransferProblem
from treaty.client.transfer.registry_reader import ReportProgress, ignore_progress, read
from treaty.client.transfer.sources.pravega import read_pravega
from treaty.client.transfer.sources.schemarepo import read_repository, read_server
from treaty.core.kafka import SCHEME, KafkaCluster, KafkaSettingsError
from treaty.core.limits import DUMP_LINE_BYTES
from treaty.core.names import EVERYWHERE, Subject
from treaty.core.refusals import Refusal, RegistryError
from treaty.core.urls import hide_credentials

SCHEMES = ("http://", "https://", "sqlite:", "memory:", "postgresql://", "kafka://")
FOREIGN = ("pravega:", "schema-repo:")
"""How sources begin that are registries of another kind."""
SETTINGS = ".properties"
"""Suffix of a file with client settings."""
NUMBERS = frozenset({"max.retries", "retries.wait.ms", "retries.max.wait.ms", "timeout"})
SHOWN = 20
"""The most problems that are printed as text; JSON has all of them."""


def is_url(text: str) -> bool:
    """Return whether an argument is the URL of a registry; otherwise it is a file."""
    return text.startswith(SCHEMES)


@contextmanager
def open_registry(url: str, missing: registry_url.MISSING = "refuse") -> Iterator[Connection]:
    """Connect to a registry for the block, by URL or settings file. Raises `UnusableError` if it does not exist or
    answer; messages never contain a password.
    """
    address = hide_credentials(url)
    try:
        with (
            announce_stop(),
            connect(_read_settings(url))
            if url.endswith(SETTINGS)
            else registry_url.connect_to(url, missing) as registry,
        ):
            yield registry
    except (*UNUSABLE_ERRORS, *PASSING_ERRORS, ValueError) as error:
        raise UnusableError(f"{error}; give a registry, such as http://host:port") from error
    except Refusal as error:
        raise UnusableError(f"the registry {address} refuses: {error}") from error
    except RegistryError as error:
        raise UnusableError(registry_url.describe_failure(error, f"the registry {address}")) from error


def _read_settings(path: str) -> dict[str, str | float]:
    """Read client settings from a properties file with the names of Confluent's clients: ``url``, ``ssl.ca.location``
    ...
    """
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    parts = (line.partition("=") for line in map(str.strip, lines) if line and not line.startswith(("#", "!")))
    settings = {name.strip().removeprefix("schema.registry."): value.strip() for name, _, value in parts}
    return {name: float(value) if name in NUMBERS and value.isdecimal() else value for name, value in settings.items()}


def is_topic(text: str) -> bool:
    """Return whether an argument is the URL of a registry's topic; with ``?writers=`` it is a log of Treaty."""
    return text.startswith(SCHEME) and "?" not in text


def parse_topic(text: str, kafka_config: Iterable[str]) -> tuple[KafkaCluster, str]:
    """Return the cluster and the topic of a URL; raises `KafkaSettingsError`."""
    cluster, topic = parse_cluster(text, kafka_config)
    if not topic:
        raise KafkaSettingsError(f"{text} has no topic; that of a Confluent registry is {SCHEME}host:port/_schemas")
    return cluster, topic


def read_source(
    source: str,
    prefix: Subject = Subject(EVERYWHERE, ""),
    progress: ReportProgress = ignore_progress,
    *,
    kafka_config: Iterable[str] = (),
    keys: bool = False,
) -> RegistryImage:
    """Read all that a registry holds, a topic or a dump; API keys of a registry with `keys` alone. A dump may be compressed with gzip; ``-`` is standard input."""
    if source.startswith(FOREIGN):
        return _read_foreign(source, progress)
    if is_topic(source):
        with exit_on_kafka_error():
            return read_topic(*parse_topic(source, kafka_config), progress)
    if is_url(source) or source.endswith(SETTINGS):
        with open_registry(source) as registry:
            return read(registry, prefix, progress, keys=keys)
    with _open_file(source) as lines:
        return read_lines(_count_lines(_read_lines(lines), progress))


def _read_foreign(source: str, progress: ReportProgress) -> RegistryImage:
    """Read a registry of another kind: ``pravega:URL``, ``schema-repo:URL`` or ``schema-repo:FOLDER``."""
    kind, _, place = source.partition(":")
    address = hide_credentials(place)
    is_server = place.startswith(("http://", "https://"))
    try:
        if kind == "pravega":
            base, _, query = place.partition("?")
            members = parse_qs(query, keep_blank_values=True)
            strange = next((name for name in members if name != "namespace"), None)
            if strange is not None:
                raise UnusableError(f"{address} has a parameter {strange!r}; allowed: namespace, as often as needed")
            return read_pravega(base, members.get("namespace", ()), progress)
        return read_server(place, progress) if is_server else read_repository(place, progress)
    except RegistryError as error:
        allowed = "http://host:port" if kind == "pravega" else "http://host:port, or the folder of a file repository"
        raise UnusableError(f"{kind} at {address} can't be read: {error}; give {kind}: and {allowed}") from error


@contextmanager
def _open_file(path: str) -> Iterator[IO[bytes]]:
    try:
        if path == STDIN:
            yield sys.stdin.buffer
        else:
            with Path(path).open("rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
                file.seek(0)
                yield cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if packed else file
    except (OSError, EOFError) as error:
        message = f"{path} cannot be read: {getattr(error, 'strerror', None) or error}; give a dump, - or the URL of a registry"
        raise UnusableError(message) from error


def _read_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file. A line longer than DUMP_LINE_BYTES is cut one byte past that limit."""
    while line := file.readline(DUMP_LINE_BYTES + 1):
        yield line
        while line and not line.endswith(b"\n"):
            line = file.readline(1 << 20)


def _count_lines(lines: Iterable[bytes], progress: ReportProgress) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        yield line
        if number % 1000 == 0:
            progress("lines", number, 0)


def say_problems(problems: Iterable[TransferProblem], say: Callable[[str], None], uncounted: int = 0) -> None:
    """Print problems, one a line, the first ones of many; `uncounted` are those that are not kept."""
    listed = tuple(problems)
    for problem in listed[:SHOWN]:
        say(str(problem))
    if len(listed) > SHOWN:
        all_of = f"the first {len(listed):,}" if uncounted else "them all"
        say(f"... and {len(listed) - SHOWN + uncounted:,} more; --json prints {all_of}")


def say_notes(left_out: Iterable[str], notes: Iterable[str]) -> None:
    """Print what is left out, then notes on what is not; each on one line."""
    for prefix, texts in (("left out", left_out), ("note", notes)):
        screen.say_first((f"{prefix}: {one}" for one in texts), "yellow", err=True)


def say_problem(text: str) -> None:
    """Print a problem, on one line."""
    screen.say(screen.escape_line(text), "red", err=True)
