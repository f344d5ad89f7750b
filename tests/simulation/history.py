"""The history that a run has made: every commit checked as it lands, and every state it led to kept.

States are counted by moments. A log that is put back to an older state, or replaced by another one, begins a new moment
with a state that was; places that are left behind are known, and lost.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from tests.simulation.judging.broken import Broken
from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.commits import Digests, name_in, take_commit
from tests.simulation.judging.model.events import (
    ConfigChanged,
    ContextMade,
    Event,
    IdsReserved,
    ModeChanged,
    Name,
    Restored,
    SubjectMade,
)
from tests.simulation.judging.model.facts import fact, scope_of
from tests.simulation.judging.model.metastore.integrity import find_faults
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.reserving import freed
from tests.simulation.judging.roots import Place, Roots, Texts, plain, roots_of, texts_after, whole
from treaty.core.invariants import find_violations
from treaty.core.messages.request import Request
from treaty.core.names import Subject
from treaty.core.state import values
from treaty.core.state.commit import START, Append, Commit, Position, PositionToken
from treaty.core.state.log_origin import explain_sealed_log, explain_unfinished_restore
from treaty.core.state.ordered import SortedKeys
from treaty.core.state.rows import EncodedRow, Row, UnreadableValue, decode_key, decode_row
from treaty.core.state.state_tables import TABLES
from treaty.core.state.tables import DictTables
from treaty.core.state.view import Tables
from treaty.log.maintenance.restore import LOG_LOCAL_TABLES, ORIGIN, RESTORING

NOVEL = "novel"
"""A table that only nodes of a newer version know."""


def of_the_log(commit: Commit) -> bool:
    """Whether a commit is the log's own: nobody asked for it, and it names a fold."""
    return not commit.command_id and {row.table for row in commit.rows} == {"snapshot"}


def name_in_commit(commit: Commit) -> Name:
    """The name of the command that a commit is of, as the row of its outcome says; those of other commands are settled by it."""
    rows = (decode_row(row) for row in commit.rows if row.table == "outcome" and row.value is not None)
    own = (name for name in map(name_in, rows) if name is not None and name[1] == commit.command_id)
    return next(own, ("", commit.command_id))


