"""The history that a run has made: every commit checked as it lands, and every state it led to kept."""

from copy import deepcopy
from typing import Any

from tests.simulation.texts import Truth, answer
from treaty.core import values
from treaty.core.command import Command, Decision
from treaty.core.commit import START, Append, Commit, Position
from treaty.core.decide import decide
from treaty.core.grammar import Compare, Compared
from treaty.core.law.references import meaning_of
from treaty.core.requests import Derive, Register, Request
from treaty.core.rows import Key, Row, decode_row, encode_row
from treaty.core.soundness import unsound
from treaty.core.tables import DictTables
from treaty.core.view import Tables, View

TRUTH = Truth()


class Broken(AssertionError):
    """A law does not hold. `law` is its number in the design (1 to 6), or `log`."""

    def __init__(self, law: str, sentence: str) -> None:
        super().__init__(f"law {law}: {sentence}")
        self.law = law


def copy_of(tables: DictTables) -> DictTables:
    """The same state in tables of its own."""
    twin = DictTables()
    twin._tables = {name: dict(rows) for name, rows in tables._tables.items()}
    twin._shares = {name: dict(rows) for name, rows in tables._shares.items()}
    twin._orders = deepcopy(tables._orders)
    twin._indexes = {
        name: {entry: list(keys) for entry, keys in index.items()} for name, index in tables._indexes.items()
    }
    twin._digest, twin._position = tables._digest, tables._position
    return twin


def of_the_log(commit: Commit) -> bool:
    """Whether a commit is the log's own: nobody asked for it, and it names a fold."""
    return not commit.command_id and {row.table for row in commit.rows} == {"fold"}


