"""The plan of groups as requests: what comes before the versions of a subject, and what comes after them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from treaty.client.transfer.group_plan import GroupPlan
from treaty.core.messages.encodings import AddCodec
from treaty.core.messages.groups import ChangeSubject
from treaty.core.messages.request import Request
from treaty.core.messages.transfers import (
    ExportedSubject,
    ExportedVersion,
    HighestNumbers,
    ImportSubject,
    ImportVersion,
)
from treaty.core.messages.versions import VersionFound
from treaty.core.names import subject_of
from treaty.core.schema import Draft

Named = tuple[str, Request[Any]]
"""What a request writes, and the request."""


def begin_groups(plan: GroupPlan) -> Iterator[Named]:
    """Subjects as they are without versions."""
    yield from ((f"settings of {one.subject}", _import_subject(one, HighestNumbers())) for one in plan.made)
    for subject, properties in plan.properties:
        yield f"properties of {subject}", ChangeSubject(subject, properties=properties)
    for subject, word in plan.label_policies:
        yield f"policy of labels of {subject}", ChangeSubject(subject, label_policy=word)


def _import_subject(exported: ExportedSubject, highest: HighestNumbers) -> ImportSubject:
    return ImportSubject(
        subject_of(exported.subject),
        exported.settings,
        highest,
        exported.private,
        exported.label_policy,
        exported.removed,
    )


def finish_groups(plan: GroupPlan) -> tuple[Iterator[Named], ...]:
    """Hidden versions, former texts of versions, what supersedes what, codecs, encodings of versions, and last the numbers that
    are used up: each needs the ones before.
    """
    hidden = (_name_request(version, import_of(version)) for version in plan.hidden if version.revision_of < 0)
    former = (_name_request(version, import_of(version)) for version in plan.hidden if version.revision_of >= 0)
    superseded = (
        _name_request(version, replace(import_of(version), superseded_by=version.superseded_by))
        for version in plan.superseded
    )
    codecs = ((f"codec {codec.name} of {subject}", AddCodec(subject, codec)) for subject, codec in plan.codecs)
    encodings = ((f"encoding {encoding.encoding_id} of {encoding.subject}", encoding) for encoding in plan.encodings)
    raised = (
        (f"numbers of {exported.subject}", _import_subject(exported, exported.highest)) for exported in plan.raised
    )
    return hidden, former, superseded, codecs, encodings, raised


def _name_request(exported: ExportedVersion, request: Request[Any]) -> Named:
    return f"ordinal {exported.version.ordinal} of {exported.version.subject}", request


def draft_of(version: VersionFound) -> Draft:
    """Return a version as a draft that is the same version again, also in its type and to the byte."""
    return Draft(
        version.text,
        version.format,
        version.references,
        version.metadata,
        version.rules,
        version.type_name,
        version.data,
        version.imports,
    )


def import_of(exported: ExportedVersion) -> ImportVersion:
    """Return the request for a version with its ordinal and numbers."""
    version = exported.version
    return ImportVersion(
        subject_of(version.subject),
        draft_of(version),
        version.ordinal,
        version.number,
        version.schema_id,
        version.type_version,
        exported.state,
        exported.policy,
        version.forced,
        version.properties,
        exported.names,
        version.time,
        exported.revision,
        exported.revision_of,
    )
