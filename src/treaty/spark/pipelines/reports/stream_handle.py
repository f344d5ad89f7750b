"""A stream while it runs: whether it has ended, why it failed, how far it has read."""

from dataclasses import dataclass
from threading import Event

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from treaty.spark.pipelines.reports.lag import StreamProgress, measure_progress
from treaty.spark.pipelines.runner import ENDED

NAMED = ("Error", "Exception", "Unavailable", "NotFound", "Refusal")
"""How names of errors end."""
TERMINATED = " terminated with exception: "
"""What Spark writes between the name of a query and what ended it."""
PLAN = "=== Streaming Query ==="
"""What follows it: offsets and the plan of the query."""


class StreamFailedError(RuntimeError):
    """A stream failed: its reason, as one sentence."""


@dataclass(frozen=True, slots=True)
class StreamHandle:
    """A running stream, and what asks it to end."""

    query: StreamingQuery
    ending: Event

    def wait(self, seconds: int) -> bool:
        """Whether the stream has ended, after so many seconds at most; one that has nothing to do ends here, once it is
        asked to.

        Raises `StreamFailedError`.
        """
        try:
            if self.query.awaitTermination(seconds):
                return True
            if self.ending.is_set() and not self.query.status["isTriggerActive"]:
                self.query.stop()
        except StreamingQueryException as failed:
            if self.ending.is_set() and ENDED in str(failed):
                return True
            raise StreamFailedError(find_reason(str(failed))) from failed
        return False

    def progress(self) -> StreamProgress | None:
        """How much of its topics it has read; None if unknown."""
        return measure_progress(self.query)


def find_reason(text: str) -> str:
    """What ended a stream, without stacks and plans: the last line that names an error, else the last line."""
    lines = [line.strip() for line in text.split(PLAN, 1)[0].splitlines() if line.strip()]
    named = [line for line in lines if line.split(":", 1)[0].endswith(NAMED) and ": " in line]
    line = (named or lines or ["no reason is known"])[-1].rpartition(TERMINATED)[2]
    name, colon, sentence = line.partition(": ")
    return f"{name.rsplit('.', 1)[-1]}{colon}{sentence}"
