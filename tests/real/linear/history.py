"""Histories of a registry under load: one event a line, so that other checkers can read them too."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treaty.core.refusals import OutcomeUnknown, Refusal, Unavailable

Event = dict[str, Any]
APART = 1_000
"""Added to the number of a process that does not know what came of its call: it counts as dead, and another one goes on."""


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

    def __str__(self) -> str:
        """One line."""
        argument = "" if self.argument is None else f" {self.argument}"
        return f"{self.begun:.4f} to {self.ended:.4f}, process {self.process}: {self.name}{argument} -> {self.result}"


@dataclass(slots=True)
class Recorder:
    """Events of all clients, in the order in which they happened."""

    events: list[Event] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def note(self, process: int, kind: str, name: str, arguments: Event, result: Any = None) -> None:
        """Write an event down."""
        with self.guard:
            self.events.append(
                {
                    "process": process,
                    "type": kind,
                    "operation": name,
                    "arguments": arguments,
                    "result": result,
                    "time": time.monotonic(),
                }
            )

    def ask(self, process: int, name: str, subject: str, argument: Any, call: Callable[[], Any]) -> int:
        """Make a call and write down how it began and ended: ok, fail (surely not done) or unknown.

        Returns the process that may go on. A refusal is an answer: its result is the refusal's name.
        """
        arguments = {"subject": subject, "value": argument}
        self.note(process, "invoke", name, arguments)
        try:
            kind, result = "ok", call()
        except Refusal as no:
            kind, result = "ok", type(no).__name__
        except Unavailable:
            kind, result = "fail", None
        except OutcomeUnknown:
            kind, result = "unknown", None
        self.note(process, kind, name, arguments, result)
        return process + APART if kind == "unknown" else process

    def write(self, path: Path) -> None:
        """Write all events, one JSON object a line."""
        path.write_text("".join(json.dumps(event) + "\n" for event in self.events), "utf-8")


def read(path: Path) -> Iterator[Event]:
    """Yield the events of a file."""
    with path.open("r", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def operations(events: Iterable[Event]) -> list[Operation]:
    """Put events together: what failed was never done and is left out."""
    begun: dict[int, Event] = {}
    found = []
    for event in events:
        if event["type"] == "invoke":
            begun[event["process"]] = event
            continue
        start = begun.pop(event["process"])
        if event["type"] == "ok":
            found.append(_operation(start, event["result"], event["time"]))
        elif event["type"] == "unknown":
            found.append(_operation(start, None, float("inf")))
    return [*found, *(_operation(start, None, float("inf")) for start in begun.values())]


def _operation(start: Event, result: Any, ended: float) -> Operation:
    subject, argument = start["arguments"]["subject"], start["arguments"]["value"]
    return Operation(start["process"], start["operation"], subject, argument, result, start["time"], ended)
