"""`Cluster`: where Kafka's brokers are and how to talk to them, from a URL and settings."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from treaty.core.schema import Pairs

SCHEME = "kafka://"
PORT = 9092
SERVERS = "bootstrap.servers"
JAVA_ONLY = {
    "ssl.truststore.location": "ssl.ca.location with the path of a PEM file",
    "ssl.truststore.password": "ssl.ca.location with the path of a PEM file, which has no password",
    "ssl.keystore.location": "ssl.certificate.location and ssl.key.location with PEM files, or this with a PKCS#12 file",
    "sasl.login.callback.handler.class": "sasl.oauthbearer.method and what goes with it",
}
"""Settings of Java clients that the library means otherwise or doesn't have, and what takes their place."""
_JAAS = "sasl.jaas.config"
_MEMBER = re.compile(r'\b(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')


class ClusterError(ValueError):
    """A URL or a setting that can't be used; the message never holds the value of a setting."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Brokers as ``host:port`` with commas, and settings of librdkafka, which are never shown."""

    servers: str
    settings: Pairs = field(default=(), repr=False)

    def merged(self, own: dict[str, object]) -> dict[str, object]:
        """All settings for a client; `own` are those that the program needs to be as they are."""
        return {"log_level": 4, **dict(self.settings), SERVERS: self.servers, **own}


def cluster_of(text: str, settings: Iterable[tuple[str, str]] = ()) -> tuple[Cluster, str]:
    """Read ``kafka://host:port,host:port/topic`` (or the brokers alone): the cluster, and the topic or "".

    Later settings count over earlier ones. Their brokers count where `text` names none. Raises `ClusterError`.
    """
    found = dict(settings)
    rest = text.removeprefix(SCHEME)
    servers, _, topic = rest.partition("/")
    if "@" in servers:
        raise ClusterError("a Kafka URL has no user and password; give them as settings sasl.username, sasl.password")
    if "?" in topic or "/" in topic.rstrip("/"):
        raise ClusterError(f"'{SCHEME}{rest}' is no topic's URL; expected {SCHEME}host:port[,host:port]/topic")
    named = found.pop(SERVERS, "")
    names = ",".join(_server(one.strip()) for one in (servers or named).split(",") if one.strip())
    if not names:
        raise ClusterError(f"no Kafka broker is named; expected {SCHEME}host:port/topic, or {SERVERS} as a setting")
    return Cluster(names, tuple(sorted(found.items()))), topic.rstrip("/")


def _server(text: str) -> str:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return f"{text}:{PORT}"
    if not host or not port.isdecimal():
        raise ClusterError(f"{text!r} is no broker; expected host:port")
    return text


def properties(text: str, where: str) -> Iterator[tuple[str, str]]:
    """The settings of a properties file as the library knows them; `where` names it. Raises `ClusterError`."""
    for number, line in enumerate(text.replace("\\\n", "").split("\n"), 1):
        bare = line.strip()
        if bare and not bare.startswith(("#", "!")):
            found = re.fullmatch(r"([^\s=:]+)\s*[=:]\s*(.*)", bare)
            if found is None:
                raise ClusterError(f"{where}:{number}: not a setting; expected name=value")
            yield from translated(found[1], found[2], f"{where}:{number}")


def translated(name: str, value: str, where: str) -> Iterator[tuple[str, str]]:
    """A setting as the library knows it; that of a Java login becomes user and password. Raises `ClusterError`."""
    if name == _JAAS:
        members = dict(_MEMBER.findall(value))
        if members.keys() != {"username", "password"}:
            raise ClusterError(f"{where}: {name} can't be used here; set sasl.username and sasl.password")
        yield from ((f"sasl.{one}", re.sub(r"\\(.)", r"\1", members[one])) for one in ("username", "password"))
    elif name in JAVA_ONLY and not (name == "ssl.keystore.location" and value.endswith((".p12", ".pfx"))):
        raise ClusterError(f"{where}: {name} is a setting of Java clients; say {JAVA_ONLY[name]}")
    else:
        yield name, value
