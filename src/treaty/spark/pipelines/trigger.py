"""`StreamTrigger`: when a stream makes its next batch, and whether it ends."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

KINDS = ("available", "once", "every")
"""``available``: in batches to the end as it is at the start; ``once``: the same in one batch; ``every``: for ever."""


@dataclass(frozen=True, slots=True)
class StreamTrigger:
    """A kind of `KINDS`; for ``every`` the time between the starts of two batches, as Spark says it (``0 seconds``: at once)."""

    kind: str = "every"
    every: str = "0 seconds"

    def __post_init__(self) -> None:
        """Refuse a kind that is none."""
        if self.kind not in KINDS:
            message = f"{self.kind!r} is no trigger; there are {', '.join(KINDS)}"
            raise ValueError(message)

    @property
    def bounded(self) -> bool:
        """Whether the stream ends by itself."""
        return self.kind != "every"


def set_trigger(writer: DataStreamWriter, trigger: StreamTrigger) -> DataStreamWriter:
    """The writer of a stream with this trigger."""
    return writer.trigger(**make_trigger_options(trigger))


def make_trigger_options(trigger: StreamTrigger) -> dict[str, Any]:
    """The argument of ``DataStreamWriter.trigger`` for this trigger."""
    match trigger.kind:
        case "available":
            return {"availableNow": True}
        case "once":
            return {"once": True}
    return {"processingTime": trigger.every}
