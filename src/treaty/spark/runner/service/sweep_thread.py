"""Files that no source needs are removed now and then, by one of the runners that share a root."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from treaty.spark.runner.file_records import QueryFileRecord
from treaty.spark.runner.leftovers import LeavingFiles, LeftoverFiles, describe_error

FIRST_SECONDS = 10.0
"""Seconds after the start of a runner until it looks for the first time."""
SWEEP_SECONDS = 300.0
"""Seconds between two looks."""
ERROR_LENGTH = 1_000
"""Characters of what could not be removed, at most."""


class FileSweep:
    """Looks in a thread until it is closed; `leaving` is what is left of the last look, `error` what could not be looked at or removed."""

    def __init__(
        self, leftovers: LeftoverFiles, may_sweep: Callable[[], bool], on_removed: Callable[[QueryFileRecord], None]
    ) -> None:
        """Start the thread."""
        self.leaving: tuple[LeavingFiles, ...] = ()
        self.error = ""
        self._leftovers, self._may_sweep, self._on_removed = leftovers, may_sweep, on_removed
        self._ending = Event()
        self._thread = Thread(target=self._work, name="leftover files", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Begin no other look."""
        self._ending.set()

    def _work(self) -> None:
        seconds = FIRST_SECONDS
        while not self._ending.wait(seconds):
            seconds = SWEEP_SECONDS
            if not self._may_sweep():
                self.leaving = ()
                continue
            try:
                swept = self._leftovers.sweep()
            except Exception as error:  # noqa: BLE001 (without this thread nothing is ever removed, and nobody would know)
                self.error = f"{type(error).__name__}: {describe_error(error)}"
                continue
            self.leaving, self.error = swept.leaving, "; ".join(swept.errors)[:ERROR_LENGTH]
            for record in swept.removed:
                with suppress(OSError):  # who listens may be gone
                    self._on_removed(record)
