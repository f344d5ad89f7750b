"""Sources and named types are described and listed, with what depends on them. A caller sees the sources that they may read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from typing import Any

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.access.private_subjects import may_read
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.handlers.metastore.closure import describe_seen, describe_step, may_see, walk_closure
from treaty.core.handlers.metastore.names import expand_text, find_source, find_type, source_key
from treaty.core.messages.metastore.query_feed import AssignedPart, FedQuery, FedRunner, ListQueries, QueryFeed
from treaty.core.messages.metastore.sources import (
    Dependent,
    Dependents,
    DescribeSource,
    DescribeType,
    DroppedListed,
    DroppedSources,
    ListDependents,
    ListDropped,
    ListSources,
    ListTypes,
    SourceFound,
    Sources,
    TypeFound,
    Types,
)
from treaty.core.names import Subject
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import Source, StoredType
from treaty.core.state.metastore.indexes import parts_of, pins_of, reads_of
from treaty.core.state.metastore.keys import AssignmentKey, TypeKey
from treaty.core.state.metastore.tables import ASSIGNMENT, DROPPED, RUNNER, SOURCE, TYPE
from treaty.core.state.state_tables import VERSION, AnyTable, VersionKey
from treaty.core.state.table import K, Table, V
from treaty.core.state.view import ALL_KEYS, View, after

PAUSE_EVERY = 200
"""Rows that a list looks at before it pauses."""


def describe_source(view: View, command: Command[DescribeSource], engine: SchemaEngine) -> Decision[SourceFound]:
    """Return a source with its readers."""
    base = without_filter(view)[0]
    key, source = find_source(base, command.request.name)
    steps = list(walk_closure(base, SOURCE, key, effects=("refuses",), recursive=False))
    readable = sorted(describe_step(base, step).name for step in steps if may_see(command.access, step))
    return Decision((), SourceFound(replace(source, extra=()), tuple(readable), len(steps) - len(readable)))


def list_sources(view: View, command: Command[ListSources], engine: SchemaEngine) -> PausingWork[Decision[Sources]]:
    """List sources by key."""
    request = command.request

    def is_listed(source: Source) -> bool:
        return request.kind in {"", source.kind} and (source.query is not None or not request.queries)

    page, last = yield from _page(view, SOURCE, command, is_listed)
    upstreams: list[Dependent] = []
    base = without_filter(view)[0]
    for place, source in enumerate(page if request.upstreams else (), 1):
        upstreams += _list_upstreams(base, command.access, SOURCE, source_key(source.name).name)
        if place % PAUSE_EVERY == 0:
            yield
    return Decision((), Sources(tuple(replace(source, extra=()) for source in page), last, tuple(upstreams)))


def list_dropped(
    view: View, command: Command[ListDropped], engine: SchemaEngine
) -> PausingWork[Decision[DroppedSources]]:
    """List dropped sources that can still come back, by key."""
    oldest = command.time - limits.DROP_GRACE
    page, last = yield from _page(view, DROPPED, command, lambda gone: gone.time >= oldest)
    listed = tuple(
        DroppedListed(gone.source.name, gone.source.kind, gone.source.generation, gone.author, gone.time)
        for gone in page
    )
    return Decision((), DroppedSources(listed, last))


FED = (SOURCE.name, TYPE.name, ASSIGNMENT.name, RUNNER.name)
"""Tables whose rows the feed of queries depends on."""


def list_queries(view: View, command: Command[ListQueries], engine: SchemaEngine) -> PausingWork[Decision[QueryFeed]]:
    """Return what is run, or that nothing has changed since a token."""
    request, base = command.request, without_filter(view)[0]
    token = _feed_token(base)
    if request.token == token and not request.after:
        return Decision((), QueryFeed(token, changed=False))
    page, last = yield from _page(base, SOURCE, command, lambda source: source.query is not None or bool(source.origin))
    queries = tuple(FedQuery(replace(source, extra=()), tuple(_list_assigned(base, source))) for source in page)
    runners = () if request.after else tuple(_list_runners(base))
    return Decision((), QueryFeed(token, True, queries, runners, last))


def _feed_token(base: View) -> str:
    """Return a digest of the rows that the feed depends on: of what they add to the state root."""
    roots: Mapping[str, int] = getattr(base, "roots", {})
    text = " ".join(str(roots.get(name, 0)) for name in FED)
    return sha256(text.encode()).hexdigest()[:32]


def _list_assigned(base: View, source: Source) -> Iterator[AssignedPart]:
    for part in parts_of(source):
        stored = base.get(ASSIGNMENT, AssignmentKey(part, source.generation))
        if stored is not None:
            yield AssignedPart(part, stored.runner, stored.epoch)


def _list_runners(base: View) -> Iterator[FedRunner]:
    for key in base.walk(RUNNER, *ALL_KEYS):
        runner = base.get(RUNNER, key)
        if runner is not None:
            yield FedRunner(key.runner, runner.epoch, runner.holder, runner.address)


def _page(
    view: View, table: Table[K, V], command: Command[Any], is_listed: Callable[[V], bool]
) -> PausingWork[tuple[list[V], str]]:
    """Return the rows of a page that the caller may read, and the key that the next page begins after (empty: none)."""
    request, access, base = command.request, command.access, without_filter(view)[0]
    limit = max(1, min(request.limit, limits.SOURCES_PAGE))
    page: list[V] = []
    size = 0
    last, (low, high) = "", ALL_KEYS
    for looked, key in enumerate(base.walk(table, after((request.after,)) if request.after else low, high), 1):
        if looked % PAUSE_EVERY == 0:
            yield
        name = str(key[0])
        if access is not None and not access.may_source("read", name):
            continue
        value = base.get(table, key)
        if value is None or not is_listed(value):
            continue
        size += count_characters(value)
        if len(page) == limit or (page and size > limits.SOURCES_PAGE_CHARACTERS):
            return page, last
        page.append(value)
        last = name
    return page, ""


def count_characters(value: object) -> int:
    """Return about how many characters a row has in an answer: those of its texts."""
    if isinstance(value, str):
        return len(value) + 8
    if isinstance(value, tuple):
        return sum(map(count_characters, value))
    if is_dataclass(value) and not isinstance(value, type):
        return sum(count_characters(getattr(value, member.name)) for member in fields(value))
    return 8


def list_dependents(view: View, command: Command[ListDependents], engine: SchemaEngine) -> Decision[Dependents]:
    """Return who needs a source or type, and what it needs itself."""
    request, base = command.request, without_filter(view)[0]
    of_type = request.kind == "TYPE"
    table: AnyTable = TYPE if of_type else SOURCE
    key = find_type(base, request.name)[0] if of_type else find_source(base, request.name)[0]
    steps = list(walk_closure(base, table, key, recursive=request.recursive))
    dependents, hidden = describe_seen(base, command.access, steps)
    upstreams = tuple(_list_upstreams(base, command.access, table, key.name))
    return Decision((), Dependents(dependents, hidden, upstreams))


def _list_upstreams(base: View, access: Access | None, table: AnyTable, name: str) -> Iterator[Dependent]:
    """What a source or type needs itself, as far as the caller may see it."""
    if table is TYPE:
        type_ = base.get(TYPE, TypeKey(name))
        assert type_ is not None, f"type {name} is missing"
        yield from (_type(base, used, type_.name) for used in type_.types)
        return
    source = base.get(SOURCE, source_key(name))
    assert source is not None, f"source {name} is missing"
    for read in reads_of(source):
        stored = base.get(SOURCE, source_key(read.source))
        if stored is not None and (access is None or access.may_source("read", source_key(read.source).name)):
            yield Dependent("SOURCE", stored.name, source.name, "refuses")
    yield from (_type(base, used, source.name) for used in source.types)
    for pin in pins_of(source):
        subject = Subject(pin.context, pin.subject)
        version = base.get(VERSION, VersionKey(pin.context, pin.subject, pin.generation, pin.ordinal))
        if version is not None and may_read(base, access, subject):
            yield Dependent("VERSION", f"{subject} version {version.number}", source.name, "refuses")


def _type(base: View, key: str, user: str) -> Dependent:
    stored = base.get(TYPE, TypeKey(key))
    return Dependent("TYPE", key if stored is None else stored.name, user, "refuses")


def describe_type(view: View, command: Command[DescribeType], engine: SchemaEngine) -> Decision[TypeFound]:
    """Return a type with its expanded definition and its users."""
    base = without_filter(view)[0]
    key, stored = find_type(view, command.request.name)
    steps = list(walk_closure(base, TYPE, key, recursive=False))
    readable = sorted({describe_step(base, step).name for step in steps if may_see(command.access, step)})
    hidden = sum(not may_see(command.access, step) for step in steps)
    return Decision(
        (), TypeFound(replace(stored, extra=()), expand_text(base, stored.definition), tuple(readable), hidden)
    )


def list_types(view: View, command: Command[ListTypes], engine: SchemaEngine) -> Decision[Types]:
    """List types by key."""
    request = command.request
    base, limit = without_filter(view)[0], max(1, min(request.limit, limits.SOURCES_PAGE))
    low, high = ALL_KEYS
    rows: list[StoredType] = []
    size, last = 0, ""
    for key in base.walk(TYPE, after((request.after,)) if request.after else low, high):
        row = base.get(TYPE, key)
        if row is None:
            continue
        size += len(row.definition) + len(row.comment) + len(row.name) + len(row.label)
        if len(rows) == limit or (rows and size > limits.SOURCES_PAGE_CHARACTERS):
            return Decision((), Types(tuple(rows), last))
        rows.append(replace(row, extra=()))
        last = key.name
    return Decision((), Types(tuple(rows)))
