"""Requests that answers are recorded of: a default of each operation, each of its members through its edge values, and drawn mixtures."""

import base64
import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from tests.answers.texts import print_change
from treaty.core.access.rights import Access
from treaty.core.messages.request import Request

MEETING = 4
"""Values of a member that meet those of another one; further ones are asked for alone."""

BESIDE = 2
"""Values of each member that are asked for beside a base."""
FIRST = 7
"""Values of a member that are asked for alone in any case."""


@dataclass(frozen=True, slots=True)
class Table:
    """What is asked of one operation.

    `values` are the edge values of its members, each of which is asked for alone; `pairs` are members whose values meet in all ways; `drawn`
    is how many mixtures of all values are asked for; `places` are the members that say what a request is about: each of their values is asked
    for by everybody in `ACCESSES`.
    """

    default: Request[Any]
    values: Mapping[str, Sequence[Any]]
    pairs: tuple[tuple[str, str], ...] = ()
    drawn: int = 16
    places: tuple[str, ...] = ("subject",)
    bases: tuple[Request[Any], ...] = ()
    """Requests in other situations than the default: some values of each member are asked for beside theirs."""
    more: tuple[Request[Any], ...] = ()
    """Requests of its class that are asked for as they are."""
    share: float = 0.25
    """The share of values behind the first ones that are asked for alone; a mixture may have any of them."""
    others: range = range(0)
    """Places of further requests that everybody in `ACCESSES` asks."""
    named: Mapping[str, Request[Any]] = field(default_factory=dict)
    """Requests by labels of their own."""
    accesses: Mapping[str, Access] = field(default_factory=dict)
    """Who asks beside somebody without rules; those of `ACCESSES` where it is empty."""
    asker: str = "user:bob"
    """The principal of those who ask too."""
    every: int = 0
    """Of the requests about one thing each so-manieth is asked for by everybody; 0: none but those in `others`."""
    shared: int = 1
    """Of many requests each so-manieth is asked in further worlds."""
    nested: tuple[str, ...] = ()
    """Members whose own members have values too, by names such as ``definition.columns``."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request of a table. `label` says in what it differs from the default; `place` whether it is another thing."""

    label: str
    request: Request[Any]
    place: bool = False
    alone: bool = False
    """Whether it differs from the default in one member; only then are long lines of its answer printed whole."""

    @property
    def mark(self) -> str:
        """What it is called in a record: it stays where others come and go."""
        return base64.b32encode(hashlib.sha256(self.label.encode()).digest()).decode().lower()[:5]


def list_asks(table: Table) -> list[Ask]:
    """All requests of a table, each once."""
    asks: dict[str, Ask] = {}
    for request, place in _requests(table):
        label = print_change(request, table.default, table.nested)
        asks.setdefault(label, Ask(label, request, place, _count_changes(request, table.default) < 2))
    asks |= {label: Ask(label, request) for label, request in table.named.items()}
    assert len({ask.mark for ask in asks.values()}) == len(asks), "two requests have one mark"
    return [*asks.values()]


def _count_changes(request: Any, default: Any) -> int:
    return sum(getattr(request, member.name) != getattr(default, member.name) for member in fields(default))


def _requests(table: Table) -> Iterator[tuple[Request[Any], bool]]:
    yield table.default, True
    names = [member.name for member in fields(table.default)]  # type: ignore[arg-type]  # each request is a dataclass
    assert {name.partition(".")[0] for name in table.values} <= {*names}, table.default
    for name, values in table.values.items():
        for value in _thin(values, f"{type(table.default).__name__} {name}", table.share):
            yield _with(table.default, {name: value}), name in table.places
    for request in table.more:
        yield request, False
    for base in table.bases:
        chance = random.Random(print_change(base, table.default))
        yield base, False
        for name, values in table.values.items():
            for value in chance.sample([*values], min(BESIDE, len(values))):
                yield _with(base, {name: value}), False
    for first, second in table.pairs:
        for one in table.values[first][:MEETING]:
            for other in table.values[second][:MEETING]:
                yield _with(table.default, {first: one, second: other}), False
    dice = random.Random(type(table.default).__name__)
    for _ in range(table.drawn):
        chosen = {name: dice.choice(values) for name, values in table.values.items() if dice.random() < 0.45}
        yield _with(table.default, chosen), False


def _thin(values: Sequence[Any], seed: str, share: float) -> Iterator[Any]:
    """The first values, and a share of the others, which is another one for each operation and member."""
    dice = random.Random(seed)
    return (value for at, value in enumerate(values) if at < FIRST or dice.random() < share)


def _with(request: Request[Any], members: Mapping[str, Any]) -> Request[Any]:
    whole = {name: value for name, value in members.items() if "." not in name}
    changed: Any = replace(request, **whole)  # type: ignore[type-var]  # each request is a dataclass
    for path, value in members.items():
        name, _, part = path.partition(".")
        if part:
            changed = replace(changed, **{name: replace(getattr(changed, name), **{part: value})})
    return cast("Request[Any]", changed)
