"""Pins: the versions of subjects that sources are bound to; a dead one is refused, and schemas of a definition are registered."""

from dataclasses import replace

from treaty.core.command import StagedView
from treaty.core.handlers.registration.register import register
from treaty.core.messages.registration import Register
from treaty.core.refusals import InvalidSource, NotLatest
from treaty.core.sources import SchemaPin, SourcePart
from treaty.core.state.state_tables import SCHEMA, SUBJECT, VERSION, SchemaKey, VersionKey
from treaty.core.state.view import View


def refuse_dead_pin(view: View, part: SourcePart | None) -> None:
    """Raise `NotLatest` where the pin of a key or value is no live version with its schema id."""
    if part is None or part.pin is None or is_live(view, part.pin):
        return
    pin = part.pin
    subject = pin.subject if pin.context == "." else f":{pin.context}:{pin.subject}"
    raise NotLatest.of(
        "PIN_NOT_LIVE",
        f"No live version of subject {subject} has the schema id {pin.schema_id}",
        path="/definition",
        subject=subject,
        new=f"generation {pin.generation}, ordinal {pin.ordinal}, schema id {pin.schema_id}",
        allowed="read the subject and pin a version that is there",
    )


SchemaOfPart = tuple[SourcePart | None, Register | None]
"""A key or value, and the schema that is registered for it; None without one."""


def register_parts(
    stage: StagedView, key: SchemaOfPart, value: SchemaOfPart
) -> tuple[SourcePart | None, SourcePart | None]:
    """Register the schemas of key and value, each through the policy of its subject, and return both with their versions as pins."""
    for name, (part, schema) in (("key", key), ("value", value)):
        if schema is not None and (part is None or part.pin is not None):
            raise InvalidSource.of(
                "SCHEMA_PART",
                f"A schema of the {name} is registered, and the source has no {name} without a pin",
                path=f"/{name}_schema",
                allowed=f"a {name} with a format and without a pin",
            )
    return _register_part(stage, key), _register_part(stage, value)


def _register_part(stage: StagedView, schema_of_part: SchemaOfPart) -> SourcePart | None:
    part, schema = schema_of_part
    if part is None or schema is None:
        return part
    decision = register(stage.view, replace(stage.command, request=schema), stage.engine)
    stage.put(decision.rows)
    version = decision.answer.version
    home = stage.view.get(SUBJECT, schema.subject)
    assert home is not None, "a subject with a version has a row"
    return replace(part, pin=SchemaPin(*schema.subject, home.generation, version.ordinal, version.schema_id))


def is_live(view: View, pin: SchemaPin) -> bool:
    """Return whether a pin is a live version."""
    version = view.get(VERSION, VersionKey(pin.context, pin.subject, pin.generation, pin.ordinal))
    return version is not None and version.state == "live" and version.schema_id == pin.schema_id


def is_kept(view: View, pin: SchemaPin) -> bool:
    """Return whether the version of a pin is there, deleted softly or not, and its schema."""
    version = view.get(VERSION, VersionKey(pin.context, pin.subject, pin.generation, pin.ordinal))
    schema = view.get(SCHEMA, SchemaKey(pin.context, pin.schema_id))
    return version is not None and version.state != "purged" and schema is not None
