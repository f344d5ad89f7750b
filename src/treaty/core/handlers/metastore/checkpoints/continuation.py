"""Which checkpoint a changed query continues from: the one that it has, or a new one that begins empty, with a backfill, or again."""

from collections import Counter
from dataclasses import replace
from typing import Any

from treaty.core import limits
from treaty.core.access.rights import Access
from treaty.core.column_types.tokens import print_name
from treaty.core.command import Command
from treaty.core.handlers.metastore.checkpoints.table_columns import list_type_changes, refuse_other_types
from treaty.core.handlers.metastore.closure import source_used
from treaty.core.handlers.metastore.names import source_key
from treaty.core.handlers.metastore.reads import digest_reads
from treaty.core.messages.metastore.assessments import ChangeKind
from treaty.core.messages.metastore.sources import CreateSource
from treaty.core.refusals import InvalidSource, NotPermitted, SourceUsed
from treaty.core.sources import (
    BACKFILL,
    CASCADE,
    CHANGES,
    EMPTY,
    FormerDefinition,
    Incarnation,
    QueryPlan,
    Source,
    StateFingerprint,
)
from treaty.core.state.metastore.indexes import SOURCE_BY_READ
from treaty.core.state.metastore.keys import SourceKey, key_of_name
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.view import View

ON_CHANGE = ("", EMPTY, BACKFILL, CASCADE)
"""What a CREATE OR REPLACE wants where the new query can't continue from the checkpoint; empty: to be refused. CASCADE is as BACKFILL, and what
follows the changes of the source reads all again too.
"""
_EMPTY_WAY = "WITH (ON_CHANGE = 'empty'): the new query begins without state at the offsets that the checkpoint has"
_EXCHANGES = (
    "WITH (ON_CHANGE = 'backfill'): the new query reads all from the earliest into a table beside this one, which takes its place once it has caught up",
    "WITH (ON_CHANGE = 'cascade'): as backfill, and the queries that follow its changes read all again too, in the same commit",
)
_OTHER_NAME = "a source of another name, and a drop of this one"
DELTA = "delta"


def without_revisions(plan: QueryPlan) -> QueryPlan:
    """Return a plan without the revisions that it was made over, and without words about its state: two plans that differ in these alone say
    the same.
    """
    return replace(plan, reads=tuple(replace(read, revision=0) for read in plan.reads), state=())


def compare_plans(old: QueryPlan, new: QueryPlan) -> tuple[ChangeKind, tuple[str, ...]]:
    """Return what a new plan is to the one that runs, with the reasons in words."""
    if without_revisions(old) == without_revisions(new):
        return "same", ()
    sources, state = tuple(_list_source_changes(old, new)), tuple(_list_state_changes(old, new))
    kind: ChangeKind = "source change" if sources else "stateful change" if state else "compatible"
    reasons = (*sources, *state) or ("what keeps no state is changed, so the new query continues from the checkpoint",)
    return kind, reasons[: limits.CHANGE_REASONS]


def compare_queries(stored: Source, source: Source) -> tuple[ChangeKind, tuple[str, ...]]:
    """Return what the query of a new definition is to the one that runs, with the reasons in words.

    A column of a lake table that gets another type is a stateful change: the rows that are there are its state.
    """
    assert stored.query is not None
    assert source.query is not None
    kind, reasons = compare_plans(stored.query.plan, source.query.plan)
    types = () if kind == "same" else list_type_changes(stored, source)
    if kind == "compatible" and types:
        return "stateful change", types
    return kind, (*reasons, *types)[: limits.CHANGE_REASONS]


def _list_changes(plan: QueryPlan) -> list[tuple[str, int]]:
    """Return key and generation for each time that a plan reads the changes of a source, in the order in which a checkpoint has the offsets."""
    followed = [read for read in plan.reads if read.mode == CHANGES]
    placed = ((at, read) for number, read in enumerate(followed) for at in read.places or (number,))
    return [(source_key(read.source).name, read.generation) for _, read in sorted(placed, key=lambda pair: pair[0])]


def _list_source_changes(old: QueryPlan, new: QueryPlan) -> list[str]:
    before, after = _list_changes(old), _list_changes(new)
    if before == after:
        return []
    generations, counts = dict(before), (Counter(name for name, _ in before), Counter(name for name, _ in after))
    reasons = [f"the changes of {name} are not read any more" for name in counts[0] if name not in counts[1]]
    for name, generation in dict(after).items():
        if name not in generations:
            reasons.append(f"the changes of {name} are read, and were not before")
        elif generations[name] != generation:
            reasons.append(f"{name} was dropped and created again, so the checkpoint has offsets of another source")
        elif counts[0][name] != counts[1][name]:
            reasons.append(
                f"how often {name} is read, each time with offsets of its own: {counts[0][name]} → {counts[1][name]}"
            )
    names = [", ".join(name for name, _ in reads) for reads in (before, after)]
    return reasons or [f"the sources are read in another order: {names[0]} → {names[1]}"]


