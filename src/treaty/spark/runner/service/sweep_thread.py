"""Files that no source needs are removed now and then, by one of the runners that share a root; what a look came to is kept for `/status`."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Thread

from treaty.spark.runner.file_records import QueryFileRecord
from treaty.spark.runner.leftovers import LeavingFiles, SweptFiles, describe_error

FIRST_SECONDS = 10.0
"""Seconds after the start of a runner until it looks for the first time."""
SWEEP_SECONDS = 300.0
"""Seconds between two looks."""
ERROR_LENGTH = 1_000
"""Characters of what could not be removed, at most."""


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What the last look came to: the files that will go, and what could not be looked at or removed.

    Both are of one look: where it failed as a whole nothing is known to be leaving, and a runner that may not sweep reports nothing.
    """

    leaving: tuple[LeavingFiles, ...] = ()
    error: str = ""


class FileSweep:
    """Looks in a thread until it is closed; `report` is of the last look."""

    def __init__(
        self,
        sweep: Callable[[], SweptFiles],
        may_sweep: Callable[[], bool],
        on_removed: Callable[[QueryFileRecord], None],
    ) -> None:
        """Start the thread. `sweep` removes what is due; `may_sweep` says whether this runner is the one that does it now."""
        self.report = SweepReport()
        self._sweep_files, self._may_sweep, self._on_removed = sweep, may_sweep, on_removed
        self._ending = Event()
        self._thread = Thread(target=self._sweep_repeatedly, name="leftover files", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Begin no other look."""
        self._ending.set()

    def sweep_once(self) -> None:
        """Remove what is due, if this runner may, and report it."""
        if not self._may_sweep():
            self.report = SweepReport()
            return
        try:
            swept = self._sweep_files()
        except Exception as error:  # noqa: BLE001 (without this thread nothing is ever removed, and nobody would know)
            self.report = SweepReport(error=f"{type(error).__name__}: {describe_error(error)}")
            return
        self.report = SweepReport(swept.leaving, "; ".join(swept.errors)[:ERROR_LENGTH])
        for record in swept.removed:
            with suppress(OSError):  # who listens may be gone
                self._on_removed(record)

    def _sweep_repeatedly(self) -> None:
        seconds = FIRST_SECONDS
        while not self._ending.wait(seconds):
            seconds = SWEEP_SECONDS
            self.sweep_once()
