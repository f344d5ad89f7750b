"""Pins: the versions of subjects that sources are bound to."""

from treaty.core.refusals import NotLatest
from treaty.core.sources import SchemaPin, SourcePart
from treaty.core.state.state_tables import SCHEMA, VERSION, SchemaKey, VersionKey
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


def is_live(view: View, pin: SchemaPin) -> bool:
    """Return whether a pin is a live version."""
    version = view.get(VERSION, VersionKey(pin.context, pin.subject, pin.generation, pin.ordinal))
    return version is not None and version.state == "live" and version.schema_id == pin.schema_id


def is_kept(view: View, pin: SchemaPin) -> bool:
    """Return whether the version of a pin is there, deleted softly or not, and its schema."""
    version = view.get(VERSION, VersionKey(pin.context, pin.subject, pin.generation, pin.ordinal))
    schema = view.get(SCHEMA, SchemaKey(pin.context, pin.schema_id))
    return version is not None and version.state != "purged" and schema is not None