def _list_state_changes(old: QueryPlan, new: QueryPlan) -> list[str]:
    """Return why the state of the old query is not that of the new one; a query without state has an empty fingerprint."""
    reasons = []
    if old.fingerprint != new.fingerprint:
        reasons = _list_part_changes(old, new)
    modes = (old.output_mode, new.output_mode)
    keeps_state = old.fingerprint != StateFingerprint()
    if keeps_state and modes == ("append", "update"):
        reasons.append(
            "the rows of groups: once they are over → at each change; those of groups that are open now would be lost"
        )
    keys = [sorted(map(key_of_name, plan.key)) for plan in (old, new)]
    if keys[0] != keys[1]:
        names = [", ".join(plan.key) or "none" for plan in (old, new)]
        reasons.append(f"the key of the rows: {names[0]} → {names[1]}")
    return reasons


def _list_part_changes(old: QueryPlan, new: QueryPlan) -> list[str]:
    """Return the parts of the states that differ, kind by kind."""
    if StateFingerprint() == old.fingerprint:
        return [f"the new query keeps state, and the one that runs keeps none: {print_state(new)}"]
    if StateFingerprint() == new.fingerprint:
        return [f"the new query keeps no state, and the one that runs keeps some: {print_state(old)}"]
    before, after = Counter(old.state), Counter(new.state)
    gone, come = [*(before - after).elements()], [*(after - before).elements()]
    kinds = dict.fromkeys(kind for kind, _ in (*gone, *come))
    sides = (
        (kind, *(", ".join(text for part_kind, text in side if part_kind == kind) for side in (gone, come)))
        for kind in kinds
    )
    reasons = [f"{kind}: {left or 'none'} → {right or 'none'}" for kind, left, right in sides]
    return reasons or _list_moved_parts(old, new) or ["the plan below the topmost stateful operator is another one"]


def _list_moved_parts(old: QueryPlan, new: QueryPlan) -> list[str]:
    """Return the parts that are the same in another order, kind by kind."""
    sides = [
        (kind, *(", ".join(text for part_kind, text in plan.state if part_kind == kind) for plan in (old, new)))
        for kind in dict.fromkeys(kind for kind, _ in old.state)
    ]
    return [f"{kind} in another order: {left} → {right}" for kind, left, right in sides if left != right]


def print_state(plan: QueryPlan) -> str:
    """Return what a plan keeps, in words; its digest where the plan names no parts."""
    return "; ".join(f"{kind} {text}" for kind, text in plan.state) or plan.fingerprint.plan or "no state"


def list_ways(stored: Source, source: Source) -> tuple[str, ...]:
    """Return the ways out of a change that can't continue from the checkpoint: those alone that there are for the place of the rows.

    Rows can be exchanged in a Delta table alone, and can stay where no column gets another type.
    """
    ways = () if list_type_changes(stored, source) else (_EMPTY_WAY,)
    exchanges = _EXCHANGES if source.connector == DELTA else ()
    return (*ways, *exchanges, _OTHER_NAME)


# ------------------------------------------------------------------------------------------------ replaced and restarted


def replaced_query(
    view: View, command: Command[CreateSource], key: SourceKey, stored: Source, source: Source
) -> tuple[Incarnation | None, tuple[Incarnation, ...]]:
    """Return the query that takes the place of the one before, and the queries before it.

    Raises `NotPermitted` where it can't continue from the checkpoint and the statement does not say what is to be done instead, and what
    `refuse_backfill` raises.
    """
    old, new, on_change = stored.query, source.query, command.request.on_change
    if on_change not in ON_CHANGE:
        raise InvalidSource.of(
            "ON_CHANGE", f"'{on_change[:100]}' says not what to do with a query that can't continue", path="/on_change", new=on_change,
            allowed=f"{EMPTY}, {BACKFILL}, {CASCADE}, or nothing",
        )  # fmt: skip
    if old is None:  # an imported query is planned now, or there is none
        return new, stored.previous
    if new is None:
        return old, stored.previous
    kind, reasons = compare_queries(stored, source)
    if kind == "same":
        return old, stored.previous
    revision, previous = old.revision + 1, keep_previous(view, command, stored)
    if kind == "compatible":
        query = replace(old, revision=revision, plan=new.plan, author=command.principal, time=command.time)
        return query, previous
    if not on_change:
        raise _refusal(stored, source, kind, reasons)
    if on_change == CASCADE:
        refuse_other_place(source)
    elif on_change == BACKFILL:
        refuse_backfill(view, command.access, key, source)
    else:
        refuse_other_types(stored, source)
    start = BACKFILL if on_change == CASCADE else on_change
    query = Incarnation(view.sequence + 1, revision, new.plan, command.principal, command.time, start, old.began)
    return query, previous


