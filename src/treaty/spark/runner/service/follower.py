"""The feed of queries followed in a thread: the newest snapshot is kept, and who waits is woken."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from treaty.core.refusals import RegistryError
from treaty.core.registry import Registry
from treaty.spark.runner.service.wanted import QuerySnapshot, read_snapshot

FEED_SECONDS = 5
"""Seconds of one wait for a change: less than an attempt of a client may take, or the registry would count as unreachable."""
RETRY_SECONDS = 1.0
"""Seconds after which a registry that gave no answer is asked again."""


class FeedFollower:
    """Follows the feed until it is closed. `woken` is set whenever `snapshot` is another one."""

    def __init__(self, registry: Registry, on_unreachable: Callable[[str], None]) -> None:
        """Read the first snapshot, and start the thread. Raises `RegistryError`."""
        self.woken = Event()
        self._registry, self._on_unreachable = registry, on_unreachable
        self._ending = Event()
        first = read_snapshot(registry)
        assert first is not None, "without a token there is always an answer"
        self.snapshot: QuerySnapshot = first
        self.reason = ""
        """Why the registry gives no answer; empty while it does."""
        self._thread = Thread(target=self._follow, name="feed of queries", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Follow no longer; a wait that is under way is left behind."""
        self._ending.set()

    def _follow(self) -> None:
        while not self._ending.is_set():
            try:
                changed = read_snapshot(self._registry, self.snapshot.token, FEED_SECONDS)
            except Exception as error:  # noqa: BLE001 (without this thread no statement would ever reach the runner)
                text = str(error) if isinstance(error, RegistryError) else f"{type(error).__name__}: {error}"
                if not self.reason:
                    with suppress(OSError):
                        self._on_unreachable(text)
                self.reason = text or type(error).__name__
                self._ending.wait(RETRY_SECONDS)
                continue
            self.reason = ""
            if changed is not None and not self._ending.is_set():
                self.snapshot = changed
                self.woken.set()
