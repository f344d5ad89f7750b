"""What clients ask of sources and types: over few names that collide, with what was there a while ago as often as what is."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.simulation.asker import SUBJECTS
from tests.simulation.judging.model.metastore.dropping import closure, digest_of
from tests.simulation.judging.model.metastore.state import dropped, key_of, own_pins, sources, types
from tests.simulation.judging.model.past import Past
from tests.simulation.query_requests import restart_query, run_once
from tests.simulation.texts import TOY
from treaty.core.messages.metastore import scripts as t
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.schema import Draft
from treaty.core.sources import (
    ImportedQuery,
    QueryPlan,
    SchemaPin,
    Source,
    SourceColumn,
    SourcePart,
    SourceRead,
    StateFingerprint,
)

NAMES = ("a", "A", "b", "c", "d", "\u00e9", "\u00c9", "k", "\u212a", "a_bad", "b_bad")
"""Names of sources: some differ in case, one is a letter of Kelvin that is small like an ASCII one."""
OFTEN = (8, 3, 6, 5, 3, 2, 2, 1, 1, 1, 1)
WRONG_NAMES = ("", " a", "a`b", "a\u200bb", "\x07")
TYPES = ("Point", "point", "Line", "\u00e9", "\u00c9")
TEXTS = (
    "INT",
    "STRUCT<x: INT, y: INT>",
    "ARRAY<Point>",
    "MAP<STRING, Line>",
    "Line",
    "STRUCT<a: Point, b: Line>",
    "ARRAY<",
    "INT >",
)
COLUMNS = (
    SourceColumn("id", "INT"),
    SourceColumn("id", "BIGINT"),
    SourceColumn("v", "STRING"),
    SourceColumn("V", "STRING"),
    SourceColumn("w", "ARRAY<INT>", comment="many"),
    SourceColumn("p", "Point"),
    SourceColumn("q", "ARRAY<Line>"),
    SourceColumn("h", "STRING", role="header", header="x"),
)
KEY = SourceColumn("k", "STRING", nullable=False, role="key")
WRONG_COLUMNS = (
    SourceColumn("z", "INT", role="side"),
    SourceColumn("z", "STRUCT<"),
    SourceColumn("", "INT"),
    SourceColumn("z", "Nowhere"),
)
TOPICS = ("t1", "t2")
STATES = ("", "", "x", "y")  # digests of what queries keep; mostly nothing


@dataclass(slots=True)
class SourceAsker:
    """Chances, and the pasts that somebody may have looked at."""

    chance: random.Random
    pasts: Sequence[Past] = field(default_factory=lambda: [Past()])

    def often(self, probability: float) -> bool:
        return self.chance.random() < probability

    def past(self) -> Past:
        """Mostly what is now; at times what was a while ago."""
        if self.often(0.85):
            return self.pasts[-1]
        return self.pasts[max(0, len(self.pasts) - self.chance.randint(1, 12))]

    def name(self) -> str:
        """Mostly the name of a source that is there."""
        there = sources(self.pasts[-1])
        if there and self.often(0.4):
            return self.chance.choice(list(there.values())).name
        if self.often(0.02):
            return self.chance.choice(WRONG_NAMES)
        return self.chance.choices(NAMES, OFTEN)[0]

    def columns(self) -> tuple[SourceColumn, ...]:
        """A few; at times some that can't be."""
        chosen = self.chance.sample(COLUMNS, self.chance.choice([1, 1, 2, 2, 3]))
        chosen += [KEY] if self.often(0.5) else []
        chosen += [self.chance.choice(WRONG_COLUMNS)] if self.often(0.03) else []
        return tuple(chosen) if self.often(0.98) else ()

    def subject(self) -> Subject:
        return self.chance.choices(SUBJECTS, (8, 6, 2, 1, 0.5))[0]

    def pin(self) -> SchemaPin:
        """A version of a subject, mostly one that is there; at times one that never was."""
        there = [one for one in self.past().versions if one.state != "hidden" or self.often(0.3)]
        if not there or self.often(0.04):
            return SchemaPin(*self.subject(), self.chance.choice([0, 1, 3]), 0, 1)
        live = [one for one in there if one.state == "live"]
        one = self.chance.choice(live if live and self.often(0.8) else there)
        pin = SchemaPin(*one.subject, one.generation, one.ordinal, one.schema_id)
        return replace(pin, schema_id=pin.schema_id + 1) if self.often(0.03) else pin

    def part(self) -> SourcePart | None:
        """How a key or value is encoded; mostly by a version."""
        return SourcePart("AVRO", pin=self.pin() if self.often(0.8) else None) if self.often(0.6) else None

    def types(self, columns: Sequence[SourceColumn]) -> tuple[m.ExpectedType, ...]:
        """The types of columns as they were when the statement was read: now, or one or two commits ago."""
        at = max(0, len(self.pasts) - 1 - len(self.pasts) % 3)
        there = types(self.pasts[at])
        named = [key for key in ("point", "line") if any(key in column.type.lower() for column in columns)]
        return tuple(m.ExpectedType(there[key].name, there[key].generation) for key in named if key in there)

    def expected(self, name: str) -> m.ExpectedSource | None:
        if self.often(0.85):
            return None
        there = sources(self.past()).get(key_of(name))
        return m.ExpectedSource(1, 1) if there is None else m.ExpectedSource(there.generation, there.revision)

    def key(self, columns: tuple[SourceColumn, ...]) -> tuple[str, ...]:
        """Mostly none; mostly a column that is there."""
        if not self.often(0.2):
            return ()
        return (columns[0].name,) if columns and len(self.pasts) % 10 else ("nowhere",)

    def plan(self, columns: tuple[SourceColumn, ...]) -> QueryPlan:
        """A query over sources that are there, as somebody saw them."""
        there = sources(self.past())
        reads = tuple(
            self.read(key, there[key])
            for key in self.chance.sample(sorted(there), min(len(there), self.chance.choice([1, 1, 2])))
        )
        if self.often(0.03):
            reads += (SourceRead("nowhere", 1),)
        state = self.chance.choice(STATES)
        body = self.chance.choice(["SELECT id FROM a", "SELECT v FROM b"])
        named = f"SELECT * FROM {' JOIN '.join(read.source for read in reads)}"  # mostly what it reads
        return QueryPlan(
            (named if len(self.pasts) % 5 else body) if self.often(0.98) else " ",
            reads,
            self.chance.choice(["append", "update", "complete"]) if self.often(0.98) else "never",
            self.key(columns),
            StateFingerprint(state, state),
        )

    def read(self, key: str, source: Source) -> SourceRead:
        names = [column.name for column in source.columns]
        chosen = tuple(self.chance.sample(names, self.chance.randint(1, len(names)))) if self.often(0.7) else ()
        pins = own_pins(source)
        value = self.chance.choice(pins) if pins and self.often(0.6) else None
        value = self.pin() if self.often(0.03) else value
        return SourceRead(
            key,
            source.generation,
            key,
            self.chance.choice(["changes", "table"]),
            chosen,
            value=value,
            revision=source.revision,
        )


