"""The requests that find a version by one of its names, or as a source refers to it (pins): their members, defaults and answers; decided in
`core/handlers/drafts/names.py` and `core/handlers/queries.py`.

A version has its ordinal, Confluent's number, and further names by id schemes. A scheme either computes a name (``md5``,
``crc-64-avro``, ``sha-256``, plug-ins) or takes the one that a registration gives (imported ids). `SEQUENCE` is the
ordinal + 1 (AVRO-1124, "id generation"), and holds in every subject.
"""

from treaty.core.messages.request import LATEST, Request, Selector
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.light_dataclass import dataclass

SEQUENCE = "sequence"
"""The id scheme that counts the versions of a subject from 1 on."""


@dataclass(frozen=True, slots=True)
class GetNamedVersion(Request[VersionFound]):
    """The version with this name, also if it is deleted; of several that share a computed name the oldest live one.

    An empty `scheme` is the first one of the subject, ``sequence`` where it has none.
    """

    subject: Subject
    name: str
    scheme: str = ""


@dataclass(frozen=True, slots=True)
class PinFound:
    """A live version, and the generation of its subject: the sequence of the commit that made the subject."""

    generation: int
    version: VersionFound


@dataclass(frozen=True, slots=True)
class GetPin(Request[PinFound]):
    """A live version of a subject with the generation of the subject, for a source that pins it.

    With a `schema_id` of 0 or more it is the newest version that has this schema, whatever `version` says.
    """

    subject: Subject
    version: Selector = LATEST
    schema_id: int = -1
