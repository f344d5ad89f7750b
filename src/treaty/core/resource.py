"""Resources and what ties them to subjects: a topic, and one association of it as it stands."""

from dataclasses import dataclass

TOPIC = "topic"
"""The type of resource that clients know."""


@dataclass(frozen=True, slots=True)
class Resource:
    """What is associated: a topic, by its name in a namespace (a cluster), and by an id that it keeps for life."""

    name: str
    namespace: str
    id: str = ""
    type: str = TOPIC


@dataclass(frozen=True, slots=True)
class ResourceAssociation:
    """One association as it stands. `subject` is qualified; times are milliseconds since the epoch."""

    subject: str
    guid: str
    resource: Resource
    kind: str
    lifecycle: str = "WEAK"
    frozen: bool = False
    created: int = 0
    updated: int = 0