# -------------------------------------------------------------------------------------------------------- commands


def definition(ask: SourceAsker, name: str) -> m.SourceDefinition:
    """Mostly one that can be."""
    there = sources(ask.past()).get(key_of(name))
    kind = ask.chance.choice(["STREAM", "STREAM", "TABLE"])
    if there is not None and ask.often(0.9):
        kind = there.kind
    if ask.often(0.01):
        kind = "VIEW"
    queried = ask.often(0.5) if there is None or ask.often(0.1) else there.query is not None
    columns = ask.columns()
    if kind == "TABLE" and KEY not in columns and ask.often(0.95):
        columns = (*columns, KEY)
    connector = ask.chance.choice(["kafka", "kafka", "kafka", "delta"]) if ask.often(0.98) else "paper"
    statement = ask.chance.choice(["CREATE", "CREATE OR REPLACE"])
    place = ask.chance.choice([*TOPICS, "", "t1/part", "/t1/./part/", "_t"])
    if queried and len(ask.pasts) % 8:  # mostly a place of its own, where it is
        place = f"out-{key_of(name)}"
        connector = connector if there is None or there.query is None or len(ask.pasts) % 9 == 0 else there.connector
    columns = columns if there is None or ask.often(0.6) else there.columns
    return m.SourceDefinition(
        name, kind, statement, columns, ask.part() if ask.often(0.3) else None, ask.part(), connector,
        "main" if ask.often(0.9) else "other",
        place,
        properties=(("RETENTION", "1"),) if ask.often(0.3) else (),
        comment="noted" if ask.often(0.2) else "",
        query=ask.plan(columns) if queried else None,
        bad_rows=ask.often(0.15),
        imported=ImportedQuery("CSAS", notes=("n",)) if (not queried and ask.often(0.1)) or ask.often(0.01) else None,
    )  # fmt: skip


def schema(ask: SourceAsker) -> Register:
    return Register(ask.subject(), Draft(ask.chance.choice(TOY), "TOY"))


def create_source(ask: SourceAsker) -> Request[Any]:
    """A new one or a replacement; at times with the schema that it is encoded by."""
    name = ask.name()
    defined = definition(ask, name)
    value = schema(ask) if ask.often(0.3) else None
    if value is not None and ask.often(0.95):
        defined = replace(defined, value=SourcePart("AVRO"))
    key = schema(ask) if ask.often(0.05) else None
    if key is not None and ask.often(0.9):
        defined = replace(defined, key=SourcePart("AVRO"))
    return m.CreateSource(
        defined, key, value, ask.often(0.2), ask.often(0.4), ask.expected(name), dry_run=ask.often(0.06),
        types=ask.types(defined.columns),
    )  # fmt: skip


