"""Members that only a newer version knows stay in each row that this version changes: nodes of both write to one log while it is upgraded."""

from dataclasses import replace
from typing import Any, cast

import pytest

from tests.laws.toy import OTHER, Bench, S, toy
from tests.worlds.histories import FORMER, NEIGHBOURS
from tests.worlds.world import World
from treaty.core.messages import associations
from treaty.core.messages.contexts import MakeContext
from treaty.core.messages.groups import ChangeSubject, CreateSubject, GroupSettings
from treaty.core.messages.metastore import deleted_topics, plans, runners, sources
from treaty.core.messages.policies import ChangePolicy, CreatePolicy
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteVersion
from treaty.core.schema import Metadata
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourceRead
from treaty.core.state.metastore.keys import DroppedKey
from treaty.core.state.metastore.tables import DROPPED, SOURCE
from treaty.core.state.rows import Row
from treaty.core.state.state_tables import COUNTER, IDS, TABLES
from treaty.core.state.values import Name, PolicyValue

LATER = (("later", "1"),)
"""A member that this version does not know."""
RENEWED = frozenset({"content", "dropped", "draft", "mode", "superseded"})
"""Tables whose rows are made anew: nothing of the row before is part of them. So are counters, but for those of ids."""
TOPIC = associations.Resource("orders", "lkc", "id-1")


class UpgradedBench(Bench):
    """A bench with whose rows a newer version has been at work: each has a member that is not known."""

    def apply(self, decided: tuple[Row, ...], command_id: str = "") -> None:
        """Apply rows as the newer version would have written them, after a look at what became of its members."""
        for row in decided:
            before, value = self._before(row), cast("Any", row.value)
            if value is not None and before is not None and not _is_renewed(row, before):
                assert value.extra == before.extra, f"{row.table} {row.key}"
            if row.table == DROPPED.name and value is not None:
                assert value.source.extra == LATER, f"the row of {row.key} while it is dropped"
        super().apply(tuple(_with_later_member(row) for row in decided), command_id)

    def _before(self, row: Row) -> Any:
        """The value that a row has until now, a source that comes back its own of before the drop."""
        value = self.tables.get(TABLES[row.table], row.key)
        if not isinstance(row.value, Source) or value is not None:
            return value
        dropped = self.tables.get(DROPPED, DroppedKey(str(row.key[0])))
        sources_until_now = (self.tables.get(SOURCE, key) for key in sorted(self.tables.keys(SOURCE)))
        same = (
            source for source in sources_until_now if source is not None and _names_of(source) == _names_of(row.value)
        )
        return next(same, None) if dropped is None else dropped.source


def _is_renewed(row: Row, before: Any) -> bool:
    """Whether a row says nothing of what the row before was about: a name may have become another version's."""
    if isinstance(before, Name):
        assert isinstance(row.value, Name)
        return before.ordinal not in {row.value.ordinal, *row.value.others}
    return row.table in RENEWED or (row.table == COUNTER.name and row.key[0] != IDS)


def _names_of(source: Source) -> tuple[int, bool]:
    """What a source keeps under another name."""
    return source.generation, bool(source.origin)


def _with_later_member(row: Row) -> Row:
    return row if row.value is None else replace(row, value=replace(cast("Any", row.value), extra=LATER))


def define(name: str, **members: Any) -> sources.CreateSource:
    definition = sources.SourceDefinition(name, "STREAM", "", (SourceColumn("id", "INT"),), **members)
    return sources.CreateSource(definition, replace=True)


def select(body: str = "SELECT id FROM a", **members: Any) -> sources.CreateSource:
    plan = QueryPlan(body, (SourceRead("a", 1, "a", columns=("id",), **members),))
    return define("q", connector="delta", place="q", query=plan)


