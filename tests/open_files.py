"""What a process holds of the system, and whether it gives it back."""

import gc
import time
from contextlib import suppress
from pathlib import Path

SECONDS = 10.0
"""How long threads may take to end that nobody waits for."""


def count_held() -> dict[str, int]:
    """Threads and open files of this process, those of libraries included (Linux)."""
    return {one: len(list(Path(f"/proc/self/{one}").iterdir())) for one in ("task", "fd")}


def list_open_below(folder: Path) -> list[str]:
    """The files below a folder that this process has open (Linux)."""
    links = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            links.append(str(descriptor.readlink()))
    return [link for link in links if link.startswith(str(folder))]


def count_steady() -> dict[str, int]:
    """The same, once garbage of earlier tests is gone."""
    gc.collect()
    return count_held()


def wait_until_given_back(before: dict[str, int]) -> None:
    """Wait until no more is held than before; garbage is not collected, which nobody who closes something waits for."""
    limit = time.monotonic() + SECONDS
    while (held := count_held()) and any(held[one] > before[one] for one in before):
        assert time.monotonic() < limit, f"{before} became {held}"
        time.sleep(0.05)