def again(ask: SourceAsker) -> Request[Any]:
    """Replace a source by what it is, but for one thing or none."""
    there = sources(ask.past())
    if not there:
        return create_source(ask)
    source = ask.chance.choice(list(there.values()))
    plan = None if source.query is None else source.query.plan
    if len(ask.pasts) % 9 in {2, 6}:
        return run_once(source, len(ask.pasts) // 9, ask.expected(source.name))
    if plan is not None and ask.often(0.6):
        named = f"{plan.body.split(' WHERE')[0]} WHERE {len(ask.pasts) % 3}"
        plan = replace(plan, body=ask.chance.choice(["SELECT 1", named]))
    if plan is not None and ask.often(0.15):
        plan = replace(plan, fingerprint=StateFingerprint("x", "x"))
    columns = source.columns
    if ask.often(0.3):
        columns = columns[:-1] if ask.often(0.5) else (*columns, SourceColumn("new", "INT"))
    defined = m.SourceDefinition(
        source.name, source.kind, "CREATE OR REPLACE", columns, source.key, source.value, source.connector, source.cluster,
        source.place if ask.often(0.9) else "t2", source.timestamp, source.properties, source.comment, plan, ask.often(0.15),
    )  # fmt: skip
    on_change = ("", "EMPTY", "BACKFILL", "CASCADE", "EMPTY", "never")[len(ask.pasts) % 6]
    return m.CreateSource(defined, replace=True, expected=ask.expected(source.name), on_change=on_change)


def change_source(ask: SourceAsker) -> Request[Any]:
    """One or two changes of a source."""
    name = ask.name()
    kinds: tuple[Literal["add", "drop", "set"], ...] = ("add", "drop", "set")
    ops = [ask.chance.choice(kinds) for _ in range(ask.chance.choice([0, 1, 1, 2]))]
    columns = tuple(m.SourceColumnChange(op, ask.chance.choice([*COLUMNS, KEY])) for op in ops)
    if len(ask.pasts) % 7 in {1, 4}:
        queries = [one.name for one in sources(ask.pasts[-1]).values() if one.query is not None]
        return restart_query(queries, NAMES, len(ask.pasts))
    if len(ask.pasts) % 7 == 3:  # no chance is drawn, so that what comes after stays as it was
        return m.ChangeSource(name, swap=NAMES[len(ask.pasts) % len(NAMES)])
    if len(ask.pasts) % 7 == 5:
        draft = Draft(TOY[len(ask.pasts) % len(TOY)], "TOY")
        grown = Register(SUBJECTS[len(ask.pasts) % len(SUBJECTS)], draft)
        return m.ChangeSource(name, columns=columns[:1], value=SourcePart("AVRO"), value_schema=grown)
    return m.ChangeSource(
        name,
        columns=columns if ask.often(0.4) else (),
        properties=(("RETENTION", ask.chance.choice(["", "1", "2"])),) if ask.often(0.3) else (),
        value=ask.part() if ask.often(0.2) else None,
        rename=ask.chance.choice(NAMES) if ask.often(0.3) else "",
        protect=ask.chance.choice([True, False, False]) if ask.often(0.2) else None,
        comment=ask.chance.choice(["", "noted"]) if ask.often(0.2) else None,
        expected=ask.expected(name),
        dry_run=ask.often(0.05),
        types=ask.types([change.column for change in columns]),
    )


def drop_source(ask: SourceAsker) -> Request[Any]:
    """Alone, or with the digest of what somebody saw going along."""
    name, cascade, past = ask.name(), ask.often(0.5), ask.past()
    digest = ""
    if cascade and ask.often(0.8):
        there = key_of(name) in sources(past)
        digest = digest_of(past, closure(past, key_of(name), along=True)) if there else "0" * 16
    return m.DropSource(
        name,
        ask.chance.choice(["STREAM", "TABLE"]) if ask.often(0.15) else "",
        ask.often(0.2),
        cascade,
        digest,
        ask.often(0.15),
        ask.expected(name),
        ask.often(0.05),
    )


def undrop_source(ask: SourceAsker) -> Request[Any]:
    """Mostly one that was dropped."""
    gone = list(dropped(ask.past()))
    return m.UndropSource(ask.chance.choice(gone) if gone and ask.often(0.85) else ask.name())


def create_type(ask: SourceAsker) -> Request[Any]:
    name = ask.chance.choice(TYPES) if ask.often(0.95) else ask.chance.choice(["INT", "array", "", "a`b"])
    text = ask.chance.choices(TEXTS, (6, 6, 3, 2, 2, 2, 0.3, 0.3))[0]
    label = ("", "team", "", "l" * 5_000)[len(ask.pasts) % 4]  # no chance is drawn, as above
    return m.CreateType(name, text, ask.often(0.2), "noted" if ask.often(0.2) else "", label=label)


def drop_type(ask: SourceAsker) -> Request[Any]:
    return m.DropType(ask.chance.choice(TYPES), ask.often(0.2))


def script(ask: SourceAsker) -> tuple[t.ScriptMember, ...]:
    """A few commands; a source that one of them makes is there for those after it."""
    makers: Sequence[tuple[float, str, Made]] = (
        (4, "create", create_source), (2, "change", change_source), (0.5, "state", lambda a: m.SetSourceState(a.name(), "PAUSED")),
        (3, "drop", drop_source), (1, "undrop", undrop_source), (2, "create_type", create_type), (1, "drop_type", drop_type),
        (0.5, "assertion", lambda a: t.SchemaAssertion(str(a.subject()), exists=a.often(0.5))),
    )  # fmt: skip
    chosen = ask.chance.choices(makers, [one[0] for one in makers], k=ask.chance.choice([1, 2, 2, 3]))
    members: list[t.ScriptMember] = []
    for _, name, made in chosen:
        one: Any = made(ask)
        if getattr(one, "dry_run", False) and ask.often(0.9):
            one = replace(one, dry_run=False)
        if isinstance(one, m.CreateSource) and one.definition.query is not None and ask.often(0.95):
            one = replace(one, definition=replace(one.definition, query=None))
        given: dict[str, Any] = {name: one}
        members.append(t.ScriptMember(**given))
    if members[0].create is not None and ask.often(0.4):
        name = members[0].create.definition.name
        members.append(
            t.ScriptMember(drop=m.DropSource(name)) if ask.often(0.5) else t.ScriptMember(create=members[0].create)
        )
    return tuple(members)


def delete_pinned(ask: SourceAsker) -> Request[Any]:
    """Delete what a source may be bound to, for good or not."""
    pinned = [Subject(pin.context, pin.subject) for source in sources(ask.past()).values() for pin in own_pins(source)]
    subject = ask.chance.choice(pinned) if pinned else ask.subject()
    return ask.chance.choice(
        [
            DeleteVersion(subject, ask.chance.choice([-1, 1, 2]), ask.often(0.6), ask.often(0.3)),
            DeleteSubject(subject, ask.often(0.6), ask.often(0.3)),
        ]
    )


# -------------------------------------------------------------------------------------------------------- queries


def listed(ask: SourceAsker, kind: type) -> Request[Any]:
    after = ask.chance.choice(["", "", "a", "b", "\u00e9"])
    limit = ask.chance.choice([0, 1, 2, 5, 1_000])
    if kind is m.ListSources:
        return m.ListSources(
            ask.chance.choice(["", "", "STREAM", "TABLE"]), ask.often(0.3), after, limit, ask.often(0.3)
        )
    paged: Request[Any] = kind(after, limit)
    return paged


def dependents(ask: SourceAsker) -> Request[Any]:
    of_type = ask.often(0.4)
    name = ask.chance.choice(TYPES) if of_type else ask.name()
    return m.ListDependents(name, "TYPE" if of_type else "SOURCE", ask.often(0.5))


Made = Callable[[SourceAsker], Any]
COMMANDS: Sequence[tuple[float, type, Made]] = (
    (10, m.CreateSource, create_source),
    (3, m.CreateSource, again),
    (4, m.ChangeSource, change_source),
    (1.5, m.SetSourceState, lambda a: m.SetSourceState(a.name(), a.chance.choice(["PAUSED", "RUNNING", "PAUSED", "STOPPED"]))),
    (5, m.DropSource, drop_source),
    (3, m.UndropSource, undrop_source),
    (3, m.CreateType, create_type),
    (1.5, m.DropType, drop_type),
    (5, t.RunScript, lambda a: t.RunScript(script(a), a.often(0.15), a.chance.choice(["", "0f" * 8]))),
    (3, DeleteVersion, delete_pinned),
)  # fmt: skip
"""What writes: how often, and what."""
QUERIES: Sequence[tuple[float, type, Made]] = (
    (3, m.DescribeSource, lambda a: m.DescribeSource(a.name())),
    (1, m.GetDestination, lambda a: m.GetDestination(a.name())),
    (2, m.ListSources, lambda a: listed(a, m.ListSources)),
    (1, m.ListDropped, lambda a: listed(a, m.ListDropped)),
    (1, m.DescribeType, lambda a: m.DescribeType(a.chance.choice(TYPES))),
    (1, m.ListTypes, lambda a: listed(a, m.ListTypes)),
    (2, m.ListDependents, dependents),
    (1, t.PreviewScript, lambda a: t.PreviewScript(script(a), a.chance.choice([None, m.DescribeSource(a.name())]))),
)
