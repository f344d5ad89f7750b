"""Makes the page of operations from their declarations; `make.py` writes it."""

import json
import types
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from treaty.core.access.permissions import ANYTHING, CONTEXT, RequiredPermission
from treaty.core.access.permissions import EVERYTHING as ALL
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS, Operation

_OPERATIONS = """# Operations

All requests that a registry answers. Python programs use `Registry.ask`, other clients one HTTP request:

```
POST /treaty/v1/ask
{"operation": "get-mode", "request": {"scope": {"name": "orders-value"}, "resolve": true}}

{"answer": {"mode": "READWRITE"}}
```

Members with their default value may be left out; unknown members are rejected. Position token, consistency and command id are
[headers](http.md#in-headers), and the answer has its position token in a header too. An error has Confluent's body and status, and a member `error`
with its `kind`, its `reason` (rule, path, old, new, allowed) and its other facts. A retry with the same command id has no second effect.

*Barrier* marks operations that wait for a read barrier, unless the request has `Treaty-Consistency: eventual`. *Permissions* are those of the
shortest request; for a setting, on a subject. A setting of a context needs the permission on the whole context.
[Rights](../howto/rights.md) lists the permissions of single members.

| operation | what it does | writes | barrier | permissions | answer |
|---|---|---|---|---|---|
"""
_PLAIN = {str: "text", int: "integer", bool: "boolean", float: "number", bytes: "text (base64)", type(None): "null"}


def page() -> str:
    """What may be asked of a registry, and what it needs, from the declarations."""
    lines = [_OPERATIONS.rstrip("\n")]
    shapes: dict[type[Any], None] = {}
    for one in OPERATIONS.values():
        writes, looks = "yes" if one.writes else "", "" if one.immutable else "yes"
        link = f"[`{one.name}`](#{one.name})"
        lines.append(_row(link, _sentence(one.request), writes, looks, _rights(one), _link(one.answer)))
        for hint in (one.answer, *_hints(one.request).values()):
            _collect(hint, shapes)
    lines += ["", "## Requests"]
    for one in OPERATIONS.values():
        limits_of = ", ".join(f"`{name}`" for name in one.limits)
        lines += ["", f"### {one.name}", "", _told(one.request), *_members(one.request)]
        lines += ["", f"Its [limits](limits.md): {limits_of}."] if limits_of else []
    lines += ["", "## Values", "", "What requests and answers are made of."]
    for kind in sorted(shapes, key=lambda one: one.__name__):
        lines += ["", f"### {kind.__name__}", "", _told(kind), *_members(kind)]
    return "\n".join(lines) + "\n"


def _told(kind: type[Any]) -> str:
    return " ".join((kind.__doc__ or "").split())


def _sentence(kind: type[Any]) -> str:
    return _told(kind).partition(". ")[0].rstrip(".")


def _hints(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind).items()
    return {name: hint for name, hint in hints if not name.startswith("_") and get_origin(hint) is not ClassVar}


def _members(kind: type[Any]) -> Iterator[str]:
    """A table of members: name, type, default."""
    hints = _hints(kind)
    if hints:
        yield from ("", "| member | is | default |", "|---|---|---|")
    defaults = {one.name: _default(one) for one in fields(kind)} if is_dataclass(kind) else {}
    for name, hint in hints.items():
        yield _row(f"`{name}`", _type(hint), defaults.get(name, ""))


def _default(one: Field[Any]) -> str:
    if one.default is MISSING:
        return "" if one.default_factory is MISSING else "empty"
    if is_dataclass(one.default):
        return "as it is"
    return f"`{json.dumps(one.default)}`"


def _link(kind: type[Any]) -> str:
    return f"[{kind.__name__}](#{kind.__name__.lower()})"


def _type(hint: Any) -> str:
    """A type in words."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(f"`{word}`" for word in inside)
    if origin in {Union, types.UnionType}:
        return " or ".join(map(_type, inside))
    if origin is frozenset or (origin is tuple and inside[-1] is Ellipsis):
        return f"array of {_type(inside[0])}"
    if origin is tuple:
        return f"array: {', '.join(map(_type, inside))}"
    return _link(hint) + (" (array)" if issubclass(hint, tuple) else "")


def _collect(hint: Any, shapes: dict[type[Any], None]) -> None:
    """Add the classes that a type names, and those that these name."""
    for part in get_args(hint):
        _collect(part, shapes)
    shaped = isinstance(hint, type) and (is_dataclass(hint) or (issubclass(hint, tuple) and hint is not tuple))
    if shaped and hint not in shapes:
        shapes[hint] = None
        for inner in _hints(hint).values():
            _collect(inner, shapes)


def _rights(one: Operation[Any, Any]) -> str:
    """What the shortest request of an operation needs."""
    hints = _hints(one.request)
    given = {each.name: _sample(hints[each.name]) for each in fields(one.request) if each.default is MISSING}
    return " and ".join(dict.fromkeys(map(_required, one.permissions(one.request(**given)))))


def _required(one: RequiredPermission[Any]) -> str:
    words = " or ".join(f"`{each}`" for each in one.permissions)
    places = {id(ANYTHING): "somewhere", id(CONTEXT): "on all of the context", id(ALL): "on everything"}
    return f"{words} {places.get(id(one.kind), 'on the subject')}"


def _sample(hint: Any) -> Any:
    """A value of a type, as short as can be."""
    if hint in {Subject, Scope}:
        return hint(".", "s")
    if hint in _PLAIN:
        return {str: "s", int: 1, bool: False}[hint]
    inside = [one for one in get_args(hint) if one is not type(None)]
    if get_origin(hint) is tuple:
        return ()
    if inside:
        return _sample(inside[0])
    hints = _hints(hint)
    return hint(**{one.name: _sample(hints[one.name]) for one in fields(hint) if one.default is MISSING})


def _row(*cells: str) -> str:
    """A line of a table; a bar inside a cell would end it."""
    safe = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(safe)} |"
