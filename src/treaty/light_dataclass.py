"""`dataclass` for values with slots, which costs a tenth of the standard library's when a module is loaded.

The standard library compiles six methods for each class, and describes each of its fields. A command loads some 300 classes and makes
instances of a sixth of them: making the classes was a third of its start. Here methods are functions that all classes share, ``__init__`` is
compiled when the first instance is made, and fields are described when they are asked for. In all else the classes are those of
`dataclasses`: `fields`, `replace`, `match`, pickles and errors are the same. Values are compared as tuples, as by Python 3.12.
"""

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, MISSING, Field, InitVar, fields
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

Method = Callable[..., Any]
_OWN = frozenset(("__init__", "__setattr__", "__delattr__", "__getstate__", "__setstate__", "__slots__"))
"""Members that a class keeps where it defines them."""
_PLACES = ("__dict__", "__weakref__")
"""Members of a class without slots, which one with slots has not."""
_SPECIAL = ("ClassVar", "InitVar", "KW_ONLY")


def _dataclass(
    cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True, **options: Any
) -> Any:
    """Make a class a dataclass as `dataclasses.dataclass` does, which makes those that `_is_light` refuses."""

    def make(target: type) -> type:
        if slots and not options:
            kinds = inspect.get_annotations(target)
            if _is_light(target, kinds):
                return _make_light(target, kinds, frozen=frozen, eq=eq)
        return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, **options)(target)

    return make if cls is None else make(cls)


def _is_light(target: type, kinds: Mapping[str, Any]) -> bool:
    """Say whether a class has a docstring, none of `_OWN`, no dataclass above it, and fields that are plainly declared."""
    own = target.__dict__
    return (
        bool(own["__doc__"])
        and _OWN.isdisjoint(own)
        and not any(map(dataclasses.is_dataclass, target.__mro__[1:]))
        and not any(_is_special(kind) or type(own.get(name)).__hash__ is None for name, kind in kinds.items())
    )


def _is_special(kind: Any) -> bool:
    """Say whether an annotation declares a part that is not kept, or is a text that may do so."""
    if isinstance(kind, str):
        return any(word in kind for word in _SPECIAL)
    return kind is KW_ONLY or isinstance(kind, InitVar)


def _is_of_class(kind: Any) -> bool:
    return kind is ClassVar or getattr(kind, "__origin__", None) is ClassVar


def _make_light(target: type, kinds: Mapping[str, Any], *, frozen: bool, eq: bool) -> type:
    own = target.__dict__
    names = [name for name, kind in kinds.items() if not _is_of_class(kind)]
    defaults = {name: own[name] for name in names if name in own}
    details = {name: value for name, value in defaults.items() if isinstance(value, Field)}
    members: dict[str, Any] = {
        "__dataclass_fields__": _Fields(kinds, defaults),
        "__dataclass_params__": _params(frozen=frozen, eq=eq),
        "__match_args__": tuple(name for name in names if name not in details or _is_by_place(details[name])),
        "__repr__": _repr,
    }
    members |= {name: value for name, value in own.items() if name not in defaults and name not in _PLACES}
    members |= {"__slots__": tuple(names), "__qualname__": target.__qualname__, "__signature__": _SIGNATURE}
    members |= _FROZEN if frozen else {}
    members |= _comparisons(own, names, details, frozen=frozen) if eq else {}
    cls: Any = type(target)(target.__name__, target.__bases__, members)
    cls.__init__ = _first_init(cls)
    return cls  # type: ignore[no-any-return]  # the class that came, with slots


def _is_by_place(detail: Field[Any]) -> bool:
    return detail.init and detail.kw_only is not True


