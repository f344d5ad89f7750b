"""Sources under other names: whoever reads them, by what they are called then."""

import re
from collections.abc import Collection
from dataclasses import replace

from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.events import Event, SourceChanged
from tests.simulation.judging.model.metastore import sql_types
from tests.simulation.judging.model.metastore.state import key_of, readers, sources, streams_of_bad_rows
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may_source
from treaty.core.refusals import Forbidden, SourceUsed
from treaty.core.sources import QueryPlan, Source

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def with_readers(past: Past, asking: Asking, later: dict[str, Source]) -> list[Event]:
    """Sources by the keys that they have until now, as they are then; readers, and streams of bad rows, name them so."""
    names = {key: source.name for key, source in later.items()}
    following = sorted({reader for key in later for reader in readers(past, key)})
    if asking.access is not None:
        if any(not may_source(asking.access, "read", one) for one in following):
            raise No(SourceUsed, "SOURCE_READ")
        if any(not may_source(asking.access, "register", one) for one in following):
            raise No(Forbidden, "RIGHTS")
    events: list[Event] = [SourceChanged(key, None) for key in later]
    once = [key for key, source in sources(past).items() if _has_read(source, later) and key not in following]
    for key in (*later, *(one for one in (*following, *once) if one not in later)):
        source = later.get(key, sources(past)[key])
        changed = _following(past, source, names)
        if changed.query != source.query:
            changed = replace(changed, revision=changed.revision + 1, changed_by=asking.principal, changed=asking.time)
        events.append(SourceChanged(key_of(changed.name), changed))
    for key, source in later.items():
        for bad in streams_of_bad_rows(past, key):
            events.append(SourceChanged(bad, replace(sources(past)[bad], origin=key_of(source.name))))
    return events


def _has_read(source: Source, keys: Collection[str]) -> bool:
    """Whether a former query of a source reads one of these, or one that is run once."""
    plans = (*(one.plan for one in source.previous), *(one.plan for one in source.once))
    return any(read.source in keys for plan in plans for read in plan.reads)


def _following(past: Past, source: Source, names: dict[str, str]) -> Source:
    """The query has to name what it reads so; a former one, and one that is run once, may keep its text, and knows by itself what is meant."""
    query = source.query
    if query is not None:
        plan = _plan(past, query.plan, names)
        if plan is None:
            raise No(SourceUsed, "SOURCE_READ")
        query = replace(query, plan=plan)
    previous = tuple(replace(one, plan=_bound(past, one.plan, names)) for one in source.previous)
    once = tuple(replace(one, plan=_bound(past, one.plan, names)) for one in source.once)
    return replace(source, query=query, previous=previous, once=once)


def _bound(past: Past, plan: QueryPlan, names: dict[str, str]) -> QueryPlan:
    """A plan by other names; one that keeps its text reads by what they are called there."""
    renamed = _plan(past, plan, names)
    if renamed is not None:
        return renamed
    kept = tuple(replace(one, spelling=one.spelling or one.source) for one in plan.reads)
    reads = tuple(
        replace(one, source=key_of(names[one.source])) if one.source in names else was
        for one, was in zip(kept, plan.reads, strict=True)
    )
    return replace(plan, reads=reads)


def _plan(past: Past, plan: QueryPlan, names: dict[str, str]) -> QueryPlan | None:
    """A plan by other names; None where its text may not say them. Clients of a life have blanks between all words."""
    own = {read.source: names[read.source] for read in plan.reads if read.source in names}
    if not own:
        return plan
    words, named = plan.body.split(" "), set[str]()
    columns = _words_of_columns(past, plan)
    for place, text in enumerate(words):
        word = text.strip("`")
        old = {key.lower() for key in own}
        if word.lower() in {name.lower() for name in own.values()} - old:
            return None
        if word.lower() not in old:
            continue
        before = words[place - 1] if place else ""
        clear = before == "JOIN" or (before == "FROM" and word.lower() not in columns)
        if key_of(word) not in own or not clear:
            return None
        named.add(key_of(word))
        new = own[key_of(word)]
        words[place] = new if PLAIN.fullmatch(new) else f"`{new}`"
    if named != set(own):
        return None
    reads = tuple(
        replace(one, source=key_of(own[one.source]), spelling=own[one.source]) if one.source in own else one
        for one in plan.reads
    )
    return replace(plan, body=" ".join(words), reads=reads)


def _words_of_columns(past: Past, plan: QueryPlan) -> set[str]:
    """What may be a column of what is read: names, and all words of types."""
    words = {"key", "value", "col", "pos", "window"}
    for read in plan.reads:
        source = sources(past).get(read.source)
        for column in () if source is None else source.columns:
            kind = sql_types.expanded(past, sql_types.parse(column.type, "COLUMN_TYPE"))
            words |= {column.name.lower(), *re.findall(r"\w+", sql_types.canonical(kind).lower())}
    return words
