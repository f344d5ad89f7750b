"""What is told of sources and types: one, a page of them, and who needs them; what may not be read is not there."""

from collections.abc import Iterable
from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.metastore import sql_types
from tests.simulation.judging.model.metastore.dropping import is_expired, source_named
from tests.simulation.judging.model.metastore.placing import is_written
from tests.simulation.judging.model.metastore.state import (
    assignments,
    dropped,
    key_of,
    part_of,
    pins,
    readers,
    reads_of,
    runners,
    sources,
    streams_of_bad_rows,
    types,
    users_of_type,
)
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may, may_bind, may_path, may_source
from treaty.core import limits
from treaty.core.messages.metastore import query_feed as f
from treaty.core.messages.metastore import sources as m
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden, InvalidSource, TypeNotFound
from treaty.core.sources import Source, StoredType


def _shown(asking: Asking, key: str) -> bool:
    return asking.access is None or may_source(asking.access, "read", key)


def _page(asking: Asking, keys: Iterable[str], after: str, limit: int) -> tuple[list[str], str]:
    """The keys of a page, and the last one of it where there may be more."""
    wanted = sorted(key for key in keys if key > after and _shown(asking, key))
    page = wanted[: max(1, min(limit, limits.SOURCES_PAGE))]
    return page, page[-1] if page and len(page) < len(wanted) else ""


def describe_source(past: Past, asking: Asking, request: m.DescribeSource) -> Yes:
    key, source = source_named(past, request.name)
    users = readers(past, key)
    names = tuple(sorted(sources(past)[user].name for user in users if _shown(asking, user)))
    return Yes((), m.SourceFound(source, names, len(users) - len(names)))


def get_destination(past: Past, asking: Asking, request: m.GetDestination) -> Yes:
    """A source that somebody who may insert writes records to: not one that is written already, and no lake table."""
    key, source = source_named(past, request.name)
    if source.query is not None or source.origin or is_written(past, key, source):
        raise No(InvalidSource, "SOURCE_WRITTEN")
    if source.connector not in {"kafka", "files"}:
        raise No(InvalidSource, "SOURCE_CONNECTOR")
    kinds = ("value",) if source.key is None else ("key", "value")
    if (
        source.connector == "kafka"
        and asking.access is not None
        and not all(may_bind(asking.access, (source.place, "", kind), "insert") for kind in kinds)
    ):
        raise No(Forbidden, "RIGHTS")
    if (
        source.connector != "kafka"
        and asking.access is not None
        and not may_path(asking.access, "insert", source.place)
    ):
        raise No(Forbidden, "RIGHTS")
    return Yes((), m.SourceFound(source))


def list_sources(past: Past, asking: Asking, request: m.ListSources) -> Yes:
    there = {
        key: source
        for key, source in sources(past).items()
        if request.kind in {"", source.kind} and (source.query is not None or not request.queries)
    }
    page, last = _page(asking, there, request.after, request.limit)
    needs = [one for key in page if request.upstreams for one in _needs_of(past, asking, there[key])]
    return Yes((), m.Sources(tuple(there[key] for key in page), last, tuple(needs)))


def list_queries(past: Past, asking: Asking, request: f.ListQueries) -> Yes:
    """What is run, and by whom; the token is not the model's. The first page has all runners."""
    there = {key: source for key, source in sources(past).items() if source.query is not None or source.origin}
    page, last = _page(asking, there, request.after, request.limit)
    fed = tuple(f.FedQuery(there[key], _assigned(past, there[key])) for key in page)
    leases = (
        ()
        if request.after
        else tuple(f.FedRunner(name, one.epoch, one.holder, one.address) for name, one in runners(past).items())
    )
    return Yes((), f.QueryFeed("", queries=fed, runners=leases, last=last))


def _assigned(past: Past, source: Source) -> tuple[f.AssignedPart, ...]:
    part = part_of(source)
    one = assignments(past).get((part, source.generation))
    return () if one is None else (f.AssignedPart(part, one.runner, one.epoch),)


