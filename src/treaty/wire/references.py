"""Schemas with what they refer to, for answers that print a schema in another way than it is stored."""

from dataclasses import replace

from treaty.core.answers import SchemaFound, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.registry import AsyncRegistry, CallOptions
from treaty.core.requests import GetVersion
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema, bind_imports

KnownSchemas = dict[tuple[str, int], ResolvedSchema]
"""Schemas that were read for an answer, by subject and version number."""
VIEW_BYTES = 4_096
"""Characters of a schema and what it refers to that are printed in the event loop; more are on a thread."""


async def resolve_schema(
    registry: AsyncRegistry, call: CallOptions, found: SchemaFound | VersionFound, known: KnownSchemas
) -> ResolvedSchema:
    """Follow references to what they mean; each version is asked for once, and added to `known`.

    Eventual reads are enough: tables with the schema have its references, which cannot be removed before it. Raises
    `Forbidden` where the caller may not read one.
    """
    context = found.context if isinstance(found, SchemaFound) else subject_of(found.subject).context
    eventual = replace(call, consistency="eventual")
    bindings = []
    for one in found.references:
        target = Subject(context, "").sibling(one.subject)
        place = (str(target), one.version)
        if place not in known:
            asked = GetVersion(target, one.version, deleted=True, exact=True)
            referred = (await registry.ask(asked, eventual)).answer
            known[place] = await resolve_schema(registry, call, referred, known)
        bindings.append(ResolvedReference(one.name, str(target), one.version, known[place]))
    return ResolvedSchema(found.format, found.text, (*bindings, *bind_imports(found.format, found.imports)))
