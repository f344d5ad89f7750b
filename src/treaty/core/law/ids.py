"""Ids of schemas in a context: the next one to be given, and those that an importer may give.

What was given is never given again. The one exception is a repair by hand (`core.reserved`), which lowers a counter that ids far
above the rest hold up; those are kept in the counter's row as reserved, and passed over.
"""

from dataclasses import replace

from treaty.core import limits
from treaty.core.limits import ID_GAP
from treaty.core.refusals import TooLarge
from treaty.core.state_tables import COUNTER, IDS_SPARED, SCHEMA, SchemaKey, ids_key
from treaty.core.values import Counter
from treaty.core.view import View


def id_counter(view: View, context: str) -> Counter:
    """Return the counter of a context's ids."""
    return view.get(COUNTER, ids_key(context)) or Counter(0)


def next_id(view: View, context: str) -> int:
    """Return the id that the next new schema of a context gets. Raises `TooLarge` where none is left."""
    counter = id_counter(view, context)
    schema_id = _highest(view, counter) + 1
    for low, high in counter.reserved:
        if low <= schema_id <= high:
            schema_id = high + 1
    while view.get(SCHEMA, SchemaKey(context, schema_id)) is not None:  # a counter that was lowered in another way
        schema_id += 1
    if schema_id > limits.COUNTER:
        raise TooLarge.of("COUNTER", "counter ids is used up", allowed=f"at most {limits.COUNTER}")
    return schema_id


def _highest(view: View, counter: Counter) -> int:
    spared = view.get(COUNTER, IDS_SPARED)
    return max(counter.highest, spared.highest if spared else 0)


def raised(counter: Counter, schema_id: int) -> Counter:
    """Return the counter after an id was given: it only rises, and a reserved id does not raise it."""
    if schema_id <= counter.highest or any(low <= schema_id <= high for low, high in counter.reserved):
        return counter
    return replace(counter, highest=schema_id)


def refuse_far_id(view: View, context: str, schema_id: int) -> None:
    """Raise `TooLarge` for an id that an importer gives and that would use up too many below it."""
    if schema_id > limits.COUNTER:
        raise TooLarge.of("COUNTER", f"schema id {schema_id}", allowed=f"at most {limits.COUNTER}")
    counter = id_counter(view, context)
    highest = _highest(view, counter)
    if schema_id > highest + ID_GAP and not any(low <= schema_id <= high for low, high in counter.reserved):
        raise TooLarge.of(
            "ID_GAP",
            f"schema id {schema_id} lies more than {ID_GAP} above {highest}, the highest one of context {context}, and all "
            "between would be used up",
            path="/id",
            old=str(highest),
            new=str(schema_id),
            allowed=f"at most {highest + ID_GAP}; or raise highestId of the context first, with PUT /treaty/contexts/:{context}:",
        )
