"""Frozen values as JSON values and back: for rows and outcomes, for digests of requests, and for what nodes and clients
say.

Members at their default are left out, so that a newer version's new member does not count until somebody uses it. The
text of a value is canonical (members sorted, no blanks), so that equal values have equal bytes and digests can be taken
over them. There are two forms: `encode` and `decode` for what is stored, which keep unknown members, and
`encode_message` and `decode_message` for what travels, which pass over nothing: what comes out is equal to what went
in.
"""

import json
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from treaty.core.schema import decode_base64, encode_base64
from treaty.light_dataclass import dataclass

V = TypeVar("V")
Json = Any
"""What `json.loads` returns; stands only at this edge."""

STEP_CHARACTERS = 65_536
"""Characters of a string that are encoded at once where others may want their turn."""
SHARED = 1_000
"""Values of one kind that rows share where the kind says `shared`, and their JSON values; a removed one is read again."""
_SCALARS = frozenset({str, int, bool, float})
_PAIRS = tuple[tuple[str, str], ...]
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
# `encode` builds a C encoder anew at every call, which costs more than a row's worth of encoding; this one is kept.
_MAKE: Callable[..., Callable[[Any, int], tuple[str, ...]]] | None = getattr(json.encoder, "c_make_encoder", None)
_ONCE = _MAKE and _MAKE(None, _ENCODER.default, json.encoder.encode_basestring, None, ":", ",", True, False, False)

_Encode = Callable[[Any], Json]
_Decode = Callable[[Json], Any]
_Member = tuple[str, Any, _Encode | None, _Decode]
"""A member's name, its default, and its two converters; the first is None where the value is its own JSON value."""
_Members = tuple[Callable[[Any], tuple[Any, ...]], tuple[_Member, ...]]
"""What reads all members of a value, and the members."""


class DecodeError(ValueError):
    """A JSON value is not the form of such a value."""


def dumps(value: Json) -> str:
    """Return the canonical JSON text of a JSON value."""
    return "".join(_ONCE(value, 0)) if _ONCE else _ENCODER.encode(value)


def dumps_in_steps(value: Json) -> str:
    """Return the same text. A long string is encoded piece by piece, so that no other thread waits for all of it."""
    return "".join(_pieces(value))


def _pieces(value: Json) -> Iterator[str]:
    if isinstance(value, str) and len(value) > STEP_CHARACTERS:
        yield '"'
        for at in range(0, len(value), STEP_CHARACTERS):
            yield dumps(value[at : at + STEP_CHARACTERS])[1:-1]
        yield '"'
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield "," if place else "["
            yield from _pieces(item)
        yield "]" if value else "[]"
    elif isinstance(value, dict):
        for place, name in enumerate(sorted(value)):
            yield f"{',' if place else '{'}{dumps(name)}:"
            yield from _pieces(value[name])
        yield "}" if value else "{}"
    else:
        yield dumps(value)


