"""Notifications of changes to a file: by inotify, if the system has it."""

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_NONBLOCK, _CLOEXEC = 0o4000, 0o2000000
_ATTRIB = 0x4


class FileWatch:
    """Calls back when another one rings at a file. Only a hint, which may be lost: keep polling too.

    A ring sets the file's times. The writes themselves are no good as hints: they come before the commit can be seen.
    """

    def __init__(self, path: Path, on_notice: Callable[[], None], *, enabled: bool = True) -> None:
        """Watch `path`, which need not exist yet, on the running event loop; hears nothing without inotify."""
        self._path = str(path)
        self._name = os.fsencode(path.name) + b"\0"
        self._on_notice = on_notice
        self._own_notices = 0
        self._loop = asyncio.get_running_loop()
        self._descriptor = self._start(path.parent) if enabled else None
        if self._descriptor is not None:
            self._loop.add_reader(self._descriptor, self._read)

    @property
    def active(self) -> bool:
        """Whether hints will come."""
        return self._descriptor is not None

    def notify(self) -> None:
        """Notify all others; from any thread."""
        self._own_notices += 1
        with suppress(OSError):  # a file that is gone is noticed by the next look
            os.utime(self._path)

    def _start(self, folder: Path) -> int | None:
        if not sys.platform.startswith("linux"):
            return None
        library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(library, "inotify_init1"):
            return None
        descriptor: int = library.inotify_init1(_NONBLOCK | _CLOEXEC)
        if descriptor < 0:
            return None
        if library.inotify_add_watch(descriptor, os.fsencode(folder), _ATTRIB) < 0:
            os.close(descriptor)
            return None
        return descriptor

    def _read(self) -> None:
        assert self._descriptor is not None
        try:
            events = os.read(self._descriptor, 65_536)
        except BlockingIOError:
            return
        own, self._own_notices = self._own_notices, 0
        if events.count(self._name) > own:  # an own ring is no news, and would cost a look
            self._on_notice()

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None
