"""Other names: a source is renamed, or two exchange their names, and the queries that read them go along in the same commit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from treaty.core import limits
from treaty.core.access.permissions import refuse_unless_met
from treaty.core.access.source_permissions import on_source
from treaty.core.column_types.tokens import print_name, split_tokens
from treaty.core.command import Command, Decision, StagedView
from treaty.core.handlers.metastore.body_names import (
    UnclearNameError,
    rename_in_body,
    rename_in_state,
    rename_in_statement,
)
from treaty.core.handlers.metastore.closure import source_used
from treaty.core.handlers.metastore.creation import describe_stored
from treaty.core.handlers.metastore.names import (
    expand_text,
    find_source,
    refuse_bad_name,
    refuse_taken_source,
    source_key,
)
from treaty.core.handlers.metastore.places.topics import expired_rows, topic_of, topic_with
from treaty.core.handlers.metastore.replacement import of_bad_rows
from treaty.core.messages.metastore.sources import ChangeSource, SourceStored
from treaty.core.refusals import InvalidSource, SourceUsed, TooLarge
from treaty.core.schema import refuse_large_size
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import FormerDefinition, Incarnation, QueryPlan, Source, SourceColumn
from treaty.core.state.metastore.indexes import SOURCE_BY_FORMER_READ, SOURCE_BY_ORIGIN, SOURCE_BY_READ
from treaty.core.state.metastore.keys import SourceKey, key_of_name
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.rows import make_row, make_tombstone
from treaty.core.state.view import View

Renamed = Mapping[SourceKey, Source]
"""Rows with their new names, by the keys that they have until now."""


def refuse_unfit_name(view: View, key: SourceKey, rename: str) -> None:
    """Raise the refusal of a name that can't be, or that another source has."""
    refuse_bad_name(rename, "SOURCE_NAME", "/rename")
    refuse_taken_source(view, rename, own=key)


def swap_sources(view: View, command: Command[ChangeSource], engine: SchemaEngine) -> Decision[SourceStored]:
    """Exchange the names of two sources in one commit; who reads either reads the same source by its new name."""
    request = command.request
    if replace(request, statement="", expected=None, dry_run=False, kind="", swap="") != ChangeSource(request.name):
        raise InvalidSource.of(
            "SWAP_ALONE", "A swap of names changes nothing else", path="/swap", new=request.swap, allowed="two changes"
        )
    (key, stored), (other_key, other) = find_source(view, request.name), find_source(view, request.swap, "/swap")
    if key == other_key:
        raise InvalidSource.of(
            "SWAP_ITSELF", f"{stored.name} has that name", path="/swap", new=request.swap, allowed="another source"
        )
    for source in (stored, other):
        if source.origin:
            raise of_bad_rows(source, "/swap")
    stage = StagedView(view, command, engine, "change-source", request.dry_run)
    by = {"changed_by": command.principal, "changed": command.time}
    new, new_other = replace(stored, name=other.name, **by), replace(other, name=stored.name, **by)  # type: ignore[arg-type]  # a text and a number
    notes = put_renamed(stage, {key: new, other_key: new_other}, "/swap")
    stage.put(expired_rows(view, command.time))
    answer = describe_stored(new, replaced=True, also=(new_other.name,), notes=notes)
    return Decision(stage.rows, answer, rehearsal=request.dry_run)


def put_renamed(stage: StagedView, renamed: Renamed, path: str) -> tuple[str, ...]:
    """Put sources under their new names on stage, with their readers, streams of bad rows and topics; returns notes about the readers.

    Sources that have read them by a former query alone, or read them once, know them by the new names too; nothing of what they do is changed.

    Raises `SourceUsed` with the readers whose text can't be rewritten or that the caller may not see, and `Forbidden` for one that the
    caller may not register.
    """
    view, by = stage.base, {"changed_by": stage.command.principal, "changed": stage.command.time}
    readers = _list_readers(stage, renamed, path)
    former = {reader for key in renamed for reader in view.find(SOURCE_BY_FORMER_READ, (key.name,))}
    former -= {*renamed, *readers}
    old = {key: row for key in (*renamed, *readers, *sorted(former)) if (row := view.get(SOURCE, key)) is not None}
    rows = _follow(view, old, {key: renamed.get(key, source) for key, source in old.items()}, path)
    bad = {key: list(view.find(SOURCE_BY_ORIGIN, (key.name,))) for key in renamed}
    gone = renamed.keys() - {source_key(source.name) for source in renamed.values()}
    stage.put(make_tombstone(SOURCE, key) for key in sorted(gone))
    for key, source in rows.items():
        is_same = source.query == old[key].query
        later = source if is_same else replace(source, revision=source.revision + 1, **by)  # type: ignore[arg-type]  # a text and a number
        stage.put((make_row(SOURCE, source_key(later.name), later),))
    for key, streams in bad.items():
        _name_origin(stage, streams, source_key(renamed[key].name))
    _put_topics(stage, {key: old[key] for key in renamed}, renamed)
    return tuple(f"{rows[key].name} goes along: it reads the same source by its new name" for key in readers)


