"""Schemas that come with a source: they are versions first, and what it is bound to."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import Event
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.registering import register
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.refusals import InvalidSource
from treaty.core.sources import SchemaPin, SourcePart

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
