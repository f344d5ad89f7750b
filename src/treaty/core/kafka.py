"""Addresses and settings of Kafka clusters, and messages with remedies for errors of the library (confluent_kafka),
which is not imported here.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from treaty.core.schema import Pairs
from treaty.light_dataclass import dataclass

SCHEME = "kafka://"
PORT = 9092
SERVERS = "bootstrap.servers"
JAVA_ONLY = {
    "ssl.truststore.location": "ssl.ca.location with the path of a PEM file",
    "ssl.truststore.password": "ssl.ca.location with the path of a PEM file, which has no password",
    "ssl.keystore.location": "ssl.certificate.location and ssl.key.location with PEM files, or this with a PKCS#12 file",
    "sasl.login.callback.handler.class": "sasl.oauthbearer.method and what goes with it",
}
"""Settings of Java clients that librdkafka lacks or interprets differently, and their replacements."""
_JAAS = "sasl.jaas.config"
_MEMBER = re.compile(r'\b(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')


class KafkaSettingsError(ValueError):
    """A URL or a setting is invalid; the message never contains the value of a setting."""


@dataclass(frozen=True, slots=True)
class KafkaCluster:
    """Brokers as ``host:port``, separated by commas, and settings of librdkafka, which are never printed."""

    servers: str
    settings: Pairs = field(default=(), repr=False)

    def client_settings(self, own: dict[str, object]) -> dict[str, object]:
        """Return all settings of a client; `own` are fixed by the program."""
        return {"log_level": 4, **dict(self.settings), SERVERS: self.servers, **own}


def parse_kafka_url(text: str, settings: Iterable[tuple[str, str]] = ()) -> tuple[KafkaCluster, str]:
    """Parse ``kafka://host:port,host:port/topic`` (or only the brokers); return the cluster, and the topic or "".

    Later settings replace earlier ones. Brokers in settings are used if `text` has none. Raises `KafkaSettingsError`.
    """
    properties = dict(settings)
    rest = text.removeprefix(SCHEME)
    servers, _, topic = rest.partition("/")
    if "@" in rest:  # a password with a slash ends before its @
        raise KafkaSettingsError(
            "a Kafka URL must not contain user and password; use the settings sasl.username and sasl.password"
        )
    if "?" in topic or "/" in topic.rstrip("/"):
        raise KafkaSettingsError(f"'{SCHEME}{rest}' is no topic's URL; expected {SCHEME}host:port[,host:port]/topic")
    named = properties.pop(SERVERS, "")
    names = ",".join(_server(server.strip()) for server in (servers or named).split(",") if server.strip())
    if not names:
        raise KafkaSettingsError(
            f"no Kafka broker is named; expected {SCHEME}host:port/topic, or {SERVERS} as a setting"
        )
    return KafkaCluster(names, tuple(sorted(properties.items()))), topic.rstrip("/")


def _server(text: str) -> str:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return f"{text}:{PORT}"
    if not host or not port.isdecimal():
        raise KafkaSettingsError(f"{text!r} is no broker; expected host:port")
    return text


def read_properties(text: str, where: str) -> Iterator[tuple[str, str]]:
    """Return the settings of a properties file with librdkafka's names; `where` is the file in messages. Raises
    `KafkaSettingsError`.
    """
    for number, line in enumerate(text.replace("\\\n", "").split("\n"), 1):
        bare = line.strip()
        if bare and not bare.startswith(("#", "!")):
            match = re.fullmatch(r"([^\s=:]+)\s*[=:]\s*(.*)", bare)
            if match is None:
                raise KafkaSettingsError(f"{where}:{number}: not a setting; expected name=value")
            yield from translate_setting(match[1], match[2], f"{where}:{number}")


def translate_setting(name: str, value: str, where: str) -> Iterator[tuple[str, str]]:
    """Return a setting with librdkafka's name; a JAAS login becomes user and password. Raises `KafkaSettingsError`."""
    if name == _JAAS:
        members = dict(_MEMBER.findall(value))
        if members.keys() != {"username", "password"}:
            raise KafkaSettingsError(f"{where}: {name} can't be used here; set sasl.username and sasl.password")
        yield from ((f"sasl.{member}", re.sub(r"\\(.)", r"\1", members[member])) for member in ("username", "password"))
    elif name in JAVA_ONLY and not (name == "ssl.keystore.location" and value.endswith((".p12", ".pfx"))):
        raise KafkaSettingsError(f"{where}: {name} is a setting of Java clients; say {JAVA_ONLY[name]}")
    else:
        yield name, value


# ---------------------------------------------------------------------------------------------------------- errors

DENIED = frozenset({"_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED", "_SSL", "UNSUPPORTED_SASL_MECHANISM"})
"""Errors of failed authentication, by the broker or by the client."""
GONE = frozenset({"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION"})
"""Errors of a missing topic or partition."""
PASSING = frozenset(
    [
        "BROKER_NOT_AVAILABLE",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "FENCED_LEADER_EPOCH",
        "KAFKA_STORAGE_ERROR",
        "LEADER_NOT_AVAILABLE",
        "NETWORK_EXCEPTION",
        "NOT_CONTROLLER",
        "NOT_COORDINATOR",
        "NOT_ENOUGH_REPLICAS",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "NOT_LEADER_FOR_PARTITION",
        "OFFSET_NOT_AVAILABLE",
        "PREFERRED_LEADER_NOT_AVAILABLE",
        "REPLICA_NOT_AVAILABLE",
        "REQUEST_TIMED_OUT",
        "THROTTLING_QUOTA_EXCEEDED",
        "UNKNOWN_LEADER_EPOCH",
    ]
)
"""Errors of a broker that a retry may help, as Kafka's protocol says (error codes, column "retriable"): the library says so of
errors of producers alone."""


def is_retriable(error: Any) -> bool:
    """Say whether a retry may help against an error of the library."""
    return bool(error.retriable()) or error.name() in PASSING


class LastBrokerError:
    """Keeps the last error that the library reported to the callback: the reason if requests then time out."""

    def __init__(self) -> None:
        """Nothing has been heard yet."""
        self.last = ""
        self.denied = False

    def __call__(self, error: Any) -> None:
        """Note an error; "all brokers down" does not replace a more specific one."""
        if error.name() != "_ALL_BROKERS_DOWN" or not self.last:
            self.last = str(error.str())
            self.denied = error.name() in DENIED


def describe_error(error: Any, servers: str, heard: LastBrokerError | None, option: str) -> tuple[str, bool]:
    """Return an error of the library as a sentence, and whether a retry may help. `heard` is the reason if no broker
    answers; `option` is the option with the settings.
    """
    words = str(error.str())
    more = f" ({heard.last})" if heard and heard.last and heard.last != words else ""
    denied = "_AUTHENTICATION" if heard and heard.denied else ""
    match denied or error.name():
        case name if name in GONE:
            return f"there is no such topic or partition at {servers}: {words}; create it, or name another", False
        case name if name in DENIED:
            return f"authentication failed at {servers}: {words}{more}; see security.protocol, sasl.* and ssl.*", False
        case name if name.endswith("AUTHORIZATION_FAILED"):
            return f"{servers} refuses: {words}; the user needs an ACL, or credentials in sasl.*", False
        case "_TRANSPORT" | "_ALL_BROKERS_DOWN" | "_TIMED_OUT" | "_RESOLVE":
            return f"no Kafka broker answers at {servers}: {words}{more}; check that it runs", True
        case "_INVALID_ARG":
            return f"the Kafka client cannot be configured: {words}; see {option}", False
    return f"Kafka at {servers}: {words}{more}", is_retriable(error)
