"""Resolves a schema: fetches the texts of its references from a registry."""

from treaty.core.limits import REFERENCE_DEPTH, REFERENCES
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import TooLarge
from treaty.core.registry import Exchange, Registry, request_answer, run_exchange
from treaty.core.schema import Pairs, Reference
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema, bind_imports

Known = dict[tuple[Subject, int], ResolvedSchema]


def fetch_resolved_schema(
    registry: Registry,
    format_: str,
    text: str,
    references: tuple[Reference, ...],
    within: Subject,
    *,
    imports: Pairs = (),
) -> ResolvedSchema:
    """Return a schema of the context or subject `within`, with the texts of its references and the files that came with it.

    Each is fetched once. Raises `TooLarge` past the limits of references, and the registry's error for a missing one.
    """
    return run_exchange(registry, resolve_schema(format_, text, references, within, imports=imports))


def resolve_schema(
    format_: str, text: str, references: tuple[Reference, ...], within: Subject, *, imports: Pairs = ()
) -> Exchange[ResolvedSchema]:
    """Return what `fetch_resolved_schema` does, as an exchange."""
    bindings = yield from _resolve(references, within, {}, 1)
    return ResolvedSchema(format_, text, (*bindings, *bind_imports(format_, imports)))


def _resolve(
    references: tuple[Reference, ...], within: Subject, resolved: Known, depth: int
) -> Exchange[tuple[ResolvedReference, ...]]:
    if references and depth > REFERENCE_DEPTH:
        message = "the schema's references nest too deep"
        raise TooLarge.of("REFERENCE_DEPTH", message, allowed=f"at most {REFERENCE_DEPTH} links")
    bindings = []
    for reference in references:
        subject = within.sibling(reference.subject)
        place = (subject, reference.version)
        if place not in resolved:
            if len(resolved) >= REFERENCES:
                raise TooLarge.of("REFERENCES", "the schema has too many references", allowed=f"at most {REFERENCES}")
            version = yield from request_answer(GetVersion(subject, reference.version, deleted=True, exact=True))
            inner = yield from _resolve(version.references, subject, resolved, depth + 1)
            bound = (*inner, *bind_imports(version.format, version.imports))
            resolved[place] = ResolvedSchema(version.format, version.text, bound)
        bindings.append(ResolvedReference(reference.name, str(subject), reference.version, resolved[place]))
    return tuple(bindings)
