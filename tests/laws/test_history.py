"""Laws over histories: whatever is done in whatever order, and whatever was done before, these hold at every step."""

import itertools
import json

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.examples import examples
from tests.laws.toy import Bench, fields_of
from tests.worlds.world import World, worlds
from treaty.core.command import Decision
from treaty.core.handlers.drafts.schemas import resolve_schema
from treaty.core.handlers.versions import schema_row, stored_versions
from treaty.core.invariants import find_violations
from treaty.core.messages.contexts import DeleteContext
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.policy import NONE
from treaty.core.refusals import Refusal
from treaty.core.schema import Draft, Reference
from treaty.core.state.state_tables import (
    CONFIG,
    COUNTER,
    MODE,
    SCHEMA,
    SUBJECT,
    VERSION,
    VERSION_BY_SUBJECT,
    AnyTable,
    SchemaKey,
)
from treaty.core.state.tables import DictTables
from treaty.core.state.values import Schema, Version
from treaty.core.state.view import Overlay

subjects = st.sampled_from([Subject(".", "s"), Subject(".", "t"), Subject(".x", "s")])
texts = st.lists(st.sampled_from(["a", "b?", "c", "d?"]), unique=True, max_size=3).map(json.dumps)
references = st.lists(
    st.builds(Reference, st.just("n"), st.sampled_from(["s", "t", ":.x:s"]), st.sampled_from([-1, 1, 2])), max_size=1
).map(tuple)
levels = st.sampled_from(["NONE", "BACKWARD", "FORWARD", "FULL", "FULL_TRANSITIVE"])
commands = st.one_of(
    st.builds(Register, subjects, st.builds(Draft, texts, st.just("TOY"), references)),
    st.builds(Register, subjects, st.builds(Draft, texts, st.just("TOY")), schema_id=st.integers(1, 9)),
    st.builds(
        Register,
        subjects,
        st.builds(Draft, texts, st.just("TOY"), references),
        number=st.integers(1, 4),
        schema_id=st.integers(1, 9),
    ),
    st.builds(
        Register, subjects, st.builds(Draft, texts, st.just("TOY")), force=st.just(ForceReason("somebody", "because"))
    ),
    st.builds(DeleteVersion, subjects, st.integers(1, 3) | st.just(-1), st.booleans()),
    st.builds(DeleteSubject, subjects, st.booleans()),
    st.builds(DeleteContext, st.just(".x")),
    st.builds(SetConfig, subjects.map(lambda one: Scope(*one)), levels.map(lambda level: Config(level=level))),
    st.builds(
        SetMode, subjects.map(lambda one: Scope(*one)), st.sampled_from([None, "IMPORT", "READONLY", "READWRITE"])
    ),
    st.builds(
        SetMode, subjects.map(lambda one: Scope(*one)), st.sampled_from([None, "IMPORT", "IMPORT"]), force=st.just(True)
    ),
)


