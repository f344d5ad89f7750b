"""What a registry raises, as JSON and back: the same class with the same members, whoever decided."""

from typing import Any

from treaty.core.finding import Fault, Finding
from treaty.core.refusals import (
    ERROR_CLASSES,
    Incompatible,
    InvalidSchema,
    OutcomeUnknown,
    Reason,
    Refusal,
    RegistryError,
    Unauthenticated,
    Unavailable,
    error_tag,
)
from treaty.wire.peer.forms import FormError, Json, form, unform


def error_form(error: RegistryError) -> Json:
    """Return an error as JSON. A class that only a plug-in knows travels as the nearest one known here."""
    members: dict[str, Any] = {"kind": error_tag(error)}
    if isinstance(error, Unavailable):
        return {**members, "message": str(error), "retry_after": float(error.retry_after)}
    if isinstance(error, OutcomeUnknown):
        return {**members, "command_id": error.command_id}
    assert isinstance(error, Refusal)
    members["reason"] = form(error.reason)
    if isinstance(error, InvalidSchema):
        members["faults"] = form(error.faults)
    if isinstance(error, Incompatible):
        members["findings"] = form(error.findings)
    if isinstance(error, Unauthenticated):
        members["challenges"] = form(error.challenges)
    return members


def error_from(json: Json) -> RegistryError:
    """Build an error from its JSON; raises `FormError`."""
    known = ERROR_CLASSES.get(json.get("kind", "")) if isinstance(json, dict) else None
    if known is None:
        raise FormError(f"no error that this version knows: {str(json)[:100]}")
    given: dict[str, Json] = {name: member for name, member in json.items() if name != "kind"}
    try:
        error = _built(known, given)
    except KeyError as missing:
        raise FormError(f"{known.__name__} lacks its member {missing}") from None
    if given:
        raise FormError(f"{known.__name__} has a member {min(given)[:100]!r} that this version does not know")
    return error


def _built(kind: type[RegistryError], given: dict[str, Json]) -> RegistryError:
    if issubclass(kind, Unavailable):
        return kind(unform(str, given.pop("message")), unform(float, given.pop("retry_after")))
    if issubclass(kind, OutcomeUnknown):
        return kind(unform(str, given.pop("command_id")))
    assert issubclass(kind, Refusal)
    reason = unform(Reason, given.pop("reason"))
    if issubclass(kind, InvalidSchema):
        return kind(reason, _many(Fault, given.pop("faults")))
    if issubclass(kind, Incompatible):
        return kind(reason, _many(Finding, given.pop("findings")))
    if issubclass(kind, Unauthenticated):
        return kind(reason, _many(str, given.pop("challenges")))
    return kind(reason)


def _many(kind: type[Any], json: Json) -> tuple[Any, ...]:
    if not isinstance(json, list):
        raise FormError(f"{kind.__name__}s are an array")
    return tuple(unform(kind, one) for one in json)
