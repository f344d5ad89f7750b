"""Who asks, for everything that runs while their request is answered."""

from contextvars import ContextVar
from dataclasses import dataclass

from starlette.types import Scope

from treaty.core.names import subject_of
from treaty.core.refusals import Forbidden
from treaty.core.rights import PERMISSIONS, Access

MAX_REQUEST_ID = 200
"""Characters of a request id that are echoed; a longer one is not."""
REQUEST_ID = b"x-request-id"


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who was let in. Without rights there is no `access` to bound them (None)."""

    principal: str = ""
    access: Access | None = None
    request_id: str = ""


_CALLER: ContextVar[Caller | None] = ContextVar("treaty.caller", default=None)


def caller() -> Caller | None:
    """Return who asks; None where nobody was let in."""
    return _CALLER.get()


def enter(who: Caller | None) -> None:
    """Say who asks, for the rest of this request's task."""
    _CALLER.set(who)


def request_id_of(scope: Scope) -> bytes:
    """Return the id that a request came with; empty where it has none that may be echoed."""
    for name, value in scope["headers"]:
        if name == REQUEST_ID and len(value) <= MAX_REQUEST_ID and value.isascii() and value.decode().isprintable():
            return bytes(value)
    return b""


def refuse_hidden_alias(asked: str, alias: str | None) -> None:
    """Raise `Forbidden`, without its name, where a subject stands for one that the caller has no right to at all."""
    who = caller()
    if alias is None or who is None or who.access is None:
        return
    if not any(who.access.may(permission, subject_of(alias)) for permission in PERMISSIONS):
        raise Forbidden.of(
            "RIGHTS",
            f"{who.principal} is not allowed to do this: subject '{asked}' stands for one that they have no right to",
            subject=asked,
            allowed="a rule for the subject that it stands for",
        )
