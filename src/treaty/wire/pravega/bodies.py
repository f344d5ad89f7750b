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


class SerializationFormatBody(Struct, rename="camel", omit_defaults=True):
    """A serialization format; `fullTypeName` is the name of a custom one, and repeats the word of the others."""

    serialization_format: str = MISSING_WORD
    full_type_name: str | None = None


class VersionInfoBody(Struct, rename="camel"):
    """A version of a group: `id` counts over the group, `version` over one format and type; both begin at 0."""

    id: int
    type: str = ""
    serialization_format: str | None = ""
    version: int | None = 0


class PolicyRangeBody(Struct, rename="camel", omit_defaults=True):
    """One direction of an advanced policy by its name, such as BackwardTill with the version at which it begins."""

    name: str = MISSING_WORD
    version_info: VersionInfoBody | None = None


class BackwardPolicyBody(Struct, rename="camel", omit_defaults=True):
    """The backward half of an advanced policy."""

    backward_policy: PolicyRangeBody | None = None


class ForwardPolicyBody(Struct, rename="camel", omit_defaults=True):
    """The forward half of an advanced policy."""

    forward_policy: PolicyRangeBody | None = None


class BackwardAndForwardBody(Struct, rename="camel", omit_defaults=True):
    """Both halves of an advanced policy; one of them may be absent."""

    backward_policy: BackwardPolicyBody | None = None
    forward_policy: ForwardPolicyBody | None = None


class GroupPolicyBody(Struct, rename="camel", omit_defaults=True):
    """The policy of a group by its name; `advanced` belongs to the name Advanced alone."""

    policy: str = MISSING_WORD
    advanced: BackwardAndForwardBody | None = None


class GroupPropertiesBody(Struct, rename="camel", omit_defaults=True):
    """What a group is created with."""

    serialization_format: SerializationFormatBody | None = None
    compatibility: GroupPolicyBody | None = None
    allow_multiple_types: bool | None = None
    properties: dict[str, str] | None = None


class CreateGroupBody(Struct, rename="camel"):
    """A group to be created."""

    group_name: str | None = None
    group_properties: GroupPropertiesBody | None = None


class GroupsPageBody(Struct, rename="camel"):
    """Groups by name, and the token that the next page is asked for with."""

    groups: dict[str, GroupPropertiesBody]
    continuation_token: str


class UpdatePolicyBody(Struct, rename="camel"):
    """A new policy; with `previousCompatibility` the present one must be that."""

    compatibility: GroupPolicyBody | None = None
    previous_compatibility: GroupPolicyBody | None = None


class SchemaInfoBody(Struct, rename="camel", omit_defaults=True):
    """A schema: its type, its format and its bytes."""

    type: str | None = None
    serialization_format: SerializationFormatBody | None = None
    schema_data: bytes | None = None
    properties: dict[str, str] | None = None


class SchemaWithVersionBody(Struct, rename="camel"):
    """A schema with its version."""

    schema_info: SchemaInfoBody
    version_info: VersionInfoBody


class SchemaVersionsBody(Struct):
    """Schemas with their versions, by id."""

    schemas: list[SchemaWithVersionBody]


class HistoryRecordBody(Struct, rename="camel"):
    """A version with the policy in force when it was added; `timestamp` is in milliseconds since the epoch."""

    schema_info: SchemaInfoBody
    version_info: VersionInfoBody
    compatibility: GroupPolicyBody
    timestamp: int
    schema_string: str


class GroupHistoryBody(Struct):
    """The versions of a group in the order in which they were added."""

    history: list[HistoryRecordBody]


class ValidateBody(Struct, rename="camel"):
    """A schema to be checked; without `compatibility` by the policy of the group."""

    schema_info: SchemaInfoBody | None = None
    compatibility: GroupPolicyBody | None = None


class ValidBody(Struct, omit_defaults=True):
    """Whether a schema would be added. `reasons` says why not, where a client asks for details."""

    valid: bool
    reasons: list[str] = []


class CanReadBody(Struct, omit_defaults=True):
    """Whether a reader with a schema can read what the policy lets writers write. `reasons` says why not, on request."""

    compatible: bool
    reasons: list[str] = []


class FindEncodingBody(Struct, rename="camel"):
    """A version and the name of a codec, whose encoding id is asked for."""

    version_info: VersionInfoBody | None = None
    codec_type: str | None = None


class EncodingIdBody(Struct, rename="camel"):
    """The encoding id of a version and a codec."""

    encoding_id: int


class CodecTypeBody(Struct, omit_defaults=True):
    """A codec: its name, and what its readers need to know."""

    name: str | None = None
    properties: dict[str, str] | None = None


class CodecTypesBody(Struct, rename="camel"):
    """The codecs of a group, by name."""

    codec_types: list[CodecTypeBody]


class EncodingInfoBody(Struct, rename="camel"):
    """What an encoding id stands for."""

    schema_info: SchemaInfoBody
    version_info: VersionInfoBody
    codec_type: CodecTypeBody


class AddedToBody(Struct):
    """The version of a schema in each group that has it."""

    groups: dict[str, VersionInfoBody]


class PravegaErrorBody(Struct, omit_defaults=True):
    """The body beside the status of an error: a code for programs, reasons and remedies for people."""

    code: str
    message: str
    reasons: list[str] = []
    remedies: list[str] = []
