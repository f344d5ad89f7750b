"""Keys of the rows of the metastore: sources, types, topics, leases, runners, assignments and planning jobs."""

from collections.abc import Iterator
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


def canonical_path(place: str) -> str:
    """Return the path of a folder with single slashes, none at its ends, and without the segment ``.``: the same text for the same folder."""
    return "/".join(part for part in place.split("/") if part not in {"", "."})


def parents_of(path: str) -> Iterator[str]:
    """Return the folders around a canonical path, the outermost first."""
    parts = path.split("/")
    return ("/".join(parts[:number]) for number in range(1, len(parts)))
