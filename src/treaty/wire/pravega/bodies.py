"""JSON bodies of Pravega's schema registry, named as its clients name them; bytes are base64, members that are null are left out."""

from typing import Literal

from msgspec import Struct

FormatWord = Literal["Avro", "Protobuf", "Json", "Any", "Custom"]
POLICIES = (
    "AllowAny",
    "DenyAll",
    "Backward",
    "BackwardTransitive",
    "Forward",
    "ForwardTransitive",
    "Full",
    "FullTransitive",
    "Advanced",
)
PolicyWord = Literal[POLICIES]  # type: ignore[valid-type]  # the words of a table
MISSING_WORD = ""
"""A word that a body does not have."""


class SerializationFormat(Struct, rename="camel", omit_defaults=True):
    """A serialization format; `fullTypeName` is the name of a custom one, and repeats the word of the others."""

    serialization_format: str = MISSING_WORD
    full_type_name: str | None = None


class VersionInfo(Struct, rename="camel"):
    """A version of a group: `id` counts over the group, `version` over one format and type; both begin at 0."""

    id: int
    type: str = ""
    serialization_format: str | None = ""
    version: int | None = 0


class Range(Struct, rename="camel", omit_defaults=True):
    """One direction of an advanced policy by its name, such as BackwardTill with the version at which it begins."""

    name: str = MISSING_WORD
    version_info: VersionInfo | None = None


class BackwardPolicy(Struct, rename="camel", omit_defaults=True):
    """The backward half of an advanced policy."""

    backward_policy: Range | None = None


class ForwardPolicy(Struct, rename="camel", omit_defaults=True):
    """The forward half of an advanced policy."""

    forward_policy: Range | None = None


class BackwardAndForward(Struct, rename="camel", omit_defaults=True):
    """Both halves of an advanced policy; one of them may be absent."""

    backward_policy: BackwardPolicy | None = None
    forward_policy: ForwardPolicy | None = None


class Compatibility(Struct, rename="camel", omit_defaults=True):
    """The policy of a group by its name; `advanced` belongs to the name Advanced alone."""

    policy: str = MISSING_WORD
    advanced: BackwardAndForward | None = None


class GroupProperties(Struct, rename="camel", omit_defaults=True):
    """What a group is created with."""

    serialization_format: SerializationFormat | None = None
    compatibility: Compatibility | None = None
    allow_multiple_types: bool | None = None
    properties: dict[str, str] | None = None


class CreateGroup(Struct, rename="camel"):
    """A group to be created."""

    group_name: str | None = None
    group_properties: GroupProperties | None = None


class GroupsPage(Struct, rename="camel"):
    """Groups by name, and the token that the next page is asked for with."""

    groups: dict[str, GroupProperties]
    continuation_token: str


class UpdateCompatibility(Struct, rename="camel"):
    """A new policy; with `previousCompatibility` the present one must be that."""

    compatibility: Compatibility | None = None
    previous_compatibility: Compatibility | None = None


class SchemaInfo(Struct, rename="camel", omit_defaults=True):
    """A schema: its type, its format and its bytes."""

    type: str | None = None
    serialization_format: SerializationFormat | None = None
    schema_data: bytes | None = None
    properties: dict[str, str] | None = None


class SchemaWithVersion(Struct, rename="camel"):
    """A schema with its version."""

    schema_info: SchemaInfo
    version_info: VersionInfo


class SchemaVersions(Struct):
    """Schemas with their versions, by id."""

    schemas: list[SchemaWithVersion]


class HistoryRecord(Struct, rename="camel"):
    """A version with the policy in force when it was added; `timestamp` is in milliseconds since the epoch."""

    schema_info: SchemaInfo
    version_info: VersionInfo
    compatibility: Compatibility
    timestamp: int
    schema_string: str


class GroupHistory(Struct):
    """The versions of a group in the order in which they were added."""

    history: list[HistoryRecord]


class Validate(Struct, rename="camel"):
    """A schema to be checked; without `compatibility` by the policy of the group."""

    schema_info: SchemaInfo | None = None
    compatibility: Compatibility | None = None


class Valid(Struct, omit_defaults=True):
    """Whether a schema would be added. `reasons` says why not, where a client asks for details."""

    valid: bool
    reasons: list[str] = []


class CanRead(Struct, omit_defaults=True):
    """Whether a reader with a schema can read what the policy lets writers write. `reasons` says why not, on request."""

    compatible: bool
    reasons: list[str] = []


class GetEncoding(Struct, rename="camel"):
    """A version and the name of a codec, whose encoding id is asked for."""

    version_info: VersionInfo | None = None
    codec_type: str | None = None


class EncodingId(Struct, rename="camel"):
    """The encoding id of a version and a codec."""

    encoding_id: int


class CodecType(Struct, omit_defaults=True):
    """A codec: its name, and what its readers need to know."""

    name: str | None = None
    properties: dict[str, str] | None = None


class CodecTypes(Struct, rename="camel"):
    """The codecs of a group, by name."""

    codec_types: list[CodecType]


class EncodingInfo(Struct, rename="camel"):
    """What an encoding id stands for."""

    schema_info: SchemaInfo
    version_info: VersionInfo
    codec_type: CodecType


class AddedTo(Struct):
    """The version of a schema in each group that has it."""

    groups: dict[str, VersionInfo]


class PravegaError(Struct, omit_defaults=True):
    """The body beside the status of an error: a code for programs, reasons and remedies for people."""

    code: str
    message: str
    reasons: list[str] = []
    remedies: list[str] = []
