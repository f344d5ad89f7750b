"""Open files of a process: how many connections there is room for beside logs, state files and pools, and what one
holds.
"""

import logging
import select
import sys
from dataclasses import dataclass

from treaty.core.limits import CONNECTIONS

log = logging.getLogger("treaty.server")

BACKLOG = 2_048
"""Connections that may wait to be accepted; a loop accepts all of them at once."""
FILES_KEPT = 256
"""Open files that are kept for everything but connections."""


@dataclass(frozen=True, slots=True)
class ConnectionRoom:
    """How many connections a worker may hold, and how many may wait to be accepted."""

    connections: int = CONNECTIONS
    backlog: int = BACKLOG


def divide_files(files: int) -> ConnectionRoom:
    """Divide a number of open files, so that connections which are accepted at once pass it by no one."""
    left = max(2, files - FILES_KEPT)
    backlog = min(BACKLOG, left // 2)
    return ConnectionRoom(min(CONNECTIONS, left - backlog), backlog)


def make_room() -> ConnectionRoom:
    """Raise this process's limit of open files as far as it is needed and may be; return what there is room for."""
    if sys.platform == "win32":
        return ConnectionRoom()
    import resource  # noqa: PLC0415 (does not exist for Windows)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    infinite = resource.RLIM_INFINITY
    needed = CONNECTIONS + BACKLOG + FILES_KEPT
    if soft != infinite and soft < needed:
        raised = needed if hard == infinite else min(needed, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
        except (OSError, ValueError):
            log.warning("the limit of open files stays at %d: the operating system refuses %d", soft, raised)
    return ConnectionRoom() if soft == infinite else divide_files(soft)


def count_sent(descriptor: int) -> int:
    """Return the bytes in a socket that the other side has not acknowledged; 0 if the operating system does not say."""
    if sys.platform == "win32":
        return 0
    import fcntl  # noqa: PLC0415 (does not exist for Windows)
    import termios  # noqa: PLC0415 (does not exist for Windows)

    try:
        return int.from_bytes(fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    except OSError:
        return 0


def is_closed(descriptor: int) -> bool:
    """Return whether the other side of a socket has closed it; False if the operating system does not say."""
    if not hasattr(select, "POLLRDHUP"):
        return False
    looked = select.poll()
    looked.register(descriptor, select.POLLRDHUP)
    return bool(looked.poll(0))
