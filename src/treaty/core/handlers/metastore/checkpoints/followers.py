"""Chains: queries that follow a source whose rows are all exchanged, or read again, read all again too, in the same commit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treaty.core import limits
from treaty.core.access.permissions import refuse_unless_met
from treaty.core.access.source_permissions import on_source
from treaty.core.command import Command
from treaty.core.handlers.metastore.checkpoints.continuation import (
    begin_again,
    is_following,
    refuse_other_place,
    refuse_readers,
)
from treaty.core.refusals import TooLarge
from treaty.core.sources import CASCADE, RESET, Source
from treaty.core.state.metastore.indexes import SOURCE_BY_READ
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.view import View


def follow_exchange(
    view: View, command: Command[Any], key: SourceKey, operation: str, path: str, *, start: str = CASCADE
) -> Mapping[SourceKey, Source]:
    """Return the rows of all queries that follow a source, directly or through others, with a checkpoint that begins with all rows.

    Nearest first. With `start` RESET they keep their rows, else these are exchanged. Raises `SourceUsed` where the caller may not see one of
    them, `Forbidden` where they may not register it, and `NotPermitted` for one whose rows can't be exchanged.
    """
    followers = _list_followers(view, key)
    access = command.access
    if access is not None:
        hidden = [source for source in followers if not access.may_source("read", source.name)]
        if hidden:
            raise refuse_readers(view, access, key, tuple(followers), "ask somebody who may change all that follow it")
        refuse_unless_met(
            access, command.principal, [on_source("register", source.name, path) for source in followers], operation
        )
    for source in followers.values() if start == CASCADE else ():
        refuse_other_place(source)
    by = {"changed_by": command.principal, "changed": command.time}
    return {
        follower: replace(begin_again(view, command, source, start), revision=source.revision + 1, **by)  # type: ignore[arg-type]  # a text and a number
        for follower, source in followers.items()
    }


def describe_followers(rows: Mapping[SourceKey, Source]) -> tuple[str, ...]:
    """Return a note about each query that goes along."""
    return tuple(f"{source.name} goes along: it {_describe_start(source)}" for source in rows.values())


def _describe_start(source: Source) -> str:
    if source.query is not None and source.query.start == RESET:
        return "reads from the beginning again, and keeps its rows"
    return "reads all again once the rows before it are exchanged"


def _list_followers(view: View, key: SourceKey) -> dict[SourceKey, Source]:
    """Return the queries that follow a source, nearest first, by key. Raises `TooLarge` past limits.CLOSURE of them."""
    followers: dict[SourceKey, Source] = {}
    waiting = [key]
    for followed in waiting:
        for reader in sorted(view.find(SOURCE_BY_READ, (followed.name,))):
            source = view.get(SOURCE, reader)
            if source is None or reader in followers or not is_following(view, reader, followed):
                continue
            if len(followers) == limits.CLOSURE:
                raise TooLarge.of("CLOSURE", "Too many sources depend on it", allowed=f"at most {limits.CLOSURE}")
            followers[reader] = source
            waiting.append(reader)
    return followers
