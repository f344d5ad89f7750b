"""Encodings: codecs that are added to a subject, and the ids that stand for a version and a codec.

An id is given once and never again under the same subject name, even after the subject was removed and created again.
"""

from treaty.core import limits
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.handlers.settings import refuse_if_readonly
from treaty.core.handlers.versions import StoredVersion, describe_version, no_ordinal, no_subject, with_ordinal
from treaty.core.messages.encodings import (
    NO_CODEC,
    AddCodec,
    AssignEncoding,
    CodecAdded,
    CodecType,
    CodecTypes,
    EncodingAssigned,
    EncodingFound,
    EncodingIds,
    GetEncoding,
    ListCodecs,
    ListEncodings,
)
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject
from treaty.core.refusals import CodecExists, CodecNotFound, EncodingNotFound, InvalidCodec, TooLarge
from treaty.core.schema import Pairs
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.rows import UnreadableRowError, make_row
from treaty.core.state.state_tables import (
    CODEC,
    COUNTER,
    ENCODING,
    ENCODING_BY_VERSION,
    IDS_SPARED,
    SUBJECT,
    VERSION,
    VERSION_BY_SUBJECT,
    CodecKey,
    EncodingKey,
    VersionKey,
    encodings_key,
)
from treaty.core.state.values import Codec, Counter, Encoding
from treaty.core.state.view import View, subject_span

PAUSE_ROWS = 64
"""Versions between two pauses."""


def add_codec(view: View, command: Command[AddCodec], engine: SchemaEngine) -> Decision[CodecAdded]:
    """Add a codec to a subject. One that it has already is not changed."""
    request = command.request
    subject, codec = request.subject, request.codec
    _refuse_bad_codec(codec)
    _refuse_missing_subject(view, subject)
    key = CodecKey(*subject, codec.name)
    stored = view.get(CODEC, key)
    if stored is not None:
        _refuse_other_properties(subject, codec, stored.properties)
        return Decision((), CodecAdded(codec, created=False))
    _refuse_many_codecs(view, subject)
    refuse_if_readonly(view, Scope(*subject))
    return Decision((make_row(CODEC, key, Codec(codec.properties)),), CodecAdded(codec, created=True))


def list_codecs(view: View, command: Command[ListCodecs], engine: SchemaEngine) -> Decision[CodecTypes]:
    """List the codecs of a subject by name."""
    subject = command.request.subject
    _refuse_missing_subject(view, subject)
    keys = view.walk(CODEC, *subject_span(*subject))
    return Decision((), CodecTypes(tuple(_codec_type(view, subject, key.name) for key in keys)))


def assign_encoding(view: View, command: Command[AssignEncoding], engine: SchemaEngine) -> Decision[EncodingAssigned]:
    """Answer the encoding id of a version and a codec, and assign one where they have none.

    Existence of the version is asked before that of the codec, and a deleted version keeps the ids that it has.
    """
    request = command.request
    subject = request.subject
    _refuse_missing_subject(view, subject)
    stored = with_ordinal(view, subject, request.ordinal)
    if stored is None:
        raise no_ordinal(subject, request.ordinal)
    encoding = _find_encoding(view, stored, request.codec)
    if encoding is not None:
        return Decision((), EncodingAssigned(encoding.encoding, created=False))
    if stored[1].state != "live":
        raise no_ordinal(
            subject, request.ordinal, allowed="a version that is not deleted: this one gets no new encodings"
        )
    if request.codec != NO_CODEC and view.get(CODEC, CodecKey(*subject, request.codec)) is None:
        raise CodecNotFound.of(
            "CODEC_NOT_FOUND",
            f"Subject '{subject}' has no codec '{request.codec[:100]}'",
            path="/codec",
            subject=str(subject),
            new=request.codec[:100],
            allowed="a codec that was added to the subject before, or an empty name for none",
        )
    refuse_if_readonly(view, Scope(*subject))
    encoding_id = _next_encoding(view, subject)
    key, version = stored
    value = Encoding(version.schema_id, key.generation, key.ordinal, request.codec)
    rows = (
        make_row(ENCODING, EncodingKey(*subject, encoding_id), value),
        make_row(COUNTER, encodings_key(subject), Counter(encoding_id)),
    )
    return Decision(rows, EncodingAssigned(encoding_id, created=True))


def get_encoding(view: View, command: Command[GetEncoding], engine: SchemaEngine) -> Decision[EncodingFound]:
    """Return which version and codec an encoding id stands for."""
    request = command.request
    subject = request.subject
    _refuse_missing_subject(view, subject)
    encoding = view.get(ENCODING, EncodingKey(*subject, request.encoding_id))
    if encoding is None:
        raise EncodingNotFound.of(
            "ENCODING_NOT_FOUND",
            f"Subject '{subject}' has no encoding {request.encoding_id}",
            subject=str(subject),
            version=str(request.encoding_id),
            new=str(request.encoding_id),
            allowed="an id that was assigned to a version and a codec of this subject",
        )
    key = VersionKey(*subject, encoding.generation, encoding.ordinal)
    version = view.get(VERSION, key)
    if version is None:
        raise MissingVersionError(
            f"encoding {request.encoding_id} of subject {subject} is of a version that is missing (VERSION_MISSING): "
            "`treaty log verify` lists such rows; restore a sound dump"
        )
    codec = _codec_type(view, subject, encoding.codec)
    return Decision((), EncodingFound(request.encoding_id, describe_version(view, (key, version), data=True), codec))