class _Fields:
    """``__dataclass_fields__`` of a class: described by a class of the standard library with the same fields, when it is asked for."""

    def __init__(self, kinds: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self._members = {"__annotations__": dict(kinds), **defaults}

    def __set_name__(self, owner: Any, _: str) -> None:
        self._owner = owner

    def __get__(self, value: object, cls: Any) -> Any:
        owner = self._owner
        members = {"__module__": owner.__module__, "__doc__": owner.__doc__, **self._members}
        described: Any = type(owner.__name__, (), members)
        described = dataclasses.dataclass(init=False, repr=False, eq=False)(described)
        owner.__dataclass_fields__ = described.__dataclass_fields__
        return described.__dataclass_fields__


@cache
def _params(*, frozen: bool, eq: bool) -> Any:
    """Return what the standard library says of a class of these options."""
    plain: Any = type("Plain", (), {"__doc__": "A class without fields."})
    return dataclasses.dataclass(frozen=frozen, eq=eq, slots=True)(plain).__dataclass_params__


def _comparisons(
    own: Mapping[str, Any], names: Iterable[str], details: Mapping[str, Field[Any]], *, frozen: bool
) -> dict[str, Method | None]:
    """Return ``__eq__`` and ``__hash__``, but for what the class itself defines; what changes has no hash."""
    compared = [name for name in names if name not in details or details[name].compare]
    hashed = [name for name in names if name not in details or _is_hashed(details[name])]
    read, read_hashed = _reader(*compared), _reader(*hashed)

    def equal(self: object, other: object) -> Any:
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    def digest(self: object) -> int:
        return hash(read_hashed(self))

    methods: dict[str, Method | None] = {} if "__eq__" in own else {"__eq__": equal}
    return methods if own.get("__hash__") is not None else {**methods, "__hash__": digest if frozen else None}


def _is_hashed(detail: Field[Any]) -> bool:
    return detail.compare if detail.hash is None else detail.hash


def _reader(*names: str) -> Method:
    """Return what reads values of fields as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda value: (getattr(value, names[0]),)) if names else lambda _: ()


def _first_init(cls: Any) -> Method:
    """Return an ``__init__`` that compiles that of the class, puts it into its own place, and calls it."""

    def init(self: object, *values: Any, **named: Any) -> None:
        cls.__init__ = method = _compile_init(cls)
        method(self, *values, **named)

    return init


class _Signature:
    """What `inspect.signature` says of a class: that of an ``__init__`` that is compiled for it."""

    def __get__(self, value: object, cls: Any) -> Any:
        if value is not None:  # a value that can be called has that of its ``__call__``
            raise AttributeError("__signature__")
        owner = next(parent for parent in cls.__mro__ if "__init__" in parent.__dict__)
        method = _compile_init(owner) if owner.__dict__.get("__signature__") is self else owner.__init__
        signature = inspect.signature(method)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


_SIGNATURE = _Signature()


def _compile_init(cls: Any) -> Method:
    words, lines = ["self"], list[str]()
    names: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    for field in sorted(fields(cls), key=lambda field: bool(field.kw_only)):
        if field.kw_only and field.init and "*" not in words:
            words.append("*")
        value = _read_argument(field, words, names)
        if value:
            lines.append(f" _set(self, {field.name!r}, {value})")
    lines += [" self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    exec(f"def __init__({', '.join(words)}):\n" + ("\n".join(lines) or " pass"), names)  # noqa: S102 (as `dataclasses` does)
    method: Method = names["__init__"]
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    method.__annotations__ = {**{field.name: field.type for field in fields(cls) if field.init}, "return": None}
    return method


def _read_argument(field: Field[Any], words: list[str], names: dict[str, Any]) -> str:
    """Add the parameter of a field to `words`, and what it needs to `names`; return the expression of its value, empty where it has none."""
    if field.default is not MISSING:
        names[f"_default_{field.name}"] = field.default
        words += [f"{field.name}=_default_{field.name}"] if field.init else []
        return field.name if field.init else f"_default_{field.name}"
    if field.default_factory is not MISSING:
        names[f"_make_{field.name}"] = field.default_factory
        words += [f"{field.name}=_MISSING"] if field.init else []
        return f"_make_{field.name}()" + (f" if {field.name} is _MISSING else {field.name}" if field.init else "")
    words += [field.name] if field.init else []
    return field.name if field.init else ""


def _set(_: object, name: str, __: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(_: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _repr(self: Any) -> str:
    members = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({members})"


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_FROZEN: dict[str, Method | None] = {
    "__setattr__": _set,
    "__delattr__": _delete,
    "__getstate__": _get_state,
    "__setstate__": _set_state,
}
"""What a class has whose values do not change."""

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 (for checkers it is the standard library's)
else:
    dataclass = _dataclass
