"""What can go wrong with Kafka, in words that say what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


class KafkaFailure(RuntimeError):
    """Kafka can't be used: nobody answers, it refuses, or something is not there. `again` says that trying may help."""

    def __init__(self, message: str, *, again: bool = False) -> None:
        """Keep the sentence."""
        super().__init__(message)
        self.again = again


DENIED = frozenset({"_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED", "_SSL", "UNSUPPORTED_SASL_MECHANISM"})
"""Errors by which a broker says that it does not know who is there, or a client that it does not trust the broker."""


class Heard:
    """Keeps the last error that the library told in passing; it is the reason when nothing comes any more."""

    def __init__(self) -> None:
        """Nothing has been heard yet."""
        self.last = ""
        self.denied = False

    def __call__(self, error: Any) -> None:
        """Take an error of the library; that nobody is left says less than why the first one went."""
        if error.name() != "_ALL_BROKERS_DOWN" or not self.last:
            self.last = str(error.str())
            self.denied = error.name() in DENIED


def failure(error: Any, servers: str, heard: Heard | None = None) -> KafkaFailure:
    """A library's error as a sentence; what was `heard` before says more where nobody answers."""
    words = str(error.str())
    more = f" ({heard.last})" if heard and heard.last and heard.last != words else ""
    denied = "_AUTHENTICATION" if heard and heard.denied else ""
    match denied or error.name():
        case "UNKNOWN_TOPIC_OR_PART" | "_UNKNOWN_TOPIC" | "_UNKNOWN_PARTITION":
            return KafkaFailure(
                f"there is no such topic or partition at {servers}: {words}; create it, or name another"
            )
        case name if name in DENIED:
            return KafkaFailure(f"{servers} does not let us in: {words}{more}; see security.protocol, sasl.* and ssl.*")
        case name if name.endswith("AUTHORIZATION_FAILED"):
            return KafkaFailure(f"{servers} refuses: {words}; ask for the right (ACL), or say who you are with sasl.*")
        case "_TRANSPORT" | "_ALL_BROKERS_DOWN" | "_TIMED_OUT" | "_RESOLVE":
            return KafkaFailure(f"no Kafka broker answers at {servers}: {words}{more}; see that it runs", again=True)
        case "_INVALID_ARG":
            return KafkaFailure(f"Kafka's client can't be set up: {words}; see --kafka-config")
    return KafkaFailure(f"Kafka at {servers}: {words}{more}", again=bool(error.retriable()))


@contextmanager
def told(kafka: ModuleType, servers: str, heard: Heard | None = None) -> Iterator[None]:
    """Turn the library's errors into `KafkaFailure` while the block runs."""
    try:
        yield
    except kafka.KafkaException as error:
        raise failure(error.args[0], servers, heard) from error
