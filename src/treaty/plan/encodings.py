"""Encodings of a group, as a plan of Pravega's framing has them."""

from collections.abc import Iterable

from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.message_indexes import encode_path
from treaty.client.serializers.protobuf import messages
from treaty.core.answers import VersionFound
from treaty.core.limits import ENCODING_MISSES
from treaty.core.messages.encodings import GetEncoding
from treaty.core.messages.groups import GetSubject
from treaty.core.names import Subject
from treaty.core.refusals import EncodingNotFound
from treaty.core.registry import Registry
from treaty.plan import registry_queries
from treaty.plan.frame_format import PlannedEncoding


def find_encodings(
    registry: Registry, group: Subject, ids: Iterable[int], *, list_all: bool = True
) -> dict[int, PlannedEncoding]:
    """Return what encoding ids of a group stand for; those that it does not have are left out.

    With `list_all` also those from 0 on, until `ENCODING_MISSES` in a row are not there. Raises `SubjectNotFound`, and
    `Unavailable` where the registry does not answer.
    """
    registry.ask(GetSubject(group))
    found: dict[int, PlannedEncoding] = {}
    missed, number = 0, 0
    while list_all and missed < ENCODING_MISSES:
        one = _find_encoding(registry, group, number)
        missed = missed + 1 if one is None else 0
        if one is not None:
            found[number] = one
        number += 1
    for each in sorted(set(ids) - set(range(number if list_all else 0))):
        one = _find_encoding(registry, group, each)
        if one is not None:
            found[each] = one
    return found


def _find_encoding(registry: Registry, group: Subject, number: int) -> PlannedEncoding | None:
    try:
        found = registry.ask(GetEncoding(group, number)).answer
    except EncodingNotFound:
        return None
    version, codec = found.version, found.codec
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
