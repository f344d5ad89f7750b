"""What sources that are bound to versions do when those are to go."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import Event
from tests.simulation.judging.model.metastore.state import pinning, sources
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.registering import register
from tests.simulation.judging.model.rights import may_source
from treaty.core import limits
from treaty.core.names import subject_of
from treaty.core.refusals import InvalidSource, SchemaPinned
from treaty.core.requests import Register
from treaty.core.sources import SchemaPin, SourcePart


def refuse_if_pinned(past: Past, going: list[VersionNow]) -> None:
    """Nothing that a source is bound to goes for good, by no kind of force."""
    if any(pinning(past, version) for version in going):
        raise No(SchemaPinned, "SOURCE_PINNED")


Given = tuple[SourcePart | None, Register | None]
"""A key or value, and the schema that comes with it."""


def register_parts(
    past: Past, asking: Asking, parts: tuple[Given, Given]
) -> tuple[list[Event], tuple[SourcePart | None, SourcePart | None]]:
    """The schemas that come with a source are versions before it is made; those versions are its pins."""
    for part, schema in parts:
        if schema is not None and (part is None or part.pin is not None):
            raise No(InvalidSource, "SCHEMA_PART")
    events, pinned = list[Event](), list[SourcePart | None]()
    for part, schema in parts:
        if part is None or schema is None:
            pinned.append(part)
            continue
        registered = register(past.then(events), asking, schema)
        events += registered.events
        pinned.append(replace(part, pin=_pin(past.then(events), registered, schema)))
    return events, (pinned[0], pinned[1])


def _pin(past: Past, registered: Yes, schema: Register) -> SchemaPin:
    version = registered.answer.version
    subject = subject_of(version.subject, schema.subject.context)
    return SchemaPin(*subject, past.subjects[subject].generation, version.ordinal, version.schema_id)


def warned_of(past: Past, asking: Asking, going: list[VersionNow]) -> tuple[str, ...]:
    """Names of the sources that a soft delete is warned of, as far as the caller may read them."""
    keys = {key for version in going for key in pinning(past, version)}
    shown = (key for key in keys if asking.access is None or may_source(asking.access, "read", key))
    return tuple(sorted(sources(past)[key].name for key in shown)[: limits.WARNED_SOURCES])
