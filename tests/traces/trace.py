"""A trace: what a node does and what it knows, line by line, in the order in which it happens; a line that begins with - is of the time of
the one before.

Digests, ids and roots stand as names in the order in which they appear, so that a trace says nothing of how rows are stored.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.traces.clock import TracedLoop
from treaty.core.state.commit import START, Position, PositionToken

_HEX = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b")
_HALF = re.compile(r"\.[0-9]+\.fold")
"""The name of half a file has the number of its process."""
TEXT = 240
"""The longest text of a line's part."""
EMPTY = frozenset({"0", "0.000", "None", "''", "False", "[]", "free", "clear"})
"""What is not listed of a node that begins."""


@dataclass
class Names:
    """Names of digests and ids, by their hex text: `#1`, `#2` …"""

    known: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    """A folder of this run, which is written as `FOLDER`."""

    def name(self, value: str) -> str:
        if not value.strip("0"):
            return "#0"
        return self.known.setdefault(value, f"#{len(self.known) + 1}")

    def position(self, position: Position) -> str:
        if position == START:
            return "start"
        return f"{position.sequence}{self.name(position.digest.hex())}/{self.name(position.root.hex())}"

    def token(self, token: PositionToken) -> str:
        return f"{token.sequence}{self.name(token.digest)}" if token.sequence else "start"

    def clean(self, text: str) -> str:
        """A text without what is different in another run."""
        if self.folder:
            text = text.replace(self.folder, "FOLDER")
        text = _HALF.sub(".fold", text)
        text = _HEX.sub(lambda found: self.name(found[0]), text)
        return text if len(text) <= TEXT else f"{text[:TEXT]}… ({len(text)})"


class Trace:
    """The lines of one run. `look` notes what nodes know, where it is something else than before."""

    def __init__(self, loop: TracedLoop) -> None:
        self.names = Names()
        self.lines: list[str] = []
        self._time = ""
        self._loop = loop
        self.changed: Callable[[str], None] = lambda _: None
        """Hears whose knowledge has changed."""
        self._views: dict[str, Callable[[], list[tuple[str, str]]]] = {}
        self._seen: set[str] = set()
        self._looking = self._is_muted = False

    def watch(self, name: str, view: Callable[[], list[tuple[str, str]]]) -> None:
        """Look at what something knows from now on; a view returns what has changed since its last call."""
        self._views[name] = view

    def forget(self, name: str) -> None:
        del self._views[name]
        self._seen.discard(name)

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Trace nothing while the block runs: it is what other traces begin with too."""
        self._is_muted = True
        try:
            yield
        finally:
            self._is_muted = False
            self._seen.update(self._views)
            for view in self._views.values():
                view()

    def add(self, text: str, who: str = "") -> None:
        """Note something that happens, after what is known by now."""
        if self._is_muted:
            return
        self.look()
        time = f"{self._loop.time():.3f}"
        self.lines.append(f"{'-' if time == self._time else time} {who + ' ' if who else ''}{self.names.clean(text)}")
        self._time = time

    def look(self) -> None:
        """Note what is known, where that has changed."""
        if self._looking or self._is_muted:
            return
        self._looking = True
        try:
            for who, view in self._views.items():
                changes = view()
                if who not in self._seen:
                    self._seen.add(who)
                    changes = [(name, value) for name, value in changes if value not in EMPTY]
                if changes:
                    self.changed(who)
                    self.lines.append(f"  {who}: {'; '.join(self.names.clean(' '.join(each)) for each in changes)}")
        finally:
            self._looking = False

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


class TraceLines(logging.Handler):
    """Writes log records of Treaty into a trace, with the errors that they have, and without their stacks."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        more = f" ({type(error).__name__}: {error})" if error is not None else ""
        self.trace.add(f"{record.levelname.lower()} {record.getMessage()}{more}", f"{record.name}:")


def describe_error(error: BaseException) -> str:
    """An error in a line: its type, its text and what else it says."""
    more = "".join(
        f" {name}={value!r}"
        for name, value in (
            ("retry_after", getattr(error, "retry_after", None)),
            ("code", getattr(error, "code", None)),
        )
        if value is not None
    )
    return f"{type(error).__name__}: {error}{more}"


def is_open(task: asyncio.Future[object]) -> str:
    """How far something awaited is."""
    if not task.done():
        return "open"
    if task.cancelled():
        return "cancelled"
    return "done" if task.exception() is None else "failed"
