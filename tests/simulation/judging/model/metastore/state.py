"""Sources, types and topics as they are after a past, and who needs whom among them."""

from collections.abc import Iterator

from tests.simulation.judging.model.events import (
    AssignmentChanged,
    DroppedChanged,
    LeaseChanged,
    PlanningChanged,
    RunnerChanged,
    SourceChanged,
    TopicDeleted,
    TypeChanged,
)
from tests.simulation.judging.model.past import Past, VersionNow
from treaty.core.sources import (
    Assignment,
    DroppedSource,
    PlanningJob,
    Runner,
    SchemaPin,
    Source,
    StoredType,
    Topic,
    TopicLease,
)

Place = tuple[str, str]
"""A cluster and a topic in it."""


def key_of(name: str) -> str:
    """The key of a name: letters of ASCII are small, all others as they are."""
    return "".join(chr(ord(char) + 32) if "A" <= char <= "Z" else char for char in name)


def sources(past: Past) -> dict[str, Source]:
    """Sources that are there, by key."""
    return past._once("sources", lambda: dict(sorted(past._latest(SourceChanged, "key", "source").items())))


def types(past: Past) -> dict[str, StoredType]:
    """Types that are there, by key."""
    return past._once("types", lambda: dict(sorted(past._latest(TypeChanged, "key", "type").items())))


def dropped(past: Past) -> dict[str, DroppedSource]:
    """What was dropped last under each name, as far as it is kept."""
    return past._once("dropped", lambda: dict(sorted(past._latest(DroppedChanged, "key", "dropped").items())))


def planning(past: Past) -> dict[str, PlanningJob]:
    """Statements that wait for their plans, by the keys of their sources."""
    return past._once("planning", lambda: dict(sorted(past._latest(PlanningChanged, "key", "job").items())))


def runners(past: Past) -> dict[str, Runner]:
    """Leases of runners, by name."""
    return past._once("runners", lambda: dict(sorted(past._latest(RunnerChanged, "name", "runner").items())))


def assignments(past: Past) -> dict[tuple[str, int], Assignment]:
    """Who has which part of which generation."""
    return past._once("assignments", lambda: dict(sorted(past._latest(AssignmentChanged, "key", "assignment").items())))


def part_of(source: Source) -> str:
    """What of a source runs: its query, or what collects the bad rows of another one; empty: nothing."""
    if source.query is not None:
        return "query"
    return "bad" if source.origin else ""


# ---------------------------------------------------------------------------------------------------------- topics


def place_of(source: Source | None) -> Place | None:
    """The topic that a source stands over."""
    if source is None or source.connector != "kafka" or not source.place:
        return None
    return source.cluster, source.place


def over(past: Past, place: Place) -> list[str]:
    """Keys of the sources that stand over a topic."""
    return sorted(key for key, source in sources(past).items() if place_of(source) == place)


def unwanted(past: Past) -> dict[Place, Topic]:
    """Topics that are to go: deleted with their last source, and not taken back by another one."""
    return past._once("unwanted topics", lambda: _unwanted(past))


def _unwanted(past: Past) -> dict[Place, Topic]:
    rows: dict[Place, Topic | None] = {}
    for event in past.events:
        if type(event) is TopicDeleted:
            rows[event.place] = event.row
        elif type(event) is SourceChanged:
            place = place_of(event.source)
            if place is not None:
                rows[place] = None
    return {place: row for place, row in sorted(rows.items()) if row is not None}


def topic(past: Past, place: Place) -> Topic | None:
    """The row of a topic: wanted while a source stands over it, unwanted since it was deleted with its last one."""
    keys = over(past, place)
    return Topic("present", tuple(keys)) if keys else unwanted(past).get(place)


def leases(past: Past) -> dict[str, TopicLease]:
    """Who may change the topics of a cluster, by cluster."""
    return past._once("leases", lambda: dict(sorted(past._latest(LeaseChanged, "cluster", "lease").items())))


# ------------------------------------------------------------------------------------------------------------- pins


def own_pins(source: Source) -> list[SchemaPin]:
    """The versions that the key and the value of a source are bound to."""
    parts = (source.key, source.value)
    return [part.pin for part in parts if part is not None and part.pin is not None]


def pins(source: Source) -> list[SchemaPin]:
    """These, and those by which its query reads others."""
    reads = () if source.query is None else source.query.plan.reads
    return [*own_pins(source), *(pin for read in reads for pin in (read.key, read.value) if pin is not None)]


def is_pin_of(pin: SchemaPin, version: VersionNow) -> bool:
    """Whether a pin holds a version: it names its ordinal, or the version is the former text of what it names."""
    if (pin.context, pin.subject, pin.generation) != (*version.subject, version.generation):
        return False
    former = version.version.revision_of == pin.ordinal and version.schema_id == pin.schema_id
    return pin.ordinal == version.ordinal or former


def pinning(past: Past, version: VersionNow) -> list[str]:
    """Keys of the sources that hold a version."""
    return [key for key, source in sources(past).items() if any(is_pin_of(pin, version) for pin in pins(source))]


def is_pinned(past: Past, version: VersionNow) -> bool:
    return bool(pinning(past, version))


# ---------------------------------------------------------------------------------------------------------- readers


def reads_of(source: Source) -> tuple[str, ...]:
    """Keys of the sources that a source reads."""
    return () if source.query is None else tuple(dict.fromkeys(read.source for read in source.query.plan.reads))


def readers(past: Past, key: str) -> list[str]:
    """Keys of the sources whose queries read a source."""
    return [other for other, source in sources(past).items() if key in reads_of(source)]


def streams_of_bad_rows(past: Past, key: str) -> list[str]:
    """Keys of the sources that have the bad rows of one."""
    return [other for other, source in sources(past).items() if source.origin == key]


def reaches(past: Past, start: str, wanted: str) -> bool:
    """Whether a source is made of another one: by what it reads, or as the stream of its bad rows."""
    waiting, seen = [start], set[str]()
    there = sources(past)
    while waiting:
        key = waiting.pop()
        if key == wanted:
            return True
        if key not in seen and key in there:
            seen.add(key)
            waiting += [*reads_of(there[key]), *filter(None, [there[key].origin])]
    return False


def users_of_type(past: Past, key: str) -> Iterator[tuple[str, str]]:
    """Tables and keys of what uses a type."""
    yield from (("source", other) for other, source in sources(past).items() if key in source.types)
    yield from (("type", other) for other, named in types(past).items() if key in named.types)