class History:
    """Everything that is durable, or was."""

    judged = True
    """Whether commits and answers are held against the model of the rules. Without it only the laws of rows judge."""

    def __init__(self) -> None:
        self.commands: dict[Name, list[Asking]] = {}
        """What was asked under the name of each command: one request, unless somebody used the id again."""
        self.pasts: list[Past] = [Past()]
        """What had happened up to every moment, by the model of the rules."""
        self.states: list[DictTables] = [DictTables()]
        """The state at every moment."""
        self.texts: list[Texts] = [{}]
        """The texts of all rows at every moment, as they stand in the log."""
        self.roots: list[Roots] = [{}]
        """What each table adds to the state root at every moment."""
        self.places: dict[Position, int] = {START: 0}
        """Places where an append ended, and the last moment at which each was the tip."""
        self.tokens: dict[PositionToken, Position] = {START.token: START}
        self.path: dict[Position, None] = {START: None}
        """The places of the log as it is now."""
        self.commits: list[Commit] = []
        """The commits of the log as it is now."""
        self.landed: dict[Name, int] = {}
        """Moment of a command's commit."""
        self.answers: dict[Name, Any] = {}
        """What a command's decision answers."""
        self.done: dict[Name, tuple[Request[Any], ...]] = {}
        """The requests that a command's commit may be of: one, unless it fits several that were sent under its id."""
        self.lost: dict[Name, list[Any]] = {}
        """Answers of commits that were durable, and are not any more."""
        self.left: dict[Position, int] = {}
        """Places that are lost, and the moment since when."""
        self.garbage: set[tuple[str, str]] = set()
        """Rows that somebody has spoilt: tables and keys."""
        self.by_hand: set[tuple[str, str, str | None]] = set()
        """Rows that somebody has put without a command: subjects with their contexts, counters of ids."""
        self.changed: dict[Place, EncodedRow] = {}
        """Settings that somebody has changed past the log and means to accept, as they are in its store."""
        self.accepted: dict[int, tuple[EncodedRow, ...]] = {}
        """Such rows by the sequence of the commit of the log as it is now that accepted them."""
        self._digests = Digests()
        self._source = Past()
        """What is being restored into the log."""

    @property
    def now(self) -> int:
        """This moment."""
        return len(self.states) - 1

    @property
    def tip(self) -> Position:
        return next(reversed(self.path))

    def ancestor(self, early: Position, late: Position) -> bool:
        """Whether one place lies before another one, as far as both are of the log as it is now."""
        return early in self.path and late in self.path and early.sequence <= late.sequence

    # ---------------------------------------------------------------------------------------------------- commits

    def take(self, append: Append) -> None:
        """Check the commits of an append that has just become durable, and keep them."""
        if append.first != self.tip.sequence + 1 or append.parent != self.tip.digest:
            raise Broken("log", f"append at {append.first} lands after {self.tip.sequence}")
        accepted = self._accepted(append)
        for commit in append.commits:
            before = self.states[-1]
            past = self._past_with(before, commit)
            if self.judged and commit.rows:
                self._check_integrity(past, commit)
            place = Position(append.identity, commit.sequence, append.digest, append.root)
            rows = (*accepted, *commit.rows)
            self.states.append(after(before, rows, place))
            self.texts.append(texts_after(self.texts[-1], rows) if rows else self.texts[-1])
            self.roots.append(roots_of(self.texts[-1]) if rows else self.roots[-1])
            self.pasts.append(past.then(map(self._taken_over, accepted)))
            self.accepted[commit.sequence] = accepted
            for row in rows:
                self.changed.pop((row.table, row.key), None)
            self.commits.append(commit)
            if commit.command_id:
                self.landed[name_in_commit(commit)] = self.now
        self._check_root(append)
        self._arrive(append.position)

    def _check_integrity(self, past: Past, commit: Commit) -> None:
        """After every commit all that sources and types need is there."""
        fault = next(find_faults(past), "")
        if fault:
            raise Broken("log", f"after the commit at {commit.sequence} {fault}")

    def _accepted(self, append: Append) -> tuple[EncodedRow, ...]:
        """The rows that somebody changed past the log, where a tool's commit states the root that they lead to."""
        rows = tuple(self.changed.values())
        if not rows or len(append.commits) > 1 or append.commits[0].command_id or append.commits[0].rows:
            return ()
        return rows if append.root == whole(self.roots_with(rows)) else ()

    def _taken_over(self, row: EncodedRow) -> Event:
        """What it comes to that a changed setting was accepted."""
        decoded, scope = decode_row(row), scope_of(decode_key(row.key))
        if isinstance(decoded.value, UnreadableValue):
            self.garbage.add((row.table, row.key))
        if row.table == "config":
            return ConfigChanged(scope, decoded.value if isinstance(decoded.value, values.ConfigValue) else None)
        return ModeChanged(scope, decoded.value.mode if isinstance(decoded.value, values.Mode) else None)

    def _check_root(self, append: Append) -> None:
        """An append states the root of the rows after it, and what each table adds."""
        mine = self.roots[-1]
        if append.root != whole(mine):
            raise Broken("root", f"the append at {append.last} states {append.root.hex()}, not {whole(mine).hex()}")
        if append.roots and plain(append.roots) != mine:
            raise Broken("root", f"the append at {append.last} states other roots of {_unlike(append.roots, mine)}")

    def roots_with(self, rows: Iterable[EncodedRow]) -> Roots:
        """What each table would add after some more rows."""
        return roots_of(texts_after(self.texts[-1], rows))

    def _arrive(self, place: Position) -> None:
        self.places[place] = self.now
        self.tokens[place.token] = place
        self.path[place] = None

    def _past_with(self, before: DictTables, commit: Commit) -> Past:
        """The past with a commit, which is what the rules say of its request."""
        past = self.pasts[-1]
        if not commit.rows:
            return past.then((), commit.sequence)
        rows = tuple(decode_row(row) for row in commit.rows if row.table != NOVEL)
        if not commit.command_id:
            self._check_tool(before, commit)
            return self._past_with_tool(past, before, commit, rows)
        if explain_sealed_log(before) or explain_unfinished_restore(before):
            raise Broken("log", f"{commit.command_id} was written to a log that is not whole, or was moved")
        name = name_in_commit(commit)
        if name in self.landed and (not self.judged or name in past.outcomes):
            raise Broken("2", f"command {commit.command_id} ran twice, at {self.landed[name]} and now")
        if not self.judged:
            return past
        self._lose({name})  # what is not remembered any more is a new command
        if name not in self.commands:
            raise Broken("2", f"the commit at {commit.sequence} is of {name}, who sent nothing under this id")
        later, answered = take_commit(past, self.commands[name], commit, rows, self._digests)
        self.answers[name] = answered.answer
        self.done[name] = answered.requests
        return later

    def _past_with_tool(self, past: Past, before: DictTables, commit: Commit, rows: tuple[Row, ...]) -> Past:
        """The past with what no command asked for: settings that were spoilt are gone, a restore that ends is there."""
        events: list[Event] = []
        for row, encoded in zip(rows, (one for one in commit.rows if one.table != NOVEL), strict=True):
            if (
                isinstance(row.value, UnreadableValue)
                and (encoded.table, encoded.key) in self.garbage
                and not explain_unfinished_restore(before)
            ):
                scope = scope_of(row.key)
                events.append(ConfigChanged(scope, None) if row.table == "config" else ModeChanged(scope, None))
            if explain_unfinished_restore(before) or self.texts[-1].get((encoded.table, encoded.key)) == encoded.value:
                continue  # what is written as it is already changes nothing: half a transaction is taken back so
            if (encoded.table, encoded.key, encoded.value) in self.by_hand:
                events.append(_put(row))
            elif row.table == "counter":
                events += self._freed(past, row)
        if explain_unfinished_restore(before) and any(
            (row.table, row.key, row.value) == ("log_origin", RESTORING, None) for row in rows
        ):
            origin = next(row.value for row in rows if (row.table, row.key) == ("log_origin", ORIGIN))
            assert isinstance(origin, values.LogOrigin)
            return self._source.then((Restored(origin.gap),), commit.sequence)
        return past.then(events, commit.sequence)

    def _freed(self, past: Past, row: Row) -> list[Event]:
        """A counter of ids that a repair has lowered."""
        event = freed(past, str(row.key[1])) if row.key[0] == "ids" else None
        if event is None or fact(past.then([event]), (row.table, row.key)) != row.value:
            raise Broken("4", f"a repair lowers {row}; the model says {event}")
        return [event]

    def _check_tool(self, before: DictTables, commit: Commit) -> None:
        """Rows that no command asked for: of a restore, a seal, a repair, or spoilt by somebody."""
        if before.position == START or explain_unfinished_restore(before):
            return
        gone = [row for row in commit.rows if row.table not in {*LOG_LOCAL_TABLES, "quarantine"}]
        gone = [row for row in gone if self.texts[-1].get((row.table, row.key)) != row.value]
        if any(row.value is None and (row.table, decode_key(row.key)) not in before.quarantine for row in gone):
            raise Broken("5", f"a repair at {commit.sequence} moves rows aside that can be read: {gone}")
        gone = [row for row in gone if (row.table, row.key, row.value) not in self.by_hand and row.table != "counter"]
        if any(row.value is not None and (row.table, row.key) not in self.garbage for row in gone):
            raise Broken("5", f"the commit at {commit.sequence} has {gone}, and no command asked for it")

    # ---------------------------------------------------------------------------------------------------- turns

    def put_back(self, place: Position) -> None:
        """From now on the log is as it was at an earlier place of its: what came after that is lost."""
        kept = place.sequence
        self._lose({name_in_commit(one) for one in self.commits[kept:]})
        del self.commits[kept:]
        self.left.update((one, self.now + 1) for one in self.path if one.sequence > kept)
        self.path = {one: None for one in self.path if one.sequence <= kept}
        self.states.append(self.states[self.places[place]])
        self.texts.append(self.texts[self.places[place]])
        self.roots.append(self.roots[self.places[place]])
        self.pasts.append(self.pasts[self.places[place]])
        self.places[place] = self.now

    def replace(self, appends: Iterable[Append], since: int) -> None:
        """From now on another log stands in this one's place, which holds what was there at the moment `since`."""
        self._lose({name for name, moment in self.landed.items() if moment > since})
        self.commits, self._source = [], self.pasts[since]
        self.left.update((one, self.now + 1) for one in self.path if one != START)
        self.path = {START: None}
        self.states.append(DictTables())
        self.texts.append({})
        self.roots.append({})
        self.pasts.append(Past())
        self.places[START] = self.now
        for append in appends:
            self.take(append)

    def _lose(self, commands: set[Name]) -> None:
        for name in sorted(commands & self.landed.keys()):
            self.landed.pop(name)
            self.done.pop(name, None)
            self.lost.setdefault(name, []).append(self.answers.pop(name, None))

    # ---------------------------------------------------------------------------------------------------- checks

    def check_tables(self, who: str, tables: Tables) -> None:
        """Tables of a node show a state that was, and end where an append ended."""
        here = tables.position
        if here not in self.places:
            raise Broken("3", f"{who} stands at {here.sequence}, where no append ended")
        mine = self.roots[self.places[here]]
        if plain(tables.roots) != mine:
            wrong = _unlike(tables.roots, mine)
            raise Broken("log", f"{who} holds other rows at {here.sequence} than the log, in {wrong}")
        if here.root != whole(mine):
            raise Broken("root", f"{who} says that the root at {here.sequence} is {here.root.hex()}")

    def check_sound(self) -> None:
        """Every law that rows can show holds now."""
        live = self.states[-1]
        spoilt = {(table, decode_key(key)) for table, key in self.garbage}
        fault = next(
            (one for one in find_violations(live) if one.table != NOVEL and (one.table, one.key) not in spoilt), None
        )
        if fault is not None and not explain_unfinished_restore(live):
            raise Broken("log", f"rows that no history makes: {fault}")

    def check_loads(self) -> None:
        """Live, replayed and loaded in bulk are the same state."""
        live = self.states[-1]
        rows = [EncodedRow(table, key, text) for (table, key), text in sorted(self.texts[-1].items(), reverse=True)]
        loaded = DictTables()
        loaded.load(rows, live.position)
        replayed = DictTables()
        for commit in self.commits:
            replayed.apply((*self.accepted.get(commit.sequence, ()), *commit.rows), live.position)
        self.check_sound()
        for name, other in (("loaded", loaded), ("replayed", replayed)):
            if (plain(live.roots), *contents(live)) != (plain(other.roots), *contents(other)):
                raise Broken("log", f"the {name} state is not the live one")
            if plain(other.roots) != self.roots[-1]:
                raise Broken("root", f"the {name} state has other roots of {_unlike(other.roots, self.roots[-1])}")


