"""What a node knows: the members of its parts as short texts, without what belongs to others (the environment, the log, formats)."""

import asyncio
from collections import deque
from dataclasses import fields, is_dataclass
from typing import Any

from tests.traces.trace import EMPTY, Names, is_open
from treaty.core.registry import Reply
from treaty.core.state.commit import Position, PositionToken
from treaty.node.node import Node
from treaty.node.own_append import OwnAppend
from treaty.node.peer_batches import OutgoingCommand
from treaty.node.question_queue import QuestionSource, QueuedQuestion
from treaty.node.queued_command import DoneState, QueuedCommand, UnseenCommit, WaitingState
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.statefile import StateFile
from treaty.wire.peer.message import ForwardedCommand

LISTED = 5
"""Members of a collection that are listed; of a larger one the number and the last one are."""


class NodeView:
    """The parts of a node."""

    def __init__(self, node: Node, names: Names) -> None:
        self.names = names
        self.node = node
        queue, forwarder, schemas = node._queue, node._forwarder, node._schemas
        self.parts: dict[str, Any] = {
            "counts": node.counts, "follower": node.follower, "queue": queue, "barriers": queue.barriers,
            "writer": node._writer, "forwarder": forwarder, "batcher": forwarder._batcher,
            "queries": node._long_queries, "changes": node._changes, "questions": schemas.queue,
            "files": node._state_files,
        }  # fmt: skip
        self._values: dict[str, dict[str, tuple[Any, bool]]] = {}
        """By part and member its value at the last look, and whether that was an empty collection."""
        self._texts: dict[str, str] = {}
        """What is known, by name."""

    def list_changes(self) -> list[tuple[str, str]]:
        """What is known otherwise than at the last look, by name."""
        found: dict[str, str | None] = {}
        for name, part in self.parts.items():
            if part is not None:
                self._add_changes(found, name, part)
        queue, follower, tables = self.node._queue, self.node.follower, self.node._tables
        found["read only"], found["trouble"] = repr(queue.read_only), repr(follower.unreachable_reason)
        found["refusing"] = repr(queue.write_failure)
        found["tables"] = f"{self.names.position(tables.position)} rows {tables.size}"  # type: ignore[attr-defined]
        found["quarantine"] = str(len(tables.quarantine))
        if isinstance(tables, LayeredTables):
            found["tables.base_sequence"], found["tables.changed"] = str(tables.base_sequence), str(tables.changed)
        return [(label, text) for label, text in found.items() if text is not None and self._differs(label, text)]

    def _differs(self, label: str, text: str) -> bool:
        before, self._texts[label] = self._texts.get(label), text
        return before != text

    def _add_changes(self, found: dict[str, str | None], name: str, part: Any) -> None:
        """Add what a part may know otherwise: what is another object than before, or one that changes."""
        known = self._values.setdefault(name, {})
        members = vars(part) if hasattr(part, "__dict__") else {each: getattr(part, each) for each in part.__slots__}
        for member, value in members.items():
            before, was_empty = known.get(member, _NOTHING)
            if before is value and (not isinstance(value, CHANGING) or (was_empty and not value)):
                continue
            plain = member.lstrip("_")
            text = None if plain in SKIPPED else self.show(value)
            known[member] = value, text == "[]"
            found[plain if name in BARE else f"{name}.{plain}"] = text

    def show(self, value: Any) -> str | None:
        """A value in a few words; None for what is no state of its part."""
        match value:
            case None | bool() | int():
                return str(value)
            case float():
                return f"{value:.3f}"
            case str():
                return repr(value)
            case bytes():
                return self.names.name(value.hex())
            case Position():
                return self.names.position(value)
            case PositionToken():
                return self.names.token(value)
            case asyncio.Future():
                return is_open(value)
            case asyncio.Lock():
                return "locked" if value.locked() else "free"
            case asyncio.Event():
                return "set" if value.is_set() else "clear"
            case asyncio.Handle():
                return "off" if value.cancelled() else "on"
            case Exception():
                return type(value).__name__
        return self._show_known(value)

    def _show_known(self, value: Any) -> str | None:
        match value:
            case QueuedCommand():
                return f"{value.command.command_id}:{self._show_state(value)}"
            case OwnAppend():
                return f"append on {self.names.position(value.base)} with {len(value.rows)} rows"
            case OutgoingCommand():
                return f"{self.show(value.forwarded)}:{is_open(value.reply)}"  # type: ignore[arg-type]
            case ForwardedCommand():
                return value.command.command_id
            case QuestionSource():
                return f"{value.principal or 'nobody'}{' writes' if value.writes else ''}"
            case StateFile():
                return f"file of {self.names.position(value.position)}"
            case Reply():
                return f"reply at {self.names.token(value.token)}"
            case QueuedQuestion():
                return self._show_members(value, ("sources", "task", "began", "runs_for", "has_yielded"))
            case dict() | list() if not value:
                return "[]"
            case dict() | list() | set() | tuple() | deque() | frozenset():
                return self._show_collection(value)
        if type(value).__module__.startswith("treaty.node.") and is_dataclass(value):
            return self._show_members(value, [each.name for each in fields(value)])
        return None

    def _show_members(self, value: Any, members: Any) -> str:
        shown = ((name, self.show(getattr(value, name))) for name in members)
        return "(" + " ".join(f"{name}={text}" for name, text in shown if text is not None and text not in EMPTY) + ")"

    def _show_state(self, command: QueuedCommand) -> str:
        state = command.state
        if isinstance(state, DoneState):
            return "done"
        text = type(state).__name__.removesuffix("State").lower()
        if isinstance(state, WaitingState) and state.result is not None:
            text += f" with a result at {self.names.position(state.result[0])}"
        for name in ("unseen", "before"):
            unseen = getattr(state, name, None)
            if isinstance(unseen, UnseenCommit):
                text += f" {name} {unseen.after}-{unseen.until}/{unseen.own_until}"
        flags = [name for name in ("is_large", "from_peer", "is_over") if getattr(command, name)]
        flags += [f"attempts {command.forward_attempts}"] if command.forward_attempts else []
        return " ".join((text, *flags))

    def _show_collection(self, value: Any) -> str | None:
        if isinstance(value, set | frozenset):
            count = sum(not (isinstance(each, asyncio.Future) and each.done()) for each in value)
            return f"[{count}]" if count else "[]"
        items = list(value.items()) if isinstance(value, dict) else [(None, each) for each in value]
        texts: list[str] = []
        for key, each in items if len(items) <= LISTED else items[-1:]:
            shown = self.show(each)
            if isinstance(value, dict):
                shown_key = self.show(key)
                shown = shown_key if shown in {None, "None"} else shown if shown_key is None else f"{shown_key}={shown}"
            texts.append("-" if shown is None else shown)
        more = f"{len(items)} … " if len(items) > LISTED else ""
        return f"[{more}{', '.join(texts)}]"


SKIPPED = frozenset({"tables", "callbacks", "schemas", "counts", "environment", "cipher", "batcher", "stamp"})
"""Members that are shown elsewhere, or are not the part's own."""


CHANGING = (dict, list, set, deque, asyncio.Future, asyncio.Lock, asyncio.Event, asyncio.Handle)
"""What may have changed although it is the same object."""
BARE = frozenset({"counts", "follower"})
"""Parts whose members have names enough."""

_NOTHING: tuple[Any, bool] = (object(), False)
