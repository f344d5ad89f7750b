"""Runners that share parts: each part has one runner always, and whatever happened in which order, all are shared evenly at last."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.toy import Bench
from treaty.core.limits import ASSIGNED_PARTS
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart, ReleaseRunner
from treaty.core.messages.metastore.sources import CreateSource, DropSource, SourceDefinition, UndropSource
from treaty.core.refusals import NotLatest, Refusal
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead
from treaty.metastore.execution.assignment import PartKey, PartMoves, plan_moves

NAMES = ("a", "b", "c", "d")
QUERIES = 9
ROUNDS = 3
"""Turns of every runner after which all is shared, once nothing else happens."""
COLUMNS = (SourceColumn("id", "INT"),)


# ------------------------------------------------------------------------------------------------ runners by the law


@dataclass(slots=True)
class SharedView:
    """What a runner saw: who has which part, the epochs of the leases, and who shared the parts."""

    owners: Mapping[PartKey, str] = field(default_factory=dict)
    sources: Mapping[PartKey, str] = field(default_factory=dict)
    epochs: Mapping[str, int] = field(default_factory=dict)
    sharing: Collection[str] = ()
    gone: frozenset[str] = frozenset()


@dataclass(slots=True)
class Process:
    """A runner: its lease, what it runs at this moment, and whether others hear of it."""

    name: str
    holder: str
    epoch: int = 0
    heard: bool = True
    draining: bool = False
    runs: set[PartKey] = field(default_factory=set)
    view: SharedView | None = None


class Runners:
    """Runners of one registry, which are started, killed and drained; `commits` counts what they wrote."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(f"runners/{seed}")
        self.bench = Bench()
        self.there: dict[str, Process] = {}
        self.started = 0
        base = SourceDefinition("base", "STREAM", "CREATE", COLUMNS, connector="delta", bad_rows=True)
        generation = self.bench.do(CreateSource(base)).generation
        for number in range(QUERIES):
            plan = QueryPlan("SELECT 1", (SourceRead("base", generation),))
            defined = SourceDefinition(f"q{number}", "STREAM", "CREATE", COLUMNS, connector="delta", query=plan)
            self.bench.do(CreateSource(defined))

    @property
    def commits(self) -> int:
        return len(self.bench.commits)

    def see(self) -> SharedView:
        """What the feed says now, and who is heard of."""
        feed = self.bench.do(ListQueries())
        epochs = {runner.name: runner.epoch for runner in feed.runners}
        owners, sources = dict[PartKey, str](), dict[PartKey, str]()
        for fed in feed.queries:
            key = PartKey(fed.source.generation, "bad" if fed.source.origin else "query")
            owners[key] = fed.assigned[0].runner if fed.assigned else ""
            sources[key] = fed.source.name
        heard = {name for name, process in self.there.items() if process.heard and name in epochs}
        sharing = {name for name in heard if not self.there[name].draining}
        return SharedView(owners, sources, epochs, sharing, frozenset(epochs) - heard)

    # ------------------------------------------------------------------------------------------------- what happens

    def start(self, name: str) -> None:
        """A process takes the lease of a name: a new one, or that of a process that is gone."""
        self.started += 1
        epoch = self.see().epochs.get(name, 0)
        lease = self.bench.do(AcquireRunner(name, f"process {self.started}", epoch=epoch))
        self.there[name] = Process(name, lease.holder, lease.epoch)

    def kill(self, name: str) -> None:
        del self.there[name]

    def look(self, process: Process) -> None:
        """It follows the feed: what it has it runs, and the rest it runs no more."""
        process.view = self.see()
        if process.view.epochs.get(process.name) == process.epoch:
            process.runs = {part for part, owner in process.view.owners.items() if owner == process.name}

    def act(self, process: Process) -> None:
        """By what it saw last, which may be old: it ends leases of who is gone, then moves its own parts."""
        view, process.view = process.view, None
        if view is None:
            return
        if view.epochs.get(process.name) != process.epoch:  # others took it for gone
            self._begin_anew(process)
            return
        for gone in sorted(view.gone - {process.name}):
            self._tell(ReleaseRunner(gone, view.epochs[gone]))
        moves = plan_moves(view.owners, view.sharing, process.name)
        process.runs -= set(moves.release)
        if moves and self._assign(process, view, moves):
            process.runs |= set(moves.take)
        if process.draining and not process.runs and self._tell(ReleaseRunner(process.name, process.epoch)):
            del self.there[process.name]

    def _assign(self, process: Process, view: SharedView, moves: PartMoves) -> bool:
        take, release = (
            tuple(QueryPart(view.sources[part], *part) for part in parts) for parts in (moves.take, moves.release)
        )
        try:
            self.bench.do(AssignQueries(process.name, process.epoch, take, release))
        except NotLatest as refusal:
            if refusal.reason.rule == "RUNNER_LOST":
                self._begin_anew(process)
            return False
        except Refusal:
            return False
        return True

    def _begin_anew(self, process: Process) -> None:
        assert not process.runs, f"{process.name} was taken for gone while it ran {process.runs}"
        self.kill(process.name)
        if not process.draining:
            self.start(process.name)

    def _tell(self, request: ReleaseRunner) -> bool:
        try:
            self.bench.do(request)
        except NotLatest:
            return False
        return True

    def hush(self, process: Process) -> None:
        """It can't write its heartbeat and has stopped all it ran, before others take it for gone.

        Once it can again it takes its lease anew, under another holder: who has decided to end the old one must not end what it runs
        since.
        """
        if process.heard:
            process.heard = False
            process.runs.clear()
        else:
            self.start(process.name)

    def change_sources(self) -> None:
        """A query goes, or comes back."""
        name = f"q{self.chance.randrange(QUERIES)}"
        shown = set(self.see().sources.values())
        self.bench.do(DropSource(name) if name in shown else UndropSource(name))

    # ------------------------------------------------------------------------------------------------------- a story

    def happen(self) -> None:
        """One thing happens; mostly a runner looks, or acts by what it saw."""
        name = self.chance.choice(NAMES)
        process = self.there.get(name)
        if process is None:
            if self.chance.random() < 0.4:
                self.start(name)
            return
        (what,) = self.chance.choices(
            ["look", "act", "kill", "drain", "hush", "sources"], [40, 40, 2, 1.5, 3 if process.heard else 20, 3]
        )
        if what == "look" and process.heard:
            self.look(process)
        elif what == "act" and process.heard:
            self.act(process)
        elif what == "kill":
            self.kill(name)
        elif what == "drain":
            process.draining = True
        elif what == "hush":
            self.hush(process)
        elif what == "sources":
            self.change_sources()
        self.check_owners()

    def check_owners(self) -> None:
        running = Counter(part for process in self.there.values() for part in process.runs)
        assert not [part for part, often in running.items() if often > 1], "two runners run a part"

    def settle(self) -> int:
        """All are heard again, and each has its turn until none writes anything. Returns the rounds."""
        for process in list(self.there.values()):
            if not process.heard:
                self.start(process.name)
        for rounds in range(ROUNDS + 2):
            before = self.commits
            for process in self.chance.sample(list(self.there.values()), len(self.there)):
                self.look(process)
                self.act(process)
                self.check_owners()
            if self.commits == before:
                return rounds
        raise AssertionError("they never come to rest")


