"""The rows that a past comes to: what each key of a table says, worked out anew from all events."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from tests.simulation.judging.model.events import (
    AssignmentChanged,
    Associated,
    CodecMade,
    ConfigChanged,
    ContextDeleted,
    ContextMade,
    DraftPut,
    DroppedChanged,
    EncodingMade,
    Event,
    IdsReserved,
    KeyMade,
    KeyRemoved,
    LeaseChanged,
    ModeChanged,
    NumbersReserved,
    PlanningChanged,
    PolicyChanged,
    RunnerChanged,
    SourceChanged,
    SubjectChanged,
    SubjectMade,
    SubjectPurged,
    TopicDeleted,
    TypeChanged,
    VersionMade,
    VersionNamed,
    VersionPatched,
    VersionPurged,
    VersionsSuperseded,
    VersionTurned,
)
from tests.simulation.judging.model.labelling import drafts, superseding
from tests.simulation.judging.model.metastore import state
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.reserving import is_left_of_private
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject
from treaty.core.state import values
from treaty.core.state.table import Key

Place = tuple[str, Key]
"""A table and a key in it."""
OfMetastore = (
    SourceChanged | DroppedChanged | TypeChanged | TopicDeleted | LeaseChanged | PlanningChanged | RunnerChanged
    | AssignmentChanged
)  # fmt: skip
"""What happens to sources, types, topics and runners."""
SPARED = ("ids", "", "", 0, "")


def scope_key(scope: Scope) -> Key:
    if scope.context == "*":
        return ("everywhere", "*", "")
    return ("context", scope.context, "") if scope.name is None else ("subject", scope.context, scope.name)


def scope_of(key: Key) -> Scope:
    kind, context, name = map(str, key)
    return Scope(context, name if kind == "subject" else None)


def fact(past: Past, place: Place) -> object:
    """The value that a row has after all that happened; None: there is no such row. Outcomes are looked at apart."""
    table, key = place
    if table == "version":
        found = [one.version for one in past.versions if (*one.subject, one.generation, one.ordinal) == key]
        return found[0] if found else None
    if table == "schema":
        return past.schema(str(key[0]), int(key[1]))
    if table == "content":
        found_content = [one.content for one in past.versions if one.version.content == key[0]]
        return values.Content(found_content[0] or b"") if found_content else None
    if table in {"name", "superseded", "draft"}:
        return _fact_of_names(past, table, key)
    if table == "subject":
        return past.subjects.get(Subject(str(key[0]), str(key[1])))
    if table == "context":
        return values.Context() if key[0] in past.contexts else None
    if table == "config":
        return past.configs.get(scope_of(key))
    if table == "policy":
        policy = past.policies.get(str(key[0]))
        return None if policy is None else values.NamedPolicy(policy)
    if table == "mode":
        mode = past.modes.get(scope_of(key))
        return None if mode is None else values.Mode(mode)
    if table == "association":
        return past.associations.get(key)  # type: ignore[arg-type]
    if table == "codec":
        properties = past.codecs_of(Subject(str(key[0]), str(key[1]))).get(str(key[2]))
        return None if properties is None else values.Codec(properties)
    if table == "encoding":
        made = past.encodings.get((Subject(str(key[0]), str(key[1])), int(key[2])))
        return None if made is None else values.Encoding(made.schema_id, made.generation, made.ordinal, made.codec)
    if table == "api_key":
        return past.api_keys.get(str(key[0]))
    if table == "counter":
        highest = _highest(past, key)
        aside = past.ids_aside(str(key[1])) if key[0] == "ids" else ()
        private = key[0] == "encodings" and is_left_of_private(past, Subject(str(key[1]), str(key[2])))
        return None if highest is None else values.Counter(highest, aside, private)
    return _fact_of_metastore(past, table, key)


def _fact_of_metastore(past: Past, table: str, key: Key) -> object:
    if table == "source":
        return state.sources(past).get(str(key[0]))
    if table == "type":
        return state.types(past).get(str(key[0]))
    if table == "planning":
        return state.planning(past).get(str(key[0]))
    if table == "runner":
        return state.runners(past).get(str(key[0]))
    if table == "assignment":
        return state.assignments(past).get((str(key[0]), int(key[1])))
    if table == "dropped":
        return state.dropped(past).get(str(key[0]))
    if table == "topic":
        return state.topic(past, (str(key[0]), str(key[1])))
    if table == "topic_lease":
        return state.leases(past).get(str(key[0]))
    return "no rule of the model makes such a row"


def _fact_of_names(past: Past, table: str, key: Key) -> object:
    if table == "name":
        homes = (one for one in past.versions if (*one.subject, one.generation) == key[:3])
        named = sorted(one.ordinal for one in homes if key[3:] in one.names and key[3] != "sequence")
        return values.Name(named[0], tuple(named[1:])) if named else None
    subject = Subject(str(key[0]), str(key[1]))
    if table == "draft":
        return drafts(past).get((subject, int(key[2])))
    by = superseding(past).get((subject, int(key[2]), int(key[3])))
    return None if by is None else values.SupersededVersion(by)


def _highest(past: Past, key: Key) -> int | None:
    """What was ever given, of schema ids, of a subject's ordinals, or of its versions of one type.

    Ids have no generation; the others are of one generation of a subject and go with it.
    """
    kind, context, name, generation, part = key
    if key == SPARED:
        return past.spared_ids
    if kind == "ids":
        return past.highest_id(str(context)) if (name, generation, part) == ("", 0, "") else None
    subject = Subject(str(context), str(name))
    if kind == "encodings":
        given = past.highest_encoding(subject) if (generation, part) == (0, "") else -1
        return None if given < 0 else given
    there = past.subjects.get(subject)
    if there is None or there.generation != generation:
        return None
    if kind == "ordinals":
        highest = past.highest_ordinal(subject)
    else:
        format_, _, type_name = str(part).partition(":")
        highest = past.highest_of_type(subject, format_, type_name)
    return None if highest < 0 else highest


def changes_something(before: Past, events: tuple[Event, ...]) -> bool:
    """Whether events leave any row other than it was; some take back what others did."""
    later = before.then(events)
    return any(fact(before, place) != fact(later, place) for place in places(before, events))


def _places_of_others(
    before: Past, event: CodecMade | EncodingMade | NumbersReserved | VersionPatched | VersionsSuperseded | DraftPut
) -> Iterator[Place]:
    if isinstance(event, CodecMade | EncodingMade | NumbersReserved):
        yield from _places_of_encoding(event)
    else:
        yield from _places_of_labels(before, event)


def _places_of_labels(before: Past, event: VersionPatched | VersionsSuperseded | DraftPut) -> Iterator[Place]:
    if isinstance(event, DraftPut):
        yield "draft", (*event.subject, event.number)
        return
    generation = (
        next(one.generation for one in before.then([event]).of(event.subject))
        if isinstance(event, VersionPatched)
        else event.generation
    )
    home = (*event.subject, generation)
    if isinstance(event, VersionsSuperseded):
        yield from (("superseded", (*home, one)) for one in event.others)
        return
    yield "version", (*home, event.ordinal)
    yield "version", (*home, event.former)
    yield "schema", (event.subject.context, event.version.schema_id)
    yield "counter", ("ids", event.subject.context, "", 0, "")
    yield "counter", ("ordinals", *home, "")
    yield "counter", ("types", *home, f"{event.version.format}:{event.version.type_name}")
    if event.version.content:
        yield "content", (event.version.content,)
    yield from (
        ("encoding", (*event.subject, one.encoding)) for one in before.encodings_of(event.subject, event.ordinal)
    )


def places(before: Past, events: tuple[Event, ...]) -> Iterator[Place]:
    """Tables and keys whose rows events may change."""
    for event in events:
        if isinstance(event, VersionMade):
            yield from _places_of(VersionNow.of(event))
            yield "counter", ("ids", event.subject.context, "", 0, "")
            yield from _counters_of(event)
        elif isinstance(event, VersionTurned | VersionPurged | VersionNamed):
            yield "subject", tuple(event.subject)
            for one in before.versions:
                if (one.subject, one.ordinal) == (event.subject, event.ordinal):
                    yield from _places_of(replace(one, names=event.names) if isinstance(event, VersionNamed) else one)
            yield from (
                ("superseded", (*event.subject, generation, one))
                for (subject, generation, one), by in superseding(before).items()
                if subject == event.subject and event.ordinal in {one, by}
            )
            made_for = before.encodings_of(event.subject, event.ordinal)
            yield from (("encoding", (*event.subject, one.encoding)) for one in made_for)
        elif isinstance(event, SubjectMade | SubjectPurged):
            yield "subject", tuple(event.subject)
            yield "counter", ("encodings", *event.subject, 0, "")
            home = before.subjects.get(event.subject)
            for made in before.made_in(event.subject):
                yield from _counters_of(made, home.generation if home else -1)
            yield from chain.from_iterable(map(_places_of_encoding, before.reserved_in(event.subject)))
            yield from (("codec", (*event.subject, name)) for name in before.codecs_of(event.subject))
        elif isinstance(event, SubjectChanged):
            yield "subject", tuple(event.subject)
        elif isinstance(
            event, CodecMade | EncodingMade | NumbersReserved | VersionPatched | VersionsSuperseded | DraftPut
        ):
            yield from _places_of_others(before, event)
        elif isinstance(event, ContextMade | ContextDeleted):
            yield "context", (event.context,)
        elif isinstance(event, IdsReserved | KeyMade | KeyRemoved):
            yield (
                ("counter", ("ids", event.context, "", 0, ""))
                if isinstance(event, IdsReserved)
                else ("api_key", (event.digest,))
            )
        elif isinstance(event, ConfigChanged | PolicyChanged | ModeChanged):
            yield _place_of_setting(event)
        elif isinstance(event, Associated):
            yield "association", event.key
        elif isinstance(event, OfMetastore):
            yield from _places_of_metastore(before, event)


def _places_of_metastore(before: Past, event: OfMetastore) -> Iterator[Place]:
    if isinstance(event, DroppedChanged):
        yield "dropped", (event.key,)
    elif isinstance(event, TypeChanged):
        yield "type", (event.key,)
    elif isinstance(event, TopicDeleted):
        yield "topic", event.place
    elif isinstance(event, LeaseChanged):
        yield "topic_lease", (event.cluster,)
    elif isinstance(event, PlanningChanged):
        yield "planning", (event.key,)
    elif isinstance(event, RunnerChanged):
        yield "runner", (event.name,)
    elif isinstance(event, AssignmentChanged):
        yield "assignment", event.key
    else:
        yield "source", (event.key,)
        both = (state.sources(before).get(event.key), event.source)
        yield from (("topic", place) for place in map(state.place_of, both) if place is not None)


def _place_of_setting(event: ConfigChanged | PolicyChanged | ModeChanged) -> Place:
    if isinstance(event, PolicyChanged):
        return "policy", (event.name,)
    return "config" if isinstance(event, ConfigChanged) else "mode", scope_key(event.scope)


def _places_of_encoding(event: CodecMade | EncodingMade | NumbersReserved) -> Iterator[Place]:
    if isinstance(event, CodecMade):
        yield "codec", (*event.subject, event.name)
    elif isinstance(event, NumbersReserved):
        yield from _counters_reserved(event)
    else:
        yield "encoding", (*event.subject, event.encoding)
        yield "counter", ("encodings", *event.subject, 0, "")


def _counters_of(made: VersionMade | VersionPatched, generation: int = -1) -> Iterator[Place]:
    """The counters of its subject that a version raised."""
    home = (*made.subject, made.generation if isinstance(made, VersionMade) else generation)
    yield "counter", ("ordinals", *home, "")
    yield "counter", ("types", *home, f"{made.version.format}:{made.version.type_name}")


def _counters_reserved(event: NumbersReserved) -> Iterator[Place]:
    home = (*event.subject, event.generation)
    yield "counter", ("ordinals", *home, "")
    yield "counter", ("encodings", *event.subject, 0, "")
    for format_, type_name, _ in event.highest.types:
        yield "counter", ("types", *home, f"{format_}:{type_name}")


def _places_of(one: VersionNow) -> Iterator[Place]:
    home = (*one.subject, one.generation)
    yield "version", (*home, one.ordinal)
    yield "schema", (one.context, one.schema_id)
    if one.version.content:
        yield "content", (one.version.content,)
    for name in (pair for pair in one.names if pair[0] != "sequence"):
        yield "name", (*home, *name)
