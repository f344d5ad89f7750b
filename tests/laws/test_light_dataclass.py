"""Light dataclasses are those of the standard library in all but the cost of their making."""

import copy
import dataclasses
import inspect
import pickle
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, field
from functools import partial
from types import FrameType
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from treaty.light_dataclass import dataclass as light

T = TypeVar("T")
Maker = Callable[..., Any]
STANDARD: Maker = dataclasses.dataclass
LIGHT: Maker = light


def make_classes(dataclass: Maker) -> list[Any]:
    @dataclass(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    @dataclass(frozen=True, slots=True)
    class One:
        """A value."""

        a: Any

    @dataclass(frozen=True, slots=True)
    class Many:
        """Defaults of all kinds."""

        known: ClassVar[int] = 3
        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list)
        d: int = field(default=5, init=False)
        e: tuple[int, ...] = field(default=(), repr=False, compare=False)
        f: int = field(default=1, kw_only=True)
        g: Any = field(init=False, compare=False, repr=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "g", self.a)
            if self.a < 0:
                raise ValueError("negative")

        @property
        def doubled(self) -> int:
            return self.a * 2

    return [Empty, One, Many, *make_classes_with_methods(dataclass, One), *make_classes_that_change(dataclass)]


def make_classes_with_methods(dataclass: Maker, base: Any) -> list[Any]:
    @dataclass(frozen=True, slots=True)
    class Own:
        """Methods of its own."""

        a: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True, slots=True, eq=False)
    class Same:
        """Equal to itself alone."""

        a: int

    @dataclass(frozen=True, slots=True)
    class Above(base):  # type: ignore[misc]  # its class is one of two
        """A class above another one."""

        b: int = 2

    return [Own, Same, Above]


def make_classes_that_change(dataclass: Maker) -> list[Any]:
    @dataclass(slots=True)
    class Changing:
        """A value that changes."""

        a: int
        b: list[int] = field(default_factory=list)

    @dataclass(slots=True, eq=False)
    class Counter:
        """A thing that changes."""

        a: int = 0

    @dataclass(frozen=True, slots=True)
    class Hashed:
        """A value whose digest is not of all that is compared."""

        a: int
        b: list[int] = field(default_factory=list, hash=False)

    @dataclass(frozen=True, slots=True)
    class Derived:
        """A value with a part that is given and not kept."""

        a: int
        b: InitVar[int] = 2

        def __post_init__(self, b: int) -> None:
            if b > self.a:
                raise ValueError("too large")

    return [Changing, Counter, Hashed, Derived, *make_classes_by_texts(dataclass)]


def make_classes_by_texts(dataclass: Maker) -> list[Any]:
    @dataclass(frozen=True, slots=True)
    class Texts:
        """Annotations that are texts, and a marker among the fields."""

        known: "ClassVar[int]" = 3
        a: "int"
        _: KW_ONLY
        f: "str" = "f"

    @dataclass(frozen=True, slots=True)
    class Undescribed:
        a: int

    @dataclass(frozen=True, slots=True)
    class Typed(Base[T]):
        """A value with a parameter, above a class without slots."""

        __match_args__ = ("b", "a")
        a: T
        b: int = 1

    return [Texts, Undescribed, Typed]


class Base(ABC, Generic[T]):
    """What a light dataclass may be above."""

    @property
    @abstractmethod
    def b(self) -> int:
        """A number."""


PAIRS = list(zip(make_classes(STANDARD), make_classes(LIGHT), strict=True))
NAN = float("nan") if sys.version_info < (3, 13) else 0.5
"""From 3.13 on the standard library compares fields one by one, so that NaN is not itself; light ones compare tuples, as before."""
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}), ((1,), {}), ((-1,), {}), ((NAN,), {}), (([],), {}), ((1, 2), {}), ((1, "x", [2]), {"e": (3,), "f": 4}),
    ((1, "x", [2], (3,), 4), {}), ((), {"a": 1}), ((1,), {"a": 1}), ((1,), {"z": 1}), ((1,), {"c": [9], "f": 2}), ((1,), {"d": 2}),
]  # fmt: skip


