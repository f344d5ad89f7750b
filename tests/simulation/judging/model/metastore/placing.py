"""Where queries write: their places are theirs alone, stay, and are not read by what they are made of."""

from tests.simulation.judging.model.metastore.state import key_of, place_of, readers, reads_of, sources, unwanted
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from treaty.core import limits
from treaty.core.refusals import InvalidSource, NotPermitted, SourceUsed, TooLarge
from treaty.core.sources import Source

Where = tuple[str, ...]
"""A topic in a cluster, or the parts of a path."""


def where(source: Source) -> Where:
    if source.connector == "kafka":
        return ("topic", source.cluster, source.place) if source.place else ()
    parts = path_of(source.place)
    return ("path", *parts) if parts else ()


def path_of(place: str) -> tuple[str, ...]:
    """The parts of a path, however it is written."""
    return tuple(part for part in place.split("/") if part.strip() and part != ".")


def _stands(source: Source) -> tuple[object, ...]:
    if source.connector == "kafka":
        return "kafka", source.cluster, source.place
    return source.connector, path_of(source.place)


def meet(one: Where, other: Where) -> bool:
    """Whether two places are the same, or one folder is in the other."""
    if not one or not other or one[0] != other[0]:
        return False
    return one == other if one[0] == "topic" else one == other[: len(one)] or other == one[: len(other)]


def refuse_bad_place(past: Past, key: str, old: Source | None, new: Source) -> None:
    """A path can be one; a query and what is read stay where they are; a query writes where nobody else is."""
    if new.connector != "kafka" and new.place:
        if len(new.place) > limits.PATH_TEXT:
            raise No(TooLarge, "PATH_TEXT")
        if not path_of(new.place) or any(part[0] in "._" for part in path_of(new.place)):
            raise No(InvalidSource, "PATH_SEGMENT")
    if old is not None and _stands(old) != _stands(new):
        if old.query is not None:
            raise No(NotPermitted, "SINK_MOVED")
        if readers(past, key):
            raise No(SourceUsed, "PLACE_READ")
    running = None if old is None else old.query
    if new.query is None or (running is not None and running.plan == new.query.plan):
        return
    beside = {one for one, source in sources(past).items() if one != key and meet(where(source), where(new))}
    if running is None and beside:
        raise No(NotPermitted, "SINK_TAKEN")
    if _made_of(past, new) & beside:
        raise No(NotPermitted, "SINK_READ")


def refuse_deleted_topic(past: Past, source: Source) -> None:
    """No source stands over a topic while it is being deleted."""
    place = place_of(source)
    topic = unwanted(past).get(place) if place is not None else None
    if topic is not None and topic.desired == "deleting":
        raise No(SourceUsed, "TOPIC_DELETING")


def _made_of(past: Past, source: Source) -> set[str]:
    """Keys of all that a query is made of, through what it reads and through places that queries write to."""
    there, seen = sources(past), set[str]()
    waiting = list(reads_of(source))
    while waiting:
        key = waiting.pop()
        if key in there and key not in seen:
            seen.add(key)
            same = [one for one, other in there.items() if meet(where(other), where(there[key]))]
            waiting += [*reads_of(there[key]), *same]
    return seen


def is_written(past: Past, key: str, source: Source) -> bool:
    """Whether the query of another source writes where this one is."""
    return any(
        other.query is not None and one != key_of(key) and meet(where(source), where(other))
        for one, other in sources(past).items()
    )
