"""Endpoints of codecs of groups, and of encoding ids: assigned, read, listed."""

from treaty.api.pravega.descriptors import with_descriptors
from treaty.api.pravega.exchange import PravegaAnswer, PravegaExchange, integer_of
from treaty.core.messages.encodings import NO_CODEC, AddCodec, AssignEncoding, GetEncoding, ListCodecs
from treaty.core.messages.encodings import CodecType as Codec
from treaty.core.refusals import Invalid
from treaty.wire.pravega import bodies
from treaty.wire.pravega.drafts import schema_body
from treaty.wire.pravega.policies import version_body


async def get_encoding_id(x: PravegaExchange) -> PravegaAnswer:
    """The encoding id of a version, by its `id`, and a codec; they get one if they have none. 412 if the group does not have the codec."""
    body = await x.body(bodies.FindEncodingBody)
    if body.version_info is None:
        message, allowed = "The member 'versionInfo' is missing or null", "the version that a writer uses"
        raise Invalid.of("MEMBER", message, path="/versionInfo", new="null", allowed=allowed)
    codec = body.codec_type or NO_CODEC
    assigned = await x.registry.ask(AssignEncoding(x.subject, body.version_info.id, codec))
    return PravegaAnswer(200, bodies.EncodingIdBody(assigned.encoding_id))


async def get_encoding(x: PravegaExchange) -> PravegaAnswer:
    """What an encoding id stands for; its version may be deleted."""
    encoding = await x.registry.ask(GetEncoding(x.subject, integer_of(x.values[1])))
    version = await with_descriptors(x, encoding.version)
    return PravegaAnswer(
        200, bodies.EncodingInfoBody(schema_body(version), version_body(version), _codec_body(encoding.codec))
    )


async def list_codecs(x: PravegaExchange) -> PravegaAnswer:
    """The codecs that were added to a group, by name."""
    codecs = await x.registry.ask(ListCodecs(x.subject))
    return PravegaAnswer(200, bodies.CodecTypesBody([_codec_body(codec) for codec in codecs.codecs]))


async def add_codec(x: PravegaExchange) -> PravegaAnswer:
    """Adds a codec to a group; 409 if the group has one of this name with other properties, which never change."""
    body = await x.body(bodies.CodecTypeBody)
    if body.name == NO_CODEC and not body.properties:  # serializers without a codec send it at their start
        await x.registry.ask(ListCodecs(x.subject))
        return PravegaAnswer(201)
    codec = Codec(body.name or "", tuple(sorted((body.properties or {}).items())))
    await x.registry.ask(AddCodec(x.subject, codec))
    return PravegaAnswer(201)


def _codec_body(codec: Codec) -> bodies.CodecTypeBody:
    return bodies.CodecTypeBody(codec.name, dict(codec.properties))
