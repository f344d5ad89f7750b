"""Errors of a registry become JSON between nodes and are read again, with class and members."""

from typing import Any

from treaty.core.finding import Diagnostic, Finding
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
from treaty.core.state.codec import DecodeError, Json, encode_message, message_reader


def encode_error(error: RegistryError) -> Json:
    """Return an error as JSON. A class that only a plug-in knows travels as the nearest one known here."""
    members: dict[str, Any] = {"kind": error_tag(error)}
    if isinstance(error, Unavailable):
        return {**members, "message": str(error), "retry_after": float(error.retry_after)}
    if isinstance(error, OutcomeUnknown):
        return {**members, "command_id": error.command_id}
    assert isinstance(error, Refusal)
    members["reason"] = encode_message(error.reason)
    if isinstance(error, InvalidSchema):
        members["faults"] = [encode_message(one) for one in error.faults]
    if isinstance(error, Incompatible):
        members["findings"] = [encode_message(one) for one in error.findings]
    if isinstance(error, Unauthenticated):
        members["challenges"] = list(error.challenges)
    return members


def decode_error(json: Json) -> RegistryError:
    """Build an error from its JSON; raises `DecodeError`."""
    error_class = ERROR_CLASSES.get(json.get("kind", "")) if isinstance(json, dict) else None
    if error_class is None:
        raise DecodeError(f"unknown error type in peer reply: {str(json)[:100]}")
    members: dict[str, Json] = {name: member for name, member in json.items() if name != "kind"}
    try:
        error = _build_error(error_class, members)
    except KeyError as missing:
        raise DecodeError(f"{error_class.__name__} lacks its member {missing}") from None
    if members:
        raise DecodeError(f"{error_class.__name__} has a member {min(members)[:100]!r} that this version does not know")
    return error


def _build_error(kind: type[RegistryError], members: dict[str, Json]) -> RegistryError:
    if issubclass(kind, Unavailable):
        return kind(_take(members, "message", str), _take(members, "retry_after", float))
    if issubclass(kind, OutcomeUnknown):
        return kind(_take(members, "command_id", str))
    assert issubclass(kind, Refusal)
    reason = _take(members, "reason", Reason)
    if issubclass(kind, InvalidSchema):
        return kind(reason, _take(members, "faults", tuple[Diagnostic, ...]))
    if issubclass(kind, Incompatible):
        return kind(reason, _take(members, "findings", tuple[Finding, ...]))
    if issubclass(kind, Unauthenticated):
        return kind(reason, _take(members, "challenges", tuple[str, ...]))
    return kind(reason)


def _take(members: dict[str, Json], name: str, hint: Any) -> Any:
    return message_reader(hint, name)(members.pop(name))
