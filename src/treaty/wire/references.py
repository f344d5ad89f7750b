"""Schemas with what they refer to, for answers that print a schema in another way than it is stored."""

from dataclasses import replace

from treaty.core.messages.schemas import SchemaFound
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.registry import AsyncRegistry, CallOptions
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema, bind_imports

KnownSchemas = dict[tuple[str, int], ResolvedSchema]
"""Schemas that were read for an answer, by subject and version number."""
VIEW_BYTES = 4_096
"""Characters of a schema and what it refers to that are printed in the event loop; more are on a thread."""


async def resolve_schema(
    registry: AsyncRegistry, call: CallOptions, schema: SchemaFound | VersionFound, known_schemas: KnownSchemas
) -> ResolvedSchema:
    """Follow references to what they mean; each version is asked for once, and added to `known_schemas`.

    Eventual reads are enough: tables with the schema have its references, which cannot be removed before it. Raises
    `Forbidden` where the caller may not read one.
    """
    context = schema.context if isinstance(schema, SchemaFound) else subject_of(schema.subject).context
    eventual = replace(call, consistency="eventual")
    bindings = []
    for reference in schema.references:
        target = Subject(context, "").sibling(reference.subject)
        place = (str(target), reference.version)
        if place not in known_schemas:
            question = GetVersion(target, reference.version, deleted=True, exact=True)
            referred = (await registry.ask(question, eventual)).answer
            known_schemas[place] = await resolve_schema(registry, call, referred, known_schemas)
        bindings.append(ResolvedReference(reference.name, str(target), reference.version, known_schemas[place]))
    return ResolvedSchema(schema.format, schema.text, (*bindings, *bind_imports(schema.format, schema.imports)))
