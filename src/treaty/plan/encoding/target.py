"""What a schema wants at one place, in words that all formats share; what is inside is looked at when it is needed."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.core.state.columns import Decimal, Scalar
from treaty.plan.encoding.fit import ColumnConversion, LossCheck

Handle = Any
"""A place of a schema, opaque to all but its format."""


@dataclass(frozen=True, slots=True)
class LeafTarget:
    """A value without parts: its column type, what is checked, the types that are taken as they are beside it.

    `carrier` is the way (of `CONVERSIONS`) in which the format holds it, and `carried` the Spark type of that.
    """

    type: Scalar | Decimal
    checks: tuple[LossCheck, ...] = ()
    takes: frozenset[str] = frozenset()
    carrier: str = ""
    carried: str = ""


@dataclass(frozen=True, slots=True)
class FieldTarget:
    """A field: whether it may be null, other names of it, what stands for it where it is missing.

    `present`: its null is written, where others are left out.
    """

    name: str
    handle: Handle
    nullable: bool
    aliases: tuple[str, ...] = ()
    default: ColumnConversion | None = None
    present: bool = False


@dataclass(frozen=True, slots=True)
class RecordTarget:
    """A record. Of each group in `oneofs` at most one may be set."""

    name: str
    members: tuple[FieldTarget, ...]
    oneofs: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ListTarget:
    """A list of items of one kind."""

    item: Handle
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class MapTarget:
    """Values by keys."""

    key: LeafTarget
    value: Handle
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class UnionTarget:
    """One of several branches, each with its Spark type, as a struct with a member for each."""

    branches: tuple[tuple[Handle, str], ...]


Target = LeafTarget | RecordTarget | ListTarget | MapTarget | UnionTarget
FindTarget = Callable[[Handle], Target]


def pair_names(columns: Collection[str], fields: Sequence[tuple[str, Sequence[str]]]) -> dict[str, str]:
    """Return the column of each field that has one; a field is a name and its aliases.

    As where records are read: a column is the field of its name, else one that has it for an alias and no column of its own
    name. It goes into one field; of several with one alias the last counts.
    """
    sources = {name: name for name, _ in fields if name in columns}
    free = {*columns} - sources.keys()
    for name, aliases in reversed(fields):
        source = None if name in sources else next((alias for alias in aliases if alias in free), None)
        if source is not None:
            sources[name] = source
            free.discard(source)
    return sources
