"""What a node knows of itself: numbers that it counts, and facts to show."""

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

from treaty.core.command import Decision
from treaty.core.names import DEFAULT_CONTEXT
from treaty.core.refusals import OutcomeUnknown, Refusal, RegistryError, Unavailable
from treaty.core.state.state_tables import CONTEXT, SCHEMA, SUBJECT, VERSION, AnyTable, ContextKey
from treaty.core.state.view import Tables


@dataclass(slots=True)
class NodeCounts:
    """Plain numbers since the start of the node; they only rise."""

    looks: int = 0
    """Looks at the tip of the log; many requests share one."""
    reads: int = 0
    reloads: int = 0
    """Times that everything was read anew: the history known here is not the log's."""
    wrong_roots: int = 0
    """Times that what was read did not come to the state root that the log states."""
    queries: int = 0
    commands: int = 0
    appends: int = 0
    commits: int = 0
    """Commits of this node that are in the log."""
    conflicts: int = 0
    """Appends that came second."""
    unknown: int = 0
    """Appends whose fate was not told and had to be settled."""
    held: int = 0
    """Chains decided while all other writers were kept out."""
    refused: int = 0
    """Commands that the law refused."""
    repeated: int = 0
    """Commands that had been decided before and were answered from their outcome."""
    unavailable: int = 0
    """Commands sent away: queue full, read-only, or past their deadline with nothing written."""
    outcome_unknown: int = 0
    """Commands that passed their deadline inside an append whose fate was open."""
    handed: int = 0
    """Times that a command was handed to another node."""
    lost: int = 0
    """Times that the word of another node did not come."""
    taken: int = 0
    """Commands that other nodes have handed over."""
    parked: int = 0
    """Decisions that waited for a format's answer."""

    def count_result(self, result: Decision[Any] | Refusal) -> None:
        """Count what a command was answered with."""
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
    """How much a node's tables hold, deleted softly or not; what is removed for good is not counted."""

    subjects: int
    versions: int
    schemas: int
    contexts: int
    """The default one is always there."""

    @staticmethod
    def of(tables: Tables) -> "StoredCounts":
        """Count rows."""
        unwritten = not tables.has(CONTEXT, ContextKey(DEFAULT_CONTEXT))
        subjects, versions, schemas, contexts = (_size(tables, table) for table in (SUBJECT, VERSION, SCHEMA, CONTEXT))
        return StoredCounts(subjects, versions, schemas, contexts + unwritten)


def _size(tables: Tables, table: AnyTable) -> int:
    keys = tables.keys(table)
    return len(keys) if isinstance(keys, Sized) else sum(1 for _ in keys)


@dataclass(frozen=True, slots=True)
class Status:
    """A node at one moment. Digests and the identity are hex."""

    log: str
    """URL of the log, without a password."""
    kind: str
    """What keeps the log: ``memory``, ``sqlite``, ``postgresql``."""
    identity: str
    sequence: int
    digest: str
    """Digest of the append at `sequence`: it proves the history."""
    state_root: str
    """The order-free digest of all live rows (see `treaty.core.state.root`): equal on all nodes at the same sequence."""
    root_stated: str
    """The root that the log's last append states, where its rows come to another one; else empty."""
    root_found: str
    """What the rows of the log come to then; else empty."""
    behind: int
    """Commits between the tables and the last tip that was seen."""
    looked: float
    """Seconds since the last successful look at the log; -1 before the first."""
    queue: int
    """Commands that wait to be written."""
    read_only: str
    """Why this node does not write now; empty when it does."""
    refusing: str
    """Why the log took no write when one was tried last (its disk may be full); empty when it did."""
    trouble: str
    """Why the log can't be reached now; empty when it can."""
    quarantined: int
    """Rows that this version can't read."""
    quarantine: tuple[str, ...]
    """The first few of them, and why."""
    strangers: int
    """Records of the log's topic that nobody of Treaty's wrote; all nodes ignore them alike. Somebody else writes there."""
    sealed_with: tuple[str, ...]
    """Ids of keys that sealed sensitive metadata in this log and are not here: what they sealed can't be read by this
    node, and it writes none."""
    state_file_age: float | None
    """Seconds since the state file was written; None while there is none."""
    kept: StoredCounts
    counts: NodeCounts
