"""The same order as every kind of class with fields, and values of each."""

import dataclasses
import datetime as dt
import enum
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, Optional, TypedDict, TypeVar

import attrs
import msgspec
import pydantic
from hypothesis import strategies as st

from treaty.client.types.annotations import DecimalDigits, FieldDoc, FixedSize, StoredAs, TypeName

T = TypeVar("T")


class Color(enum.Enum):
    """What it looks like."""

    RED = "red"
    DARK_BLUE = "dark_blue"


class Rank(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass(frozen=True)
class Money:
    """An amount."""

    cents: int
    currency: str = "EUR"


@dataclasses.dataclass(frozen=True)
class Voucher:
    code: str


@dataclasses.dataclass
class Box(Generic[T]):
    content: T
    spare: T | None = None


Price = Annotated[Decimal, DecimalDigits(9, 2)]
Millis = Annotated[dt.datetime, StoredAs("millis")]
Local = Annotated[dt.datetime, StoredAs("local")]
Hash = Annotated[bytes, FixedSize(4), TypeName("Hash")]
UTC_2020 = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


@dataclasses.dataclass
class DataOrder:
    """An order of a customer."""

    id: Annotated[int, FieldDoc("Counts from 1.")]
    paid: bool
    weight: float
    small: Annotated[int, StoredAs("int")]
    raw: bytes
    hash: Hash
    at: dt.datetime
    seen: Millis
    planned: Local
    day: dt.date
    clock: dt.time
    took: dt.timedelta
    price: Price
    key: uuid.UUID
    color: Color
    rank: Rank
    lines: list[Money]
    tags: set[str]
    marks: frozenset[int]
    pair: tuple[int, str]
    row: tuple[float, ...]
    sizes: dict[str, int | float]
    by_id: dict[int, Money]
    by_color: Mapping[Color, str]
    either: Money | Voucher | str | None
    mixed: int | str | bytes | bool | dt.date | Color | list[int] | None
    word: Literal["a", "b", 3]
    box: Box[int]
    boxes: list[Box[str]]
    parent: Optional["DataOrder"] = None
    currency: str = "EUR"
    pay: Money | None = None
    default_color: Color = Color.DARK_BLUE
    default_price: Price = Decimal("1.50")
    default_at: dt.datetime = UTC_2020
    default_hash: Hash = b"\x00\xff12"
    default_sum: Money = Money(5)
    notes: list[str] = dataclasses.field(default_factory=list)
    props: dict[str, str] = dataclasses.field(default_factory=lambda: {"a": "b"})


class StructOrder(msgspec.Struct, rename="camel"):
    """An order of a customer."""

    order_id: Annotated[int, msgspec.Meta(description="Counts from 1.")]
    line_items: list[Money]
    color_of_it: Color = Color.RED
    pay: Money | Voucher | None = None
    tags: set[str] = msgspec.field(default_factory=set)
    named_otherwise: float = msgspec.field(default=1.5, name="x")


class ModelOrder(pydantic.BaseModel):
    """An order of a customer."""

    order_id: int = pydantic.Field(alias="orderId", description="Counts from 1.")
    price: Decimal = pydantic.Field(max_digits=9, decimal_places=2)
    line_items: list[Money]
    at: dt.datetime
    pay: Money | Voucher | None = None
    tags: set[str] = pydantic.Field(default_factory=set)
    parent: Optional["ModelOrder"] = None


class DictOrder(TypedDict):
    order_id: int
    line_items: list[Money]
    note: NotRequired[str]
    pay: Money | None


@attrs.define
class AttrsOrder:
    """An order of a customer."""

    order_id: int
    line_items: list[Money]
    _hidden: str = "x"
    tags: list[str] = attrs.field(factory=list)


class TupleOrder(NamedTuple):
    order_id: int
    line_items: tuple[Money, ...]
    color: Color = Color.RED


def texts(size: int = 5) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=size)


