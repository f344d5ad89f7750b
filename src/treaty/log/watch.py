"""Hints that a file changed: inotify where the system has it, told to the event loop; silence elsewhere."""

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path

_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000
_MODIFY, _CREATE, _MOVED_TO = 0x2, 0x100, 0x80


class Watch:
    """Calls back when a file of a folder is written or made again, whoever did it. Only a hint: keep polling too."""

    def __init__(self, path: Path, changed: Callable[[], None]) -> None:
        """Watch `path`, which need not exist yet, on the running event loop; does nothing where there is no inotify."""
        self._name = os.fsencode(path.name)
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._descriptor = self._start(path.parent)
        if self._descriptor is not None:
            self._loop.add_reader(self._descriptor, self._read)

    @property
    def active(self) -> bool:
        """Whether hints will come."""
        return self._descriptor is not None

    def _start(self, folder: Path) -> int | None:
        if not sys.platform.startswith("linux"):
            return None
        library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(library, "inotify_init1"):
            return None
        descriptor: int = library.inotify_init1(_NONBLOCK | _CLOEXEC)
        if descriptor < 0:
            return None
        if library.inotify_add_watch(descriptor, os.fsencode(folder), _MODIFY | _CREATE | _MOVED_TO) < 0:
            os.close(descriptor)
            return None
        return descriptor

    def _read(self) -> None:
        assert self._descriptor is not None
        try:
            events = os.read(self._descriptor, 65_536)
        except BlockingIOError:
            return
        if self._name in events:
            self._changed()

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None
