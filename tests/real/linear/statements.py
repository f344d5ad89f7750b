"""Sources, types, leases and assignments in histories: what clients try, and what one registry would answer, in small.

A name that begins with `m` is a source with a type of its own; one that begins with `r` is a part that two runners share.
"""

import random
import secrets
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from treaty.client.connection import Connection
from treaty.core.messages.metastore import runners as r
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.sources import SourceColumn

Asked = tuple[str, Any, Callable[[], Any]]
OF_SOURCES = {
    "source": 8, "typed_source": 4, "source_if_missing": 2, "drop_source": 5, "undrop_source": 4, "describe": 6, "add_column": 4,
    "drop_column": 3, "type": 3, "drop_type": 3, "has_type": 2,
}  # fmt: skip
OF_RUNNERS = {
    "begin": 2, "acquire": 4, "steal": 3, "release_lease": 2, "assign": 10, "give_back": 4, "leases": 4, "owner": 6,
}  # fmt: skip
READS = frozenset({"describe", "has_type", "leases", "owner"})
EPOCHS: dict[tuple[str, str], int] = {}
"""Epochs of leases, by runner and holder; no two holders have one name."""
HOLDERS: dict[str, list[str]] = {}
"""Holders of a runner that were heard of."""
TEXT = SourceColumn("id", "INT")


class SourceState(NamedTuple):
    """The columns of a source (none: it is not there), those that it was dropped with, and whether its type is there."""

    columns: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    has_type: bool = False


class PartState(NamedTuple):
    """Whether the part is there, the holders of its two runners, and which of these has it."""

    begun: bool = False
    holders: tuple[str, str] = ("", "")
    owner: str = ""


def is_statement(subject: str) -> bool:
    """Whether a name is one of the metastore's."""
    return subject[0] in "mr"


def initial(subject: str) -> SourceState | PartState:
    """What is there of a name before anything happened."""
    return PartState() if subject[0] == "r" else SourceState()


# ---------------------------------------------------------------------------------------------------------- calls


def chosen(registry: Connection, subject: str, chance: random.Random) -> Asked:
    """Choose an operation on a name."""
    often = OF_RUNNERS if subject[0] == "r" else OF_SOURCES
    name = chance.choices([*often], [*often.values()])[0]
    runner = f"{subject}-{chance.choice('ab')}"
    known = HOLDERS.get(runner, ["nobody"])
    holder = known[-1] if chance.random() < 0.8 else chance.choice(known)
    argument: Any = None
    if name in {"acquire", "steal"}:
        argument = [runner, holder if name == "steal" else "", secrets.token_hex(6)]
    elif name in {"release_lease", "assign", "give_back"}:
        argument = [runner, holder]
    elif name in {"add_column", "drop_column"}:
        argument = chance.choice("xy")
    return asked(registry, subject, name, argument)


def asked(registry: Connection, subject: str, name: str, argument: Any) -> Asked:
    """Return an operation by its name."""
    return name, argument, lambda: _CALLS[name](registry, subject, argument)


def _create(columns: tuple[SourceColumn, ...], **members: Any) -> Callable[[Connection, str, Any], Any]:
    def call(registry: Connection, subject: str, _: Any) -> Any:
        typed = tuple(SourceColumn(one.name, f"{subject}_t") if one.type == "TYPE" else one for one in columns)
        bad = members.get("bad_rows", False)
        defined = m.SourceDefinition(subject, "STREAM", "CREATE", typed, connector="delta", bad_rows=bad)
        request = m.CreateSource(defined, if_not_exists=members.get("if_not_exists", False))
        return registry.ask(request).answer.created

    return call


def _change(op: Any) -> Callable[[Connection, str, Any], Any]:
    def call(registry: Connection, subject: str, column: str) -> Any:
        change = m.SourceColumnChange(op, SourceColumn(column, "INT"))
        return registry.ask(m.ChangeSource(subject, columns=(change,))).answer.replaced

    return call


def _acquire(registry: Connection, _: str, argument: Any) -> Any:
    runner, expected, holder = argument
    epoch = EPOCHS.get((runner, expected), 1) if expected else 0
    _note(runner, holder, registry.ask(r.AcquireRunner(runner, holder, epoch=epoch)).answer.epoch)
    return True


def _note(runner: str, holder: str, epoch: int) -> None:
    if (runner, holder) not in EPOCHS:
        EPOCHS[runner, holder] = epoch
        HOLDERS.setdefault(runner, []).append(holder)


def _release(registry: Connection, _: str, argument: Any) -> Any:
    runner, holder = argument
    return registry.ask(r.ReleaseRunner(runner, EPOCHS.get((runner, holder), 1))).answer.released


def _assign(registry: Connection, subject: str, argument: Any, *, take: bool = True) -> Any:
    runner, holder = argument
    generation = registry.ask(m.DescribeSource(f"{subject}_bad")).answer.source.generation
    parts = (r.QueryPart(f"{subject}_bad", generation, "bad"),)
    epoch = EPOCHS.get((runner, holder), 1)
    registry.ask(r.AssignQueries(runner, epoch, parts) if take else r.AssignQueries(runner, epoch, (), parts))
    return True


