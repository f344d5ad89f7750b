"""Codecs and encodings: what is added to a subject, and the ids that stand for a version and a codec."""

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import CodecMade, EncodingMade
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.selecting import describe, no_subject
from tests.simulation.judging.model.settings import refuse_if_readonly
from treaty.core import limits
from treaty.core.messages import encodings as e
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject
from treaty.core.refusals import (
    CodecExists,
    CodecNotFound,
    Encoded,
    EncodingNotFound,
    InvalidCodec,
    TooLarge,
    VersionNotFound,
)


def _refuse_nobody(past: Past, subject: Subject) -> None:
    if subject not in past.subjects:
        raise no_subject(subject)


def refuse_if_encoded(past: Past, going: list[VersionNow]) -> None:
    """Refuse where a payload would lose its schema."""
    for one in sorted(going, key=lambda one: one.ordinal):
        if past.encodings_of(one.subject, one.ordinal):
            raise No(Encoded, "VERSION_ENCODED", subject=str(one.subject))


def add_codec(past: Past, asking: Asking, request: e.AddCodec) -> Yes:
    """Once, and with the same properties for ever."""
    subject, codec = request.subject, request.codec
    if not codec.name or not codec.name.isprintable():
        raise No(InvalidCodec, "CODEC_NAME")
    if len(codec.name) > limits.NAME_LENGTH:
        raise No(TooLarge, "NAME_LENGTH")
    if len(dict(codec.properties)) < len(codec.properties):
        raise No(InvalidCodec, "CODEC_PROPERTIES")
    if sum(len(name) + len(value) for name, value in codec.properties) > limits.CODEC_CHARACTERS:
        raise No(TooLarge, "CODEC_CHARACTERS")
    _refuse_nobody(past, subject)
    there = past.codecs_of(subject)
    if codec.name in there:
        if dict(there[codec.name]) != dict(codec.properties):
            raise No(CodecExists, "CODEC_EXISTS", subject=str(subject))
        return Yes((), e.CodecAdded(codec, created=False))
    if len(there) >= limits.CODECS_PER_SUBJECT:
        raise No(TooLarge, "CODECS_PER_SUBJECT")
    refuse_if_readonly(past, Scope(*subject))
    return Yes((CodecMade(subject, codec.name, codec.properties),), e.CodecAdded(codec, created=True))


def list_codecs(past: Past, asking: Asking, request: e.ListCodecs) -> Yes:
    _refuse_nobody(past, request.subject)
    there = sorted(past.codecs_of(request.subject).items())
    return Yes((), e.CodecTypes(tuple(e.CodecType(name, properties) for name, properties in there)))


def assign_encoding(past: Past, asking: Asking, request: e.AssignEncoding) -> Yes:
    """A pair has one id; a deleted version keeps those that it has and gets no more."""
    subject = request.subject
    _refuse_nobody(past, subject)
    found = [one for one in past.of(subject) if one.ordinal == request.ordinal]
    missing = No(VersionNotFound, "VERSION_NOT_FOUND", subject=str(subject), version=str(request.ordinal))
    if not found:
        raise missing
    (one,) = found
    for made in past.encodings_of(subject, one.ordinal):
        if made.codec == request.codec:
            return Yes((), e.EncodingAssigned(made.encoding, created=False))
    if one.state != "live":
        raise missing
    if request.codec and request.codec not in past.codecs_of(subject):
        raise No(CodecNotFound, "CODEC_NOT_FOUND", subject=str(subject))
    refuse_if_readonly(past, Scope(*subject))
    given = max(past.highest_encoding(subject), past.spared_ids or -1) + 1
    if given > limits.COUNTER:
        raise No(TooLarge, "COUNTER")
    made = EncodingMade(subject, given, one.generation, one.ordinal, one.schema_id, request.codec)
    return Yes((made,), e.EncodingAssigned(given, created=True))


def list_encodings(past: Past, asking: Asking, request: e.ListEncodings) -> Yes:
    _refuse_nobody(past, request.subject)
    ids = sorted(id_ for subject, id_ in past.encodings if subject == request.subject and id_ > request.after)
    return Yes((), e.EncodingIds(tuple(ids[: limits.ENCODINGS_PAGE])))


def get_encoding(past: Past, asking: Asking, request: e.GetEncoding) -> Yes:
    subject = request.subject
    _refuse_nobody(past, subject)
    made = past.encodings.get((subject, request.encoding_id))
    if made is None:
        raise No(EncodingNotFound, "ENCODING_NOT_FOUND", subject=str(subject), version=str(request.encoding_id))
    (one,) = (one for one in past.of(subject) if one.ordinal == made.ordinal)
    codec = e.CodecType(made.codec, past.codecs_of(subject).get(made.codec, ()))
    return Yes((), e.EncodingFound(request.encoding_id, describe(one, data=True), codec))