def outcome(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:  # noqa: BLE001 (which one it is, is compared)
        return type(error), str(error)


def facts_of(value: Any) -> list[Any]:
    """What can be asked of a value, and what comes of it."""
    described = dataclasses.fields(value)
    names = [field.name for field in described]
    return [
        repr(value),
        outcome(partial(hash, value)) if value.__class__.__hash__ is not object.__hash__ else "by identity",
        value == copy.copy(value),
        value == object(),
        repr(copy.deepcopy(value)),
        [outcome(partial(setattr, copy.copy(value), name, 2)) for name in names],
        [outcome(partial(delattr, copy.copy(value), name)) for name in names],
        outcome(lambda: repr(dataclasses.replace(value, a=8))),
        outcome(partial(dataclasses.asdict, value)),
        [(field.name, field.type, field.init, field.kw_only, repr(field.default)) for field in described],
        repr(value.__class__.__dataclass_params__),
        (value.__class__.__name__, value.__class__.__qualname__, value.__class__.__module__),
        value.__match_args__,
        hasattr(value, "__dict__"),
        repr(getattr(value, "doubled", None)),
    ]


@pytest.mark.parametrize(("standard", "own"), PAIRS, ids=[standard.__name__ for standard, _ in PAIRS])
def test_values_are_those_of_the_standard_library(standard: Any, own: Any) -> None:
    for values, named in CALLS:
        of_standard, of_own = (outcome(partial(cls, *values, **named)) for cls in (standard, own))
        if isinstance(of_standard, tuple):
            assert of_standard == of_own
            continue
        assert facts_of(of_standard) == facts_of(of_own)
        assert (of_standard == standard(*values, **named)) == (of_own == own(*values, **named))
        if not hasattr(of_own, "__dict__"):
            with pytest.raises((AttributeError, TypeError)):  # of the standard library too, in other words
                of_own.another = 1


@light(frozen=True, slots=True)
class Kept:
    """A value that is sent to other processes."""

    a: int
    b: tuple[int, ...] = ()


def test_values_are_pickled_and_matched() -> None:
    value = Kept(1, (2,))
    assert [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, 6)] == [value] * 4
    match value:
        case Kept(a, b=(first,)):
            assert (a, first) == (1, 2)
    assert {Kept(1): "x"}[Kept(1)] == "x"


def test_people_see_the_same_signature() -> None:
    for standard, own in PAIRS:
        parameters = [inspect.signature(cls).parameters.values() for cls in (standard, own)]
        of_standard, of_own = ([(parameter.name, parameter.kind) for parameter in row] for row in parameters)
        assert of_standard == of_own


@light(frozen=True, slots=True)
class Doubled:
    """A value with methods that are otherwise made."""

    a: int

    def __init__(self, half: int) -> None:
        """Take a half."""
        object.__setattr__(self, "a", 2 * half)

    def __getstate__(self) -> int:
        return self.a + 1

    def __setstate__(self, state: int) -> None:
        object.__setattr__(self, "a", state)

    def __call__(self, times: int) -> int:
        return self.a * times


@light(frozen=True, slots=True)
class Times:
    """A value that can be called."""

    a: int

    def __call__(self, times: int) -> int:
        return self.a * times


def test_methods_of_a_class_stay_its_own() -> None:
    assert Doubled(2).a == 4
    assert copy.copy(Doubled(2)).a == pickle.loads(pickle.dumps(Doubled(2))).a == 5
    for value in (Doubled(1), Times(1)):
        assert [*inspect.signature(value).parameters] == ["times"]
    assert [*inspect.signature(Doubled).parameters] == ["half"]
    assert [*inspect.signature(Times).parameters] == ["a"]


def test_other_dataclasses_are_made_by_the_standard_library() -> None:
    @light(frozen=True, slots=True, order=True)
    class Ordered:
        """A value with an order."""

        a: int

    assert Ordered(1) < Ordered(2)
    with pytest.raises(ValueError, match="mutable default"):

        @light(frozen=True, slots=True)
        class Shared:
            """A value with a default that all instances would share."""

            a: list[int] = []  # noqa: RUF012 (what is refused)


def test_fields_are_described_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    @light(frozen=True, slots=True)
    class Value:
        """A value."""

        a: int = 3

    assert not isinstance(vars(Value)["__dataclass_fields__"], dict)
    assert [(field.name, field.default) for field in dataclasses.fields(Value)] == [("a", 3)]
    monkeypatch.setattr(dataclasses, "dataclass", None)
    assert dataclasses.fields(Value)[0].type is int


def test_no_text_is_compiled_until_there_is_an_instance() -> None:
    compiled = []

    def note(_: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called is exec:
            compiled.append(event)

    counts = {}
    for maker in (STANDARD, LIGHT):
        sys.setprofile(note)
        try:

            @maker(frozen=True, slots=True)
            class Value:
                """A value."""

                a: int
                b: str = ""

            of_class = len(compiled)
            value_class: Any = Value
            value_class(1)
            of_first = len(compiled)
            value_class(2)
            counts[maker] = (of_class > 0, of_first > of_class, len(compiled) > of_first)
        finally:
            sys.setprofile(None)
            compiled.clear()
    assert counts == {STANDARD: (True, False, False), LIGHT: (False, True, False)}
