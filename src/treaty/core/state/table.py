"""`Table` and `Index`: a state table as a value, of which the types of its rows, its indexes and its counts follow."""

from collections.abc import Callable, Sequence
from dataclasses import field
from operator import itemgetter
from typing import Any, Generic, TypeVar, get_type_hints

from treaty.core.state.values import StoredValue
from treaty.light_dataclass import dataclass

Key = tuple[str | int, ...]
"""A key of a row or an entry of an index. Keys of a table are named tuples, equal to bare ones of the same parts."""
K = TypeVar("K", bound=Key)
E = TypeVar("E", bound=Key)
V = TypeVar("V", bound=StoredValue)


@dataclass(frozen=True, slots=True, eq=False)
class Index(Generic[E, K]):
    """A secondary index: which entries a row of its table claims. Rows that can't be read claim none."""

    name: str
    """Name of its table, a dot, and what rows are found by."""
    key: type[K]
    """The class of its table's keys."""
    entries: Callable[[K, Any], tuple[E, ...]]
    """What a row claims, from its key and its value."""
    key_parts: tuple[int | None, ...]
    """For each part of an entry its place in the row's key, None if it depends on the value."""
    ordered: bool = False
    """Whether its entries are kept in order too, to be walked."""
    by_value: bool = False
    """Whether the value decides if the row claims an entry that the key alone names."""
    table: str = field(init=False)
    of_key: bool = field(init=False)
    """Whether an entry is the head of the row's key, or all of it, so that a row that claims one claims just it."""
    key_of: Callable[[E], K] | None = field(init=False)
    """The key of the one row that claims an entry, if the entry determines it. Such an index is only walked."""

    def __post_init__(self) -> None:
        """Work out what follows from the parts of the key."""
        places = range(len(get_type_hints(self.key)))
        key_of = _key_reader(self.key, self.key_parts) if set(places) <= set(self.key_parts) else None
        object.__setattr__(self, "table", self.name.partition(".")[0])
        object.__setattr__(self, "of_key", self.key_parts == tuple(range(len(self.key_parts))))
        object.__setattr__(self, "key_of", key_of)

    def may_claim(self, key: Key, entry: Key) -> bool:
        """Return whether a row with this key and any value might claim an entry."""
        return all(at is None or key[at] == part for at, part in zip(self.key_parts, entry, strict=True))

    def may_claim_between(self, key: Key, low: Key, high: Key) -> bool:
        """Return whether a row with this key and any value might claim an entry from `low` on and below `high`."""
        return may_lie_between([None if at is None else key[at] for at in self.key_parts], low, high)


def _key_reader(kind: type[K], key_parts: tuple[int | None, ...]) -> Callable[[Any], K]:
    places = [key_parts.index(at) for at in range(len(get_type_hints(kind)))]
    if len(places) == 1:  # `itemgetter` of one place returns no tuple
        (place,) = places
        return lambda entry: tuple.__new__(kind, (entry[place],))
    parts = itemgetter(*places)
    return lambda entry: tuple.__new__(kind, parts(entry))


@dataclass(frozen=True, slots=True, eq=False)
class Table(Generic[K, V]):
    """A state table: the types of its keys and values, and all that is kept beside its rows."""

    name: str
    """The name in the log."""
    key: type[K]
    """A named tuple."""
    value: type[V]
    indexes: tuple[Index[Any, K], ...] = ()
    ordered: bool = False
    """Whether its keys are kept in order, to be walked; rows that can't be read are left out."""
    counted: Callable[[K, V], Key] | None = None
    """The group in which a row is counted; None for a table whose rows are not counted."""
    rooted: bool = True
    """Whether its rows count in the state root. Those that describe their own log do not, so that a log which names its
    snapshot repeats the root of its base."""
    parts: tuple[tuple[str, type], ...] = ()
    """Names and types of the key's parts; those of its class, unless they are published under other names."""

    def __post_init__(self) -> None:
        """Take the parts of the key from its class."""
        if not self.parts:
            object.__setattr__(self, "parts", tuple(get_type_hints(self.key).items()))

    def typed_key(self, key: Key) -> K | None:
        """Return a key as one of this table; None where it does not have its shape."""
        parts = self.parts
        if len(key) != len(parts):
            return None
        for part, (_, kind) in zip(key, parts, strict=True):
            if type(part) is not kind:
                return None
        return tuple.__new__(self.key, key)


def may_lie_between(pattern: Sequence[str | int | None], low: Key, high: Key) -> bool:
    """Return whether an entry that fits a pattern, in which None stands for anything, may be from `low` on and below
    `high`.
    """
    at_low = at_high = True  # whether the entry is equal to the bound so far
    for at, part in enumerate(pattern):
        if at_high and at == len(high):
            return False
        at_low = at_low and at < len(low)
        if not at_low and not at_high:
            return True
        if part is None:
            if at_low and at_high and low[at] == high[at]:
                continue
            return True
        if (at_low and part < low[at]) or (at_high and part > high[at]):  # type: ignore[operator]  # of one type
            return False
        at_low, at_high = at_low and part == low[at], at_high and part == high[at]
    return not (at_low and len(low) > len(pattern)) and not (at_high and len(high) <= len(pattern))
