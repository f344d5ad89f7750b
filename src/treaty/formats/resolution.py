"""A text bound to the texts that it needs: names followed among given texts, cycles and conflicts found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.core.finding import Diagnostic
from treaty.core.limits import REFERENCE_DEPTH, REFERENCES
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import Format, InvalidSchemaError, ReferenceName


def resolve_references(form: Format[Any], text: str, texts: Mapping[str, str]) -> ResolvedSchema:
    """What a text means when each name that it needs leads to the text given under that name, and so on from there.

    A name is the full name of a type (Avro), the URI of a ``$ref`` without fragment (JSON Schema) or the path of an
    import (Protobuf). Given texts that are not needed are left out. Nothing is fetched. Raises `InvalidSchemaError` for
    names that are not given (all of them together), for cycles, and past the limits of references.
    """
    return _ReferenceResolver(form, texts).resolve(text, ())


@dataclass(slots=True)
class _ReferenceResolver:
    form: Format[Any]
    given: Mapping[str, str]
    known: dict[str, ResolvedSchema] = field(default_factory=dict)

    def resolve(self, text: str, chain: tuple[str, ...]) -> ResolvedSchema:
        """The meaning of a text that `chain` leads to."""
        needed = self.form.references(text)
        missing = [one for one in needed if one.name not in self.given]
        if missing:
            raise InvalidSchemaError(tuple(self._make_missing_fault(reference, chain) for reference in missing))
        bindings = tuple(ResolvedReference(one.name, one.name, 1, self._follow(one, chain)) for one in needed)
        return ResolvedSchema(self.form.name, text, bindings)

    def _follow(self, reference: ReferenceName, chain: tuple[str, ...]) -> ResolvedSchema:
        name, way = reference.name, (*chain, reference.name)
        if name in chain:
            message = f"references go in a circle: {' -> '.join(way[chain.index(name) :])}"
            raise InvalidSchemaError(
                (Diagnostic("REFERENCE_CYCLE", reference.path, message, "references without a way back"),)
            )
        if len(way) > REFERENCE_DEPTH:
            message = f"references nest deeper than the limit REFERENCE_DEPTH of {REFERENCE_DEPTH}"
            allowed = f"at most {REFERENCE_DEPTH} links in a chain"
            raise InvalidSchemaError((Diagnostic("REFERENCES_TOO_DEEP", reference.path, message, allowed),))
        if name not in self.known:
            if len(self.known) >= REFERENCES:
                message = f"more references than the limit REFERENCES of {REFERENCES}"
                allowed = f"at most {REFERENCES}, those of references included"
                raise InvalidSchemaError((Diagnostic("TOO_MANY_REFERENCES", reference.path, message, allowed),))
            self.known[name] = self.resolve(self.given[name], way)
        return self.known[name]

    def _make_missing_fault(self, reference: ReferenceName, chain: tuple[str, ...]) -> Diagnostic:
        where = f" (needed by {chain[-1]!r})" if chain else ""
        names = ", ".join(sorted(self.given)[:10]) or "none"
        message = f"the name {reference.name!r} leads nowhere{where}"
        return Diagnostic(
            "REFERENCE_MISSING", reference.path, message, f"a reference under that name; given are: {names}"
        )


def find_conflicts(schema: ResolvedSchema) -> tuple[Diagnostic, ...]:
    """Names under which one schema and its references need different texts, each reported once.

    Readers take the first text they meet under a name, as the reference implementation does unless it is asked to be
    strict about versions (Confluent's ``reference.versions.strict``).
    """
    met: dict[str, ResolvedReference] = {}
    conflicts: dict[str, Diagnostic] = {}
    for binding in _bindings(schema):
        first = met.setdefault(binding.name, binding)
        if first.meaning.digest != binding.meaning.digest and binding.name not in conflicts:
            sides = " and ".join(f"{side.subject} version {side.version}" for side in (first, binding))
            message = f"the name {binding.name!r} leads to different schemas: {sides}"
            conflicts[binding.name] = Diagnostic("REFERENCE_CONFLICT", "", message, "one version of it everywhere")
    return tuple(conflicts.values())


def _bindings(schema: ResolvedSchema) -> Iterator[ResolvedReference]:
    """Every binding that a meaning leads to; what stands behind equal meanings is walked once."""
    digests: set[bytes] = set()
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if current.digest not in digests:
            digests.add(current.digest)
            yield from current.bindings
            waiting += (one.meaning for one in reversed(current.bindings))