@dataclass(frozen=True, slots=True, eq=False)
class JsonCodec:
    """A form of frozen values: how pairs are written, and whether members that are not known are refused."""

    pairs_as_object: bool
    strict: bool
    _members: dict[type, _Members] = field(default_factory=dict)

    def encode(self, value: Any) -> dict[str, Json]:
        """Return the JSON object of a frozen dataclass, without the members that stand at their default."""
        members_out: dict[str, Json] = {}
        read, members = self._members.get(type(value)) or self._learn(type(value))
        for (name, default, to_json, _), member in zip(members, read(value), strict=True):
            if member is not default and (
                default is None or default is MISSING or member != default or type(member) is not type(default)
            ):
                members_out[name] = to_json(member) if to_json else member
        return members_out

    def decode(self, kind: type[V], members: Json) -> tuple[V, list[str]]:
        """Build a frozen dataclass from its JSON object; also return the names of members that it does not know."""
        if not isinstance(members, dict):
            message = f"expected an object for {kind.__name__}, got {type(members).__name__}"
            raise DecodeError(message)
        arguments: dict[str, Json] = {}
        _, converters = self._members.get(kind) or self._learn(kind)
        for name, default, _, from_json in converters:
            if name in members:
                arguments[name] = from_json(members[name])
            elif default is MISSING:
                message = f"{kind.__name__} lacks its member {name!r}"
                raise DecodeError(message)
        unknown = [] if len(arguments) == len(members) else sorted(members.keys() - arguments.keys())
        if unknown and self.strict:
            message = f"{kind.__name__} has a member {unknown[0][:100]!r} that this version does not know"
            raise DecodeError(message)
        return kind(**arguments), unknown

    def converters(self, hint: Any, where: str) -> tuple[_Encode | None, _Decode]:
        """Return the two converters of values of a type; raises `TypeError` for one that has no form."""
        origin, inside = get_origin(hint), get_args(hint)
        if hint in _SCALARS:
            return None, _scalar(hint, where)
        if hint is bytes:
            text = _scalar(str, where)
            return encode_base64, lambda value: decode_base64(text(value))
        if hint == _PAIRS and self.pairs_as_object:
            return dict, lambda members: tuple(sorted(_object(members, where).items()))
        if origin is Literal:
            return None, _word(inside, where)
        if origin is tuple or origin is frozenset:
            return self._sequence(hint, where)
        if origin in {Union, types.UnionType}:
            return self._choice(
                [kind for kind in inside if kind is not type(None)], where, optional=type(None) in inside
            )
        if isinstance(hint, type) and issubclass(hint, tuple):  # a NamedTuple
            to_json, from_json = self._parts(tuple(get_type_hints(hint).values()), where)
            return to_json, lambda items: hint(*from_json(items))
        if isinstance(hint, type) and is_dataclass(hint):
            if not getattr(hint, "shared", False):
                return self.encode, lambda members: self.decode(hint, members)[0]
            share: Callable[[Any], Any] = lru_cache(SHARED)(_as_is)
            return lru_cache(SHARED)(self.encode), lambda members: share(self.decode(hint, members)[0])
        message = f"no JSON form for {where}: {hint}"
        raise TypeError(message)

    def _learn(self, kind: type) -> _Members:
        hints = get_type_hints(kind)
        members = tuple(
            (member.name, _default(member), *self.converters(hints[member.name], f"{kind.__name__}.{member.name}"))
            for member in fields(cast("Any", kind))
            if member.init and member.name != "extra"
        )
        learned = self._members[kind] = _reader(tuple(name for name, *_ in members)), members
        return learned

    def _sequence(self, hint: Any, where: str) -> tuple[_Encode, _Decode]:
        inside = get_args(hint)
        if get_origin(hint) is frozenset:
            to_json, from_json = self.converters(inside[0], where)
            return (
                lambda items: sorted(to_json(item) if to_json else item for item in items),
                lambda items: frozenset(from_json(item) for item in _array(items, where)),
            )
        if len(inside) == 2 and inside[1] is Ellipsis:
            to_json, from_json = self.converters(inside[0], where)
            return (
                (lambda items: [to_json(item) for item in items]) if to_json else list,
                lambda items: tuple(from_json(item) for item in _array(items, where)),
            )
        return self._parts(inside, where)

    def _parts(self, hints: tuple[Any, ...], where: str) -> tuple[_Encode, _Decode]:
        """The converters of a tuple whose parts have these types."""
        pairs = [self.converters(hint, where) for hint in hints]

        def from_json(items: Json) -> tuple[Any, ...]:
            if len(_array(items, where)) != len(pairs):
                message = f"{where} has {len(items)} parts, and {len(pairs)} are expected"
                raise DecodeError(message)
            return tuple(back(item) for (_, back), item in zip(pairs, items, strict=True))

        return (lambda items: [to(item) if to else item for (to, _), item in zip(pairs, items, strict=True)], from_json)

    def _choice(self, hints: list[Any], where: str, *, optional: bool) -> tuple[_Encode | None, _Decode]:
        """The converters of a union: of one type and None, or of dataclasses that are distinguished by their members."""
        if len(hints) == 1:
            to_json, from_json = self.converters(hints[0], where)
        else:
            to_json, from_json = self.encode, self._choose_dataclass(hints, where)
        if not optional:
            return to_json, from_json
        return to_json and (lambda value: None if value is None else to_json(value)), (
            lambda value: None if value is None else from_json(value)
        )

    def _choose_dataclass(self, kinds: list[Any], where: str) -> _Decode:
        """What reads one of several dataclasses: the first one that has all members that are there, and lacks none."""

        def from_json(members: Json) -> Any:
            names = members.keys() if isinstance(members, dict) else {""}
            for kind in kinds:
                _, converters = self._members.get(kind) or self._learn(kind)
                needed = {name for name, default, *_ in converters if default is MISSING}
                if needed <= names <= {name for name, *_ in converters}:
                    return self.decode(kind, members)[0]
            message = f"{where} has not the members of one of {', '.join(kind.__name__ for kind in kinds)}"
            raise DecodeError(message)

        return from_json


