"""Where a query may write: a topic or folder is refused that another query writes, or that the query itself reads, and so is a move of one that is in use."""

from collections.abc import Iterator
from typing import Any

from treaty.core import limits
from treaty.core.access.rights import Access
from treaty.core.command import Command
from treaty.core.handlers.metastore.closure import source_used
from treaty.core.handlers.metastore.names import source_key
from treaty.core.handlers.metastore.places.topics import topic_of
from treaty.core.refusals import InvalidSource, NotPermitted, TooLarge
from treaty.core.sources import Source
from treaty.core.state.metastore.indexes import SOURCE_BY_PATH, SOURCE_BY_READ, reads_of
from treaty.core.state.metastore.keys import SourceKey, canonical_path, parents_of
from treaty.core.state.metastore.tables import SOURCE, TOPIC
from treaty.core.state.view import View

PLACE_PATH = "/definition/place"


def refuse_unfit_place(
    view: View, command: Command[Any], key: SourceKey, stored: Source | None, source: Source
) -> None:
    """Raise the refusal of a place that a source can't stand over: another query writes there, its own sources are there, or a query
    or its readers have offsets of the former place.
    """
    if source.connector != "kafka" and source.place:
        refuse_bad_path(source.place, PLACE_PATH)
    if stored is not None and _place(stored) != _place(source):
        _refuse_move(view, command.access, key, stored, source)
    if source.query is None or (
        stored is not None and stored.query is not None and stored.query.plan == source.query.plan
    ):
        return
    if stored is None or stored.query is None:
        _refuse_shared(view, command.access, key, source)
    _refuse_feedback(view, key, source)


def find_writer(view: View, key: SourceKey, source: Source) -> Source | None:
    """Return another source whose query writes where this one stands, or around it; None without one."""
    other_sources = (view.get(SOURCE, other) for other in _list_overlapping(view, source) if other != key)
    return next((source for source in other_sources if source is not None and source.query is not None), None)


def _place(source: Source) -> tuple[str, str, str]:
    if source.connector == "kafka":
        return "kafka", source.cluster, source.place
    return source.connector, "", canonical_path(source.place)


def _list_overlapping(view: View, source: Source) -> Iterator[SourceKey]:
    """Keys of the sources over the topic of a source; or over its folder, one around it, or one within it."""
    if source.connector == "kafka":
        topic = topic_of(source)
        row = None if topic is None else view.get(TOPIC, topic)
        yield from (SourceKey(name) for name in (() if row is None else row.sources))
        return
    path = canonical_path(source.place)
    for folder in (*parents_of(path), path) if path else ():
        yield from (SourceKey(entry[1]) for entry in view.walk(SOURCE_BY_PATH, (folder,), (f"{folder}\0",)))
    if path:
        yield from (SourceKey(entry[1]) for entry in view.walk(SOURCE_BY_PATH, (f"{path}/",), (f"{path}0",)))


def _name(source: Source) -> str:
    return f"{'topic' if source.connector == 'kafka' else 'folder'} {source.place}"


def _refuse_move(view: View, access: Access | None, key: SourceKey, stored: Source, source: Source) -> None:
    if stored.query is not None:
        raise NotPermitted.of(
            "SINK_MOVED",
            f"The query of {stored.name} writes to the {_name(stored)}, and its checkpoint says what is there",
            path=PLACE_PATH,
            old=f"{stored.connector}: {stored.place}",
            new=f"{source.connector}: {source.place}",
            allowed="the same topic or PATH; or a source of another name, and a drop of this one",
        )
    readers = list(view.find(SOURCE_BY_READ, (key.name,)))
    if readers:
        readable = [reader.name for reader in readers if access is None or access.may_source("read", reader.name)]
        raise source_used(
            "PLACE_READ",
            f"The {_name(stored)} of {stored.name} is read, at offsets of its own, by",
            readable,
            len(readers) - len(readable),
            path=PLACE_PATH,
            old=f"{stored.connector}: {stored.place}",
            new=f"{source.connector}: {source.place}",
            allowed="the same topic or PATH; or a source of another name, and other queries",
        )


def _refuse_shared(view: View, access: Access | None, key: SourceKey, source: Source) -> None:
    """Raise `NotPermitted` where another source stands over the place that a query is to write to."""
    for other in _list_overlapping(view, source):
        value = view.get(SOURCE, other)
        if value is None or other == key:
            continue
        is_seen = access is None or access.may_source("read", other.name)
        raise NotPermitted.of(
            "SINK_TAKEN",
            f"The query of {source.name} would write to the {_name(source)}, where "
            f"{value.name if is_seen else 'a source that you may not see'} is",
            path=PLACE_PATH,
            old=f"{value.connector}: {value.place}" if is_seen else "",
            new=f"{source.connector}: {source.place}",
            allowed="another KAFKA_TOPIC or PATH. A source without a query may stand over the topic of a query once that is there",
        )


def _refuse_feedback(view: View, key: SourceKey, source: Source) -> None:
    """Raise `NotPermitted` for a query that reads, directly or through other queries, the place that it writes to."""
    own = {*_list_overlapping(view, source)} - {key}
    waiting, visited = [source_key(read.source) for read in reads_of(source)], set[SourceKey]()
    while waiting:
        current = waiting.pop()
        value = view.get(SOURCE, current)
        if current in visited or value is None:
            continue
        visited.add(current)
        if current in own:
            raise NotPermitted.of(
                "SINK_READ",
                f"The query of {source.name} reads, through {value.name}, the {_name(source)} that it writes to",
                path="/definition/query/reads",
                old=value.place,
                new=source.place,
                allowed="sources that are not made of its own rows; or another KAFKA_TOPIC or PATH",
            )
        if len(visited) > limits.CLOSURE:
            raise TooLarge.of("CLOSURE", "Too many sources depend on each other", allowed=f"at most {limits.CLOSURE}")
        waiting.extend(source_key(read.source) for read in reads_of(value))
        waiting.extend(_list_overlapping(view, value))


def refuse_bad_path(place: str, path: str) -> None:
    """Raise `TooLarge` for a long path, and `InvalidSource` for one that leaves the root or names a folder of a program's own."""
    if len(place) > limits.PATH_TEXT:
        raise TooLarge.of(
            "PATH_TEXT", "The PATH is too long", path=path, allowed=f"at most {limits.PATH_TEXT} characters"
        )
    parts = canonical_path(place).split("/")
    bad_part = next((part for part in parts if part.startswith((".", "_")) or not part or not part.isprintable()), None)
    if bad_part is not None or "\\" in place:
        raise InvalidSource.of(
            "PATH_SEGMENT",
            f"PATH = '{place[:200]}' is no folder below the root of --files"
            if not bad_part
            else f"PATH = '{place[:200]}' has the part {bad_part[:100]!r}",
            path=path,
            new=place[:200],
            allowed="a PATH such as 'orders/2026': no part is .. or begins with . or _, which Spark and its tables keep for themselves",
        )
