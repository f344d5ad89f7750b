"""A file that is read again when it changes: by which signature that is seen, and what is said of a bad one (`AuthFileError`)."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from treaty.core.limits import RIGHTS_BYTES

Signature = tuple[int, ...]


class AuthFileError(Exception):
    """A file for rights can't be used: which, where, what is wrong, and what to do."""

    def __init__(self, path: Path, line: int, fault: str, remedy: str) -> None:
        """Print the sentence; line 0 is the whole file."""
        super().__init__(f"{path}{f', line {line}' if line else ''}: {fault}; {remedy}")


@dataclass(slots=True)
class WatchedFile:
    """A file and the state that it was last read in."""

    path: Path
    read_in: Signature = ()
    last_seen: Signature = field(default=())

    def read(self) -> bytes:
        """Read all of it; raises `AuthFileError`."""
        try:
            with self.path.open("rb") as file:
                self.read_in = self.last_seen = signature_of(os.fstat(file.fileno()))
                data = file.read(RIGHTS_BYTES + 1)
        except OSError as reason:
            raise AuthFileError(self.path, 0, f"it can't be read ({reason.strerror})", "give a file") from None
        if len(data) > RIGHTS_BYTES:
            raise AuthFileError(self.path, 0, "it is too long", f"at most {RIGHTS_BYTES} bytes (RIGHTS_BYTES)")
        return data

    def has_changed(self) -> bool:
        """Return whether it has changed, and has been at rest since the last look: half a file is not read."""
        try:
            now = signature_of(self.path.stat())
        except OSError:
            now = ()
        rested, self.last_seen = now == self.last_seen, now
        return rested and bool(now) and now != self.read_in


def signature_of(status: os.stat_result) -> Signature:
    """Return what differs between two states of a file: written in place, replaced, or with the time of another one."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
