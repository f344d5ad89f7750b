"""A schema with everything that it refers to, fetched from a registry."""

from treaty.client.serializers.choosing import Text
from treaty.client.serializers.failures import BadValue
from treaty.core.limits import REFERENCE_DEPTH, REFERENCES
from treaty.core.meaning import Binding, Meaning
from treaty.core.names import Subject
from treaty.core.registry import Registry
from treaty.core.requests import GetVersion

Known = dict[tuple[Subject, int], Meaning]


def meaning_of(registry: Registry, format_: str, text: Text) -> Meaning:
    """What a schema means: its text with the texts that its references lead to, each fetched once.

    Raises `BadValue` past the limits of references, and what the registry raises for a missing one.
    """
    return _meaning(registry, format_, text, {}, 0)


def _meaning(registry: Registry, format_: str, text: Text, known: Known, depth: int) -> Meaning:
    if depth > REFERENCE_DEPTH:
        raise BadValue(f"the schema's references nest deeper than the limit REFERENCE_DEPTH of {REFERENCE_DEPTH}")
    bindings = []
    for reference in text.references:
        subject = text.within.sibling(reference.subject)
        place = (subject, reference.version)
        if place not in known:
            if len(known) >= REFERENCES:
                raise BadValue(f"the schema leads to more than {REFERENCES} others (limit REFERENCES)")
            found = registry.ask(GetVersion(subject, reference.version, deleted=True)).answer
            inner = Text(found.text, found.references, subject)
            known[place] = _meaning(registry, found.format, inner, known, depth + 1)
        bindings.append(Binding(reference.name, str(subject), reference.version, known[place]))
    return Meaning(format_, text.text, tuple(bindings))