def _put(row: Row) -> Event:
    """What a row comes to that somebody has put without a command."""
    if isinstance(row.value, values.Counter):
        return IdsReserved(str(row.key[1]), row.value.highest)
    if isinstance(row.value, values.Context):
        return ContextMade(str(row.key[0]))
    assert isinstance(row.value, values.SubjectValue)
    return SubjectMade(Subject(str(row.key[0]), str(row.key[1])), row.value)


def after(tables: DictTables, rows: Iterable[EncodedRow], position: Position) -> DictTables:
    """The state that comes of rows: tables of its own where they change something, shared ones for the rest."""
    rows = tuple(rows)
    twin = DictTables()
    touched = {row.table for row in rows}
    indexes = {index.name for table in touched if table in TABLES for index in TABLES[table].indexes}
    twin._tables = {n: dict(kept) if n in touched else kept for n, kept in tables._tables.items()}
    twin._shares = {n: dict(kept) if n in touched else kept for n, kept in tables._shares.items()}
    twin._unreadable = {n: dict(kept) for n, kept in tables._unreadable.items()}
    twin.quarantine = dict(tables.quarantine)
    twin._indexes = {
        name: {entry: list(keys) for entry, keys in index.items()} if name in indexes else index
        for name, index in tables._indexes.items()
    }
    twin._orders = defaultdict(SortedKeys)
    twin._orders.update(
        (name, _twin_of(kept) if name in indexes | touched else kept) for name, kept in tables._orders.items()
    )
    twin._counts.update(tables._counts)
    twin.roots = dict(tables.roots)
    twin.apply(rows, position)
    return twin


def _twin_of(kept: SortedKeys) -> SortedKeys:
    twin = SortedKeys()
    twin._blocks, twin._last = [list(block) for block in kept._blocks], list(kept._last)
    return twin


def _unlike(told: Roots, mine: Roots) -> list[str]:
    """The tables whose roots differ."""
    return sorted(table for table in told.keys() | mine.keys() if told.get(table, 0) != mine.get(table, 0))


def contents(tables: DictTables) -> tuple[object, object]:
    """Rows and index entries, without the empty shells that deletions leave."""
    rows = {name: kept for name, kept in tables._tables.items() if kept}
    indexes = {name: {entry: keys for entry, keys in index.items() if keys} for name, index in tables._indexes.items()}
    return rows, {name: index for name, index in indexes.items() if index}