def _refusal(stored: Source, source: Source, kind: str, reasons: tuple[str, ...]) -> NotPermitted:
    by_source = kind == "source change"
    texts = [
        ", ".join(name for name, _ in _list_changes(query.plan)) or "no changes"
        if by_source
        else print_state(query.plan)
        for query in (stored.query, source.query)
        if query is not None
    ]
    return NotPermitted.of(
        "QUERY_SOURCES" if by_source else "QUERY_STATE",
        f"The new query of {stored.name} can't continue from the checkpoint of the one that runs; it is a {kind}: {'; '.join(reasons)}",
        path="/definition/query/reads" if by_source else "/definition/query",
        old=texts[0],
        new=texts[1],
        allowed="; or ".join(list_ways(stored, source)),
    )


def refuse_backfill(view: View, access: Access | None, key: SourceKey, source: Source) -> None:
    """Raise the refusal of a query whose rows can't all be put in the place of those that are there.

    That is so in one commit of a Delta table alone, and it ends what follows the table as a stream.
    """
    refuse_other_place(source)
    readers = tuple(reader for reader in view.find(SOURCE_BY_READ, (key.name,)) if is_following(view, reader, key))
    if readers:
        ways = (
            "CASCADE, with which they read all again in the same commit; or ON_CHANGE = 'empty', which keeps the rows"
        )
        raise refuse_readers(view, access, key, readers, ways)


def refuse_other_place(source: Source, why: str = "") -> None:
    """Raise `NotPermitted` where rows that are written can't be exchanged for others; `why` they would have to be."""
    if source.connector != DELTA:
        raise NotPermitted.of(
            "QUERY_PLACE",
            f"{source.name} writes to {source.connector}, where rows that are written can't be exchanged for others{why and f'; {why}'}",
            path="/definition/connector",
            old=source.connector,
            allowed="CREATE of a source of another name, with the same query"
            if why
            else (
                f"ON_CHANGE = 'empty' of a replacement, or RESET CHECKPOINT {print_name(source.name)} KEEP DATA, which keep the rows; "
                "or a source of another name, with CONNECTOR = 'delta'"
            ),
        )


def refuse_readers(
    view: View, access: Access | None, key: SourceKey, readers: tuple[SourceKey, ...], allowed: str
) -> SourceUsed:
    """Return the refusal of an exchange of all rows of a source whose changes are followed."""
    source = view.get(SOURCE, key)
    readable = [
        view.get(SOURCE, reader) for reader in readers if access is None or access.may_source("read", reader.name)
    ]
    names = [source.name for source in readable if source is not None]
    return source_used(
        "QUERY_READERS",
        f"All rows of {key.name if source is None else source.name} would be exchanged, and its changes are followed by",
        names,
        len(readers) - len(names),
        allowed=allowed,
    )


def is_following(view: View, reader: SourceKey, key: SourceKey) -> bool:
    """Return whether the query of a reader follows the changes of a source."""
    source = view.get(SOURCE, reader)
    reads = () if source is None or source.query is None else source.query.plan.reads
    return any(source_key(read.source) == key and read.mode == CHANGES for read in reads)


def begin_again(view: View, command: Command[Any], stored: Source, start: str) -> Source:
    """Return a source whose query is the same on a new checkpoint."""
    old = stored.query
    assert old is not None, "the source has a query"
    query = Incarnation(
        view.sequence + 1, old.revision + 1, old.plan, command.principal, command.time, start, old.began
    )
    return replace(stored, query=query, previous=keep_previous(view, command, stored))


def keep_previous(view: View, command: Command[Any], stored: Source) -> tuple[Incarnation, ...]:
    """Return the former queries of a source whose query is replaced now: with the one that runs, without those past DROP_GRACE."""
    assert stored.query is not None, "a source without a query has no former ones"
    definition = FormerDefinition(
        stored.statement, stored.columns, stored.key, stored.value, stored.connector, stored.cluster, stored.place, stored.timestamp,
        stored.properties, stored.comment, digest_reads(view, stored),
    )  # fmt: skip
    former = [replace(stored.query, definition=definition)]
    for older, newer in zip(stored.previous, (stored.query, *stored.previous), strict=False):
        if newer.time + limits.DROP_GRACE < command.time:
            break
        former.append(older)
    return tuple(former[: limits.INCARNATIONS])
