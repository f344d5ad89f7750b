"""What the planner asks a registry: the versions of a subject, a schema by id, and the texts behind references."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from treaty.client.references import fetch_resolved_schema
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.request import LATEST
from treaty.core.messages.schemas import GetSchema, SchemaFound, UsesOf
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.refusals import NotFound
from treaty.core.registry import Registry
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.registry import find_formats
from treaty.plan.avro.flat import flatten_schema
from treaty.plan.registered_schema import RegisteredSchema

_WORKED_ON: Mapping[str, Callable[[Any], Any]] = {"AVRO": flatten_schema}
"""How a parsed schema becomes the one that a planner works on, for formats where that is another one."""


def list_versions(registry: Registry, subject: Subject) -> tuple[RegisteredSchema, ...]:
    """All versions of a subject, oldest first, softly deleted ones too: their rows may still be in the stream.

    Raises `SubjectNotFound`, or `Unavailable` where the registry can't say now.
    """
    numbers = registry.ask(ListVersions(subject, visible="all")).answer.numbers
    versions = [registry.ask(GetVersion(subject, number, deleted=True)).answer for number in numbers]
    return tuple(_make_registered(registry, one, one.subject, subject.context) for one in versions)


def list_subjects(registry: Registry, pattern: Subject) -> tuple[Subject, ...]:
    """The subjects of a context whose names are the pattern's, where ``*`` is any text; softly deleted ones too."""
    parts = pattern.name.split("*")
    name_pattern = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
    names = registry.ask(ListSubjects(Subject(pattern.context, parts[0]), visible="all")).answer.names
    places = (subject_of(name) for name in names)
    return tuple(one for one in places if name_pattern.fullmatch(one.name))


def find_version(
    registry: Registry, subject: Subject, number: int = LATEST, *, deleted: bool = False
) -> RegisteredSchema:
    """One version of a subject; with `deleted` a softly deleted one too. Raises `NotFound` or `Unavailable`."""
    version = registry.ask(GetVersion(subject, number, deleted=deleted)).answer
    return _make_registered(registry, version, version.subject, subject.context)


def find_schema(registry: Registry, schema_id: int, context: str = DEFAULT_CONTEXT) -> RegisteredSchema | None:
    """The schema with this id, or None where there is no such id. Raises `Unavailable`."""
    place = Subject(context, "")
    try:
        schema = registry.ask(GetSchema(schema_id, place)).answer
    except NotFound:
        return None
    return _make_registered(registry, schema, schema.subject, context)


def list_uses(registry: Registry, schema_id: int, context: str = DEFAULT_CONTEXT) -> tuple[tuple[str, int], ...]:
    """Every (qualified subject, version number) that has this schema, softly deleted ones too."""
    return registry.ask(UsesOf(schema_id, Subject(context, ""), visible="all")).answer.uses


def parse_text(format_: str, text: str) -> Any:
    """A schema text without references as the planners work on it. Raises `InvalidSchemaError`."""
    return parse_resolved(ResolvedSchema(format_, text))


def parse_resolved(schema: ResolvedSchema) -> Any:
    """A schema with the texts behind its references as the planners work on it; None for a format without one. Raises `InvalidSchemaError`."""
    form = find_formats().find(schema.format)
    if form is None:
        return None
    model = form.parse(schema, False)
    change = _WORKED_ON.get(schema.format)
    return change(model) if change else model


def _make_registered(
    registry: Registry, version: VersionFound | SchemaFound, subject: str, context: str
) -> RegisteredSchema:
    within = Subject(context, "")
    meaning = fetch_resolved_schema(
        registry, version.format, version.text, version.references, within, imports=version.imports
    )
    return RegisteredSchema(
        version.schema_id,
        subject,
        version.number,
        version.format,
        parse_resolved(meaning),
        not version.deleted,
        meaning,
        version.guid,
        version.ordinal if isinstance(version, VersionFound) else -1,
    )
