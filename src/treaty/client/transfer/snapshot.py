"""`Snapshot`: all that a registry holds, as a value."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from treaty.core.answers import Config, VersionFound
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, subject_of
from treaty.core.requests import Scope
from treaty.wire.confluent.records import (
    ClearedRecord,
    ConfigRecord,
    ContextRecord,
    DeletedRecord,
    ModeRecord,
    OtherRecord,
    Record,
    VersionRecord,
    config_record,
    context_record,
    mode_record,
    version_record,
)

K = TypeVar("K")
V = TypeVar("V")

Place = tuple[str, int]
"""A qualified subject and a version number."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be taken over: where it was found, what it is, and why."""

    where: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.why}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Versions by context, id, subject and number (softly deleted ones say so), and settings by scope.

    `contexts` are those that stand without a version too. `problems` say what the source holds and this does not.
    """

    versions: tuple[VersionFound, ...] = ()
    configs: tuple[tuple[Scope, Config], ...] = ()
    modes: tuple[tuple[Scope, str], ...] = ()
    contexts: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def order_of(version: VersionFound) -> tuple[str, int, str, int]:
    """The place of a version in a snapshot."""
    return (subject_of(version.subject).context, version.schema_id, version.subject, version.number)


@dataclass(slots=True)
class Folding:
    """Reads records one after the other; `snapshot` is what they come to."""

    versions: dict[Place, VersionFound] = field(default_factory=dict)
    configs: dict[Scope, Config] = field(default_factory=dict)
    modes: dict[Scope, str] = field(default_factory=dict)
    contexts: dict[str, bool] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    _ids: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    """By context and id: the digest of what has it, and how many versions do."""

    def add(self, record: Record, where: str) -> None:
        """Read one record; `where` is its offset or line."""
        match record:
            case VersionRecord(subject, number, None):
                self._drop((subject, number))
            case VersionRecord(found=found) if found is not None:
                self._version(found, where)
            case DeletedRecord(subject, number):
                self._delete(subject, number)
            case ClearedRecord(scope):
                for place in [one for one, kept in self.versions.items() if kept.deleted and _inside(one[0], scope)]:
                    self._drop(place)
            case ConfigRecord(scope, config):
                _set(self.configs, scope, config)
            case ModeRecord(scope, mode):
                _set(self.modes, scope, mode)
            case ContextRecord(context, there):
                _set(self.contexts, context, True if there else None)
            case OtherRecord("ASSOC", tombstone=False):
                self.problems.append(Problem(where, "an association", "associations are not carried over"))

    def _version(self, found: VersionFound, where: str) -> None:
        context = subject_of(found.subject).context
        place, key = (found.subject, found.number), (context, found.schema_id)
        self._drop(place)
        text, uses = self._ids.get(key, (_identity(found), 0))
        if text != _identity(found):
            why = f"id {found.schema_id} of context {context} belongs to another schema already"
            self.problems.append(Problem(where, f"{found.subject} version {found.number}", why))
            return
        self._ids[key] = (text, uses + 1)
        self.versions[place] = found

    def _drop(self, place: Place) -> None:
        gone = self.versions.pop(place, None)
        if gone is None:
            return
        key = (subject_of(gone.subject).context, gone.schema_id)
        text, uses = self._ids[key]
        if uses > 1:
            self._ids[key] = (text, uses - 1)
        else:
            del self._ids[key]

    def _delete(self, subject: str, number: int) -> None:
        for place, kept in self.versions.items():
            if place[0] == subject and place[1] <= number and not kept.deleted:
                self.versions[place] = replace(kept, deleted=True)

    def snapshot(self) -> Snapshot:
        """What has been read so far."""
        return Snapshot(
            tuple(sorted(self.versions.values(), key=order_of)),
            tuple(sorted(self.configs.items(), key=scope_order)),
            tuple(sorted(self.modes.items(), key=scope_order)),
            tuple(sorted(self.contexts)),
            tuple(self.problems),
        )


def _set(table: dict[K, V], key: K, value: V | None) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


def _identity(found: VersionFound) -> str:
    return repr((found.format, found.text, found.references, found.metadata, found.rules))


def _inside(subject: str, scope: Scope) -> bool:
    context, name = subject_of(subject)
    return scope.context in {EVERYWHERE, context} and scope.name in {None, name}


def scope_order(item: tuple[Scope, object]) -> tuple[str, str]:
    """The place of a setting in a snapshot."""
    return (item[0].context, item[0].name or "")


def fold(records: Iterable[tuple[str, Record]]) -> Snapshot:
    """What records come to, each with its offset or line; a later one counts over an earlier one with its key."""
    folding = Folding()
    for where, record in records:
        folding.add(record, where)
    return folding.snapshot()


def records(snapshot: Snapshot) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values that a Confluent registry reads as this snapshot: contexts, settings, then versions by id.

    A mode of IMPORT or READONLY comes last, as it would have been set.
    """
    named = {subject_of(one.subject).context for one in snapshot.versions} | set(snapshot.contexts)
    yield from (context_record(context) for context in sorted(named - {DEFAULT_CONTEXT}))
    yield from (config_record(scope, config) for scope, config in snapshot.configs)
    yield from (version_record(one) for one in snapshot.versions)
    yield from (mode_record(scope, mode) for scope, mode in snapshot.modes)
