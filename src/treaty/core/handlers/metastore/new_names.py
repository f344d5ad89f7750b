"""Sources get other names: one alone, or two that exchange theirs."""

from collections.abc import Sequence
from dataclasses import replace

from treaty.core.command import Command, Decision, StagedView
from treaty.core.handlers.metastore.closure import source_used
from treaty.core.handlers.metastore.creation import describe_stored
from treaty.core.handlers.metastore.names import find_source, refuse_bad_name, refuse_taken_source
from treaty.core.handlers.metastore.places import expired_rows, topic_of, topic_with
from treaty.core.handlers.metastore.replacement import of_bad_rows
from treaty.core.messages.metastore import ChangeSource, SourceStored
from treaty.core.refusals import InvalidSource
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import Source
from treaty.core.state.metastore.indexes import SOURCE_BY_ORIGIN, SOURCE_BY_READ
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.rows import make_row
from treaty.core.state.view import View


def refuse_unfit_rename(view: View, command: Command[ChangeSource], key: SourceKey, there: Source) -> None:
    """Raise the refusal of a name that another source has, or of a source that others read by its name."""
    rename = command.request.rename
    refuse_bad_name(rename, "SOURCE_NAME", "/rename")
    refuse_taken_source(view, rename, own=key)
    _refuse_readers(view, command, (key, there), "/rename", rename)


def _refuse_readers(
    view: View, command: Command[ChangeSource], named: tuple[SourceKey, Source], path: str, new: str
) -> None:
    key, there = named
    readers = list(view.find(SOURCE_BY_READ, (key.name,)))
    if readers:
        seen = [
            reader.name
            for reader in readers
            if command.access is None or command.access.may_source("read", reader.name)
        ]
        raise source_used(
            "SOURCE_READ",
            f"{there.name} is read by",
            seen,
            len(readers) - len(seen),
            path=path,
            old=there.name,
            new=new,
            allowed="drop what reads it first",
        )


def move_bad_rows(stage: StagedView, key: SourceKey, new_key: SourceKey) -> None:
    """The stream of bad rows keeps its name, and names the source by its new key."""
    _name_origin(stage, list(stage.view.find(SOURCE_BY_ORIGIN, (key.name,))), new_key)


def _name_origin(stage: StagedView, streams: Sequence[SourceKey], new_key: SourceKey) -> None:
    for bad in streams:
        value = stage.view.get(SOURCE, bad)
        if value is not None:
            stage.put((make_row(SOURCE, bad, replace(value, origin=new_key.name)),))


def swap_sources(view: View, command: Command[ChangeSource], engine: SchemaEngine) -> Decision[SourceStored]:
    """Exchange the names of two sources in one commit. No query may read either: it names what it reads."""
    request = command.request
    if replace(request, statement="", expected=None, dry_run=False, kind="", swap="") != ChangeSource(request.name):
        raise InvalidSource.of(
            "SWAP_ALONE", "A swap of names changes nothing else", path="/swap", new=request.swap, allowed="two changes"
        )
    sources = [find_source(view, request.name), find_source(view, request.swap, "/swap")]
    (key, there), (other_key, other) = sources
    if key == other_key:
        raise InvalidSource.of(
            "SWAP_ITSELF", f"{there.name} has that name", path="/swap", new=request.swap, allowed="another source"
        )
    for named in sources:
        if named[1].origin:
            raise of_bad_rows(named[1], "/swap")
        _refuse_readers(view, command, named, "/swap", request.swap)
    stage = StagedView(view, command, engine, "change-source", request.dry_run)
    by = {"changed_by": command.principal, "changed": command.time}
    new, new_other = replace(there, name=other.name, **by), replace(other, name=there.name, **by)  # type: ignore[arg-type]  # a text and a number
    bad = [list(view.find(SOURCE_BY_ORIGIN, (one.name,))) for one, _ in sources]
    for to, source, streams in ((other_key, new, bad[0]), (key, new_other, bad[1])):
        stage.put((make_row(SOURCE, to, source),))
        _name_origin(stage, streams, to)
    if topic_of(there) != topic_of(other):
        for to, source in ((other_key, there), (key, other)):
            stage.put(topic_with(stage.view, source, to, present=True))
        for one, source in sources:
            stage.put(topic_with(stage.view, source, one, present=False))
    stage.put(expired_rows(view, command.time))
    return Decision(() if request.dry_run else stage.rows, describe_stored(new, replaced=True, also=(new_other.name,)))