class History:
    """Everything that is durable, by sequence."""

    def __init__(self) -> None:
        self.requests: dict[str, list[Request[Any]]] = {}
        """What was asked under each command id: one request, unless somebody used the id again."""
        self.states: list[DictTables] = [DictTables()]
        """The state after every commit, by sequence."""
        self.ends: dict[int, Position] = {0: START}
        """Places where an append ended."""
        self.commits: list[Commit] = []
        self.landed: dict[str, int] = {}
        """Sequence of a command's commit."""
        self.answers: dict[str, Any] = {}
        """What a command's decision answers."""
        self.done: dict[str, Request[Any]] = {}
        """The request that a command's commit is of."""
        self.meant: dict[tuple[str, int], str] = {}
        """Every schema id ever given, and the schema that it means."""

    @property
    def tip(self) -> int:
        return len(self.commits)

    def take(self, append: Append) -> None:
        """Check the commits of an append that has just become durable, and keep them."""
        for commit in append.commits:
            before = self.states[-1]
            self._check_decision(before, commit)
            after = copy_of(before) if commit.rows else _moved(before)
            after.apply(commit.rows, Position(append.identity, commit.sequence, append.digest))
            if commit.rows and not of_the_log(commit):
                self._check_rows(before, after, commit)
            self.states.append(after)
            self.commits.append(commit)
            if commit.command_id:
                self.landed[commit.command_id] = commit.sequence
        if append.first != self.tip - len(append.commits) + 1:
            raise Broken("log", f"append at {append.first} lands after {self.tip}")
        self.ends[append.last] = append.position

    def _check_decision(self, before: DictTables, commit: Commit) -> None:
        """The rows of a commit are what the law says on the state right before it."""
        if not commit.rows or of_the_log(commit):
            return
        if commit.command_id in self.landed:
            raise Broken("2", f"command {commit.command_id} ran twice, at {self.landed[commit.command_id]} and now")
        verdicts = []
        for request in self.requests[commit.command_id]:
            verdict = decide(before, Command(request, commit.command_id, commit.time), TRUTH)
            if isinstance(verdict, Decision) and tuple(encode_row(row) for row in verdict.rows) == commit.rows:
                self.answers[commit.command_id] = verdict.answer
                self.done[commit.command_id] = request
                return
            verdicts.append(verdict)
        raise Broken("5", f"the commit at {commit.sequence} has {commit.rows}; the law says there {verdicts}")

    def _check_rows(self, before: View, after: View, commit: Commit) -> None:
        """What holds for any commit, checked without the law that decided it."""
        rows = [decode_row(one) for one in commit.rows]
        request = self.done[commit.command_id]
        given = isinstance(request, Register) and request.schema_id >= 0  # the importer says the id
        for row in rows:
            if isinstance(row.value, values.Schema):
                if given:
                    self.meant.pop((str(row.key[0]), int(row.key[1])), None)
                key = (str(row.key[0]), int(row.key[1]))
                told = f"{row.value.guid} {row.value.references}"
                if self.meant.setdefault(key, told) != told:
                    raise Broken("4", f"id {key} meant {self.meant[key]} and now {told}")
        for row in rows:
            if isinstance(row.value, values.Counter):
                old = before.get("counter", row.key)
                if isinstance(old, values.Counter) and old.highest + (not given) > row.value.highest:
                    raise Broken("4", f"counter {row.key} went from {old.highest} to {row.value.highest}")
            if isinstance(row.value, values.Version) and before.get("version", row.key) is None:
                self._check_admission(before, after, row.key, row.value, request)

    def _check_admission(self, before: View, after: View, key: Key, new: values.Version, request: Request[Any]) -> None:
        """A version that is neither forced nor imported fits those that its policy compares it with."""
        stay = (k for k in before.find("version.subject", key[:2]) if after.get("version", k) is not None)
        others = [(int(k[2]), before.get("version", k)) for k in stay]
        live = [one for _, one in sorted(others) if isinstance(one, values.Version) and one.state == "live"]
        numbered = isinstance(request, (Register, Derive)) and request.number > 0
        if any(one.schema_id == new.schema_id for one in live) and not new.imported and not numbered:
            raise Broken("5", f"schema {new.schema_id} became a version of {key[:2]} twice")
        if new.forced or new.imported or new.policy is None or new.policy.partition:
            return
        compared = sorted(live, key=lambda one: one.number)[-1:] if new.policy.range == "latest" else live
        for old in compared:
            self._check_pair(after, str(key[0]), new, old)

    def _check_pair(self, view: View, context: str, new: values.Version, old: values.Version) -> None:
        policy = new.policy
        assert policy is not None
        newer, older = (view.get("schema", (context, one.schema_id)) for one in (new, old))
        assert isinstance(newer, values.Schema)
        assert isinstance(older, values.Schema)
        if (newer.format != older.format and (policy.backward or policy.forward)) or policy.deny:
            raise Broken("5", f"version {new.number} passed a policy that forbids it: {policy}")
        a, b = meaning_of(view, context, newer), meaning_of(view, context, older)
        for wanted, question in ((policy.backward, Compare(a, b)), (policy.forward, Compare(b, a))):
            told = answer(question) if wanted else Compared()
            if not isinstance(told, Compared) or told.findings:
                raise Broken("5", f"version {new.number} does not fit version {old.number} under {policy}")

    def check_tables(self, who: str, tables: Tables) -> None:
        """Tables of a node show a state that was, and end where an append ended."""
        here = tables.position
        if self.ends.get(here.sequence) != here:
            raise Broken("3", f"{who} stands at {here.sequence}, where no append ended")
        if tables.digest != self.states[here.sequence].digest:
            raise Broken("log", f"{who} holds other rows at {here.sequence} than the log")

    def check_loads(self) -> None:
        """Live, replayed and loaded in bulk are the same state."""
        live = self.states[-1]
        rows = [encode_row(Row(table, key, live.get(table, key))) for table in live._tables for key in live.keys(table)]
        rows.sort(key=lambda one: (one.table, one.key), reverse=True)
        loaded = DictTables()
        loaded.load(rows, live.position)
        replayed = DictTables()
        for commit in self.commits:
            replayed.apply(commit.rows, live.position)
        faults = [str(one) for one in unsound(live)]
        if faults:
            raise Broken("log", f"rows that no history makes: {faults[0]}")
        for name, other in (("loaded", loaded), ("replayed", replayed)):
            if (live.digest, *contents(live)) != (other.digest, *contents(other)):
                raise Broken("log", f"the {name} state is not the live one")


def _moved(tables: DictTables) -> DictTables:
    """The same state, about to be told another place: it can share what it holds."""
    twin = DictTables()
    for name in DictTables.__slots__:
        setattr(twin, name, getattr(tables, name))
    return twin


def contents(tables: DictTables) -> tuple[object, object]:
    """Rows and index entries, without the empty shells that deletions leave."""
    rows = {name: kept for name, kept in tables._tables.items() if kept}
    indexes = {name: {entry: keys for entry, keys in index.items() if keys} for name, index in tables._indexes.items()}
    return rows, {name: index for name, index in indexes.items() if index}
