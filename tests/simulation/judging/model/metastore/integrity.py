"""What holds of sources and types after every commit, whatever the rules were: nothing is needed that is not there."""

from collections.abc import Iterator

from tests.simulation.judging.model.metastore.state import (
    assignments,
    key_of,
    part_of,
    pins,
    reads_of,
    runners,
    sources,
    types,
)
from tests.simulation.judging.model.past import Past
from treaty.core.sources import Source


def find_faults(past: Past) -> Iterator[str]:
    """Sentences about sources and types that lack something, are made of themselves, or have a name that is taken."""
    there = sources(past)
    for key, source in there.items():
        if key_of(source.name) != key:
            yield f"source {key} is called {source.name}"
        yield from _missing(past, key, source)
    for key, named in types(past).items():
        yield from (f"type {key} is made of {one}, which is not there" for one in named.types if one not in types(past))
    yield from _unowned(past)
    for keys, needs in ((there, _reads(past)), (types(past), {key: one.types for key, one in types(past).items()})):
        yield from (f"{key} needs itself" for key in keys if _is_within(key, needs))
        spelled = [key.lower() for key in keys]
        yield from (f"the name {key} is taken twice" for key in keys if spelled.count(key.lower()) > 1)


def _unowned(past: Past) -> Iterator[str]:
    """Assignments of what does not run, or to who has no lease of that epoch or a later one."""
    parts = {(part_of(source), source.generation) for source in sources(past).values()}
    for key, one in assignments(past).items():
        if key not in parts:
            yield f"{key} is assigned to {one.runner}, and no source has it"
        lease = runners(past).get(one.runner)
        if lease is None or lease.epoch < one.epoch:
            yield f"{key} is assigned to {one.runner} at epoch {one.epoch}, and the lease is {lease}"


def _missing(past: Past, key: str, source: Source) -> Iterator[str]:
    there = sources(past)
    for read in () if source.query is None else source.query.plan.reads:
        upstream = there.get(read.source)
        if upstream is None or upstream.generation != read.generation:
            yield f"source {key} reads {read.source} of generation {read.generation}, which is not there"
    for pin in pins(source):
        place = (pin.context, pin.subject, pin.generation, pin.ordinal)
        if not any((*one.subject, one.generation, one.ordinal) == place for one in past.versions):
            yield f"source {key} is bound to {place}, which is not there"
        if past.schema(pin.context, pin.schema_id) is None:
            yield f"source {key} is bound to schema {pin.schema_id}, which no version has"
    yield from (f"source {key} uses type {one}, which is not there" for one in source.types if one not in types(past))
    if source.origin and source.origin not in there:
        yield f"source {key} has the bad rows of {source.origin}, which is not there"


def _reads(past: Past) -> dict[str, tuple[str, ...]]:
    return {key: reads_of(source) for key, source in sources(past).items()}


def _is_within(key: str, needs: dict[str, tuple[str, ...]]) -> bool:
    """Whether something needs itself, directly or by what it needs."""
    waiting, seen = list(needs.get(key, ())), set[str]()
    while waiting:
        one = waiting.pop()
        if one == key:
            return True
        if one not in seen:
            seen.add(one)
            waiting += needs.get(one, ())
    return False
