"""`GroupSource`: what one subject of another kind of registry comes to, and many of them as an image."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from treaty.client.transfer.plan import UNGIVEN
from treaty.client.transfer.registry_image import (
    RegistryImage,
    TransferProblem,
    facts_of,
    kept_order,
    order_of,
    scope_order,
)
from treaty.core.messages.encodings import CodecType
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.transfers import ExportedSubject, ExportedVersion, HighestNumbers
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.schema import Draft, Pairs


@dataclass(frozen=True, slots=True)
class GroupSource:
    """A subject with its settings, its own config, its versions and codecs, and the highest encoding id that is known."""

    subject: Subject
    settings: GroupSettings
    config: Config | None = None
    versions: tuple[ExportedVersion, ...] = ()
    codecs: tuple[CodecType, ...] = ()
    highest_ordinal: int = -1
    problems: tuple[TransferProblem, ...] = ()


def version_of(
    subject: Subject, ordinal: int, draft: Draft, *, type_version: int, properties: Pairs = (), time: int = 0
) -> VersionFound:
    """Return a version as it will be: its number follows from the ordinal, and the registry gives it a schema id."""
    return VersionFound(
        subject=str(subject),
        number=ordinal + 1,
        ordinal=ordinal,
        schema_id=UNGIVEN,
        guid="",
        format=draft.format,
        text=draft.text,
        time=time,
        properties=properties,
        type_name=draft.type_name,
        type_version=type_version,
        data=draft.data,
    )


def hide_older(versions: Iterable[ExportedVersion]) -> tuple[ExportedVersion, ...]:
    """Return versions by ordinal, those that are softly deleted as hidden where the same schema was added again later."""
    listed = sorted(versions, key=kept_order)
    again: set[tuple[str, str, str, bytes | None]] = set()
    versions_kept: list[ExportedVersion] = []
    for exported in reversed(listed):
        schema = (exported.version.format, exported.version.type_name, exported.version.text, exported.version.data)
        versions_kept.append(
            replace(exported, state="hidden") if exported.state == "soft" and schema in again else exported
        )
        again.add(schema)
    return tuple(reversed(versions_kept))


def image_of(groups: Iterable[GroupSource], problems: Iterable[TransferProblem], notes: Iterable[str]) -> RegistryImage:
    """Return the image of many subjects."""
    listed = sorted(groups, key=lambda one: one.subject)
    exported = [each for one in listed for each in one.versions]
    visible = [one for one in exported if one.state != "hidden"]
    configs = [(Scope(*one.subject), one.config) for one in listed if one.config is not None]
    contexts = {one.subject.context for one in listed} - {DEFAULT_CONTEXT}
    return RegistryImage(
        versions=tuple(sorted((one.version for one in visible), key=order_of)),
        configs=tuple(sorted(configs, key=scope_order)),
        contexts=tuple(sorted(contexts)),
        problems=(*problems, *(each for one in listed for each in one.problems)),
        notes=tuple(notes),
        exact=True,
        groups=tuple(_describe_subject(one) for one in listed),
        facts={(one.version.subject, one.version.number): facts_of(one) for one in visible},
        hidden=tuple(one for one in exported if one.state == "hidden"),
    )


def _describe_subject(group: GroupSource) -> ExportedSubject:
    types: dict[tuple[str, str], int] = {}
    for exported in group.versions:
        kind = (exported.version.format, exported.version.type_name)
        types[kind] = max(types.get(kind, -1), exported.version.type_version)
    ordinal = max((group.highest_ordinal, *(each.version.ordinal for each in group.versions)))
    encoding = max((id_ for each in group.versions for id_, _ in each.encodings), default=-1)
    highest = HighestNumbers(ordinal, encoding, tuple(sorted((*kind, number) for kind, number in types.items())))
    return ExportedSubject(str(group.subject), replace(group.settings, policy=None), highest, group.codecs)
