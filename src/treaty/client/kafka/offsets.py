"""Where the read of a topic begins. It is apart from the reader, so that options of commands need no client of Kafka."""

from typing import Literal

from treaty.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StartOffset:
    """The start in each partition: an offset, a number of records before the end, or a time (ms since the epoch)."""

    kind: Literal["beginning", "end", "offset", "last", "time"] = "beginning"
    number: int = 0


BEGINNING = StartOffset()
