"""Keys of the rows of the metastore."""

from typing import NamedTuple

from treaty.core.column_types import lower_name


def key_of_name(name: str) -> str:
    """Return the key of a source or type: its name with A-Z as a-z."""
    return lower_name(name)


class SourceKey(NamedTuple):
    """Key of a source."""

    name: str


class TypeKey(NamedTuple):
    """Key of a named type."""

    name: str


class DroppedKey(NamedTuple):
    """Key of a source that was dropped."""

    name: str


class TopicKey(NamedTuple):
    """Key of a topic."""

    cluster: str
    topic: str


class TopicLeaseKey(NamedTuple):
    """Key of the lease of those who change topics: the cluster."""

    cluster: str


class RunnerKey(NamedTuple):
    """Key of a runner."""

    runner: str


class AssignmentKey(NamedTuple):
    """Key of an assignment: which part of a source, and the source's generation. No key begins with a number, see
    `decode_key`.
    """

    part: str
    generation: int


class PlanningKey(NamedTuple):
    """Key of a planning job: the key of the source that its statement makes."""

    name: str
