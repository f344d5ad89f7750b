"""Frozen values to JSON text and back: canonical, and members that nobody knows are kept.

The text of a value is canonical (members sorted, no blanks, members at their default left out), so that equal values
have equal bytes and digests can be taken over them.
"""

import base64
import json
import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

V = TypeVar("V")
Json = Any
"""What `json.loads` returns; stands only at this edge."""

SHARED = 1_000
"""Values of one kind that rows share where the kind says `shared`; what falls out is read anew."""
_PAIRS = tuple[tuple[str, str], ...]
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
# `encode` builds a C encoder anew at every call, which costs more than a row's worth of encoding; this one is kept.
_MAKE: Callable[..., Callable[[Any, int], tuple[str, ...]]] | None = getattr(json.encoder, "c_make_encoder", None)
_ONCE = _MAKE and _MAKE(None, _ENCODER.default, json.encoder.encode_basestring, None, ":", ",", True, False, False)


class DecodeError(ValueError):
    """A JSON value does not have the shape that a row or answer of this kind has."""


def dumps(value: Json) -> str:
    """Return the canonical JSON text of a JSON value."""
    return "".join(_ONCE(value, 0)) if _ONCE else _ENCODER.encode(value)


def encode(value: Any) -> Json:
    """Return the portable JSON form of a frozen dataclass, without the members that stand at their default."""
    members: dict[str, Json] = {}
    for name, default, to_json, _ in _plan(cast("Any", type(value))):
        member = getattr(value, name)
        if member != default or type(member) is not type(default):
            members[name] = to_json(member) if to_json else member
    return members


def decode(kind: type[V], members: Json, *, ignore: bool = False) -> tuple[V, tuple[tuple[str, str], ...]]:
    """Build a `kind` from its portable form; also return the members it does not know, as (name, JSON text).

    Raises `DecodeError` where a member is missing or has another type.
    """
    if not isinstance(members, dict):
        message = f"expected an object for {kind.__name__}, got {type(members).__name__}"
        raise DecodeError(message)
    arguments: dict[str, Json] = {}
    for name, default, _, from_json in _plan(cast("Any", kind)):
        if name in members:
            arguments[name] = from_json(members[name])
        elif default is MISSING:
            message = f"{kind.__name__} lacks its member {name!r}"
            raise DecodeError(message)
    unknown = [] if ignore or len(arguments) == len(members) else sorted(members.keys() - arguments.keys())
    return kind(**arguments), tuple((name, dumps(members[name])) for name in unknown)


# A plan has a line per member: name, default, to JSON (None where the value is its own JSON), from JSON.
_Line = tuple[str, Any, Callable[[Any], Json] | None, Callable[[Json], Any]]


@cache
def _plan(kind: Hashable) -> tuple[_Line, ...]:
    assert isinstance(kind, type)
    hints = get_type_hints(kind)
    return tuple(
        (field.name, _default(field), *_pair(hints[field.name], f"{kind.__name__}.{field.name}"))
        for field in fields(kind)
        if field.init and field.name != "extra"
    )


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def _pair(hint: Any, where: str) -> tuple[Callable[[Any], Json] | None, Callable[[Json], Any]]:
    """Return the two converters of a member with this type hint."""
    if hint in {str, int, bool, float}:
        return None, _scalar(hint, where)
    if hint is bytes:
        text = _scalar(str, where)
        return (lambda data: base64.b64encode(data).decode()), (lambda one: base64.b64decode(text(one), validate=True))
    if hint == _PAIRS:
        return dict, lambda members: tuple(sorted(_object(members, where).items()))
    if get_origin(hint) is tuple:
        return _sequence(hint, where)
    if get_origin(hint) in {Union, types.UnionType}:
        (inner,) = (one for one in get_args(hint) if one is not type(None))
        to_json, from_json = _pair(inner, where)
        return _optional(to_json) if to_json else None, _optional(from_json)
    if isinstance(hint, type) and is_dataclass(hint):
        keep: Callable[[Any], Any] = lru_cache(SHARED)(_same) if getattr(hint, "shared", False) else _same
        return encode, lambda members: keep(decode(hint, members, ignore=True)[0])
    message = f"no portable form for {where}: {hint}"
    raise TypeError(message)


def _same(value: V) -> V:
    """The value; with a cache around it the first one of all equal ones, so that a million rows share a few."""
    return value


def _sequence(hint: Any, where: str) -> tuple[Callable[[Any], Json], Callable[[Json], Any]]:
    arguments = get_args(hint)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        to_json, from_json = _pair(arguments[0], where)
        return (
            (lambda items: [to_json(item) for item in items]) if to_json else list,
            lambda items: tuple(from_json(item) for item in _array(items, where)),
        )
    pairs = [_pair(one, where) for one in arguments]
    return (
        lambda items: [to(item) if to else item for (to, _), item in zip(pairs, items, strict=True)],
        lambda items: tuple(back(item) for (_, back), item in zip(pairs, _array(items, where), strict=True)),
    )


def _optional(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else convert(value)


def _scalar(kind: type[Any], where: str) -> Callable[[Json], Any]:
    def check(value: Json) -> Any:
        if type(value) is kind:
            return value
        message = f"{where} must be {kind.__name__}, got {type(value).__name__}"
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
