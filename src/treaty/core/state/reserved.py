"""Reserved ids, which `treaty log verify` finds and `treaty log repair --ids` keeps: those far above the rest of their context, which hold its
counter up, so that all ids between are used up.

`treaty log verify` lists them, and `treaty log repair --ids` repairs the counter: the counter goes back to the highest
id that is not reserved, and the reserved ones are kept in its row and passed over when their turn would come. This is
the one way in which a counter is lowered. Rows do not show whether ids between were given and deleted for good; so
nothing is lowered unasked.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from treaty.core.limits import ID_GAP
from treaty.core.state.rows import Row, make_row
from treaty.core.state.state_tables import (
    COUNTER,
    IDS,
    IDS_SPARED,
    LOG_ORIGIN,
    SCHEMA,
    CounterKey,
    LogOriginKey,
    ids_key,
)
from treaty.core.state.values import Counter
from treaty.core.state.view import View


@dataclass(frozen=True, slots=True)
class ReservedIds:
    """Ids of one context that hold its counter up. `ranges` are the reserved ones, each with its lowest and highest."""

    context: str
    counter: int
    """The highest id given, as the counter has it."""
    highest: int
    """The highest id that is not reserved."""
    ranges: tuple[tuple[int, int], ...]
    schemas: int
    """How many schemas have one of them."""

    def __str__(self) -> str:
        spans = ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in self.ranges)
        return (
            f"context {self.context}: ids {spans} hold the counter of ids up, the highest one below is {self.highest}; "
            f"{self.schemas} schemas have such an id"
        )


def reserved_ids(view: View) -> tuple[ReservedIds, ...]:
    """Return the contexts whose counter of ids is held up by ids more than ID_GAP above the rest, by name."""
    ids_by_context: defaultdict[str, list[int]] = defaultdict(list)
    for key in view.keys(SCHEMA):
        ids_by_context[key.context].append(key.id)
    return tuple(_reserved_by_context(view, ids_by_context))


def _reserved_by_context(view: View, ids_by_context: defaultdict[str, list[int]]) -> Iterator[ReservedIds]:
    origin, spared = view.get(LOG_ORIGIN, LogOriginKey("origin")), view.get(COUNTER, IDS_SPARED)
    gap = ID_GAP + (origin.gap if origin else 0)  # a restore leaves ids free
    for key in sorted(_id_counters(view)):
        counter, context = view.get(COUNTER, key), key.context
        if counter is None:
            continue
        ids = sorted(id_ for id_ in {*ids_by_context[context], counter.highest} if not _is_reserved(counter, id_))
        below = spared.highest if spared else 0
        far = next((at for at, id_ in enumerate(ids) if id_ > _highest_below(ids, at, below) + gap), None)
        if far is not None:
            ranges = tuple(_ranges(ids[far:], gap))
            schemas = sum(any(low <= id_ <= high for low, high in ranges) for id_ in ids_by_context[context])
            yield ReservedIds(context, counter.highest, _highest_below(ids, far, 0), ranges, schemas)


def _id_counters(view: View) -> Iterator[CounterKey]:
    return (key for key in view.keys(COUNTER) if key.kind == IDS and key != IDS_SPARED)


def _is_reserved(counter: Counter, schema_id: int) -> bool:
    return schema_id > counter.highest and any(low <= schema_id <= high for low, high in counter.reserved)


def _highest_below(ids: list[int], at: int, minimum: int) -> int:
    return max(ids[at - 1] if at else 0, minimum)


def _ranges(ids: list[int], gap: int) -> Iterator[tuple[int, int]]:
    """Put ids that lie near each other together: what was given between them may be deleted for good by now."""
    low = high = ids[0]
    for id_ in ids[1:]:
        if id_ > high + gap:
            yield low, high
            low = id_
        high = id_
    yield low, high


def healing_row(view: View, reserved: ReservedIds) -> Row:
    """Return the row that lowers the counter of a context and keeps what is reserved."""
    key = ids_key(reserved.context)
    counter = view.get(COUNTER, key)
    assert counter is not None
    ranges = tuple(sorted({*counter.reserved, *reserved.ranges}))
    return make_row(COUNTER, key, replace(counter, highest=reserved.highest, reserved=ranges))
