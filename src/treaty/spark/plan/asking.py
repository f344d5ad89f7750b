"""What the planner asks a registry: the versions of a subject, a schema by id, and the texts behind references."""

from dataclasses import dataclass

from treaty.client.meaning import meaning_of
from treaty.core.answers import SchemaFound, VersionFound
from treaty.core.meaning import Meaning
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.refusals import NotFound
from treaty.core.registry import Registry
from treaty.core.requests import LATEST, GetSchema, GetVersion, ListVersions, UsesOf
from treaty.core.schema import Reference
from treaty.formats.avro.model import Schema
from treaty.formats.avro.parse import parse
from treaty.spark.plan.flat import flat


@dataclass(frozen=True, slots=True)
class Known:
    """A schema as the registry has it: where it is used, its format, and (for Avro) the parsed schema."""

    schema_id: int
    subject: str
    version: int
    format: str
    schema: Schema | None
    live: bool = True


def versions(registry: Registry, subject: Subject) -> tuple[Known, ...]:
    """All versions of a subject, oldest first, softly deleted ones too: their rows may still be in the stream.

    Raises `SubjectNotFound`, or `Unavailable` where the registry can't say now.
    """
    numbers = registry.ask(ListVersions(subject, visible="all")).answer.numbers
    found = [registry.ask(GetVersion(subject, number, deleted=True)).answer for number in numbers]
    return tuple(_known(registry, one, one.subject, subject.context) for one in found)


def version(registry: Registry, subject: Subject, number: int = LATEST) -> Known:
    """One version of a subject. Raises `NotFound` or `Unavailable`."""
    found = registry.ask(GetVersion(subject, number)).answer
    return _known(registry, found, found.subject, subject.context)


def by_id(registry: Registry, schema_id: int, context: str = DEFAULT_CONTEXT) -> Known | None:
    """The schema with this id, or None where there is no such id. Raises `Unavailable`."""
    place = Subject(context, "")
    try:
        found = registry.ask(GetSchema(schema_id, place)).answer
    except NotFound:
        return None
    return _known(registry, found, found.subject, context)


def uses(registry: Registry, schema_id: int, context: str = DEFAULT_CONTEXT) -> tuple[tuple[str, int], ...]:
    """Every (qualified subject, version number) that has this schema, softly deleted ones too."""
    return registry.ask(UsesOf(schema_id, Subject(context, ""), visible="all")).answer.uses


def parsed(text: str, registry: Registry | None = None, references: tuple[Reference, ...] = ()) -> Schema:
    """A schema text as the planner works on it. Raises `InvalidSchemaError`."""
    if registry is None:
        return flat(parse(Meaning("AVRO", text), False))
    return flat(parse(meaning_of(registry, "AVRO", text, references, Subject(DEFAULT_CONTEXT, "")), False))


def _known(registry: Registry, found: VersionFound | SchemaFound, subject: str, context: str) -> Known:
    schema = None
    if found.format == "AVRO":
        meaning = meaning_of(registry, "AVRO", found.text, found.references, Subject(context, ""))
        schema = flat(parse(meaning, False))
    return Known(found.schema_id, subject, found.number, found.format, schema, not found.deleted)