def _put_topics(stage: StagedView, old: Renamed, renamed: Renamed) -> None:
    """Let the topics name the sources by their new keys."""
    if len({topic_of(source) for source in old.values()}) < len(old):
        return  # two over one topic, which names both
    for source in renamed.values():
        stage.put(topic_with(stage.view, source, source_key(source.name), present=True))
    later = {(source_key(source.name), topic_of(source)) for source in renamed.values()}
    for key, stored in old.items():
        if (key, topic_of(stored)) not in later:
            stage.put(topic_with(stage.view, stored, key, present=False))


def _name_origin(stage: StagedView, streams: Sequence[SourceKey], new_key: SourceKey) -> None:
    """A stream of bad rows keeps its name, and names its source by the new key."""
    for bad in streams:
        value = stage.view.get(SOURCE, bad)
        if value is not None:
            stage.put((make_row(SOURCE, bad, replace(value, origin=new_key.name)),))


# ------------------------------------------------------------------------------------------------------------- readers


def _list_readers(stage: StagedView, renamed: Renamed, path: str) -> tuple[SourceKey, ...]:
    """Return who reads the sources, each once, by key. Raises the refusal of readers that the caller may not see or register."""
    command, view = stage.command, stage.base
    readers = sorted({reader for key in renamed for reader in view.find(SOURCE_BY_READ, (key.name,))})
    if len(readers) > limits.CLOSURE:
        raise TooLarge.of("CLOSURE", "Too many sources depend on it", allowed=f"at most {limits.CLOSURE}")
    access = command.access
    if access is not None:
        readable = [_name(view, reader) for reader in readers if access.may_source("read", reader.name)]
        if len(readable) < len(readers):
            remedy = "ask somebody who may change all that read it"
            raise _read_by(view, renamed, (readable, len(readers) - len(readable)), path, remedy)
        needs = [on_source("register", reader.name, path) for reader in readers]
        refuse_unless_met(access, command.principal, needs, stage.operation)
    return tuple(readers)


def _follow(view: View, old: Renamed, rows: Renamed, path: str) -> dict[SourceKey, Source]:
    """Return rows whose queries and texts name the sources by their new names. Raises `SourceUsed` with all that can't."""
    renamed = {key: source for key, source in rows.items() if source.name != old[key].name}
    names = {key.name: source.name for key, source in renamed.items()}
    refuse_large_size(sum(2 * len(source.query.plan.body) for source in rows.values() if source.query is not None))
    changed, unfit, words = {}, {}, ColumnWords(view)
    for key, source in rows.items():
        own = {key.name: source.name} if key in renamed else {}
        try:
            changed[key] = with_names(words, source, names, own)
        except UnclearNameError as unclear:
            unfit[old[key].name] = str(unclear)
    if unfit:
        texts = [f"{name}, whose text can't be changed along ({reason})" for name, reason in unfit.items()]
        ways = ", ".join(map(print_name, sorted(unfit)))
        remedy = f"CREATE OR REPLACE {ways} with an alias behind each source, and columns by the alias; or drop what reads it first"
        raise _read_by(view, renamed, (texts, 0), path, remedy)
    return changed


def _read_by(view: View, renamed: Renamed, readers: tuple[Sequence[str], int], path: str, remedy: str) -> SourceUsed:
    """Return the refusal of new names for sources that are read by these, and by so many others that the caller may not see."""
    read = [key for key in renamed if any(view.find(SOURCE_BY_READ, (key.name,)))]
    old, new = ", ".join(_name(view, key) for key in read), ", ".join(renamed[key].name for key in read)
    return source_used(
        "SOURCE_READ",
        f"{old} {'is' if len(read) == 1 else 'are'} read by",
        *readers,
        path=path,
        old=old,
        new=new,
        allowed=remedy,
    )


