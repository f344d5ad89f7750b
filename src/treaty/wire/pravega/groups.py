"""Groups of Pravega as subjects of the registry and back: names, what a body to create one must have (`create_of`), policies that can't
be compared, and the sealed tokens of pages.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping

from treaty.core.messages.groups import ANY_FORMAT, FORMAT, AdmittedVersion, CreateSubject, GroupFound, GroupSettings
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject, is_subject_name
from treaty.core.policy import BY_TYPE, Level, in_words
from treaty.core.refusals import Invalid, InvalidSubject
from treaty.formats.registry import find_formats
from treaty.wire.pravega.bodies import CreateGroupBody, GroupPolicyBody, GroupPropertiesBody, HistoryRecordBody
from treaty.wire.pravega.drafts import schema_body
from treaty.wire.pravega.formats import format_body, group_format_of, refuse_kept_name, shown_properties
from treaty.wire.pravega.policies import compatibility_body, level_of, version_body

ORIGIN = "pravega"
"""The origin of subjects that are created here."""
START = "0"
"""The token of the page before the first one, and of an empty registry."""
_QUALIFIED = (":.", ":*:")
"""How qualified names of subjects begin; no group has such a name."""

# ------------------------------------------------------------------------------------------------------------ names


def context_of(namespace: str) -> str:
    """Return the context of a namespace, letter by letter; raises `Invalid` for one that can't be one."""
    if not namespace:
        return DEFAULT_CONTEXT
    if ":" in namespace or not is_subject_name(namespace):
        raise Invalid.of(
            "NAMESPACE",
            f"The namespace '{_escape(namespace)}' can't be one",
            path="/namespace",
            new=_escape(namespace),
            allowed="a name without colons and control characters",
        )
    return f".{namespace}"


def subject_of(namespace: str, group: str) -> Subject:
    """Return the subject of a group; raises `Invalid` for a name that can't be one."""
    if not group or group.startswith(_QUALIFIED) or not is_subject_name(group):
        raise InvalidSubject.of(
            "GROUP_NAME",
            f"The group '{_escape(group)}' can't be one",
            path="/groupName",
            new=_escape(group),
            allowed="a name without control characters that does not begin with ':.' or ':*:'",
        )
    return Subject(context_of(namespace), group)


def group_name(subject: str, context: str) -> str:
    """Return the name of a group, from the qualified name of its subject in a context."""
    return subject if context == DEFAULT_CONTEXT else subject.removeprefix(f":{context}:")


def _escape(text: str) -> str:
    return text.encode("unicode_escape").decode()[:100]


# ------------------------------------------------------------------------------------------------------- properties


def create_of(namespace: str, body: CreateGroupBody) -> CreateSubject:
    """Read a group that is to be created; raises `Invalid`."""
    properties = body.group_properties or GroupPropertiesBody()
    subject = subject_of(namespace, body.group_name or "")
    if properties.allow_multiple_types is None:
        message, allowed = "The member 'allowMultipleTypes' is missing or null", "true or false"
        raise Invalid.of("MEMBER", message, path="/groupProperties/allowMultipleTypes", new="null", allowed=allowed)
    level = level_of(properties.compatibility, "/groupProperties/compatibility")
    given_properties = properties.properties or {}
    refuse_kept_name(given_properties)
    format_properties = dict(group_format_of(properties.serialization_format))
    refuse_comparing(level, format_properties[FORMAT])
    members = {**given_properties, **format_properties}
    settings = GroupSettings(
        origin=ORIGIN,
        types="many" if properties.allow_multiple_types else "one",
        identity="normalised",
        policy=Config(exact_level=level, partition=BY_TYPE),
        properties=tuple(sorted(members.items())),
    )
    return CreateSubject(subject, settings)


def refuse_comparing(level: Level, format_name: str) -> None:
    """Raise `Invalid` for a policy that compares versions, in a group of a custom format that no plug-in can compare."""
    if format_name == ANY_FORMAT or level.deny or level == Level() or find_formats().find(format_name) is not None:
        return
    raise Invalid.of(
        "COMPATIBILITY_OPAQUE",
        f"No plug-in can compare schemas of the custom format {format_name[:100]}",
        path="/compatibility/policy",
        new=in_words(level),
        allowed="AllowAny or DenyAll, or a plug-in for the format",
    )


def group_body(group: GroupFound, named: Mapping[int, VersionFound]) -> GroupPropertiesBody:
    """Print the properties of a group. `named` has the versions that its policy names, by ordinal."""
    return GroupPropertiesBody(
        format_body(group.format, group.properties),
        compatibility_body(group.level, named),
        group.types != "one",
        shown_properties(group.properties),
    )


def policy_at(admitted: AdmittedVersion) -> Level:
    """Return the level in force when a version was added; none where none was stored, as with imported versions."""
    policy = admitted.policy
    return Level() if policy is None else Level(policy.backward, policy.forward, policy.deny)


def history_record(admitted: AdmittedVersion, compatibility: GroupPolicyBody) -> HistoryRecordBody:
    """Print a version with its policy; ``schemaString`` is its text, empty for a format that is not parsed."""
    version = admitted.version
    text = version.text if find_formats().find(version.format) is not None else ""
    return HistoryRecordBody(schema_body(version), version_body(version), compatibility, version.time, text)


# ------------------------------------------------------------------------------------------------------------ pages


def page_token(context: str, name: str) -> str:
    """Return the token of the page that begins after a name: sealed, so that a changed one is noticed.

    The name is that of a group on a page before, so no client sees a name in it that it may not read.
    """
    if not name:
        return START
    data = name.encode()
    return base64.urlsafe_b64encode(_seal(context, data) + data).decode().rstrip("=")


def name_after(context: str, token: str) -> str:
    """Return the name that a page begins after; raises `Invalid` for a token that no registry gave for this namespace."""
    if token in {"", START}:
        return ""
    try:
        raw = base64.urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
        name = raw[_SEAL_BYTES:].decode()
    except (binascii.Error, UnicodeError):
        name = ""
    if not name or page_token(context, name) != token:
        raise Invalid.of(
            "CONTINUATION_TOKEN",
            "The continuation token is not one of this namespace",
            path="/continuationToken",
            new=_escape(token),
            allowed=f"a token that a page of this namespace gave, or {START}",
        )
    return name


_SEAL_BYTES = 8


def _seal(context: str, data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SEAL_BYTES, key=context.encode()[:64], person=b"treaty.pravega").digest()