class History(RuleBasedStateMachine):
    """One node's life; its tables are compared with what the same commits give elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench()
        self.meant: dict[tuple[str, int], str] = {}
        """Every id ever given, and the guid it was given to; an import gives a free id anew."""

    @initialize(world=worlds(2))
    def begin(self, world: World) -> None:
        world.begin(self.bench.do, Subject(".", "s"))

    @rule(request=commands)
    def do(self, request: Request[object]) -> None:
        overlay = Overlay(self.bench.tables)
        verdict = self.bench.verdict(request, f"c{self.bench.clock + 1}")
        if isinstance(verdict, Decision) and verdict.rows:
            overlay.put(verdict.rows)
        given = self._given_by_an_importer(request)
        try:
            self.bench.do(request)
        except Refusal:
            return
        if given is not None:
            self.meant.pop(given, None)
        self._same_as_overlay(overlay)

    def _given_by_an_importer(self, request: Request[object]) -> tuple[str, int] | None:
        """The id that an import gives while no schema has it: only an importer may give an id again that is free."""
        if not isinstance(request, Register) or request.schema_id < 0:
            return None
        key = SchemaKey(request.subject.context, request.schema_id)
        return None if self.bench.tables.get(SCHEMA, key) is not None else (str(key[0]), int(key[1]))

    def _same_as_overlay(self, overlay: Overlay) -> None:
        tables = self.bench.tables
        assert overlay.sequence == tables.sequence
        orders: tuple[AnyTable, ...] = (SCHEMA, VERSION, SUBJECT, COUNTER, CONFIG, MODE)
        for table in orders:
            assert sorted(overlay.keys(table)) == sorted(tables.keys(table))
            for key in tables.keys(table):
                assert overlay.get(table, key) == tables.get(table, key)
        for key in tables.keys(SUBJECT):
            assert [*overlay.find(VERSION_BY_SUBJECT, key)] == [*tables.find(VERSION_BY_SUBJECT, key)]

    @invariant()
    def an_id_means_one_schema_for_ever(self) -> None:
        tables = self.bench.tables
        for key in tables.keys(SCHEMA):
            value = tables.get(SCHEMA, key)
            assert isinstance(value, Schema)
            place = (str(key[0]), int(key[1]))
            assert self.meant.setdefault(place, value.guid) == value.guid

    @invariant()
    def every_version_passed_its_policy_or_says_why_not(self) -> None:
        tables = self.bench.tables
        for subject in tables.keys(SUBJECT):
            live = [one for one in stored_versions(tables, Subject(*map(str, subject))) if one[1].state == "live"]
            for (_, older), (_, newer) in itertools.pairwise(live):
                self._passed(str(subject[0]), older, newer)

    def _passed(self, context: str, older: Version, newer: Version) -> None:
        if newer.forced or newer.imported or older.imported or newer.policy is None:
            return
        if newer.number != older.number + 1:  # what it was compared with may be gone
            return
        old = fields_of(
            resolve_schema(self.bench.tables, context, schema_row(self.bench.tables, context, older.schema_id))
        )
        new = fields_of(
            resolve_schema(self.bench.tables, context, schema_row(self.bench.tables, context, newer.schema_id))
        )
        if newer.policy.backward != NONE:
            assert {name for name in new if not name.endswith("?")} <= {name.rstrip("?") for name in old}
        if newer.policy.forward != NONE:
            assert {name for name in old if not name.endswith("?")} <= {name.rstrip("?") for name in new}

    @invariant()
    def the_rows_are_sound(self) -> None:
        assert [str(one) for one in find_violations(self.bench.tables)] == []

    @invariant()
    def nothing_refers_to_what_is_gone(self) -> None:
        tables = self.bench.tables
        for key in tables.keys(SCHEMA):
            value = tables.get(SCHEMA, key)
            assert isinstance(value, Schema)
            for used in value.references:
                target = Subject(str(key[0]), "").sibling(used.subject)
                assert tables.get(SCHEMA, SchemaKey(target.context, used.schema_id)) is not None
                numbers = {(one.number, one.schema_id) for _, one in stored_versions(tables, target)}
                assert (used.version, used.schema_id) in numbers
        for key in tables.keys(VERSION):
            version = tables.get(VERSION, key)
            assert isinstance(version, Version)
            assert tables.get(SCHEMA, SchemaKey(key[0], version.schema_id)) is not None
            assert tables.get(SUBJECT, key[:2]) is not None

    @invariant()
    def one_version_per_schema_and_subject(self) -> None:
        tables = self.bench.tables
        for subject in tables.keys(SUBJECT):
            rows = [row for _, row in stored_versions(tables, Subject(*map(str, subject)))]
            live = [
                (row.schema_id, row.format, row.type_name) for row in rows if row.state == "live" and not row.imported
            ]
            assert len(live) == len(set(live))
            numbers = [row.number for row in rows if row.state in {"live", "soft"}]
            assert len(numbers) == len(set(numbers))

    @precondition(lambda self: self.bench.position.sequence > 0)
    @invariant()
    def live_replayed_and_loaded_are_one(self) -> None:
        replayed, loaded = DictTables(), DictTables()
        for commit in self.bench.commits:
            replayed.apply(commit.rows, self.bench.position)
        last = {(row.table, row.key): row for commit in self.bench.commits for row in commit.rows}
        loaded.load([row for row in last.values() if row.value is not None], self.bench.position)
        assert replayed.roots == loaded.roots == self.bench.tables.roots


History.TestCase.settings = settings(examples(60), stateful_step_count=30, suppress_health_check=list(HealthCheck))
TestHistory = History.TestCase
