"""Encodings of a Pravega group, as a plan of its framing has them: which id means which version, codec and message."""

from collections.abc import Iterable

from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.message_indexes import encode_path
from treaty.client.serializers.protobuf import messages
from treaty.core.messages.encodings import GetEncoding, ListEncodings
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import EncodingNotFound
from treaty.core.registry import Registry
from treaty.plan import registry_queries
from treaty.plan.frame_format import PlannedEncoding


def find_encodings(
    registry: Registry, group: Subject, ids: Iterable[int], *, list_all: bool = True
) -> dict[int, PlannedEncoding]:
    """Return what encoding ids of a group stand for; those that it does not have are left out.

    With `list_all` also all others that the group has. Raises `SubjectNotFound`, and `Unavailable` where the registry
    does not answer.
    """
    encoding_ids = {*ids, *(list_encodings(registry, group) if list_all else ())}
    encodings = {number: _find_encoding(registry, group, number) for number in sorted(encoding_ids)}
    return {number: one for number, one in encodings.items() if one is not None}


def list_encodings(registry: Registry, group: Subject, after: int = -1) -> tuple[int, ...]:
    """Return the encoding ids of a group above one, ascending. Raises `SubjectNotFound` and `Unavailable`."""
    encoding_ids: list[int] = []
    while page := registry.ask(ListEncodings(group, encoding_ids[-1] if encoding_ids else after)).answer.ids:
        encoding_ids += page
    return tuple(encoding_ids)


def _find_encoding(registry: Registry, group: Subject, number: int) -> PlannedEncoding | None:
    try:
        encoding = registry.ask(GetEncoding(group, number)).answer
    except EncodingNotFound:
        return None
    version, codec = encoding.version, encoding.codec
    return PlannedEncoding(version.schema_id, codec.name, codec.properties, _find_index(registry, group, version))


def _find_index(registry: Registry, group: Subject, version: VersionFound) -> str:
    """Return the message indexes of a version's type, which its frames do not have."""
    if version.format != "PROTOBUF":
        return ""
    meaning = fetch_resolved_schema(
        registry, version.format, version.text, version.references, group, imports=version.imports
    )
    paths = {name: path for path, name in messages(registry_queries.parse_resolved(meaning)).items()}
    return encode_path(paths[version.type_name]).hex() if version.type_name in paths else ""
