"""Batches: several forwarded commands in one body, and the lines of their replies.

Each command and each reply is parsed separately, so that an unreadable one does not affect the others.
"""

import json
import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import field
from typing import Any

import msgspec

from treaty.core import operations
from treaty.core.access.rights import Access, AccessRule
from treaty.core.command import Command
from treaty.core.limits import CREDENTIALS_KNOWN, PEER_BATCH, PEER_BYTES
from treaty.core.messages.request import Request
from treaty.core.operations import OPERATIONS
from treaty.core.registry import Reply
from treaty.core.state.codec import DecodeError, Json, decode_message, encode_message
from treaty.core.state.commit import PositionToken
from treaty.light_dataclass import dataclass
from treaty.wire.peer.errors import decode_error, encode_error
from treaty.wire.peer.message import (
    BarrierPassed,
    DecidedReply,
    DeclinedReply,
    FailedReply,
    ForwardedCommand,
    ForwardReply,
    NotLeaderReply,
    ReadBarrier,
    RefusedReply,
    SequenceExceededReply,
)

VERSION = 3
"""Of what is written here. A node that speaks another one refuses, and says which it speaks."""
_BODY = b'{"version":%d,"commands":[' % VERSION
_LINE = b'{"version":%d,"told":[' % VERSION
FRAME_BYTES = len(_BODY) + 2
"""Bytes of a body beside its commands."""
LINE_BYTES = PEER_BYTES + 1_000
"""Bytes of one line of answers, at most."""


class VersionError(DecodeError):
    """Words of another version."""


# ---------------------------------------------------------------------------------------------------- commands


def encode_command(forwarded: ForwardedCommand) -> bytes:
    """Print a command; raises `DecodeError` where it is longer than PEER_BYTES."""
    command = forwarded.command
    rules = None if command.access is None else [encode_message(one) for one in command.access.rules]
    return _encode_members(
        {
            "kind": _tag_of(command.request),
            "request": encode_message(command.request),
            "command": command.command_id,
            "time": command.time,
            "principal": command.principal,
            "rules": rules,
            "seconds": float(forwarded.seconds),
            "last": forwarded.last,
            "elsewhere": forwarded.elsewhere,
            "place": str(forwarded.place),
            "asked": forwarded.request_id,
            **({"again": True} if command.again else {}),
        }
    )


def encode_batch(commands: Iterable[bytes]) -> bytes:
    """Put printed commands into one body."""
    return b"".join((_BODY, b",".join(commands), b"]}"))


def decode_batch(data: bytes, known_access: "KnownAccess") -> tuple[ForwardedCommand | DeclinedReply, ...]:
    """Read a body, command by command: what this version does not know is a `DeclinedReply`. `known_access` are rights seen before.

    Raises `VersionError`, and `DecodeError` for what is no body or has more than PEER_BATCH commands.
    """
    commands = _members(data).get("commands")
    if not isinstance(commands, list):
        raise DecodeError("commands are an array")
    if len(commands) > PEER_BATCH:
        raise DecodeError(f"{len(commands)} commands, and at most {PEER_BATCH} travel at once (limit PEER_BATCH)")
    return tuple(_command(one, known_access) for one in commands)


_READ_BARRIER = "read-barrier"


def _tag_of(request: Request[Any]) -> str:
    return _READ_BARRIER if isinstance(request, ReadBarrier) else OPERATIONS[type(request)].name


def _request_of(tag: str) -> type[Request[Any]] | None:
    if tag == _READ_BARRIER:
        return ReadBarrier
    operation = operations.NAMED_OPERATIONS.get(tag)
    return operation.request if operation is not None and operation.writes else None


def _answer_of(request: Request[Any]) -> type[Any]:
    return BarrierPassed if isinstance(request, ReadBarrier) else OPERATIONS[type(request)].answer


def _command(json: Json, known_access: "KnownAccess") -> ForwardedCommand | DeclinedReply:
    try:
        return decode_command(json, known_access)
    except DecodeError as error:
        return DeclinedReply(str(error))


def decode_command(json: Json, known_access: "KnownAccess") -> ForwardedCommand:
    """Read one command; raises `DecodeError` for what is none. `known_access` are the rights seen before."""
    if not isinstance(json, dict):
        raise DecodeError("a command is an object")
    members = dict(json)
    kind = _request_of(_take(members, "kind", str))
    if kind is None:
        raise DecodeError("this version does not know such a command")
    request = decode_message(kind, members.pop("request", None))
    rules = members.pop("rules", None)
    command = Command(
        request,
        _take(members, "command", str),
        _take(members, "time", int),
        _take(members, "principal", str),
        None if rules is None else known_access.access(rules),
        _take(members, "again", bool) if "again" in members else False,
    )
    seconds = _take(members, "seconds", float)
    last, elsewhere = _take(members, "last", int), _take(members, "elsewhere", int)
    place, request_id = PositionToken.parse(_take(members, "place", str)), _take(members, "asked", str)
    if members or place is None or not math.isfinite(seconds):
        raise DecodeError(f"the command has members that this version does not know: {sorted(members)[:5]}")
    return ForwardedCommand(command, seconds, last, elsewhere, place, request_id)


