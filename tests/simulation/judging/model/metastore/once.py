"""INSERT INTO ONCE: a query that is to be run once into a source that another query fills."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import SourceChanged
from tests.simulation.judging.model.metastore.defining import refuse_circle
from tests.simulation.judging.model.metastore.dropping import expired
from tests.simulation.judging.model.metastore.state import key_of, sources
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import InvalidSource, NotPermitted, SourceExists, SourceNotFound, TooLarge
from treaty.core.sources import OnceQuery, Source


def run_once(past: Past, asking: Asking, request: m.CreateSource, key: str) -> Yes:
    """All of the source stays as it is; the newest query is the first of the list."""
    definition = request.definition
    old = sources(past).get(key)
    if old is None:
        raise No(SourceNotFound, "SOURCE_NOT_FOUND")
    if definition.kind != old.kind:
        raise No(SourceExists, "SOURCE_KIND_DIFFERS")
    if old.query is None or definition.query is None:
        raise No(InvalidSource, "QUERY_NONE")
    if not _is_alone(request, old):
        raise No(InvalidSource, "ONCE_ALONE")
    refuse_circle(past, key, definition.query.reads)
    _refuse_columns(definition, old)
    once = [OnceQuery(past.sequence + 1, definition.query, definition.statement, asking.principal, asking.time)]
    for one in old.once:
        if len(old.once) < limits.ONCE_QUERIES or one.time + limits.DROP_GRACE >= asking.time:
            once.append(one)
    if len(once) > limits.ONCE_QUERIES:
        raise No(TooLarge, "ONCE_QUERIES")
    new = replace(old, once=tuple(once), revision=old.revision + 1, changed_by=asking.principal, changed=asking.time)
    events = () if request.dry_run else (SourceChanged(key, new), *expired(past, asking))
    return Yes(events, m.SourceStored(new.name, new.kind, new.generation, new.revision, replaced=True))


def _is_alone(request: m.CreateSource, old: Source) -> bool:
    """Whether the request asks for nothing besides, and writes where the source is."""
    there = request.definition
    same = (there.key, there.value, there.connector, there.cluster, there.place)
    more = (there.timestamp, there.properties, there.comment, there.imported, there.bad_rows)
    besides = (request.key_schema, request.value_schema, request.on_change, request.assess, request.importer)
    return same == (old.key, old.value, old.connector, old.cluster, old.place) and not any((*more, *besides))


def _refuse_columns(definition: m.SourceDefinition, old: Source) -> None:
    """Each column is one of the source; those that it can't do without are there."""
    types = {key_of(one.name): one.type for one in old.columns}
    given = {key_of(one.name): one.type for one in definition.columns}
    if any(types.get(name) != kind for name, kind in given.items()):
        raise No(NotPermitted, "ONCE_COLUMNS")
    if any(key_of(one.name) not in given for one in old.columns if one.role == "key" or not one.nullable):
        raise No(NotPermitted, "ONCE_COLUMNS")
