"""Why a query ended, and what follows from it: another attempt at once, later, or none before something changes."""

import re
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from treaty.core.refusals import NotFound, Refusal, RegistryError
from treaty.plan.errors import PlanError
from treaty.spark.pipelines.reports.stream_handle import find_reason
from treaty.spark.runner.kafka_source import SourceMissingError, SourceNotRunnableError
from treaty.spark.runner.service.states import FAILED, RETRYING, WAITING
from treaty.spark.runner.source_frames import UNKNOWN

ATTEMPTS = 3
"""How often a batch is tried whose rows, or whose plan, would fail again."""
LONGEST_PAUSE = 60.0
"""Seconds of the longest pause between two attempts."""
FIRST_PAUSE = 1.0
"""Seconds of the first pause between two attempts; each further one is twice as long."""
LOOK_SECONDS = 2.0
"""Seconds after which what was not there is looked for again."""
OTHER_CHECKPOINT = re.compile(
    r"STATE_STORE_\w*SCHEMA_NOT_COMPATIBLE|STREAMING_STATEFUL_OPERATOR_NOT_MATCH|sources in the checkpoint offsets"
    r"|INVALID_LOG_VERSION|STATE_STORE_UNSUPPORTED"
)
"""Errors of a checkpoint that belongs to another query."""
NOT_THERE = re.compile(
    r"\[(?:DELTA_TABLE_NOT_FOUND|DELTA_PATH_DOES_NOT_EXIST|DELTA_SCHEMA_NOT_SET|PATH_NOT_FOUND)\]|UnknownTopicOrPartitionException"
)
"""Errors of a table or a folder that is not there, or is being made."""
LOST_ROWS = re.compile(
    r"KAFKA_DATA_LOSS|OffsetOutOfRangeException|Some data may have been lost|DELTA_LOG_FILE_NOT_FOUND"
    r"|the snapshot was expired or removed"
)
"""Errors of a topic or a table that no longer has what comes after the offsets of the checkpoint."""
_STATE = re.compile(r"SQLSTATE: (\w{5})")
_CONDITION = re.compile(r"\[[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*\] [^\n]*")
_UNKNOWN_ID = re.compile(f"{UNKNOWN} (of another form|-?\\d+)")
_OF_ROWS = ("22", "P0")
_OF_PLAN = ("42", "0A")


@dataclass(frozen=True, slots=True)
class QueryFailure:
    """Why a query ended: the state that follows, the reason and the remedy in words; `is_unknown_id`: a batch has an unknown schema id."""

    state: str
    reason: str
    remedy: str = ""
    is_unknown_id: bool = False


def describe_failure(error: BaseException, attempts: int) -> QueryFailure:
    """Return what follows from an error, after so many attempts at the same batch."""
    text = str(error).strip()
    if isinstance(error, SourceMissingError):
        return QueryFailure(WAITING, text)
    if isinstance(error, SourceNotRunnableError | PlanError | NotFound):
        return QueryFailure(FAILED, text)
    if isinstance(error, Refusal):
        return QueryFailure(
            RETRYING,
            f"the registry refuses what the runner asks: {text}",
            "the right that the runner lacks, or another body",
        )
    if isinstance(error, RegistryError):
        return QueryFailure(WAITING, f"the registry gives no answer: {text}")
    if UNKNOWN in text:
        named = _UNKNOWN_ID.search(text)
        return QueryFailure(RETRYING, f"a schema id that was not known: {named[1] if named else '?'}", "", True)
    reason = shorten_reason(text)
    if NOT_THERE.search(text):
        return QueryFailure(WAITING, reason)
    if OTHER_CHECKPOINT.search(text):
        return QueryFailure(FAILED, reason, "its state is of another body: drop the source, and create it again")
    if LOST_ROWS.search(text) and attempts >= ATTEMPTS:
        remedy = "what was not read yet is gone: RESET CHECKPOINT … KEEP DATA begins again with what is there"
        return QueryFailure(FAILED, reason, remedy)
    if is_of_rows(text) and attempts >= ATTEMPTS:
        return QueryFailure(
            FAILED, reason, "CREATE OR REPLACE with a body that bears this row, such as by try_cast or nullif"
        )
    if _find_state(text).startswith(_OF_PLAN) and attempts >= ATTEMPTS:
        return QueryFailure(FAILED, reason, "CREATE OR REPLACE with another body, or mend what it reads")
    return QueryFailure(RETRYING, reason)


def is_of_rows(text: str) -> bool:
    """Whether the text of an error of Spark says that it is a fault of rows: other rows may pass."""
    return _find_state(text).startswith(_OF_ROWS)


def _find_state(text: str) -> str:
    """The SQLSTATE of the innermost condition in the text of an error; empty without one."""
    states = [state for state in _STATE.findall(text) if state not in {"XXKST", "38000"}]
    return states[-1] if states else ""


def shorten_reason(text: str) -> str:
    """Return the reason in the text of an error of Spark: the sentence of its innermost condition, without stacks."""
    conditions = [
        condition
        for condition in _CONDITION.findall(text)
        if not condition.startswith(("[STREAM_FAILED]", "[FOREACH_BATCH_USER"))
    ]
    reason = conditions[-1] if conditions else find_reason(text)
    return re.sub(r"\s*SQLSTATE: \w{5}", "", reason).strip()[:1_000]


def pause_after(attempts: int) -> float:
    """Return the seconds of the pause after so many attempts."""
    return float(min(FIRST_PAUSE * 2 ** max(0, attempts - 1), LONGEST_PAUSE))


SPARK_ERRORS = (PySparkException, Py4JError, SourceNotRunnableError, PlanError, RegistryError)
"""What the start and the run of a query raise."""
