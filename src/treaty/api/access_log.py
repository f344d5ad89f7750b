"""The access log has one line per request, if it is enabled: principal, method, path, status (0: no answer) and duration."""

import logging
from collections.abc import Iterable

from starlette.types import Scope

from treaty.api.request_scope import caller
from treaty.wire.confluent.headers import POSITION

log = logging.getLogger("treaty.access")

PATH_CHARACTERS = 500
"""The most characters of a path in a line."""
_TOKEN = POSITION.lower().encode()


def is_enabled() -> bool:
    """Return whether the access log is enabled."""
    return log.isEnabledFor(logging.INFO)


def log_request(scope: Scope, route: str, status: int, seconds: float, headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Log a request: principal, method, path, status (0: no answer) and duration.

    The query string is left out; `sequence` is that of the state that answered, or None.
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
