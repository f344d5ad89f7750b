"""Metrics shared by the workers of a server: each writes its own file, and any can read all.

A file is a memory map of fixed entries: counting costs no system call and survives a killed worker; the worker that
replaces it continues in the same file.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_KEY = 120
_ENTRY = _KEY + 8
_VALUE = struct.Struct("<d")
ENTRIES = 4096
"""Numbers that one worker may have; further ones are not counted, but how many were left out is."""
DROPPED = "dropped"


@dataclass(slots=True)
class WorkerNumbers:
    """The numbers of one worker. Open with `open_numbers`."""

    memory: mmap.mmap
    places: dict[str, int] = field(default_factory=dict)

    def add(self, key: str, amount: float = 1.0) -> None:
        """Add to a number."""
        place = self._place(key)
        _VALUE.pack_into(self.memory, place, _VALUE.unpack_from(self.memory, place)[0] + amount)

    def put(self, key: str, value: float) -> None:
        """Set a number."""
        _VALUE.pack_into(self.memory, self._place(key), value)

    def _place(self, key: str) -> int:
        place = self.places.get(key)
        if place is None:
            raw = key.encode()
            if (len(self.places) >= ENTRIES - 1 and key != DROPPED) or len(raw) > _KEY:
                return self._place(DROPPED)
            start = len(self.places) * _ENTRY
            self.memory[start + 1 : start + len(raw)] = raw[1:]
            self.memory[start] = raw[0]  # last, because others read while this is written
            place = self.places[key] = start + _KEY
        return place


def open_numbers(path: Path | None) -> WorkerNumbers:
    """Open a worker's file, made where it is not there; None keeps the numbers in this process."""
    size = ENTRIES * _ENTRY
    if path is None:
        return WorkerNumbers(mmap.mmap(-1, size))
    with path.open("a+b") as file:
        if file.seek(0, 2) < size:
            file.truncate(size)
        memory = mmap.mmap(file.fileno(), size)
    return WorkerNumbers(memory, {key: place for key, place, _ in _entries(memory)})


def _entries(memory: mmap.mmap | bytes) -> Iterator[tuple[str, int, float]]:
    for start in range(0, len(memory), _ENTRY):
        if not memory[start]:
            return
        raw = bytes(memory[start : start + _KEY]).rstrip(b"\0")
        place = start + _KEY
        yield raw.decode("utf-8", "replace"), place, _VALUE.unpack_from(memory, place)[0]


def read_numbers(board: WorkerNumbers, folder: Path | None) -> dict[str, dict[str, float]]:
    """Read the numbers of all workers by worker: from `folder`, or where there is none those of this one."""
    if folder is None:
        return {"0": {key: value for key, _, value in _entries(board.memory)}}
    files = sorted(folder.glob("worker-*"))
    return {
        file.name.removeprefix("worker-"): {key: value for key, _, value in _entries(file.read_bytes())}
        for file in files
    }