LONGS = st.integers(-(2**63), 2**63 - 1)
MONEY = st.builds(Money, LONGS, texts())
VOUCHER = st.builds(Voucher, texts())
PRICES = st.decimals(Decimal("-9999999.99"), Decimal("9999999.99"), places=2)
REALS = st.floats(allow_nan=False, allow_infinity=False)
COLORS = st.sampled_from(Color)
HASHES = st.binary(min_size=4, max_size=4)
AWARE = st.datetimes(timezones=st.sampled_from([dt.UTC, dt.timezone(dt.timedelta(hours=2))]), min_value=dt.datetime(2, 1, 1), max_value=dt.datetime(9998, 1, 1))  # noqa: DTZ001 (hypothesis wants them so)  # fmt: skip
SPANS = st.timedeltas(dt.timedelta(days=-(10**6)), dt.timedelta(days=10**6))
WORDS: Any = st.sampled_from(["a", "b", 3])
MIXED: Any = (
    st.none() | LONGS | texts() | st.binary(max_size=3) | st.booleans() | st.dates() | COLORS | st.lists(LONGS, max_size=2)
)  # fmt: skip


def data_order(parent: st.SearchStrategy[DataOrder | None]) -> st.SearchStrategy[DataOrder]:
    return st.builds(
        DataOrder,
        id=LONGS,
        paid=st.booleans(),
        weight=REALS,
        small=st.integers(-(2**31), 2**31 - 1),
        raw=st.binary(max_size=5),
        hash=HASHES,
        at=AWARE,
        seen=AWARE.map(lambda at: at.replace(microsecond=5000)),
        planned=st.datetimes(),
        day=st.dates(),
        clock=st.times(),
        took=SPANS,
        price=PRICES,
        key=st.uuids(),
        color=COLORS,
        rank=st.sampled_from(Rank),
        lines=st.lists(MONEY, max_size=3),
        tags=st.sets(texts(), max_size=3),
        marks=st.frozensets(LONGS, max_size=3),
        pair=st.tuples(LONGS, texts()),
        row=st.lists(REALS, max_size=3).map(tuple),
        sizes=st.dictionaries(texts(), LONGS | REALS, max_size=2),
        by_id=st.dictionaries(LONGS, MONEY, max_size=2),
        by_color=st.dictionaries(COLORS, texts(), max_size=2),
        either=st.none() | MONEY | VOUCHER | texts(),
        mixed=MIXED,
        word=WORDS,
        box=st.builds(Box, LONGS, st.none() | LONGS),
        boxes=st.lists(st.builds(Box, texts(), st.none() | texts()), max_size=2),
        parent=parent,
        pay=st.none() | MONEY,
        default_price=PRICES,
        default_sum=MONEY,
    )


DATA_ORDERS = data_order(st.none() | data_order(st.none()))
STRUCT_ORDERS = st.builds(
    StructOrder, LONGS, st.lists(MONEY, max_size=2), COLORS, st.none() | MONEY | VOUCHER, st.sets(texts(), max_size=2), REALS
)  # fmt: skip
MODEL_ORDERS = st.builds(
    lambda **given: ModelOrder.model_validate(given),
    orderId=LONGS,
    price=PRICES,
    line_items=st.lists(MONEY, max_size=2),
    at=AWARE,
    pay=st.none() | MONEY | VOUCHER,
    tags=st.sets(texts(), max_size=2),
)
DICT_ORDERS: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"order_id": LONGS, "line_items": st.lists(MONEY, max_size=2), "pay": st.none() | MONEY}, optional={"note": texts()}
)
ATTRS_ORDERS = st.builds(
    AttrsOrder, LONGS, st.lists(MONEY, max_size=2), hidden=texts(), tags=st.lists(texts(), max_size=2)
)
TUPLE_ORDERS = st.builds(TupleOrder, LONGS, st.lists(MONEY, max_size=2).map(tuple), COLORS)
"""Values of each class."""

ALL: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "dataclass": (DataOrder, DATA_ORDERS),
    "struct": (StructOrder, STRUCT_ORDERS),
    "model": (ModelOrder, MODEL_ORDERS),
    "typed dict": (DictOrder, DICT_ORDERS),
    "attrs": (AttrsOrder, ATTRS_ORDERS),
    "named tuple": (TupleOrder, TUPLE_ORDERS),
}
