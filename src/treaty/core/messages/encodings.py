"""The requests that add codecs to a subject and assign and list encoding ids, which payloads carry (PDP-1, "Encoding"): their members, defaults and
answers; decided in `core/handlers/encodings.py`.

A codec says how payloads are packed, for example with gzip; writers of a subject may use those that were added to it. An
encoding id stands for one version and one codec. It is assigned when a writer first asks for the pair, and then names it
for good: a payload with an id can be read as long as the subject has the encoding.
"""

from dataclasses import dataclass

from treaty.core.messages.request import Request
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.schema import Pairs

NO_CODEC = ""
"""The name of the codec that leaves payloads as they are. Every subject has it."""


# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class CodecType:
    """A codec by its name, with what its readers need to know (Pravega, CodecType)."""

    name: str
    properties: Pairs = ()


@dataclass(frozen=True, slots=True)
class CodecAdded:
    """A codec that the subject has; `created` is False where it had it before."""

    codec: CodecType
    created: bool


@dataclass(frozen=True, slots=True)
class CodecTypes:
    """Codecs, by name."""

    codecs: tuple[CodecType, ...]


@dataclass(frozen=True, slots=True)
class EncodingAssigned:
    """The encoding id of a version and a codec, from 0 on; `created` is False where they had it before."""

    encoding_id: int
    created: bool


@dataclass(frozen=True, slots=True)
class EncodingFound:
    """What an encoding id stands for. The version may be deleted; its payloads can still be read."""

    encoding_id: int
    version: VersionFound
    codec: CodecType


@dataclass(frozen=True, slots=True)
class EncodingIds:
    """Encoding ids that a subject has, ascending."""

    ids: tuple[int, ...]


# ------------------------------------------------------------------------------------------------------- requests


@dataclass(frozen=True, slots=True)
class AddCodec(Request[CodecAdded]):
    """Let writers of a subject use a codec. Its properties never change, because payloads depend on them."""

    subject: Subject
    codec: CodecType


@dataclass(frozen=True, slots=True)
class ListCodecs(Request[CodecTypes]):
    """The codecs that were added to a subject."""

    subject: Subject


@dataclass(frozen=True, slots=True)
class AssignEncoding(Request[EncodingAssigned]):
    """The encoding id of a version and a codec; it is assigned where they have none yet, to a live version alone.

    `ordinal` is the version's, `codec` a name that was added to the subject, or `NO_CODEC`.
    """

    subject: Subject
    ordinal: int
    codec: str = NO_CODEC


@dataclass(frozen=True, slots=True)
class GetEncoding(Request[EncodingFound]):
    """What an encoding id of a subject stands for."""

    subject: Subject
    encoding_id: int


@dataclass(frozen=True, slots=True)
class ListEncodings(Request[EncodingIds]):
    """The encoding ids of a subject above `after`, those of deleted versions too; at most `ENCODINGS_PAGE`, and an empty
    list is the last one.
    """

    subject: Subject
    after: int = -1