def list_dropped(past: Past, asking: Asking, request: m.ListDropped) -> Yes:
    there = {key: one for key, one in dropped(past).items() if not is_expired(one, asking)}
    page, last = _page(asking, there, request.after, request.limit)
    rows = ((there[key].source, there[key]) for key in page)
    listed = (m.DroppedListed(one.name, one.kind, one.generation, row.author, row.time) for one, row in rows)
    return Yes((), m.DroppedSources(tuple(listed), last))


def _type(past: Past, name: str) -> tuple[str, StoredType]:
    key = key_of(name)
    if key not in types(past):
        raise No(TypeNotFound, "TYPE_NOT_FOUND")
    return key, types(past)[key]


def describe_type(past: Past, asking: Asking, request: m.DescribeType) -> Yes:
    key, named = _type(past, request.name)
    told, hidden = _users(past, asking, key)
    whole = sql_types.canonical(sql_types.expanded(past, sql_types.parse(named.definition, "TYPE_TEXT")))
    return Yes((), m.TypeFound(named, whole, tuple(sorted(told)), hidden))


def _users(past: Past, asking: Asking, key: str) -> tuple[list[str], int]:
    names, hidden = list[str](), 0
    for table, user in users_of_type(past, key):
        if table == "source" and not _shown(asking, user):
            hidden += 1
        else:
            names.append(sources(past)[user].name if table == "source" else types(past)[user].name)
    return names, hidden


def list_types(past: Past, asking: Asking, request: m.ListTypes) -> Yes:
    there = types(past)
    page, last = _page(replace(asking, access=None), there, request.after, request.limit)
    return Yes((), m.Types(tuple(there[key] for key in page), last))


def _needs_of(past: Past, asking: Asking, source: Source) -> list[m.Dependent]:
    """What a source needs, as far as the caller may see it."""
    needs = [*(("source", one) for one in reads_of(source)), *(("type", one) for one in source.types)]
    seen = [_dependent(past, *one) for one in needs if one[0] == "type" or _shown(asking, one[1])]
    return [*seen, *_pinned(past, asking, source)]


def list_dependents(past: Past, asking: Asking, request: m.ListDependents) -> Yes:
    """Whoever needs it, and what it needs."""
    if request.kind == "TYPE":
        key, named = _type(past, request.name)
        start, needs = ("type", key), [("type", one) for one in named.types]
        pinned: list[m.Dependent] = []
    else:
        key, source = source_named(past, request.name)
        start = ("source", key)
        needs = [*(("source", one) for one in reads_of(source)), *(("type", one) for one in source.types)]
        pinned = _pinned(past, asking, source)
    needing, at = [start], 0
    while at < len(needing) and (request.recursive or at == 0):
        users = _users_of(past, *needing[at])
        needing += [user for user in sorted(users) if user not in needing]
        at += 1
    shown = [_dependent(past, *user) for user in needing[1:] if user[0] == "type" or _shown(asking, user[1])]
    upstreams = [_dependent(past, *one) for one in needs if one[0] == "type" or _shown(asking, one[1])]
    return Yes((), m.Dependents(tuple(shown), len(needing) - 1 - len(shown), (*upstreams, *pinned)))


def _users_of(past: Past, table: str, key: str) -> list[tuple[str, str]]:
    if table == "type":
        return list(users_of_type(past, key))
    return [("source", user) for user in (*streams_of_bad_rows(past, key), *readers(past, key))]


def _dependent(past: Past, table: str, key: str) -> m.Dependent:
    name = types(past)[key].name if table == "type" else sources(past)[key].name
    return m.Dependent(table.upper(), name, "", "")


def _pinned(past: Past, asking: Asking, source: Source) -> list[m.Dependent]:
    """The versions that a source is bound to, as far as the caller may read them."""
    told = []
    for pin in pins(source):
        subject = Subject(pin.context, pin.subject)
        for one in past.of(subject):
            shown = asking.access is None or may(asking.access, "read", *subject)
            if shown and (one.generation, one.ordinal) == (pin.generation, pin.ordinal):
                told.append(m.Dependent("VERSION", f"{subject} version {one.number}", "", ""))
    return told
