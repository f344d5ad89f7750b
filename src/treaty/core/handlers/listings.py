"""Listings: subjects, versions and settings in their order, page by page.

A page costs what it shows if it continues `after` an entry; entries before an `offset` are walked.
A list may be of very many rows, and may hide as many: the work pauses (None among the entries) every few rows.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain, groupby
from typing import Any, TypeVar, cast

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.handlers.association_queries import describe_associations
from treaty.core.handlers.settings import own_config, own_mode, scope_key
from treaty.core.handlers.versions import (
    STATES,
    MissingSchemaError,
    StoredVersion,
    describe_version,
    latest_version,
    rows_of,
    subject_of_key,
)
from treaty.core.messages.associations import ResourceAssociation
from treaty.core.messages.listings import ListSchemas, ListSubjects, Subjects, Versions
from treaty.core.messages.request import Visible
from treaty.core.messages.settings import ListSettings, Scope, ScopeSetting, ScopeSettings
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, subject_of
from treaty.core.schema import RuleSet
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.state_tables import (
    CONFIG,
    CONFIG_BY_ALIAS,
    CONTEXT,
    COUNTER,
    MODE,
    SCHEMA,
    VERSION_BY_NUMBER,
    VERSION_LISTED,
    ListedEntry,
    NumberEntry,
    SchemaKey,
    ScopeKey,
    ids_key,
)
from treaty.core.state.table import Key, Table
from treaty.core.state.view import View, after, past, span

T = TypeVar("T")
Entry = ListedEntry | NumberEntry
Paged = ListSubjects | ListSchemas | ListSettings

PAUSE_ROWS = 64
"""Rows between two pauses."""
PAUSE_VERSIONS = 16
"""Versions that are described between two pauses: each takes several rows."""
NONE = "NONE"
"""In place of a lifecycle: subjects without an association."""

_END = object()
_OTHERS = ":."
"""Qualified names of other contexts than the default one begin so, and stand among its names."""


@dataclass(frozen=True, slots=True)
class SubjectRange:
    """Subjects of one context that stand together in a listing: names from `low` on and below `high` (None: all)."""

    rank: tuple[int, str]
    """Its place among the stretches."""
    context: str
    low: str
    high: str | None

    def bounds(self, *head: str, beyond: Key = ()) -> tuple[Key, Key]:
        """Return bounds of what begins with `head`, context and name; `beyond` stands for the lowest name."""
        low = (*head, self.context, *(beyond or (self.low,)))
        return low, ((*head, f"{self.context}\0") if self.high is None else (*head, self.context, self.high))


def _stretches(view: View, prefix: Subject) -> list[SubjectRange]:
    """All stretches of the subjects that begin with a prefix, in the order of qualified names."""
    low, high = prefix.name, past(prefix.name)
    if prefix.context != EVERYWHERE:
        return [SubjectRange((0, ""), prefix.context, low, high)]
    contexts = {key.context for key in view.keys(CONTEXT)} - {DEFAULT_CONTEXT}
    first = SubjectRange((0, ""), DEFAULT_CONTEXT, low, _OTHERS if high is None else min(high, _OTHERS))
    middle = (SubjectRange((1, f":{context}:"), context, low, high) for context in contexts)
    last = SubjectRange((2, ""), DEFAULT_CONTEXT, max(low, _OTHERS), high)
    return [first, *sorted(middle, key=lambda stretch: stretch.rank), last]


def _rank(subject: Subject, prefix: Subject) -> tuple[int, str]:
    """The rank of the stretch that a subject is in."""
    if prefix.context != EVERYWHERE:
        return (0, "")
    if subject.context != DEFAULT_CONTEXT:
        return (1, f":{subject.context}:")
    return (0, "") if subject.name < _OTHERS else (2, "")


def _list_onwards(view: View, prefix: Subject, last: str | None, *number: int) -> Iterator[tuple[SubjectRange, Key]]:
    """The stretches from the last entry of a page on, each with what stands for its lowest name."""
    if last is None:
        yield from ((stretch, ()) for stretch in _stretches(view, prefix))
        return
    subject = subject_of(last)
    rank = _rank(subject, prefix)
    for stretch in _stretches(view, prefix):
        if stretch.rank == rank and subject.name >= stretch.low:
            yield stretch, after((subject.name, *number))
        elif stretch.rank >= rank:
            yield stretch, ()


def list_subjects(view: View, command: Command[ListSubjects], engine: SchemaEngine) -> PausingWork[Decision[Subjects]]:
    """List subjects by prefix; only those with a version that may be seen."""
    request = command.request
    entries = chain.from_iterable(
        _readable_names(view, request.visible, *place) for place in _list_onwards(view, request.prefix, request.after)
    )
    names: list[str] = []
    for entry in _page(entries, request, request.limit):
        if entry is None:
            yield
        else:
            _, context, name = entry
            names.append(name if context == DEFAULT_CONTEXT else f":{context}:{name}")
    return Decision((), Subjects(tuple(names)))


def _readable_names(view: View, visible: Visible, stretch: SubjectRange, beyond: Key) -> Iterator[ListedEntry | None]:
    """Entries of a stretch (state, context, name) of subjects with a version that may be seen, and pauses."""
    base, reads = without_filter(view)
    yield None
    for count, entry in enumerate(_list_versions(base, visible, stretch, beyond), 1):
        key = entry[1:]
        is_shown = reads(key) and (visible != "deleted" or not any(base.find(VERSION_LISTED, ("live", *key))))
        if is_shown:
            yield entry
        if not is_shown or count % PAUSE_ROWS == 0:
            yield None


def _list_versions(view: View, visible: Visible, stretch: SubjectRange, beyond: Key) -> Iterator[ListedEntry]:
    """Entries (state, context, name) of subjects with a version that may be seen; for deleted ones also of those that
    live.
    """
    live = view.walk(VERSION_LISTED, *stretch.bounds("live", beyond=beyond))
    if visible == "live":
        return live
    soft = view.walk(VERSION_LISTED, *stretch.bounds("soft", beyond=beyond))
    if visible == "deleted":
        return soft
    return (next(same) for _, same in groupby(merge(live, soft, key=_place), _place))


def _place(entry: Entry) -> Key:
    return entry[1:]


def _page(entries: Iterable[T | None], request: Paged, limit: int) -> Iterator[T | None]:
    """The entries of a page, and the pauses before each."""
    skipped = min(max(0, request.offset), limits.COUNTER) if request.after is None else 0
    left = min(max(0, limit), limits.COUNTER)
    walk = iter(entries)
    while left and (entry := next(walk, _END)) is not _END:
        if entry is None:
            yield None
        elif skipped:
            skipped -= 1
            yield None
        else:
            left -= 1
            yield cast("T", entry)


def list_schemas(view: View, command: Command[ListSchemas], engine: SchemaEngine) -> PausingWork[Decision[Versions]]:
    """List versions of many subjects, by subject and number. One whose schema is missing hides itself, and not the list."""
    request = command.request
    limit = min(max(0, request.limit), limits.COUNTER)
    page: list[StoredVersion] = []
    described: list[VersionFound] = []
    entries: Iterator[Entry | None] = _page(_list_wanted(view, request), request, limits.COUNTER if limit else 0)
    for entry in entries:
        stored = None if entry is None else _read(view, request, entry)
        if stored is not None:
            with suppress(MissingSchemaError):
                described.append(describe_version(view, stored))
                page.append(stored)
        if stored is None or len(described) % PAUSE_VERSIONS == 0:
            yield
        if len(described) >= limit:
            break
    subjects = [subject_of_key(key) for key, _ in page]
    answer = Versions(
        tuple(described),
        tuple(_aliases(view, subject) for subject in subjects) if request.aliases else (),
        tuple(_list_associations(view, subject, request) for subject in subjects) if _asks_who_is_tied(request) else (),
    )
    return Decision((), answer)


def _list_wanted(view: View, request: ListSchemas) -> Iterator[Entry | None]:
    """Entries of the versions that a list asks for, and pauses. A row is read only where it says whether it is one of them:
    what is before an `offset` costs little.
    """
    entries: Iterator[Entry | None] = _subjects(view, request) if request.latest else _versions(view, request)
    if not (request.rule_type or _asks_who_is_tied(request) or (request.latest and request.visible == "deleted")):
        return entries
    return (entry if entry is not None and _is_wanted(view, request, entry) else None for entry in entries)


def _read(view: View, request: ListSchemas, entry: Entry) -> StoredVersion | None:
    """The version of an entry: that of a number, or the latest one of a subject."""
    if request.latest:
        return latest_version(view, Subject(entry[1], entry[2]), request.visible)
    return next(rows_of(view, (cast("NumberEntry", entry),)), None)


def _is_wanted(view: View, request: ListSchemas, entry: Entry) -> bool:
    stored = _read(view, request, entry)
    if stored is None:
        return False
    key, version = stored
    if request.rule_type:
        schema = view.get(SCHEMA, SchemaKey(key.context, version.schema_id))
        rules = (schema and schema.rules) or RuleSet()
        if all(rule.type != request.rule_type for rule in (*rules.migration, *rules.domain, *rules.encoding)):
            return False
    if not _asks_who_is_tied(request):
        return True
    associations = _list_associations(view, subject_of_key(key), replace(request, lifecycles=()))
    if not request.lifecycles:
        return bool(associations)
    return any(association.lifecycle in request.lifecycles for association in associations) or (
        not associations and NONE in request.lifecycles
    )


def _asks_who_is_tied(request: ListSchemas) -> bool:
    return bool(request.resource_type or request.kinds or request.lifecycles)


def _list_associations(view: View, subject: Subject, request: ListSchemas) -> tuple[ResourceAssociation, ...]:
    """Associations of a subject that a list asks for."""
    return tuple(
        association
        for association in describe_associations(view, subject)
        if request.resource_type in {"", association.resource.type}
        and (not request.kinds or association.kind in request.kinds)
        and (not request.lifecycles or association.lifecycle in request.lifecycles)
    )


def _aliases(view: View, subject: Subject) -> tuple[str, ...]:
    keys = view.find(CONFIG_BY_ALIAS, subject)
    return tuple(sorted(str(Subject(key.context, key.subject)) for key in keys))


def _versions(view: View, request: ListSchemas) -> Iterator[NumberEntry | None]:
    """Entries of versions by subject and number, and pauses."""
    base, reads = without_filter(view)
    states, last = STATES[request.visible], request.after or (None, 0)
    for stretch, beyond in _list_onwards(view, request.prefix, *last):
        yield None
        walks = (base.walk(VERSION_BY_NUMBER, *stretch.bounds(state, beyond=beyond)) for state in states)
        yield from (entry if reads(entry[1:]) else None for entry in merge(*walks, key=_place))


def _subjects(view: View, request: ListSchemas) -> Iterator[ListedEntry | None]:
    """Entries of subjects that have a version, and pauses."""
    base, reads = without_filter(view)
    listed: Visible = "all" if request.visible == "deleted" else request.visible
    for stretch, beyond in _list_onwards(view, request.prefix, request.after and request.after[0]):
        yield None
        yield from (entry if reads(entry[1:]) else None for entry in _list_versions(base, listed, stretch, beyond))


def list_settings(view: View, command: Command[ListSettings], engine: SchemaEngine) -> Decision[ScopeSettings]:
    """List what is set at contexts, everywhere and at subjects, in this order; a context is always listed."""
    request = command.request
    last = scope_key(request.after) if request.after else ()
    keys = (key for key, _ in groupby(merge(*_scopes(view, request.prefix, last))) if key > last)
    page = _page(keys, request, min(request.limit, limits.SETTINGS_PAGE))
    return Decision((), ScopeSettings(tuple(_setting(view, key) for key in page if key is not None)))


def _scopes(view: View, prefix: Subject, last: Key) -> Iterator[Iterable[ScopeKey]]:
    """Keys of settings under a prefix, in several lists that are each in order; a walk begins at `last`."""
    contexts = sorted({DEFAULT_CONTEXT, *(key.context for key in view.keys(CONTEXT))})
    if not prefix.name:
        yield [ScopeKey("context", context, "") for context in contexts if prefix.context in {EVERYWHERE, context}]
    orders: tuple[Table[ScopeKey, Any], ...] = (CONFIG, MODE)
    for table in orders:
        if prefix.context == EVERYWHERE:
            keys = view.walk(table, max(("",), last), ("t",))  # up to "subject"
            yield (
                (key for key in keys if key.scope == "subject" and key.subject.startswith(prefix.name))
                if prefix.name
                else keys
            )
            continue
        if not prefix.name:
            yield view.walk(table, *span(("context", prefix.context)))
        low, high = span(("subject", prefix.context), prefix.name)
        yield view.walk(table, max(low, last), high)


def _setting(view: View, key: ScopeKey) -> ScopeSetting:
    kind, context, name = key
    scope = Scope(context, name if kind == "subject" else None)
    highest = view.get(COUNTER, ids_key(context)) if kind == "context" else None
    return ScopeSetting(
        context=context,
        name=scope.name,
        config=own_config(view, scope),
        mode=own_mode(view, scope),
        highest_id=highest.highest if highest else 0,
    )
