"""The access log: one line for each request, where it is asked for."""

import logging
from collections.abc import Iterable

from starlette.types import Scope

from treaty.api.caller import caller
from treaty.wire.confluent.headers import POSITION

log = logging.getLogger("treaty.access")

PATH_CHARACTERS = 500
"""Characters of a path that a line shows."""
_TOKEN = POSITION.lower().encode()


def is_enabled() -> bool:
    """Return whether anybody asked for lines."""
    return log.isEnabledFor(logging.INFO)


def log_request(scope: Scope, route: str, status: int, seconds: float, headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Write down one request: who asked, for what, what they got (status 0: nothing), and how long it took.

    The query is left out; `sequence` is the state of the log that the answer was taken from, None where it has none.
    """
    who = caller()
    token = next((value for name, value in headers if name == _TOKEN), b"").split(b".")
    members = {
        "principal": who.principal if who is not None else "",
        "method": scope["method"],
        "path": scope["raw_path"].decode("ascii", "backslashreplace")[:PATH_CHARACTERS],
        "route": route,
        "status": status,
        "ms": round(seconds * 1000, 3),
        "sequence": int(token[-2]) if len(token) > 2 and token[-2].isdigit() else None,
    }
    log.info(
        "%s %s %d %.1f ms by %s at %s",
        members["method"],
        members["path"],
        status,
        seconds * 1000,
        members["principal"] or "-",
        members["sequence"] if members["sequence"] is not None else "-",
        extra={"members": members},
    )
