"""Methods of a connection for subjects as groups: their life, their versions by ordinal, their codecs and encodings; exchanges as in `exchanges`."""

from treaty.client.exchanges import as_draft
from treaty.core.limits import GROUPS_PAGE
from treaty.core.messages.compatibility import CompatibilityResult
from treaty.core.messages.encodings import (
    NO_CODEC,
    AddCodec,
    AssignEncoding,
    CodecType,
    EncodingFound,
    GetEncoding,
    ListCodecs,
    ListEncodings,
)
from treaty.core.messages.groups import (
    AdmittedVersion,
    ChangeSubject,
    CheckReading,
    CreateSubject,
    DeleteOrdinal,
    FindSameSchema,
    FindSameVersion,
    GetHistory,
    GetOrdinal,
    GetSubject,
    GetTypedVersion,
    GroupCreated,
    GroupFound,
    GroupSettings,
    ListGroups,
    ListGroupVersions,
    RemoveSubject,
)
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, context_of, subject_of
from treaty.core.policy import Level
from treaty.core.registry import Exchange, request_answer
from treaty.core.schema import Draft, Pairs


def create_subject(
    subject: str, settings: GroupSettings, *, private: bool = False, label_policy: str = "warn"
) -> Exchange[GroupCreated]:
    """Create a subject without versions; one that exists keeps its settings, which the answer says."""
    return (yield from request_answer(CreateSubject(subject_of(subject), settings, private, label_policy)))


def change_subject(
    subject: str,
    *,
    level: Level | None = None,
    previous: Level | None = None,
    validators: tuple[str, ...] | None = None,
    properties: Pairs | None = None,
    label_policy: str | None = None,
    follows: str | None = None,
) -> Exchange[GroupFound]:
    """Change policy or properties of a subject; `follows` is the name of a policy. Raises `PreviousLevelDiffers` where its level is not `previous`."""
    request = ChangeSubject(subject_of(subject), level, previous, validators, properties, label_policy, follows)
    return (yield from request_answer(request)).group


def remove_subject(subject: str) -> Exchange[bool]:
    """Remove a subject with all its versions, encodings and settings; returns False where there was none."""
    return (yield from request_answer(RemoveSubject(subject_of(subject)))).removed


def delete_ordinal(subject: str, ordinal: int) -> Exchange[VersionFound]:
    """Soft-delete the live version with this ordinal; returns it."""
    return (yield from request_answer(DeleteOrdinal(subject_of(subject), ordinal)))


def group(subject: str) -> Exchange[GroupFound]:
    """Return a subject with its settings, with versions or without."""
    return (yield from request_answer(GetSubject(subject_of(subject))))


def groups(context: str = DEFAULT_CONTEXT) -> Exchange[tuple[GroupFound, ...]]:
    """Return all subjects of a context, those without versions among them, by name."""
    groups_found: list[GroupFound] = []
    last = ""
    while True:
        page = yield from request_answer(ListGroups(context_of(context), last, GROUPS_PAGE))
        groups_found += page.groups
        last = page.last
        if len(page.groups) < GROUPS_PAGE:
            return tuple(groups_found)


def ordinal(subject: str, number: int) -> Exchange[VersionFound]:
    """Return the version with this ordinal, also if it is deleted."""
    return (yield from request_answer(GetOrdinal(subject_of(subject), number)))


def typed_version(subject: str, format_: str, type_name: str, number: int) -> Exchange[VersionFound]:
    """Return the version with this number among those of its format and type, from 0 on, also if it is deleted."""
    return (yield from request_answer(GetTypedVersion(subject_of(subject), format_, type_name, number)))


def group_versions(subject: str, type_name: str = "", *, latest: bool = False) -> Exchange[tuple[VersionFound, ...]]:
    """Return the live versions of a subject by ordinal, or (`latest`) the newest of each format and type."""
    return (yield from request_answer(ListGroupVersions(subject_of(subject), type_name, latest))).versions


def history(subject: str) -> Exchange[tuple[AdmittedVersion, ...]]:
    """Return the live versions of a subject, each with the policy that was in force when it was admitted."""
    return (yield from request_answer(GetHistory(subject_of(subject)))).versions


def find_same_version(subject: str, schema: Draft | str) -> Exchange[VersionFound]:
    """Return the newest live version of the subject with this schema. Raises `SchemaNotFound`."""
    return (yield from request_answer(FindSameVersion(subject_of(subject), as_draft(schema))))


def find_same_schema(schema: Draft | str, context: str = DEFAULT_CONTEXT) -> Exchange[tuple[VersionFound, ...]]:
    """Return the newest live version with this schema in each subject of a context that has one."""
    return (yield from request_answer(FindSameSchema(context_of(context), as_draft(schema)))).versions


def check_reading(subject: str, schema: Draft | str) -> Exchange[CompatibilityResult]:
    """Return whether a reader with this schema can read what the subject's policy lets writers write."""
    return (yield from request_answer(CheckReading(subject_of(subject), as_draft(schema))))


def add_codec(subject: str, name: str, properties: Pairs = ()) -> Exchange[bool]:
    """Let writers of a subject use a codec; returns False where they could before."""
    return (yield from request_answer(AddCodec(subject_of(subject), CodecType(name, properties)))).created


def codecs(subject: str) -> Exchange[tuple[CodecType, ...]]:
    """Return the codecs that were added to a subject, by name."""
    return (yield from request_answer(ListCodecs(subject_of(subject)))).codecs


def assign_encoding(subject: str, ordinal: int, codec: str = NO_CODEC) -> Exchange[int]:
    """Return the encoding id of a version, by its ordinal, and a codec; assigns one where they have none."""
    return (yield from request_answer(AssignEncoding(subject_of(subject), ordinal, codec))).encoding_id


def encoding(subject: str, encoding_id: int) -> Exchange[EncodingFound]:
    """Return the version and the codec that an encoding id of the subject stands for."""
    return (yield from request_answer(GetEncoding(subject_of(subject), encoding_id)))


def encodings(subject: str) -> Exchange[tuple[int, ...]]:
    """Return all encoding ids of a subject, ascending."""
    ids: list[int] = []
    while page := (yield from request_answer(ListEncodings(subject_of(subject), ids[-1] if ids else -1))).ids:
        ids += page
    return tuple(ids)
