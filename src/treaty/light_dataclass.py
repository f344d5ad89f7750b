"""`dataclass` for values with slots, which costs a fifth of the standard library's when a module is loaded.

The standard library compiles six methods for each class. A command loads some 300 classes and makes instances of a third of them, and that
compiling was a third of its start. Here methods are functions that all classes share, and ``__init__`` is compiled when the first instance
is made. In all else the classes are those of `dataclasses`: `fields`, `replace`, `match`, pickles and errors are the same.
"""

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, InitVar, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

Method = Callable[..., Any]
_OWN = frozenset(("__init__", "__setattr__", "__delattr__", "__getstate__", "__setstate__"))
"""Methods that a class keeps where it defines them."""


def _dataclass(
    cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True, **options: Any
) -> Any:
    """Make a class a dataclass as `dataclasses.dataclass` does, which makes those without slots, those above others, and those with `_OWN`."""

    def make(target: type) -> type:
        is_light = slots and not options and _OWN.isdisjoint(target.__dict__)
        is_light = is_light and not any(dataclasses.is_dataclass(base) for base in target.__mro__[1:])
        if not is_light or any(isinstance(kind, InitVar) for kind in inspect.get_annotations(target).values()):
            return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, **options)(target)
        return _make_light(target, frozen=frozen, eq=eq)

    return make if cls is None else make(cls)


def _make_light(target: type, *, frozen: bool, eq: bool) -> type:
    cls: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(target)
    params = cls.__dataclass_params__
    params.init = params.repr = True
    params.frozen, params.eq = frozen, eq
    methods: dict[str, Method | None] = {"__init__": _first_init(cls)}
    methods |= _FROZEN if frozen else {}
    cls.__signature__ = _SIGNATURE
    methods |= {"__repr__": _repr} if "__repr__" not in cls.__dict__ else {}
    methods |= _comparisons(cls, frozen=frozen) if eq else {}
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls  # type: ignore[no-any-return]  # the class that came, with slots


def _comparisons(cls: Any, *, frozen: bool) -> dict[str, Method | None]:
    """Return ``__eq__`` and ``__hash__``, but for what the class itself defines; what changes has no hash."""
    read = _reader(*(one.name for one in fields(cls) if one.compare))
    read_hashed = _reader(*(one.name for one in fields(cls) if (one.compare if one.hash is None else one.hash)))

    def equal(self: object, other: object) -> Any:
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    def digest(self: object) -> int:
        return hash(read_hashed(self))

    own = cls.__dict__
    methods: dict[str, Method | None] = {} if "__eq__" in own else {"__eq__": equal}
    return methods if own.get("__hash__") is not None else {**methods, "__hash__": digest if frozen else None}


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
        owner = next(one for one in cls.__mro__ if "__init__" in one.__dict__)
        method = _compile_init(owner) if owner.__dict__.get("__signature__") is self else owner.__init__
        signature = inspect.signature(method)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


_SIGNATURE = _Signature()


def _compile_init(cls: Any) -> Method:
    words, lines = ["self"], list[str]()
    names: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    for one in sorted(fields(cls), key=lambda field: bool(field.kw_only)):
        if one.kw_only and one.init and "*" not in words:
            words.append("*")
        value = _read_argument(one, words, names)
        if value:
            lines.append(f" _set(self, {one.name!r}, {value})")
    lines += [" self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    exec(f"def __init__({', '.join(words)}):\n" + ("\n".join(lines) or " pass"), names)  # noqa: S102 (as `dataclasses` does)
    method: Method = names["__init__"]
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    method.__annotations__ = {**{one.name: one.type for one in fields(cls) if one.init}, "return": None}
    return method


def _read_argument(one: Field[Any], words: list[str], names: dict[str, Any]) -> str:
    """Add the parameter of a field to `words`, and what it needs to `names`; return the expression of its value, empty without one."""
    if one.default is not MISSING:
        names[f"_default_{one.name}"] = one.default
        words += [f"{one.name}=_default_{one.name}"] if one.init else []
        return one.name if one.init else f"_default_{one.name}"
    if one.default_factory is not MISSING:
        names[f"_make_{one.name}"] = one.default_factory
        words += [f"{one.name}=_MISSING"] if one.init else []
        return f"_make_{one.name}()" + (f" if {one.name} is _MISSING else {one.name}" if one.init else "")
    words += [one.name] if one.init else []
    return one.name if one.init else ""


def _set(_: object, name: str, __: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(_: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


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