# ------------------------------------------------------------------------------------------------------ what is stored

_STORED = JsonCodec(pairs_as_object=True, strict=False)
encode = _STORED.encode
"""Return the JSON object of a row's value or a stored answer."""


def decode(kind: type[V], members: Json, *, ignore: bool = False) -> tuple[V, tuple[tuple[str, str], ...]]:
    """Build a `kind` from its JSON object; also return the members it does not know, as (name, JSON text).

    Raises `DecodeError` where a member is missing or has another type.
    """
    value, unknown = _STORED.decode(kind, members)
    return value, () if ignore or not unknown else tuple((name, dumps(members[name])) for name in unknown)


# -------------------------------------------------------------------------------------------------------- what travels

_MESSAGES = JsonCodec(pairs_as_object=False, strict=True)
encode_message = _MESSAGES.encode
"""Return the JSON object of a frozen dataclass, as it travels and as a request's digest is taken of it."""


def decode_message(kind: type[V], members: Json) -> V:
    """Build a value of a frozen class from its JSON object; raises `DecodeError`, for a member that is not known too."""
    return _MESSAGES.decode(kind, members)[0]


@cache
def message_reader(hint: Any, where: str) -> Callable[[Json], Any]:
    """Return what reads values of this type out of a message; `where` is part of its `DecodeError`."""
    return _MESSAGES.converters(hint, where)[1]


# ---------------------------------------------------------------------------------------------------- single members


def _as_is(value: V) -> V:
    """The value; with a cache around it the first one of all equal ones, so that a million rows share a few."""
    return value


def _reader(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads these members of a value at once."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _default(field_: Field[Any]) -> Any:
    return field_.default_factory() if field_.default_factory is not MISSING else field_.default


def _scalar(kind: type[Any], where: str) -> _Decode:
    def check(value: Json) -> Any:
        if type(value) is kind:
            return value
        message = f"{where} must be {kind.__name__}, got {type(value).__name__}"
        raise DecodeError(message)

    return check


def _word(words: tuple[Any, ...], where: str) -> _Decode:
    def check(value: Json) -> Any:
        if value in words:
            return value
        message = f"{where} is {str(value)[:50]!r}, and one of {', '.join(map(str, words))} is expected"
        raise DecodeError(message)

    return check


def _array(value: Json, where: str) -> list[Json]:
    if isinstance(value, list):
        return value
    message = f"{where} must be an array"
    raise DecodeError(message)


def _object(value: Json, where: str) -> Mapping[str, str]:
    if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
        return value
    message = f"{where} must be an object of strings"
    raise DecodeError(message)