CHANGES: dict[str, tuple[Request[Any], ...]] = {
    "a subject": (
        CreateSubject(S, GroupSettings("pravega")),
        ChangeSubject(S, properties=(("a", "b"),)),
        ChangeSubject(S, label_policy="refuse"),
    ),
    "a policy": (CreatePolicy("p", PolicyValue()), ChangePolicy("p", PolicyValue(deny=True))),
    "a config": (
        SetConfig(Scope(*S), Config(level="FULL")),
        SetConfig(Scope(*S), Config(alias="other")),
        SetConfig(Scope(*S), Config(normalize=True), clear=("alias",)),
    ),
    "an association": (
        Register(S, toy("a?")),
        associations.Associate(TOPIC, (associations.AssociationSpec("value", S, "WEAK"),)),
        associations.Associate(TOPIC, (associations.AssociationSpec("value", S, "STRONG"),), update=True),
    ),
    "ids": (SetMode(Scope("."), "IMPORT"), MakeContext(".", 7), Register(OTHER, toy("a?"), schema_id=9)),
    "a source": (
        define("a"),
        define("a", comment="other"),
        sources.ChangeSource("a", comment="another"),
        sources.ChangeSource("a", protect=True),
        sources.ChangeSource("a", protect=False),
        sources.ChangeSource("a", rename="c"),
        sources.DropSource("c"),
        sources.UndropSource("c"),
    ),
    "names of sources": (
        define("a", bad_rows=True),
        define("b"),
        select(),
        sources.ChangeSource("a", rename="c"),
        sources.ChangeSource("c", swap="b"),
    ),
    "a query": (
        define("a"),
        select(),
        sources.SetSourceState("q", "PAUSED"),
        select("SELECT id + 1 AS id FROM a"),
        sources.ChangeSource("q", restart="ROLLBACK"),
        sources.ChangeSource("q", restart="RESET"),
        sources.ChangeSource("q", restart="REFRESH"),
    ),
    "a runner": (
        runners.AcquireRunner("r", "process"),
        runners.AcquireRunner("r", "process", "http://r"),
        runners.AcquireRunner("r", "another", epoch=1),
    ),
    "a topic": (
        define("a", place="t", properties=(("DELETE_GRACE_MS", "0"),)),
        define("b", place="t"),
        sources.DropSource("b"),
        sources.DropSource("a", delete_topic=True),
        deleted_topics.LeaseTopics("main", "h", begin=("t",)),
        deleted_topics.LeaseTopics("main", "h", 5),
        deleted_topics.LeaseTopics("main", "other", 5),
    ),
    "queries of a chain": (
        define("a"),
        select(),
        define("r", connector="delta", place="r", query=QueryPlan("SELECT id FROM q", (SourceRead("q", 2, "q"),))),
        sources.ChangeSource("q", restart="REFRESH", cascade=True),
        sources.ChangeSource("a", rename="z"),
        sources.ChangeSource("q", restart="ROLLBACK", cascade=True),
    ),
    "a name": (
        CreateSubject(S, GroupSettings("pravega", schemes=("md5",))),
        Register(S, toy("a?")),
        Register(S, toy("a?", metadata=Metadata((), (("k", "v"),)))),
        DeleteVersion(S, 1),
        DeleteVersion(S, 1, permanent=True),
    ),
    "a plan": (
        plans.RequestPlan("s", "CREATE STREAM s AS SELECT 1"),
        plans.TakePlanningJob("s", "planner"),
        plans.TakePlanningJob("s", "planner", 2),
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_newer_version_wrote_stays_in_a_row_that_is_changed(what: str) -> None:
    bench = UpgradedBench()
    for request in CHANGES[what]:
        bench.do(request)
    assert len(bench.commits) == len(CHANGES[what]), "each of these changes something"


@pytest.mark.parametrize("former", FORMER)
def test_what_a_newer_version_wrote_stays_in_any_history(former: str) -> None:
    bench = UpgradedBench()
    World(neighbours=tuple(NEIGHBOURS), former=former).begin(bench.do, S)
    assert bench.commits
