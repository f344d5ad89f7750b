"""A command on its way to another node, and what that node says of it: as values, and as bytes both ways."""

import json
import math
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, get_args

from treaty.core.command import Command
from treaty.core.decide import LAWS
from treaty.core.limits import CREDENTIALS_KNOWN, PEER_BYTES
from treaty.core.refusals import RegistryError
from treaty.core.registry import Reply, Token
from treaty.core.requests import Request
from treaty.core.rights import Access, Rule
from treaty.wire.peer.errors import error_form, error_from
from treaty.wire.peer.forms import FormError, Json, form, unform

VERSION = 1
"""Of what is written here. A node that speaks another one refuses, and says which it speaks."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A command that another node is to decide in this one's place.

    Its commit has a sequence of at most `last`, or there is none: once the log is past it, whoever handed it over knows
    from the log alone what became of it. It may be with a third node, which decides it up to `elsewhere` (0: it is not):
    an answer that writes nothing holds only at that sequence or later.
    """

    command: Command[Any]
    seconds: float
    """What is left of its time."""
    last: int
    elsewhere: int = 0
    place: Token = field(default_factory=lambda: Token("", 0, ""))
    """What the node that hands it over has read of the log."""
    request_id: str = field(default="", compare=False)
    """Of the request that it came with, for log lines; it does not travel in here."""


@dataclass(frozen=True, slots=True)
class Done:
    """It was decided, and its answer is durable at the token's place."""

    reply: Reply[Any]


@dataclass(frozen=True, slots=True)
class Refused:
    """A registry's no, as known at the token's place. Only `OutcomeUnknown` leaves open whether something was written."""

    error: RegistryError
    token: Token


@dataclass(frozen=True, slots=True)
class Moved:
    """Not for that node to decide (any more), and it will not; `address` is the node that had best, if it knows one."""

    address: str = ""


@dataclass(frozen=True, slots=True)
class Late:
    """The log was past the last sequence before it could be decided; it will not be."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A fault in that node; nothing was written."""

    message: str


Told = Done | Refused | Moved | Late | Failed
"""What a node says of a command that was handed to it."""


class PeerAwayError(Exception):
    """A node could not be asked, or its answer did not come. `left`: the command may have reached it all the same."""

    def __init__(self, message: str, *, left: bool) -> None:
        """Keep whether the command may be there."""
        super().__init__(message)
        self.left = left


class VersionError(FormError):
    """Words of another version."""


# ---------------------------------------------------------------------------------------------------- commands


def handed_bytes(handed: Handed) -> bytes:
    """Print a command; raises `FormError` where it is longer than PEER_BYTES."""
    command = handed.command
    rules = None if command.access is None else form(command.access.rules)
    return _bytes(
        {
            "version": VERSION,
            "kind": type(command.request).__name__,
            "request": form(command.request),
            "command": command.command_id,
            "time": command.time,
            "principal": command.principal,
            "rules": rules,
            "seconds": float(handed.seconds),
            "last": handed.last,
            "elsewhere": handed.elsewhere,
            "place": str(handed.place),
        }
    )


_REQUESTS: dict[str, type[Request[Any]]] = {kind.__name__: kind for kind, law in LAWS.items() if law.writes}


def handed_from(data: bytes, known: "Classes") -> Handed:
    """Read a command; raises `VersionError`, or `FormError` for what is none. `known` are the rights seen before."""
    members = _members(data)
    kind = _REQUESTS.get(_take(members, "kind", str))
    if kind is None:
        raise FormError("this version does not know such a command")
    request = unform(kind, members.pop("request", None))
    rules = members.pop("rules", None)
    command = Command(
        request,
        _take(members, "command", str),
        _take(members, "time", int),
        _take(members, "principal", str),
        None if rules is None else known.access(rules),
    )
    seconds = _take(members, "seconds", float)
    last, elsewhere = _take(members, "last", int), _take(members, "elsewhere", int)
    place = Token.parse(_take(members, "place", str))
    if members or place is None or not math.isfinite(seconds):
        raise FormError(f"the command has members that this version does not know: {sorted(members)[:5]}")
    return Handed(command, seconds, last, elsewhere, place)


@dataclass(slots=True)
class Classes:
    """Classes of rights that came with commands: the same rules are the same `Access`, so that answers about it are kept."""

    known: OrderedDict[str, Access] = field(default_factory=OrderedDict)
    most: int = CREDENTIALS_KNOWN // 10

    def access(self, rules: Json) -> Access:
        """Return the class of rights that these rules make; raises `FormError`."""
        key = json.dumps(rules)
        found = self.known.get(key)
        if found is None:
            if not isinstance(rules, list):
                raise FormError("rules are an array")
            found = self.known[key] = Access(tuple(unform(Rule, one) for one in rules))
            if len(self.known) > self.most:
                self.known.popitem(last=False)
        return found


# ---------------------------------------------------------------------------------------------------- answers


def told_bytes(told: Told) -> bytes:
    """Print what is said of a command; raises `FormError` where it is longer than PEER_BYTES."""
    match told:
        case Done(reply):
            return _bytes({"version": VERSION, "done": form(reply.answer), "token": str(reply.token)})
        case Refused(error, token):
            return _bytes({"version": VERSION, "refused": error_form(error), "token": str(token)})
        case Moved(address):
            return _bytes({"version": VERSION, "moved": address})
        case Late():
            return _bytes({"version": VERSION, "late": True})
        case Failed(message):
            return _bytes({"version": VERSION, "failed": message})


def told_from(data: bytes, request: Request[Any]) -> Told:
    """Read what is said of a command with this request; raises `VersionError`, or `FormError` for what is nothing."""
    members = _members(data)
    token = Token.parse(_take(members, "token", str)) if "token" in members else None
    match members:
        case {"done": answer, **rest} if not rest and token is not None:
            return Done(Reply(unform(answer_of(type(request)), answer), token))
        case {"refused": error, **rest} if not rest and token is not None:
            return Refused(error_from(error), token)
        case {"moved": str(address), **rest} if not rest:
            return Moved(address)
        case {"late": True, **rest} if not rest:
            return Late()
        case {"failed": str(message), **rest} if not rest:
            return Failed(message)
    raise FormError(f"that is nothing to say of a command: {sorted(members)[:5]}")


def answer_of(kind: type[Request[Any]]) -> type[Any]:
    """The class of the answer to a kind of request."""
    (base,) = (one for one in getattr(kind, "__orig_bases__", ()) if get_args(one))
    found: type[Any] = get_args(base)[0]
    return found


# ---------------------------------------------------------------------------------------------------- bytes


def _bytes(members: dict[str, Json]) -> bytes:
    data = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(data) > PEER_BYTES:
        raise FormError(f"{len(data)} bytes, and at most {PEER_BYTES} travel between nodes (limit PEER_BYTES)")
    return data


def _members(data: bytes) -> dict[str, Json]:
    try:
        members = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        raise FormError("that is no JSON") from None
    if not isinstance(members, dict):
        raise FormError("that is no object")
    version = members.pop("version", None)
    if version != VERSION:
        raise VersionError(
            f"version {str(version)[:20]} of what nodes say to each other, and this node speaks {VERSION}"
        )
    return members


def _take(members: dict[str, Json], name: str, kind: type[Any]) -> Any:
    if type(members.get(name)) is not kind:
        raise FormError(f"{name} is missing, or no {kind.__name__}")
    return members.pop(name)
