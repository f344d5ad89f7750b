"""Explains a record of a group byte by byte: its encoding, and its payload as it was before the codec packed it."""

from dataclasses import replace

from treaty.client.explain.pieces import PieceReader
from treaty.client.explain.record import RecordExplanation, explain_record
from treaty.client.groups.codecs import CodecError, MissingCodecError, find_codec, unpack_payload
from treaty.client.groups.payloads import VersionRegistry, make_frame_header, make_trim
from treaty.client.serializers.errors import BadRecordError
from treaty.client.serializers.frames import split_encoding
from treaty.core.messages.encodings import NO_CODEC, GetEncoding
from treaty.core.names import subject_of
from treaty.core.refusals import NotFound
from treaty.core.registry import Registry


def explain_group_record(registry: Registry, group: str, data: bytes, *, encoding: str = "") -> RecordExplanation:
    """Explain a record of a group. An error in it is returned as `problem`; an unreachable registry raises.

    Offsets in a packed payload count from its first byte once it is unpacked. `encoding` is as in `explain_record`.
    """
    reader = PieceReader(data)
    try:
        encoding_id, packed = split_encoding(data)
        reply = registry.ask(GetEncoding(subject_of(group), encoding_id))
    except (BadRecordError, NotFound) as error:
        reader.note_rest("not read")
        return RecordExplanation(tuple(reader), None, str(error))
    version, codec = reply.answer.version, reply.answer.codec
    reader.take(1, "", "magic byte")
    reader.note(0, "", "magic byte", "an encoding id follows")
    reader.take(4, "", "encoding id")
    says = f"{encoding_id}: ordinal {version.ordinal} of {version.subject}, codec {codec.name or 'none'}"
    reader.note(1, "", "encoding id, big-endian", says)
    versions = VersionRegistry(registry)
    schema = versions.add(version, reply.token)
    try:
        payload = unpack_payload(find_codec(codec.name), packed, codec.properties)
    except (CodecError, MissingCodecError) as error:
        reader.note_rest("packed payload, not read")
        return RecordExplanation(tuple(reader), schema, str(error))
    offset = reader.at
    if codec.name != NO_CODEC:
        payload, offset = make_trim(versions, version)(payload), 0
        reader.note_rest(f"a payload of {len(payload)} bytes, packed")
    explained = explain_record(versions, payload, make_frame_header(versions, version), encoding=encoding)
    pieces = [replace(one, offset=one.offset + offset) for one in explained.pieces if one.what != "frame"]
    return RecordExplanation((*reader, *pieces), explained.writer_schema, explained.problem)