def list_encodings(
    view: View, command: Command[ListEncodings], engine: SchemaEngine
) -> PausingWork[Decision[EncodingIds]]:
    """List encoding ids of a subject. Where none was assigned since the last one that is known, no version is looked at."""
    subject, last = command.request.subject, command.request.after
    _refuse_missing_subject(view, subject)
    highest = view.get(COUNTER, encodings_key(subject))
    ids: list[int] = []
    if highest is not None and highest.highest > last:
        for count, version in enumerate(view.find(VERSION_BY_SUBJECT, subject)):
            ids += (key.encoding for key in view.find(ENCODING_BY_VERSION, (*version,)) if key.encoding > last)
            if count % PAUSE_ROWS == 0:
                yield
    return Decision((), EncodingIds(tuple(sorted(ids)[: limits.ENCODINGS_PAGE])))


class MissingVersionError(UnreadableRowError):
    """An encoding is of a version that is not there, so that nothing can be said of the encoding."""


def _codec_type(view: View, subject: Subject, name: str) -> CodecType:
    stored = view.get(CODEC, CodecKey(*subject, name))
    return CodecType(name, stored.properties if stored else ())


def _find_encoding(view: View, stored: StoredVersion, codec: str) -> EncodingKey | None:
    for key in view.find(ENCODING_BY_VERSION, (*stored[0],)):
        value = view.get(ENCODING, key)
        if value is not None and value.codec == codec:
            return key
    return None


def _next_encoding(view: View, subject: Subject) -> int:
    counters = (view.get(COUNTER, encodings_key(subject)), view.get(COUNTER, IDS_SPARED))
    encoding_id = max((counter.highest for counter in counters if counter is not None), default=-1) + 1
    if encoding_id > limits.COUNTER:
        raise TooLarge.of("COUNTER", "counter encodings is used up", allowed=f"at most {limits.COUNTER}")
    return encoding_id


# --------------------------------------------------------------------------------------------------------- refusals


def _refuse_missing_subject(view: View, subject: Subject) -> None:
    if view.get(SUBJECT, subject) is None:
        raise no_subject(subject)


def _refuse_bad_codec(codec: CodecType) -> None:
    if not codec.name or not codec.name.isprintable():
        raise InvalidCodec.of(
            "CODEC_NAME",
            f"The specified codec '{codec.name[:100]}' is not a valid name.",
            path="/codec/name",
            new=codec.name.encode("unicode_escape").decode()[:100],
            allowed="printable characters; no codec at all needs no name",
        )
    if len(codec.name) > limits.NAME_LENGTH:
        raise TooLarge.of(
            "NAME_LENGTH",
            "The name of the codec is too long",
            path="/codec/name",
            new=f"{len(codec.name)} characters",
            allowed=f"at most {limits.NAME_LENGTH} characters",
        )
    names = [name for name, _ in codec.properties]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidCodec.of(
            "CODEC_PROPERTIES",
            f"The codec has two properties with the name '{twice[:100]}'.",
            path="/codec/properties",
            new=twice[:100],
            allowed="each name once",
        )
    characters = sum(len(name) + len(value) for name, value in codec.properties)
    if characters > limits.CODEC_CHARACTERS:
        raise TooLarge.of(
            "CODEC_CHARACTERS",
            "The properties of the codec are too long",
            path="/codec/properties",
            new=f"{characters} characters",
            allowed=f"at most {limits.CODEC_CHARACTERS} characters",
        )


def _refuse_other_properties(subject: Subject, codec: CodecType, properties: Pairs) -> None:
    if sorted(properties) == sorted(codec.properties):
        return
    raise CodecExists.of(
        "CODEC_EXISTS",
        f"Subject '{subject}' has a codec '{codec.name}' with other properties",
        path="/codec/properties",
        subject=str(subject),
        old=_describe_names(properties),
        new=_describe_names(codec.properties),
        allowed="the same properties, or another name: readers of old payloads need the properties as they are",
    )


def _describe_names(properties: Pairs) -> str:
    """Return the names of properties alone: values may be secrets."""
    return ", ".join(name for name, _ in properties)[:1_000] or "no properties"


def _refuse_many_codecs(view: View, subject: Subject) -> None:
    count = sum(1 for _ in view.walk(CODEC, *subject_span(*subject)))
    if count >= limits.CODECS_PER_SUBJECT:
        raise TooLarge.of(
            "CODECS_PER_SUBJECT",
            f"Subject '{subject}' has {count} codecs",
            subject=str(subject),
            old=str(count),
            allowed=f"at most {limits.CODECS_PER_SUBJECT} codecs",
        )
