"""One replay of the same bad rows at a time: a lock that a killed process lets go."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = "lock"


class ReplayRunsError(RuntimeError):
    """Another process replays the same bad rows now."""


@contextmanager
def lock_replays(folder: Path, name: str) -> Iterator[None]:
    """Keep other replays of the same rows out for the block; a process that is killed lets go. Raises `ReplayRunsError`."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = f"another replay of {name} runs now: wait for its end, then run this one again, if rows are left"
            raise ReplayRunsError(message) from error
        yield
