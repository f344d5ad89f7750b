"""Temporary folders of programs that may be killed: a lock says that the program still runs. Each folder is removed with its program, and
those of killed ones, whose lock no process has, at the next start.
"""

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

LOCK = "lock"
UNLOCKED_SECONDS = 3_600
"""Seconds after which a folder without a lock is one of a program that was killed while it made it."""


class LockedTemporaryFolder:
    """A folder below the temporary folder, which the lock of this program keeps until it is closed or killed."""

    def __init__(self, prefix: str) -> None:
        """Remove what killed programs have left whose folders begin with `prefix`, and make the folder. Raises `OSError`."""
        sweep_folders(Path(tempfile.gettempdir()), prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        draft = self.path / f"{LOCK}.draft"
        self._lock = os.open(draft, os.O_CREAT | os.O_WRONLY, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        draft.rename(self.path / LOCK)  # who sees the lock finds it held

    def close(self) -> None:
        """Remove the folder. What a process that ends still writes there is removed at the next start."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def sweep_folders(parent: Path, prefix: str) -> None:
    """Remove the folders below another one that begin with `prefix`, of programs that have ended."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # of another user, or removed by another program meanwhile
            if not _is_locked(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_locked(folder: Path) -> bool:
    lock = folder / LOCK
    if not lock.exists():
        return time.time() - folder.stat().st_mtime < UNLOCKED_SECONDS
    file = os.open(lock, os.O_WRONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