def story(seed: int) -> int:
    """Things happen, then nothing but runners. Returns how many rounds it took until all was shared."""
    runners = Runners(seed)
    order = runners.chance.sample(NAMES, len(NAMES))
    for name in order[: runners.chance.randint(1, len(NAMES))]:
        runners.start(name)
    for _ in range(60):
        runners.happen()
    if all(process.draining for process in runners.there.values()):
        runners.start(next(name for name in NAMES if name not in runners.there))
    rounds = runners.settle()
    last = runners.see()
    counts = Counter(last.owners.values())
    assert set(last.owners.values()) <= set(runners.there), "a part has no runner that is there"
    assert max(counts.values()) - min(counts[name] for name in runners.there) <= 1, counts
    assert {part for process in runners.there.values() for part in process.runs} == set(last.owners)
    return rounds


@pytest.mark.parametrize("seeds", [range(15), pytest.param(range(15, 1_000), marks=pytest.mark.soak)], ids=str)
def test_r35_every_order_of_events_ends_with_all_parts_shared(seeds: range, figure: Callable[[str], None]) -> None:
    """KLIP-18, R31 and R35: in whatever order runners start, stop and act, each part has one runner, and all is shared evenly."""
    rounds = [story(seed) for seed in seeds]
    assert max(rounds) <= ROUNDS
    figure(f"{len(seeds)} orders, at most {max(rounds)} rounds")


# -------------------------------------------------------------------------------------------------- the function alone

parts = st.builds(PartKey, st.integers(1, 30), st.sampled_from(["query", "bad"]))
states = st.dictionaries(parts, st.sampled_from(["", "", *NAMES, "gone"]), max_size=20)
groups = st.sets(st.sampled_from(NAMES), min_size=1)


def fewest_moves(owners: Mapping[PartKey, str], sharing: Collection[str]) -> int:
    """How many parts have to leave a runner that shares, whoever of them has one more than others."""
    counts = Counter(owner for owner in owners.values() if owner in sharing)
    share, rest = divmod(len(owners), len(sharing))
    return min(
        sum(max(0, counts[name] - share - (name in more)) for name in sharing)
        for more in combinations(sorted(sharing), rest)
    )


@given(states, groups)
def test_runners_that_see_the_same_move_no_more_than_they_need(before: dict[PartKey, str], sharing: set[str]) -> None:
    owners, moved, rounds = dict(before), 0, 0
    while any((moves := {name: plan_moves(owners, sharing, name) for name in NAMES}).values()):
        taken = [part for change in moves.values() for part in change.take]
        assert len(taken) == len(set(taken)), "two want the same part"
        moved += sum(len(moves[name].release) for name in sharing)
        owners |= {part: "" for change in moves.values() for part in change.release}
        owners |= {part: name for name, change in moves.items() for part in change.take}
        rounds += 1
    counts = Counter(owner for owner in owners.values() if owner in sharing)
    lost = sum(owner == "gone" for owner in owners.values())
    assert (rounds, moved) <= (2, moved)
    assert moved == fewest_moves(before, sharing)
    assert sum(counts.values()) + lost == len(owners)
    assert all(counts[name] <= -(-len(owners) // len(sharing)) for name in sharing)


def test_a_runner_moves_no_more_parts_than_a_command_takes() -> None:
    many = {PartKey(number, "query"): "" for number in range(2 * ASSIGNED_PARTS + 1)}
    assert plan_moves(many, {"a"}, "a").take == tuple(sorted(many))[:ASSIGNED_PARTS]
    own = dict.fromkeys(many, "a")
    assert plan_moves(own, {"b"}, "a").release == tuple(sorted(many))[-ASSIGNED_PARTS:]
    assert not plan_moves(own, {"a"}, "a")
