"""ALTER, PAUSE and RESUME: a source changes in its place."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes, done_or_rehearsed
from tests.simulation.judging.model.events import SourceChanged
from tests.simulation.judging.model.metastore.binding import register_parts
from tests.simulation.judging.model.metastore.defining import (
    refuse_bad_columns,
    refuse_dead_pin,
    refuse_keyless,
    refuse_lost_columns,
    refuse_other_types,
    refuse_unknown_columns,
    types_in,
)
from tests.simulation.judging.model.metastore.dropping import expired, refuse_unexpected, source_named
from tests.simulation.judging.model.metastore.names import refuse_bad_name, refuse_taken
from tests.simulation.judging.model.metastore.renaming import with_readers
from tests.simulation.judging.model.metastore.restarting import restart_query
from tests.simulation.judging.model.metastore.state import key_of, sources
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import InvalidSource, NotPermitted, SourceExists, TooLarge
from treaty.core.sources import Source, SourceColumn


def change_source(past: Past, asking: Asking, request: m.ChangeSource) -> Yes:
    """Columns, properties, name, protection, comment, pins; a change of nothing writes nothing."""
    key, old = source_named(past, request.name)
    if request.kind and request.kind != old.kind:
        raise No(SourceExists, "SOURCE_KIND_DIFFERS")
    refuse_unexpected(old, request.expected)
    if request.swap:
        return _swap(past, asking, request)
    if request.restart or request.cascade:
        return restart_query(past, asking, request)
    if old.origin and (request.columns or request.properties or request.key or request.value or request.rename):
        raise No(NotPermitted, "SOURCE_OF_BAD_ROWS")
    refuse_other_types(past, request.types)
    new = _with_columns(past, key, old, request)
    new = replace(new, properties=_properties(old, request))
    new = replace(
        new,
        protected=old.protected if request.protect is None else request.protect,
        comment=old.comment if request.comment is None else request.comment,
    )
    if (new.columns, new.properties) != (old.columns, old.properties):
        refuse_unknown_columns(new.columns, new.timestamp, new.properties)
    given = ((request.key, request.key_schema), (request.value, request.value_schema))
    registered, parts = register_parts(past, asking, given)
    new = replace(new, key=parts[0] or old.key, value=parts[1] or old.value)
    for part in parts:
        if part is not None and part.pin is not None:
            refuse_dead_pin(past.then(registered), part.pin)
    if len(request.statement.encode("utf-8", "surrogatepass")) > limits.STATEMENT_BYTES:
        raise No(TooLarge, "STATEMENT_BYTES")
    if request.rename and request.rename != old.name:
        _refuse_rename(past, key, request.rename)
        new = replace(new, name=request.rename)
    if new == old:
        return Yes((), _stored(old))
    if (new.columns, new.key, new.value, new.properties) != (old.columns, old.key, old.value, old.properties):
        new = replace(new, revision=old.revision + 1)
    new = replace(new, changed_by=asking.principal, changed=asking.time)
    renamed = with_readers(past, asking, {key: new}) if new.name != old.name else [SourceChanged(key, new)]
    events = [*registered, *renamed]
    return done_or_rehearsed((*events, *expired(past, asking)), _stored(new, changed=True), rehearsal=request.dry_run)


def _swap(past: Past, asking: Asking, request: m.ChangeSource) -> Yes:
    """Two names for two sources, the other way round; who reads either follows it."""
    alone = m.ChangeSource(request.name, request.statement, swap=request.swap, kind=request.kind)
    if replace(request, expected=None, dry_run=False) != alone:
        raise No(InvalidSource, "SWAP_ALONE")
    pair = [source_named(past, name) for name in (request.name, request.swap)]
    if pair[0][0] == pair[1][0]:
        raise No(InvalidSource, "SWAP_ITSELF")
    if any(source.origin for _, source in pair):
        raise No(NotPermitted, "SOURCE_OF_BAD_ROWS")
    later = {
        key: replace(source, name=other.name, changed_by=asking.principal, changed=asking.time)
        for (key, source), (_, other) in (pair, reversed(pair))
    }
    events = with_readers(past, asking, later)
    first = pair[0][1]
    answer = m.SourceStored(
        pair[1][1].name, first.kind, first.generation, first.revision, replaced=True, also=(first.name,)
    )
    return Yes(() if request.dry_run else (*events, *expired(past, asking)), answer)


def _stored(source: Source, *, changed: bool = False) -> m.SourceStored:
    return m.SourceStored(source.name, source.kind, source.generation, source.revision, replaced=changed)


def _with_columns(past: Past, key: str, old: Source, request: m.ChangeSource) -> Source:
    if not request.columns:
        return old
    if old.query is not None:
        raise No(NotPermitted, "QUERY_COLUMNS")
    columns = list(old.columns)
    for change in request.columns:
        at = [place for place, column in enumerate(columns) if column.name.lower() == change.column.name.lower()]
        if change.op == "add":
            if at:
                raise No(InvalidSource, "COLUMN_TWICE")
            columns.append(change.column)
        elif not at:
            raise No(InvalidSource, "COLUMN_NOT_FOUND")
        elif change.op == "drop":
            del columns[at[0]]
        else:
            columns[at[0]] = change.column
    return _checked(past, key, old, tuple(columns))


def _checked(past: Past, key: str, old: Source, columns: tuple[SourceColumn, ...]) -> Source:
    refuse_bad_columns(columns)
    refuse_keyless(old.kind, columns, None)
    types = types_in(past, columns)
    refuse_lost_columns(past, key, old, columns)
    return replace(old, columns=columns, types=types)


def _properties(old: Source, request: m.ChangeSource) -> tuple[tuple[str, str], ...]:
    """Those that are named are set, and an empty text unsets; by name where any is named."""
    now = dict(old.properties)
    for name, value in request.properties:
        if value:
            now[name] = value
        else:
            now.pop(name, None)
    if len(now) > limits.SOURCE_PROPERTIES:
        raise No(TooLarge, "SOURCE_PROPERTIES")
    return tuple(sorted(now.items())) if request.properties else old.properties


def _refuse_rename(past: Past, key: str, name: str) -> None:
    later = key_of(name)
    refuse_bad_name(name)
    if later != key and later in sources(past):
        raise No(SourceExists, "SOURCE_EXISTS")
    refuse_taken(sources(past), name, "SOURCE_TAKEN", besides=key)


def set_source_state(past: Past, asking: Asking, request: m.SetSourceState) -> Yes:
    """PAUSE and RESUME: what is wanted of a query."""
    key, old = source_named(past, request.name)
    if old.query is None and old.imported is not None:
        if request.state == "RUNNING":
            raise No(NotPermitted, "QUERY_NOT_PLANNED")
        return Yes((), _stored(old))
    if old.query is None:
        raise No(InvalidSource, "QUERY_NONE")
    if request.state not in {"RUNNING", "PAUSED"}:
        raise No(InvalidSource, "QUERY_STATE_WORD")
    if request.state == old.desired:
        return Yes((), _stored(old))
    new = replace(old, desired=request.state, changed_by=asking.principal, changed=asking.time)
    events = () if request.dry_run else (SourceChanged(key, new), *expired(past, asking))
    return Yes(events, _stored(new, changed=True))