@dataclass(slots=True)
class KnownAccess:
    """KnownAccess of rights that came with commands: the same rules are the same `Access`, so that answers about it are
    kept.
    """

    known: OrderedDict[str, Access] = field(default_factory=OrderedDict)
    most: int = CREDENTIALS_KNOWN // 10

    def access(self, rules: Json) -> Access:
        """Return the class of rights that these rules make; raises `DecodeError`."""
        key = json.dumps(rules)
        access = self.known.get(key)
        if access is None:
            if not isinstance(rules, list):
                raise DecodeError("rules are an array")
            access = self.known[key] = Access(tuple(decode_message(AccessRule, rule) for rule in rules))
            if len(self.known) > self.most:
                self.known.popitem(last=False)
        return access


# ---------------------------------------------------------------------------------------------------- answers


def encode_reply(reply: ForwardReply) -> bytes:
    """Print what is said of a command; raises `DecodeError` where it is longer than PEER_BYTES."""
    match reply:
        case DecidedReply(decided):
            return _encode_members({"done": encode_message(decided.answer), "token": str(decided.token)})
        case RefusedReply(error, token):
            return _encode_members({"refused": encode_error(error), "token": str(token)})
        case NotLeaderReply(address):
            return _encode_members({"moved": address})
        case SequenceExceededReply():
            return _encode_members({"late": True})
        case FailedReply(message):
            return _encode_members({"failed": message})
        case DeclinedReply(message):
            return _encode_members({"declined": message})


def encode_replies(replies: Iterable[tuple[int, ForwardReply]]) -> bytes:
    """Print answers, each with the place of its command in the body, as few lines. One that is too long is left out.

    The waiting node finds the outcome in the log.
    """
    lines: list[list[bytes]] = [[]]
    size = 0
    for place, reply in replies:
        try:
            printed = b"[%d,%s]" % (place, encode_reply(reply))
        except DecodeError:
            continue
        size += len(printed) + 1
        if lines[-1] and size > PEER_BYTES:
            lines.append([])
            size = len(printed) + 1
        lines[-1].append(printed)
    return b"".join(b"".join((_LINE, b",".join(line), b"]}\n")) for line in lines)


def decode_replies(data: bytes) -> list[tuple[int, Json]]:
    """Read a line: what is said, by the place of the command that it is about. Raises `VersionError`, `DecodeError`."""
    replies = _members(data).get("told")
    if not isinstance(replies, list):
        raise DecodeError("a line of answers has an array of them")
    for reply in replies:
        if not isinstance(reply, list) or len(reply) != 2 or type(reply[0]) is not int:
            raise DecodeError("an answer is a place and what is said")
    return [(place, said) for place, said in replies]


def decode_reply(json: Json, request: Request[Any]) -> ForwardReply:
    """Read what is said of a command with this request; raises `DecodeError` for what is nothing."""
    if not isinstance(json, dict):
        raise DecodeError("an answer is an object")
    members = dict(json)
    token = PositionToken.parse(_take(members, "token", str)) if "token" in members else None
    match members:
        case {"done": answer, **rest} if not rest and token is not None:
            return DecidedReply(Reply(decode_message(_answer_of(request), answer), token))
        case {"refused": error, **rest} if not rest and token is not None:
            return RefusedReply(decode_error(error), token)
        case {"moved": str(address), **rest} if not rest:
            return NotLeaderReply(address)
        case {"late": True, **rest} if not rest:
            return SequenceExceededReply()
        case {"failed": str(message), **rest} if not rest:
            return FailedReply(message)
        case {"declined": str(message), **rest} if not rest:
            return DeclinedReply(message)
    raise DecodeError(f"invalid peer reply: unknown members {sorted(members)[:5]}")


# ---------------------------------------------------------------------------------------------------- bytes


def _encode_members(members: dict[str, Json]) -> bytes:
    try:
        data = msgspec.json.encode(members)
    except UnicodeEncodeError:  # half characters: the law refuses them with a sentence of its own, and must see them
        data = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(data) > PEER_BYTES - FRAME_BYTES:
        raise DecodeError(f"{len(data)} bytes, and at most {PEER_BYTES} travel between nodes (limit PEER_BYTES)")
    return data


def _members(data: bytes) -> dict[str, Json]:
    try:
        members = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        members = _decode_deep(data)
    if not isinstance(members, dict):
        raise DecodeError("that is no object")
    version = members.pop("version", None)
    if version != VERSION:
        raise VersionError(
            f"version {str(version)[:20]} of what nodes say to each other, and this node speaks {VERSION}"
        )
    return members


def _decode_deep(data: bytes) -> Json:
    """Read half characters too."""
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        raise DecodeError("that is no JSON") from None


def _take(members: dict[str, Json], name: str, kind: type[Any]) -> Any:
    if type(members.get(name)) is not kind:
        raise DecodeError(f"{name} is missing, or no {kind.__name__}")
    return members.pop(name)
