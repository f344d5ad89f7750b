"""The plan of groups as requests: what comes before the versions of a subject, and what comes after them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from treaty.client.transfer.group_plan import GroupPlan
from treaty.core.answers import VersionFound
from treaty.core.messages.encodings import AddCodec
from treaty.core.messages.groups import ChangeSubject
from treaty.core.messages.transfers import (
    ExportedSubject,
    ExportedVersion,
    HighestNumbers,
    ImportSubject,
    ImportVersion,
)
from treaty.core.names import subject_of
from treaty.core.requests import Request
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


def _import_subject(one: ExportedSubject, highest: HighestNumbers) -> ImportSubject:
    return ImportSubject(subject_of(one.subject), one.settings, highest, one.private, one.label_policy, one.removed)


def finish_groups(plan: GroupPlan) -> tuple[Iterator[Named], ...]:
    """Hidden versions, former texts of versions, what supersedes what, codecs, encodings of versions, and last the numbers that
    are used up: each needs the ones before.
    """
    hidden = (_name_request(one, import_of(one)) for one in plan.hidden if one.revision_of < 0)
    former = (_name_request(one, import_of(one)) for one in plan.hidden if one.revision_of >= 0)
    superseded = (
        _name_request(one, replace(import_of(one), superseded_by=one.superseded_by)) for one in plan.superseded
    )
    codecs = ((f"codec {codec.name} of {subject}", AddCodec(subject, codec)) for subject, codec in plan.codecs)
    encodings = ((f"encoding {one.encoding_id} of {one.subject}", one) for one in plan.encodings)
    raised = ((f"numbers of {one.subject}", _import_subject(one, one.highest)) for one in plan.raised)
    return hidden, former, superseded, codecs, encodings, raised


def _name_request(one: ExportedVersion, request: Request[Any]) -> Named:
    return f"ordinal {one.version.ordinal} of {one.version.subject}", request


def draft_of(one: VersionFound) -> Draft:
    """Return a version as a draft that is the same version again, also in its type and to the byte."""
    return Draft(one.text, one.format, one.references, one.metadata, one.rules, one.type_name, one.data, one.imports)


def import_of(one: ExportedVersion) -> ImportVersion:
    """Return the request for a version with its ordinal and numbers."""
    version = one.version
    return ImportVersion(
        subject_of(version.subject),
        draft_of(version),
        version.ordinal,
        version.number,
        version.schema_id,
        version.type_version,
        one.state,
        one.policy,
        version.forced,
        version.properties,
        one.names,
        version.time,
        one.revision,
        one.revision_of,
    )
