"""The past up to a moment: a list of events, and what it says when it is read from its beginning to its end."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, cast

from tests.simulation.judging.model.events import (
    Alike,
    Answered,
    Associated,
    CodecMade,
    ConfigChanged,
    ContextDeleted,
    ContextMade,
    EncodingMade,
    Event,
    IdsFreed,
    IdsReserved,
    KeyMade,
    KeyRemoved,
    ModeChanged,
    Name,
    NumbersReserved,
    OutcomeDropped,
    PolicyChanged,
    Restored,
    SubjectChanged,
    SubjectMade,
    SubjectPurged,
    VersionMade,
    VersionNamed,
    VersionPatched,
    VersionPurged,
    VersionTurned,
)
from tests.simulation.judging.model.hiding import hide_former, take_from_hidden
from treaty.core.limits import COUNTER
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject
from treaty.core.schema import Pairs
from treaty.core.state import values

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VersionNow:
    """A version as it is now, whatever its state."""

    subject: Subject
    generation: int
    ordinal: int
    version: values.Version
    schema: values.Schema
    alike: Alike
    content: bytes | None
    names: tuple[tuple[str, str], ...]
    normal: Alike | None

    @staticmethod
    def of(event: VersionMade) -> "VersionNow":
        """The version that an event made, as it was then."""
        return VersionNow(*(getattr(event, one.name) for one in fields(VersionNow)))

    @property
    def state(self) -> str:
        return self.version.state

    @property
    def number(self) -> int:
        return self.version.number

    @property
    def schema_id(self) -> int:
        return self.version.schema_id

    @property
    def context(self) -> str:
        return self.subject.context

    @property
    def sent(self) -> bytes:
        """The bytes that were sent."""
        return self.schema.text.encode() if self.content is None else self.content


class Past:
    """Events in their order. Whatever is asked is found by a loop over them; what a loop found is kept with its list."""

    def __init__(self, events: tuple[Event, ...] = (), sequence: int = 0) -> None:
        self.events = events
        self.sequence = sequence
        self._found: dict[str, Any] = {}

    def then(self, events: Iterable[Event], sequence: int | None = None) -> "Past":
        """The past with more events."""
        news = tuple(events)
        later = Past((*self.events, *news), self.sequence if sequence is None else sequence)
        if not news:
            later._found = self._found
        return later

    def _once(self, name: str, loop: Callable[[], T]) -> T:
        if name not in self._found:
            self._found[name] = loop()
        return cast("T", self._found[name])

    def shows(self, scope: Scope) -> bool:
        """Whether who asks may see what is set at a scope."""
        return True

    def tells_of(self, subject: Subject | None) -> bool:
        """Whether who asks may hear the answer that another one got, about a subject or about something else."""
        return True

    # ------------------------------------------------------------------------------------------------- versions

    @property
    def versions(self) -> list[VersionNow]:
        """Every version that is not purged, hidden ones too, in the order in which they were made."""
        return self._once("versions", self._versions)

    def _versions(self) -> list[VersionNow]:
        there: dict[tuple[Subject, int], VersionNow] = {}
        for event in self.events:
            if type(event) is VersionMade:
                there[event.subject, event.ordinal] = VersionNow.of(event)
                take_from_hidden(there, event)
            elif type(event) is VersionNamed:
                named = there[event.subject, event.ordinal]
                there[event.subject, event.ordinal] = replace(named, names=(*named.names, *event.names))
                take_from_hidden(there, event)
            elif type(event) is VersionPatched:
                hide_former(there, event)
            elif type(event) is VersionTurned:
                old = there[event.subject, event.ordinal]
                there[event.subject, event.ordinal] = replace(old, version=replace(old.version, state=event.state))
            elif type(event) is VersionPurged:
                del there[event.subject, event.ordinal]
        return list(there.values())

    def of(self, subject: Subject) -> list[VersionNow]:
        """All versions of a subject that are not purged, by ordinal."""
        return sorted((one for one in self.versions if one.subject == subject), key=lambda one: one.ordinal)

    def shown(self, subject: Subject, states: tuple[str, ...] = ("live",)) -> list[VersionNow]:
        """The versions of a subject in these states, by number."""
        there = [one for one in self.versions if one.subject == subject and one.state in states]
        return sorted(there, key=lambda one: one.number)

    def users(self, context: str, schema_id: int) -> list[VersionNow]:
        """All versions that have a schema, by subject and ordinal."""
        there = (one for one in self.versions if one.schema_id == schema_id and one.context == context)
        return sorted(there, key=lambda one: (one.subject.name, one.ordinal))

    def schema(self, context: str, schema_id: int) -> values.Schema | None:
        """The schema with an id: it is there as long as a version has it."""
        for one in self.versions:
            if one.schema_id == schema_id and one.context == context:
                return one.schema
        return None

    # ------------------------------------------------------------------------------------------------- subjects

    @property
    def subjects(self) -> dict[Subject, values.SubjectValue]:
        """Subjects that are there."""
        return self._once("subjects", self._subjects)

    def _subjects(self) -> dict[Subject, values.SubjectValue]:
        there: dict[Subject, values.SubjectValue] = {}
        for event in self.events:
            if type(event) is SubjectMade:
                there[event.subject] = event.value
            elif type(event) is SubjectChanged:
                there[event.subject] = replace(
                    there[event.subject], properties=event.properties, label_policy=event.label_policy
                )
            elif type(event) is SubjectPurged:
                del there[event.subject]
        return there

    def count_subjects(self, context: str) -> int:
        """How many subjects a context has."""
        return sum(one.context == context for one in self.subjects)

    @property
    def contexts(self) -> list[str]:
        """Contexts that are there, by name."""
        return self._once("contexts", self._contexts)

    def _contexts(self) -> list[str]:
        there = set()
        for event in self.events:
            if type(event) is ContextMade:
                there.add(event.context)
            elif type(event) is ContextDeleted:
                there.discard(event.context)
        return sorted(there)

    # ------------------------------------------------------------------------------------------------- settings

    @property
    def configs(self) -> dict[Scope, values.ConfigValue]:
        """What is set where."""
        return self._once("configs", lambda: self._latest(ConfigChanged, "scope", "config"))

    @property
    def policies(self) -> dict[str, values.PolicyValue]:
        """Named policies."""
        return self._once("policies", lambda: self._latest(PolicyChanged, "name", "policy"))

    @property
    def modes(self) -> dict[Scope, str]:
        """Modes, and where they are set."""
        return self._once("modes", lambda: self._latest(ModeChanged, "scope", "mode"))

    def _latest(self, kind: type, key: str, member: str) -> dict[Any, Any]:
        """What each thing is since the last event of a kind about it; things that are no more are left out."""
        there = {getattr(event, key): getattr(event, member) for event in self.events if type(event) is kind}
        return {name: value for name, value in there.items() if value is not None}

    # ------------------------------------------------------------------------------------------------- counting

    def highest_id(self, context: str) -> int | None:
        """The highest id that a context ever gave or counts as given; None where it never had one."""
        highest: int | None = None
        aside: tuple[tuple[int, int], ...] = ()
        for event in self.events:
            if isinstance(event, VersionMade | VersionPatched) and event.subject.context == context:
                if not any(low <= event.version.schema_id <= high for low, high in aside):
                    highest = max(highest or 0, event.version.schema_id)
            elif type(event) is IdsFreed and event.context == context:
                highest, aside = event.highest, event.aside
            elif type(event) is IdsReserved and event.context == context:
                highest = max(highest or 0, event.highest)
            elif type(event) is Restored and highest is not None:
                highest = min(highest + event.gap, COUNTER)
        return highest

    def ids_aside(self, context: str) -> tuple[tuple[int, int], ...]:
        """Ranges of ids above the highest one that count as given."""
        freed = [event.aside for event in self.events if type(event) is IdsFreed and event.context == context]
        return freed[-1] if freed else ()

    @property
    def spared_ids(self) -> int | None:
        """Ids up to this one are given in no context any more; None where nothing was restored with a gap."""
        gaps = [event.gap for event in self.events if type(event) is Restored and event.gap]
        return sum(gaps) if gaps else None

    def made_in(self, subject: Subject) -> list[VersionMade | VersionPatched]:
        """Every version that was made, or got another text, in the subject that has this name now, and in none that had it before."""
        made: list[VersionMade | VersionPatched] = []
        for event in self.events:
            if isinstance(event, VersionMade | VersionPatched) and event.subject == subject:
                made.append(event)
            elif type(event) is SubjectPurged and event.subject == subject:
                made = []
        return made

    def highest_ordinal(self, subject: Subject) -> int:
        """The highest ordinal that a subject ever had; -1 where it never had one."""
        reserved = (one.highest.ordinal for one in self.reserved_in(subject))
        made = self.made_in(subject)
        given = (one.former if isinstance(one, VersionPatched) else one.ordinal for one in made)
        return max((*given, *reserved), default=-1)

    def highest_of_type(self, subject: Subject, format_: str, type_name: str) -> int:
        """The highest number that a version of this type ever had among those of its type; -1 where there was none."""
        made = (one.version for one in self.made_in(subject))
        of_type = [one.type_version for one in made if (one.format, one.type_name) == (format_, type_name)]
        for one in self.reserved_in(subject):
            of_type += [number for *kind, number in one.highest.types if kind == [format_, type_name]]
        return max(of_type, default=-1)

    def reserved_in(self, subject: Subject) -> list[NumbersReserved]:
        """What importers said of the numbers of the subject that has this name now."""
        there: list[NumbersReserved] = []
        for event in self.events:
            if type(event) is NumbersReserved and event.subject == subject:
                there.append(event)
            elif type(event) is SubjectPurged and event.subject == subject:
                there = []
        return there

    def is_younger(self, subject: Subject, name: Name) -> bool:
        """Whether the subject that has this name now was made after a command was answered.

        In a log that was restored the law can't tell; then what it looks like decides.
        """
        if any(type(one) is Restored for one in self.events):
            return False
        order = [one for one in self.events if type(one) in {SubjectMade, Answered}]
        made = [at for at, one in enumerate(order) if type(one) is SubjectMade and one.subject == subject]
        answered = [at for at, one in enumerate(order) if type(one) is Answered and one.name == name]
        return made[-1] > answered[-1]

    # -------------------------------------------------------------------------------------------------- API keys

    @property
    def api_keys(self) -> dict[str, values.ApiKey]:
        """API keys by digest."""
        return self._once("api_keys", self._api_keys)

    def _api_keys(self) -> dict[str, values.ApiKey]:
        there: dict[str, values.ApiKey] = {}
        for event in self.events:
            if type(event) is KeyMade:
                there[event.digest] = event.value
            elif type(event) is KeyRemoved:
                del there[event.digest]
        return there

    # ------------------------------------------------------------------------------------------------- encodings

    def codecs_of(self, subject: Subject) -> dict[str, Pairs]:
        """Codecs that were added to the subject that has this name now, and their properties."""
        there: dict[str, Pairs] = {}
        for event in self.events:
            if type(event) is CodecMade and event.subject == subject:
                there[event.name] = event.properties
            elif type(event) is SubjectPurged and event.subject == subject:
                there = {}
        return there

    @property
    def encodings(self) -> dict[tuple[Subject, int], EncodingMade]:
        """Encodings whose version is there, by subject and id."""
        return self._once("encodings", self._encodings)

    def _encodings(self) -> dict[tuple[Subject, int], EncodingMade]:
        there: dict[tuple[Subject, int], EncodingMade] = {}
        for event in self.events:
            if type(event) is EncodingMade:
                there[event.subject, event.encoding] = event
            elif type(event) is VersionPatched:
                place = (event.subject, event.ordinal)
                there = {
                    key: replace(one, ordinal=event.former) if (one.subject, one.ordinal) == place else one
                    for key, one in there.items()
                }
            elif type(event) is VersionPurged:
                gone = (event.subject, event.ordinal)
                there = {key: one for key, one in there.items() if (one.subject, one.ordinal) != gone}
        return there

    def encodings_of(self, subject: Subject, ordinal: int) -> list[EncodingMade]:
        """The encodings of a version."""
        return [one for one in self.encodings.values() if (one.subject, one.ordinal) == (subject, ordinal)]

    @property
    def encoded(self) -> set[Subject]:
        """The names of subjects that have or had encodings."""
        kinds = {EncodingMade, NumbersReserved}
        named = {cast("EncodingMade", one).subject for one in self.events if type(one) in kinds}
        return {subject for subject in named if self.highest_encoding(subject) >= 0}

    def highest_encoding(self, subject: Subject) -> int:
        """The highest encoding id that any subject of this name ever had; -1 where none had one."""
        highest = -1
        for event in self.events:
            if type(event) is EncodingMade and event.subject == subject:
                highest = max(highest, event.encoding)
            elif type(event) is NumbersReserved and event.subject == subject:
                highest = max(highest, event.highest.encoding)
            elif type(event) is Restored and highest >= 0:
                highest = min(highest + event.gap, COUNTER)
        return highest

    # ------------------------------------------------------------------------------------------------- the rest

    @property
    def associations(self) -> dict[tuple[str, str, str], values.Association]:
        """Associations by resource id, kind and qualified subject."""
        return self._once("associations", self._associations)

    def _associations(self) -> dict[tuple[str, str, str], values.Association]:
        there: dict[tuple[str, str, str], values.Association] = {}
        for event in self.events:
            if type(event) is Associated:
                if event.value is None:
                    del there[event.key]
                else:
                    there[event.key] = event.value
        return dict(sorted(there.items()))

    @property
    def outcomes(self) -> dict[Name, Answered]:
        """What is remembered of commands, by their names."""
        return self._once("outcomes", self._outcomes)

    def _outcomes(self) -> dict[Name, Answered]:
        there: dict[Name, Answered] = {}
        for event in self.events:
            if type(event) is Answered:
                there[event.name] = event
            elif type(event) is OutcomeDropped:
                del there[event.name]
        return there
