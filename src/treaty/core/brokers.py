"""What goes wrong between a client of Kafka and its brokers, in words that say what to do; takes the library's errors as they are."""

from typing import Any

DENIED = frozenset({"_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED", "_SSL", "UNSUPPORTED_SASL_MECHANISM"})
"""Errors by which a broker says that it does not know who is there, or a client that it does not trust the broker."""
GONE = frozenset({"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION"})
"""Errors by which a broker says that it has no such topic."""


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


def sentence(error: Any, servers: str, heard: Heard | None, option: str) -> tuple[str, bool]:
    """A library's error as a sentence, and whether trying again may help.

    What was `heard` before says more where nobody answers; `option` is where people give settings.
    """
    words = str(error.str())
    more = f" ({heard.last})" if heard and heard.last and heard.last != words else ""
    denied = "_AUTHENTICATION" if heard and heard.denied else ""
    match denied or error.name():
        case name if name in GONE:
            return f"there is no such topic or partition at {servers}: {words}; create it, or name another", False
        case name if name in DENIED:
            return f"{servers} does not let us in: {words}{more}; see security.protocol, sasl.* and ssl.*", False
        case name if name.endswith("AUTHORIZATION_FAILED"):
            return f"{servers} refuses: {words}; ask for the right (ACL), or say who you are with sasl.*", False
        case "_TRANSPORT" | "_ALL_BROKERS_DOWN" | "_TIMED_OUT" | "_RESOLVE":
            return f"no Kafka broker answers at {servers}: {words}{more}; see that it runs", True
        case "_INVALID_ARG":
            return f"Kafka's client can't be set up: {words}; see {option}", False
    return f"Kafka at {servers}: {words}{more}", bool(error.retriable())
