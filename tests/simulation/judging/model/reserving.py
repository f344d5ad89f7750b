"""Ids that lie far above the rest of their context: a repair lowers the counter of ids below them and keeps them aside."""

from tests.simulation.judging.model.events import (
    EncodingMade,
    IdsFreed,
    NumbersReserved,
    Restored,
    SubjectMade,
    SubjectPurged,
)
from tests.simulation.judging.model.past import Past
from treaty.core.limits import ID_GAP
from treaty.core.names import Subject


def freed(past: Past, context: str) -> IdsFreed | None:
    """What a repair of the counter of a context comes to; None where nothing holds it up."""
    highest = past.highest_id(context)
    if highest is None:
        return None
    aside, spared = past.ids_aside(context), past.spared_ids or 0
    gaps = [event.gap for event in past.events if type(event) is Restored]
    gap = ID_GAP + (gaps[-1] if gaps else 0)
    ids = {one.schema_id for one in past.versions if one.context == context}
    ids = {one for one in ids if one <= highest or not is_within(one, aside)} | {highest}
    near, far = list[int](), list[int]()
    for one in sorted(ids):
        if far or one > max(near[-1] if near else 0, spared) + gap:
            far.append(one)
        else:
            near.append(one)
    if not far:
        return None
    ranges = list[tuple[int, int]]()
    for one in far:
        if ranges and one <= ranges[-1][1] + gap:  # what was given between them may be gone for good
            ranges[-1] = (ranges[-1][0], one)
        else:
            ranges.append((one, one))
    return IdsFreed(context, near[-1] if near else 0, tuple(sorted({*aside, *ranges})))


def is_left_of_private(past: Past, subject: Subject) -> bool:
    """Whether the highest encoding id of a name is what is left of a private subject."""
    highest, private, left = -1, False, False
    for event in past.events:
        if isinstance(event, SubjectMade) and event.subject == subject:
            private = event.value.private
        elif isinstance(event, SubjectPurged) and event.subject == subject:
            left = left or (private and highest >= 0)
        elif isinstance(event, EncodingMade) and event.subject == subject:
            highest, left = max(highest, event.encoding), False
        elif isinstance(event, NumbersReserved) and event.subject == subject and event.highest.encoding > highest:
            highest, left = event.highest.encoding, event.private
    return left


def is_within(schema_id: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    """Whether an id lies in one of these ranges."""
    return any(low <= schema_id <= high for low, high in ranges)