def _name(view: View, key: SourceKey) -> str:
    source = view.get(SOURCE, key)
    return key.name if source is None else source.name


# --------------------------------------------------------------------------------------------------------------- texts


class ColumnWords:
    """The words of the columns of sources: of each they are split once, however many queries read it and have read it."""

    def __init__(self, view: View) -> None:
        """Know nothing yet."""
        self._view = view
        self._known: dict[SourceKey, frozenset[str]] = {}
        self._size = 0

    def list_met(self, plan: QueryPlan, names: Collection[str]) -> set[str]:
        """Return those of some names, in small letters, that a column or field of what a plan reads has, or a word of their types."""
        sources = [self._list_words(source_key(read.source)) for read in plan.reads]
        return {name for name in names if any(name in words for words in sources)}

    def _list_words(self, key: SourceKey) -> frozenset[str]:
        words = self._known.get(key)
        if words is None:
            source = self._view.get(SOURCE, key)
            columns = () if source is None else source.columns
            self._size += sum(len(column.type) for column in columns)
            refuse_large_size(2 * self._size)
            words = self._known[key] = frozenset(self._split(columns))
        return words

    def _split(self, columns: Sequence[SourceColumn]) -> Iterator[str]:
        for column in columns:
            yield column.name.lower()
            yield from (token.text.strip("`").lower() for token in split_tokens(expand_text(self._view, column.type)))


def with_names(words: ColumnWords, source: Source, names: Mapping[str, str], own: Mapping[str, str]) -> Source:
    """Return a source whose query, former queries and statements name other sources by new names, and by `own` itself.

    A former query, or one that is run once, whose text can't be rewritten keeps it, and is bound to the sources by their new names. Raises
    `UnclearNameError` for the text of the present one.
    """
    query, statement = source.query, rename_in_statement(source.statement, own, ("", ""))
    if query is not None:
        plan = _with_plan_names(words, query.plan, names)
        statement = rename_in_statement(source.statement, own, (query.plan.body, plan.body))
        query = replace(query, plan=plan)
    previous = tuple(_with_former_names(words, incarnation, names, own) for incarnation in source.previous)
    once = tuple(replace(query, plan=_with_bound_names(words, query.plan, names)) for query in source.once)
    return replace(source, query=query, statement=statement, previous=previous, once=once)


def _with_plan_names(words: ColumnWords, plan: QueryPlan, names: Mapping[str, str]) -> QueryPlan:
    used = {name: names[name] for read in plan.reads if (name := source_key(read.source).name) in names}
    if not used:
        return plan
    asked_names = {name.lower() for name in (*used, *used.values())}
    body = rename_in_body(plan.body, used, words.list_met(plan, asked_names))
    limit = limits.STATEMENT_BYTES
    if len(body.encode("utf-8", "surrogatepass")) > limit:
        raise UnclearNameError(f"it would have more than {limit} bytes")
    reads = tuple(
        replace(read, source=key_of_name(used[name]), spelling=used[name])
        if (name := source_key(read.source).name) in used
        else read
        for read in plan.reads
    )
    state = tuple((kind, rename_in_state(text, used)) for kind, text in plan.state)
    return replace(plan, body=body, reads=reads, state=state)


def _with_bound_names(words: ColumnWords, plan: QueryPlan, names: Mapping[str, str]) -> QueryPlan:
    """`_with_plan_names`, or the plan with its text as it is, bound to the sources by their new names, where that can't be rewritten."""
    try:
        return _with_plan_names(words, plan, names)
    except UnclearNameError:
        reads = tuple(
            replace(read, source=key_of_name(names[read.source]), spelling=read.spelling or read.source)
            if read.source in names
            else read
            for read in plan.reads
        )
        return replace(plan, reads=reads)


def _with_former_names(
    words: ColumnWords, former: Incarnation, names: Mapping[str, str], own: Mapping[str, str]
) -> Incarnation:
    plan, was = _with_bound_names(words, former.plan, names), former.definition
    if was is not None:
        was = _with_definition_names(was, own, (former.plan.body, plan.body))
    return replace(former, plan=plan, definition=was)


def _with_definition_names(was: FormerDefinition, own: Mapping[str, str], bodies: tuple[str, str]) -> FormerDefinition:
    return replace(was, statement=rename_in_statement(was.statement, own, bodies))
