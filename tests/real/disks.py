"""Disks that are full, and files that are damaged, under living servers."""

import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.real.running import Running

SMALL = 2_500_000
"""Bytes of a small disk: enough to begin with."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A folder on a small disk. `begin` bounds a server's files where there is no disk; `grow` makes room again."""

    folder: Path
    begin: Callable[[Running], None]
    grow: Callable[[], None]


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """A disk of its own where this machine lets a test mount one, else a bound for the size of a server's files."""
    place = folder / "disk"
    place.mkdir()
    if _mount("-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(place)):
        try:
            yield Disk(place, lambda _: None, lambda: _grown(place))
        finally:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
        return
    with bounded_files(place) as disk:
        yield disk


def _mount(*words: str) -> bool:
    if os.geteuid() != 0:
        return False
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0


def _grown(place: Path) -> None:
    assert _mount("-o", f"remount,size={SMALL * 4}", str(place))


@contextmanager
def bounded_files(folder: Path) -> Iterator[Disk]:
    """A bound for the size of a server's files: what lies beyond it is refused in the middle of a write."""
    bounded: list[Running] = []

    def begin(server: Running) -> None:
        bounded.append(server)
        limit_files(server, SMALL // 2)

    def grow() -> None:
        for server in bounded:
            limit_files(server, resource.RLIM_INFINITY)

    yield Disk(Path(tempfile.mkdtemp(dir=folder)), begin, grow)


def limit_files(server: Running, most: int) -> None:
    """Let a living server make no file larger than `most` bytes."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
