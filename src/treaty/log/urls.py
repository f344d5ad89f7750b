"""Which log a URL opens, with which options, and what is wrong with one that opens none (`LogUrlError`)."""

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from pathlib import PurePosixPath
from urllib.parse import parse_qsl, unquote

from treaty.core.kafka import KafkaSettingsError
from treaty.core.schema import Pairs
from treaty.core.urls import UrlError, hide_credentials, split_server_url, split_url
from treaty.distribution import install_command
from treaty.light_dataclass import dataclass
from treaty.log.log import Log


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What a log is opened with beside its URL. Backends take what concerns them and pass over the rest."""

    settings: Pairs = ()
    """Settings of the client library that reaches the log (librdkafka's, for Kafka); never shown."""
    address: str = ""
    """URL under which other nodes reach this one ("" where they can't)."""
    create: bool = True
    """Whether a missing store is created, by backends that distinguish this."""
    is_command: bool = False
    """Whether who opens it is no node but a command, which does its work and goes."""


DEFAULT_OPTIONS = LogOptions()
LogOpener = Callable[[str, LogOptions], Awaitable[Log]]

ENTRY_POINT_GROUP = "treaty.logs"
"""The entry point group in which other packages offer an `LogOpener`, named by the scheme of its URLs."""


class LogUrlError(ValueError):
    """A URL that names no log; the message says what would."""


async def _open_memory(url: str, _: LogOptions) -> Log:
    log: Log = import_module("treaty.log.memory").MemoryLog(url.partition(":")[2])
    return log


async def _open_sqlite(url: str, _: LogOptions) -> Log:
    module = import_module("treaty.log.sqlite.log")
    parts = split_url(url)
    path = unquote(parts.path)
    if parts.netloc or not PurePosixPath(path).is_absolute() or path == "/":
        raise LogUrlError(f"{url!r} is no file: write sqlite:///absolute/path.db, with three slashes")
    durable = f"?{parts.query}" != module.NOT_DURABLE
    if (parts.query and durable and parts.query != "synchronous=full") or parts.fragment or not path.isprintable():
        raise LogUrlError(
            f"{url!r} says more than a file: write sqlite:///absolute/path.db, with %3F for ? and %23 for #; "
            "?synchronous=normal may follow"
        )
    log: Log = await module.SqliteLog.open(path, durable=durable)
    return log


async def _open_postgres(url: str, _: LogOptions) -> Log:
    try:
        module = import_module("treaty.log.postgres.log")
    except ModuleNotFoundError as missing:
        if missing.name != "asyncpg":
            raise
        raise LogUrlError(f"a log in PostgreSQL needs asyncpg: {install_command('postgres')}") from missing
    parts = split_server_url(url)
    if not parts.hostname or parts.path in {"", "/"}:
        raise LogUrlError(
            "this is not the URL of a database: write postgresql://user@host:5432/database, optionally with ?schema=name"
        )
    words = [value for name, value in parse_qsl(parts.query, keep_blank_values=True) if name == "durable"]
    if set(words) - {"yes", "no"}:
        raise LogUrlError(f"durable={words[0]} is not allowed: write durable=yes (the default) or durable=no")
    try:
        log: Log = await module.PostgresLog.open(url)
    except import_module("treaty.log.postgres.durability").NotDurableError as refused:
        raise LogUrlError(str(refused)) from refused
    return log


async def _open_kafka(url: str, terms: LogOptions) -> Log:
    try:
        module = import_module("treaty.log.kafka.broker.client")
    except ModuleNotFoundError as missing:
        if missing.name != "confluent_kafka":
            raise
        raise LogUrlError(f"a log on Kafka needs confluent-kafka: {install_command('kafka')}") from missing
    try:
        log: Log = await module.open_kafka_log(
            url, terms.settings, address=terms.address, create=terms.create, is_command=terms.is_command
        )
    except KafkaSettingsError as error:
        raise LogUrlError(str(error)) from error
    return log


OPENERS: Mapping[str, LogOpener] = {
    "memory": _open_memory,
    "sqlite": _open_sqlite,
    "postgresql": _open_postgres,
    "postgres": _open_postgres,
    "kafka": _open_kafka,
}
"""The logs of this package, by the scheme of their URLs."""


def list_log_topics(url: str) -> tuple[str, ...]:
    """Return the topics that the log of a URL is in; none for a log elsewhere."""
    parts = split_url(url)
    topic = parts.path.strip("/") if parts.scheme.lower() == "kafka" else ""
    return (topic,) if topic else ()


def is_address(url: str) -> bool:
    """Whether a text without a scheme is a host with a port, as people name a registry."""
    host, colon, port = url.partition("/")[0].rpartition(":")
    return "://" not in url and bool(host and colon) and port.isascii() and port.isdecimal()


async def open_log(url: str, terms: LogOptions = DEFAULT_OPTIONS) -> Log:
    """Open the log that a URL names.

    There are ``memory:``, ``sqlite:///absolute/path.db``, ``postgresql://user@host/database?schema=name&durable=no``
    and ``kafka://host:port/topic?writers=any|owner``.

    Raises `LogUrlError` for a URL that names none, `LogUnavailableError` or `LogDamagedError` where it can't be used.
    """
    scheme = url.partition(":")[0].lower()
    opener = OPENERS.get(scheme)
    if opener is None:
        from importlib.metadata import entry_points  # noqa: PLC0415 (loaded for a scheme of another package)

        plugins = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
        if scheme not in plugins:
            place = hide_credentials(url)
            if is_address(url):
                raise LogUrlError(f"{place!r} has no scheme; did you mean http://{place}?")
            schemes = ", ".join(sorted({*OPENERS, *plugins}))
            raise LogUrlError(
                f"no log for {place!r}: known schemes are {schemes}; for instance sqlite:///tmp/treaty.db"
            )
        opener = plugins[scheme].load()
    try:
        return await opener(url, terms)
    except UrlError as error:
        raise LogUrlError(str(error)) from None
