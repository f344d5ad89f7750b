"""Histories of a registry under load: one event a line, so that other checkers can read them too."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treaty.core.refusals import OutcomeUnknown, Refusal, Unavailable


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that a client asked: when, and what came of it.

    `result` is None for what never ended (the outcome is unknown); then `ended` is infinite. `begun` and `ended` are in
    seconds of one clock that never goes back.
    """

    process: int
    name: str
    subject: str
    argument: Any
    result: Any
    begun: float
    ended: float

    @property
    def open(self) -> bool:
        """Whether nobody knows if it was done."""
        return self.ended == float("inf")


@dataclass(slots=True)
class Recorder:
    """Events of all clients. `calls` has what each client's call came to, in the order in which they ended."""

    events: list[dict[str, Any]] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def note(self, process: int, kind: str, name: str, subject: str, value: Any) -> None:
        """Write an event down."""
        event = {
            "process": process,
            "type": kind,
            "operation": name,
            "subject": subject,
            "value": value,
            "time": time.monotonic(),
        }
        with self.guard:
            self.events.append(event)

    def ask(self, process: int, name: str, subject: str, argument: Any, call: Callable[[], Any]) -> None:
        """Make a call and write down how it began and ended: ok, fail (surely not done) or unknown."""
        self.note(process, "invoke", name, subject, argument)
        try:
            kind, value = "ok", call()
        except Refusal as no:
            kind, value = "ok", type(no).__name__
        except Unavailable:
            kind, value = "fail", None
        except OutcomeUnknown:
            kind, value = "unknown", None
        self.note(process, kind, name, subject, value)

    def write(self, path: Path) -> None:
        """Write all events, one JSON object a line."""
        path.write_text("".join(json.dumps(event) + "\n" for event in self.events))


def operations(events: Iterable[dict[str, Any]]) -> list[Operation]:
    """Put events together: what failed was never done and is left out."""
    begun: dict[int, dict[str, Any]] = {}
    found = []
    for event in events:
        if event["type"] == "invoke":
            begun[event["process"]] = event
            continue
        start = begun.pop(event["process"])
        if event["type"] == "ok":
            found.append(_operation(start, event["value"], event["time"]))
        elif event["type"] == "unknown":
            found.append(_operation(start, None, float("inf")))
    return [*found, *(_operation(start, None, float("inf")) for start in begun.values())]


def _operation(start: dict[str, Any], result: Any, ended: float) -> Operation:
    return Operation(
        start["process"], start["operation"], start["subject"], start["value"], result, start["time"], ended
    )
