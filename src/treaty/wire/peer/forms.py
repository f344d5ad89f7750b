"""Frozen values as JSON values and back, exactly: what comes out is equal to what went in, and nothing is passed over.

Members at their default are left out, so that a newer version's new member does not count until somebody uses it.
"""

import types
from collections.abc import Callable, Hashable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

V = TypeVar("V")
Json = Any
"""What `json.loads` returns; stands only at this edge."""
_SCALARS = frozenset({str, int, bool, float, type(None)})


class FormError(ValueError):
    """A JSON value is not the form of such a value, or has a member that this version does not know."""


def form(value: Any) -> Json:
    """Return the JSON value of a frozen value."""
    kind: Any = type(value)
    if kind in _SCALARS:
        return value
    if isinstance(value, tuple):
        return [form(one) for one in value]
    if isinstance(value, frozenset):
        return sorted(form(one) for one in value)
    found: dict[str, Json] = {}
    for name, default, _ in _shape(kind):
        member = getattr(value, name)
        if member != default or type(member) is not type(default):
            found[name] = form(member)
    return found


def unform(kind: type[V], json: Json) -> V:
    """Build a value of a frozen class from its JSON value; raises `FormError`."""
    found: V = _reader(cast("Any", kind))(json, kind.__name__)
    return found


Reader = Callable[[Json, str], Any]
"""From a JSON value, and where it stands, to a value."""


@cache
def _shape(kind: Hashable) -> tuple[tuple[str, Any, Reader], ...]:
    hints = get_type_hints(cast("Any", kind))
    return tuple((one.name, _default(one), _reader(hints[one.name])) for one in fields(cast("Any", kind)))


def _default(one: Field[Any]) -> Any:
    return one.default_factory() if one.default_factory is not MISSING else one.default


@cache
def _reader(hint: Any) -> Reader:
    """What reads a value of this type."""
    if hint in _SCALARS:
        return _scalar(hint)
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _word(inside)
    if origin in {Union, types.UnionType}:
        kinds = tuple(each for each in inside if each is not type(None))
        read = _one_of(kinds) if len(kinds) > 1 else _reader(kinds[0])
        return read if len(kinds) == len(inside) else lambda json, where: None if json is None else read(json, where)
    if origin is frozenset:
        return lambda json, where: frozenset(_all(_reader(inside[0]), json, where))
    if origin is tuple and len(inside) == 2 and inside[1] is Ellipsis:
        return lambda json, where: tuple(_all(_reader(inside[0]), json, where))
    if origin is tuple:
        return lambda json, where: _each(inside, json, where)
    if isinstance(hint, type) and issubclass(hint, tuple):
        hints = tuple(get_type_hints(hint).values())
        return lambda json, where: hint(*_each(hints, json, where))
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda json, where: _made(hint, json, where)
    message = f"no form for {hint}"
    raise TypeError(message)


def _scalar(kind: type[Any]) -> Reader:
    def read(json: Json, where: str) -> Any:
        if type(json) is not kind:
            raise FormError(f"{where} is {type(json).__name__}, and {kind.__name__} is expected")
        return json

    return read


def _word(words: tuple[Any, ...]) -> Reader:
    def read(json: Json, where: str) -> Any:
        if json not in words:
            raise FormError(f"{where} is {str(json)[:50]!r}, and one of {', '.join(map(str, words))} is expected")
        return json

    return read


def _one_of(kinds: tuple[Any, ...]) -> Reader:
    """The first of several classes that has all members that are there, and lacks none that it needs."""

    def read(json: Json, where: str) -> Any:
        if isinstance(json, dict):
            for kind in kinds:
                shape = _shape(kind)
                needed = {name for name, default, _ in shape if default is MISSING}
                if needed <= json.keys() <= {name for name, _, _ in shape}:
                    return _made(kind, json, where)
        names = ", ".join(kind.__name__ for kind in kinds)
        raise FormError(f"{where} has not the members of one of {names}")

    return read


def _array(json: Json, where: str) -> list[Json]:
    if not isinstance(json, list):
        raise FormError(f"{where} is {type(json).__name__}, and an array is expected")
    return json


def _all(read: Reader, json: Json, where: str) -> list[Any]:
    return [read(one, where) for one in _array(json, where)]


def _each(hints: tuple[Any, ...], json: Json, where: str) -> tuple[Any, ...]:
    given = _array(json, where)
    if len(given) != len(hints):
        raise FormError(f"{where} has {len(given)} parts, and {len(hints)} are expected")
    return tuple(_reader(hint)(one, where) for hint, one in zip(hints, given, strict=True))


def _made(kind: Any, json: Json, where: str) -> Any:
    if not isinstance(json, dict):
        raise FormError(f"{where} is {type(json).__name__}, and an object is expected")
    members: dict[str, Any] = {}
    for name, default, read in _shape(kind):
        if name in json:
            members[name] = read(json[name], f"{where}.{name}")
        elif default is MISSING:
            raise FormError(f"{where} lacks its member {name!r}")
    if len(members) != len(json):
        strange = min(json.keys() - members.keys())
        raise FormError(f"{where} has a member {strange[:100]!r} that this version does not know")
    return kind(**members)
