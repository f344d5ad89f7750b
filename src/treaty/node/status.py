"""The status of a node: counters and facts, and the lines that the log of a server gets when it changes."""

import logging
from typing import Any

from treaty.core.command import Decision
from treaty.core.names import DEFAULT_CONTEXT
from treaty.core.refusals import OutcomeUnknown, Refusal, RegistryError, Unavailable
from treaty.core.state.state_tables import CONTEXT, SCHEMA, SUBJECT, VERSION, ContextKey
from treaty.core.state.view import Tables
from treaty.light_dataclass import dataclass

log = logging.getLogger("treaty.node")

NEW = "new log: nothing is registered in %s yet; if you expected schemas there, check --log"
NEW_WRITTEN = "new log: %s was empty before this start; if you expected schemas there, check --log"
"""Where something was written since, such as a project of SQL that was applied."""
LOST = (
    "the log is lost: %s; writes fail, and reads show sequence %d, until it is back. "
    "Check that it runs, and that this server reaches it"
)
BACK = "the log is back: reads and writes go on, at sequence %d"
REJECTING = "writes are rejected: %s; reads go on. /readyz/writes says when it is over"
ACCEPTING = "writes are accepted again, at sequence %d"


@dataclass(slots=True)
class NodeCounts:
    """Counters since the start of the node."""

    looks: int = 0
    """Reads of the tip of the log; concurrent requests share one."""
    reads: int = 0
    reloads: int = 0
    """Full replays, because the known history was not the log's."""
    wrong_roots: int = 0
    """Reads that did not match the state root of the log."""
    queries: int = 0
    commands: int = 0
    appends: int = 0
    commits: int = 0
    """Commits of this node in the log."""
    conflicts: int = 0
    """Appends in conflict."""
    unknown: int = 0
    """Appends with unknown result, which had to be determined."""
    held: int = 0
    """Batches decided under the log lock."""
    refused: int = 0
    """Refused commands."""
    repeated: int = 0
    """Retries answered from the outcome of their command."""
    unavailable: int = 0
    """Commands that failed without effect: queue full, read-only, or past their deadline."""
    outcome_unknown: int = 0
    """Commands that passed their deadline with their append in flight."""
    handed: int = 0
    """Commands forwarded to other nodes."""
    lost: int = 0
    """Forwarded commands without an answer."""
    taken: int = 0
    """Commands received from other nodes."""
    parked: int = 0
    """Decisions that waited for the schema service."""

    def count_result(self, result: Decision[Any] | Refusal) -> None:
        """Count the answer of a command."""
        if isinstance(result, Refusal):
            self.refused += 1
        elif result.repeated:
            self.repeated += 1

    def count(self, error: RegistryError) -> None:
        """Count a command that got no answer."""
        if isinstance(error, Unavailable):
            self.unavailable += 1
        elif isinstance(error, OutcomeUnknown):
            self.outcome_unknown += 1


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """Numbers of rows in the tables, soft-deleted ones included."""

    subjects: int
    versions: int
    schemas: int
    contexts: int
    """The default context included."""

    @staticmethod
    def of(tables: Tables) -> "StoredCounts":
        """What the tables have counted: nothing grows with them."""
        unwritten = not tables.has(CONTEXT, ContextKey(DEFAULT_CONTEXT))
        subjects, versions, schemas, contexts = (tables.total(table) for table in (SUBJECT, VERSION, SCHEMA, CONTEXT))
        return StoredCounts(subjects, versions, schemas, contexts + unwritten)


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a node. Digests and the identity are hex."""

    log: str
    """URL of the log, without a password."""
    kind: str
    """The log backend: ``memory``, ``sqlite``, ``postgresql`` …"""
    identity: str
    sequence: int
    first_sequence: int
    """Sequence of the log when this node read its end for the first time; -1 before."""
    digest: str
    """Digest of the append at `sequence`, which identifies the history."""
    state_root: str
    """The order-free digest of all live rows (see `treaty.core.state.commit`): equal on all nodes at the same sequence."""
    root_stated: str
    """The state root that the log states, if its rows do not match it; else empty."""
    root_found: str
    """The state root of the log's rows then; else empty."""
    behind: int
    """Commits between the tables and the last known tip."""
    looked: float
    """Seconds since the last successful read of the tip; -1 before the first."""
    queue: int
    """Commands that wait to be written."""
    read_only: str
    """Why this node does not write; empty if it does."""
    refusing: str
    """Why the log rejected the last write, such as a full disk; empty if it did not."""
    trouble: str
    """Why the log is unreachable; empty if it is not."""
    quarantined: int
    """Rows that this version cannot read."""
    quarantine: tuple[str, ...]
    """The first few of them, with reasons."""
    foreign_records: int
    """Foreign records in the topic of the log, which all nodes ignore."""
    sealed_with: tuple[str, ...]
    """Ids of keys of encrypted metadata that this node lacks; it cannot decrypt those values, and writes no sensitive
    metadata.
    """
    state_file_age: float | None
    """Seconds since the state file was written; None while there is none."""
    kept: StoredCounts
    counts: NodeCounts


@dataclass(slots=True)
class LogReporter:
    """Compares each status of a node with the one before, and writes a line for each change of state, not for each request."""

    is_known: bool = False
    """Whether the log was read, and said if it is new; true from the start for workers other than the first."""
    is_lost: bool = False
    is_rejecting: bool = False
    known_failure: str = ""
    """A failed write that the lost log explains; it stays in the status for a while."""
    commits: int = -1
    """Commits of the node when the log rejected a write; one more shows that it accepts them. The status forgets a rejected
    write after a while, which shows nothing. -1 where the node itself was read-only.
    """

    def report(self, status: Status) -> None:
        """Write the lines for what has changed."""
        if not self.is_known and status.first_sequence >= 0:
            self.is_known = True
            if not status.first_sequence:
                log.info(NEW_WRITTEN if status.sequence else NEW, status.log)
        if status.trouble and not self.is_lost:
            log.warning(LOST, status.trouble, status.sequence)
        elif self.is_lost and not status.trouble:
            log.warning(BACK, status.sequence)
        self.is_lost = bool(status.trouble)
        if self.is_lost:
            self.known_failure = status.refusing
        elif status.refusing != self.known_failure:
            self.known_failure = ""
        failure = "" if self.is_lost or self.known_failure else status.refusing
        self._report_writes(status.read_only or failure, status)

    def _report_writes(self, reason: str, status: Status) -> None:
        if reason:
            if not self.is_rejecting:
                log.warning(REJECTING, reason)
            self.is_rejecting, self.commits = True, -1 if status.read_only else status.counts.commits
        elif self.is_rejecting and not self.is_lost and status.counts.commits > self.commits:
            log.warning(ACCEPTING, status.sequence)
            self.is_rejecting = False
