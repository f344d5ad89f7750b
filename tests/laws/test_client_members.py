"""Each parameter of each method of the client reaches the request, in a member of its own; the method for asyncio sends the same request."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from treaty.client.async_connection import AsyncConnection
from treaty.client.connection import Connection
from treaty.core.names import Subject

Exchange = Callable[..., Any]


def methods_of(kind: type) -> dict[str, Exchange]:
    return {name: method.__wrapped__ for name, method in vars(kind).items() if hasattr(method, "__wrapped__")}


METHODS = methods_of(Connection)
PARAMETERS = [(name, one) for name, exchange in METHODS.items() for one in inspect.signature(exchange).parameters]
MEMBERS: Mapping[str, str] = {
    "schema": "draft",
    "format_": "format",
    "try_change schema": "new",
    "version number": "version",
    "delete_version number": "version",
    "referenced_by number": "version",
    "ordinal number": "ordinal",
    "typed_version number": "type_version",
    "set_level level": "change",
    "add_codec name": "codec",
    "add_codec properties": "codec",
    "associate specs": "wishes",
}
"""Members of requests with another name than the parameter, which stands alone or behind its method."""


def value_of(hint: Any, at: int) -> Any:
    """Return one of two values of a type; `at` is 0 or 1, and no part of one is in the other."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        some = [one for one in inside if one is not type(None)]
        return value_of(int if int in some else next((one for one in some if one is not str), some[0]), at)
    if origin is Literal:
        return inside[-1 - at]
    if origin is tuple:
        return tuple(value_of(one, at) for one in inside if one is not Ellipsis)
    if origin is not None:  # keys by their digests
        return {f"{at}" * 64: value_of(inside[1], at)}
    plain: Mapping[Any, Any] = {
        bool: bool(at), int: 7 + at, str: f"word{at}", bytes: bytes([at]), Subject: Subject(".", f"s{at}"),
    }  # fmt: skip
    if hint in plain:
        return plain[hint]
    hints = get_type_hints(hint)
    return hint(**{one.name: value_of(hints[one.name], at) for one in fields(hint)})


def request_of(exchange: Exchange, parameter: str, at: int) -> Any:
    """Return the first request of a method that gets what it needs, and one of two values for this parameter."""
    hints, signature = get_type_hints(exchange), inspect.signature(exchange)
    args: list[Any] = []
    named: dict[str, Any] = {}
    several = any(one.kind is one.VAR_POSITIONAL for one in signature.parameters.values())
    for name, one in signature.parameters.items():
        if name == parameter or one.default is one.empty:
            value = value_of(hints[name], at if name == parameter else 0)
            if several and one.kind is not one.KEYWORD_ONLY:
                args.append(value)
            else:
                named[name] = value
    return next(exchange(*args, **named))


@pytest.mark.parametrize(("method", "parameter"), PARAMETERS, ids=[" ".join(one) for one in PARAMETERS])
def test_each_parameter_of_a_method_is_a_member_of_its_request(method: str, parameter: str) -> None:
    first, second = (request_of(METHODS[method], parameter, at) for at in (0, 1))
    differing = {one.name for one in fields(first) if getattr(first, one.name) != getattr(second, one.name)}
    member = MEMBERS.get(f"{method} {parameter}", MEMBERS.get(parameter, parameter))
    assert differing == {member}


def test_methods_for_asyncio_send_the_same_requests() -> None:
    assert methods_of(AsyncConnection) == METHODS