def _leases(registry: Connection, subject: str, _: Any) -> Any:
    there = {one.name: one for one in registry.ask(ListQueries(limit=1)).answer.runners}
    found = [there.get(f"{subject}-{one}") for one in "ab"]
    for one in found:
        if one is not None:
            _note(one.name, one.holder, one.epoch)
    return ["" if one is None else one.holder for one in found]


def _owner(registry: Connection, subject: str, _: Any) -> Any:
    wanted = f"{subject}_bad"
    feed = registry.ask(ListQueries(after=wanted[:-1], limit=1)).answer
    for fed in feed.queries:
        if fed.source.name == wanted:
            return fed.assigned[0].runner if fed.assigned else ""
    return "SourceNotFound"


_CALLS: Mapping[str, Callable[[Connection, str, Any], Any]] = {
    "source": _create((TEXT,)),
    "typed_source": _create((TEXT, SourceColumn("p", "TYPE"))),
    "source_if_missing": _create((TEXT,), if_not_exists=True),
    "begin": _create((TEXT,), if_not_exists=True, bad_rows=True),
    "drop_source": lambda registry, subject, _: registry.ask(m.DropSource(subject)).answer.dropped,
    "undrop_source": lambda registry, subject, _: registry.ask(m.UndropSource(subject)).answer.created,
    "describe": lambda registry, subject, _: [one.name for one in registry.ask(m.DescribeSource(subject)).answer.source.columns],
    "add_column": _change("add"),
    "drop_column": _change("drop"),
    "type": lambda registry, subject, _: registry.ask(m.CreateType(f"{subject}_t", "INT", if_not_exists=True)).answer.created,
    "drop_type": lambda registry, subject, _: registry.ask(m.DropType(f"{subject}_t")).answer.dropped,
    "has_type": lambda registry, subject, _: bool(registry.ask(m.DescribeType(f"{subject}_t")).answer.expanded),
    "acquire": _acquire,
    "steal": _acquire,
    "release_lease": _release,
    "assign": _assign,
    "give_back": lambda registry, subject, argument: _assign(registry, subject, argument, take=False),
    "leases": _leases,
    "owner": _owner,
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- rules


def step(state: Any, name: str, argument: Any) -> tuple[Any, Any]:
    """Return what one registry answers, and the state after it."""
    if isinstance(state, PartState):
        return _step_part(state, name, argument)
    return _step_type(state, name) if name in {"type", "drop_type", "has_type"} else _step_source(state, name, argument)


def _step_type(state: SourceState, name: str) -> tuple[Any, Any]:
    if name == "type":
        return not state.has_type, state._replace(has_type=True)
    if not state.has_type:
        return "TypeNotFound", state
    if name == "has_type":
        return True, state
    return ("SourceUsed", state) if "p" in state.columns else (True, state._replace(has_type=False))


def _step_source(state: SourceState, name: str, argument: Any) -> tuple[Any, Any]:
    if name in {"source", "typed_source", "source_if_missing"}:
        if state.columns:
            return (False if name == "source_if_missing" else "SourceExists"), state
        columns = ("id", "p") if name == "typed_source" else ("id",)
        return (
            ("TypeNotFound", state)
            if "p" in columns and not state.has_type
            else (True, state._replace(columns=columns))
        )
    if name == "undrop_source":
        if not state.gone or state.columns:
            return ("SourceExists" if state.gone else "SourceNotFound"), state
        missing = "p" in state.gone and not state.has_type
        return ("TypeNotFound", state) if missing else (True, state._replace(columns=state.gone, gone=()))
    if not state.columns:
        return "SourceNotFound", state
    if name == "describe":
        return [*state.columns], state
    if name == "drop_source":
        return True, state._replace(columns=(), gone=state.columns)
    if (name == "add_column") is (argument in state.columns):
        return "InvalidSource", state
    left = tuple(one for one in state.columns if one != argument)
    return True, state._replace(columns=(*left, argument) if name == "add_column" else left)


def _step_part(state: PartState, name: str, argument: Any) -> tuple[Any, Any]:
    if name == "begin":
        return not state.begun, state._replace(begun=True)
    if name == "leases":
        return [*state.holders], state
    if name == "owner":
        return (state.owner if state.begun else "SourceNotFound"), state
    if name in {"assign", "give_back"} and not state.begun:
        return "SourceNotFound", state
    runner, holder, *new = argument
    has = state.holders["ab".index(runner[-1])]
    if name == "release_lease" and not has:
        return 0, state
    if has != holder:
        return "NotLatest", state
    if name in {"acquire", "steal"}:
        return ("NotLatest", state) if name == "steal" and not has else (True, _with_holder(state, runner, new[0]))
    owns = state.owner == runner
    if name == "release_lease":
        return int(owns), _with_holder(state._replace(owner="" if owns else state.owner), runner, "")
    if name == "assign":
        return ("NotLatest", state) if state.owner not in {"", runner} else (True, state._replace(owner=runner))
    return True, state._replace(owner="") if owns else state


def _with_holder(state: PartState, runner: str, holder: str) -> PartState:
    first, second = state.holders
    return state._replace(holders=(holder, second) if runner[-1] == "a" else (first, holder))
