"""What is asked of scripts: commands that meet in one commit, and questions about what they would come to."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.answers.asks import Table
from tests.answers.story import AVRO, ID, C, define
from tests.answers.streams import STORY
from tests.answers.tables import stream_values as v
from tests.answers.worlds import WRITER
from tests.worlds.drafts import records
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import PreviewScript, RunScript, SchemaAssertion, ScriptMember
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject, subject_of

CREATES = (
    m.CreateSource(define("new", C("a", "INT"))), m.CreateSource(define("new", C("a", "Fresh"), bad_rows=True)), m.CreateSource(define("other", C("a", "INT"), bad_rows=True, place="other")),
    m.CreateSource(define("schemed", C("c", "INT"), value=AVRO), value_schema=Register(subject_of("new-value"), records("a"))), m.CreateSource(define("clicks", C("a", "INT"))),
    m.CreateSource(define("schemed-2", C("c", "INT"), value=AVRO), value_schema=Register(subject_of("new-value"), records("a", "b?"))), m.CreateSource(STORY.definitions["report"], replace=True),
    m.CreateSource(define("new", C("a", "INT")), dry_run=True), m.CreateSource(define("new", C("a", "INT")), assess=True), m.CreateSource(replace(STORY.definitions["visits"], columns=(*STORY.definitions["visits"].columns, ID)), replace=True),
)  # fmt: skip
CHANGES = (
    m.ChangeSource("visits", rename="Web"), m.ChangeSource("web", rename="visits"), m.ChangeSource("vault", protect=False), m.ChangeSource("new", comment="x"), m.ChangeSource("board", restart="RESET"),
    m.ChangeSource("board", restart="ROLLBACK"), m.ChangeSource("counts", restart="REFRESH", cascade=True), m.ChangeSource("follower", restart="RESET"), m.ChangeSource("missing"), m.ChangeSource("clicks", dry_run=True),
    m.ChangeSource("named", restart="ROLLBACK"), m.ChangeSource("clicks", swap="visits"),
)  # fmt: skip
MEMBERS: Sequence[ScriptMember] = (
    *(ScriptMember(create=request) for request in CREATES), *(ScriptMember(change=request) for request in CHANGES),
    *(ScriptMember(state=m.SetSourceState(name, state)) for name in ("filed", "board", "clicks") for state in ("RUNNING", "PAUSED")),
    *(ScriptMember(drop=m.DropSource(name)) for name in ("vault", "joined", "clicks", "new", "undropped", "missing")), ScriptMember(drop=m.DropSource("Totals", cascade=True)), ScriptMember(drop=m.DropSource("missing", if_exists=True)),
    ScriptMember(drop=m.DropSource("reborn", delete_topic=True)), ScriptMember(drop=m.DropSource("follower", cascade=True)),
    *(ScriptMember(undrop=m.UndropSource(name)) for name in ("gone", "goes", "later", "joined", "undropped", "exchanged", "by pin")),
    *(ScriptMember(create_type=m.CreateType(name, text)) for name, text in (("Fresh", "INT"), ("Money", "INT"), ("Later", "Fresh"), ("bad", "INT("))), *(ScriptMember(drop_type=m.DropType(name)) for name in ("unused", "Fresh", "Money", "Missing")),
    *(ScriptMember(assertion=SchemaAssertion(subject, number, exists)) for subject, number in (("orders-value", 0), ("orders-value", 2), ("orders-value", 5), ("", 3), ("", 99), ("new-value", 0), (":.far:orders-value", 1), ("missing", 0), ("", 0)) for exists in v.FLAGS),
    ScriptMember(), ScriptMember(drop_type=m.DropType("unused"), undrop=m.UndropSource("gone")),
)  # fmt: skip


def _scripts() -> Iterator[tuple[ScriptMember, ...]]:
    dice = random.Random("scripts")
    yield from ((member,) for member in MEMBERS)
    for count in (2, 2, 2, 3, 4):
        for _ in range(20):
            yield tuple(dice.sample(MEMBERS, count))
    fresh, later, use = (
        next(one for one in MEMBERS if wanted in repr(one))
        for wanted in ("CreateType(name='Fresh'", "CreateType(name='Later'", "type='Fresh'")
    )
    drop, undrop = ScriptMember(drop=m.DropSource("undropped")), ScriptMember(undrop=m.UndropSource("undropped"))
    goes, after = ScriptMember(undrop=m.UndropSource("gone")), ScriptMember(undrop=m.UndropSource("goes"))
    yield from (
        (fresh, use),
        (fresh, later, use),
        (use, fresh),
        (drop, undrop),
        (goes, after),
        (goes, after, ScriptMember(undrop=m.UndropSource("later"))),
        (MEMBERS[1], MEMBERS[2]),
        (fresh, MEMBERS[1], MEMBERS[2]),
    )
    for pair in (("RESET", "ROLLBACK"), ("RESET", "RESET"), ("REFRESH", "ROLLBACK"), ("ROLLBACK", "RESET")):
        yield tuple(ScriptMember(change=m.ChangeSource("board", restart=word)) for word in pair)
    yield (MEMBERS[3], MEMBERS[5])
    yield tuple(fresh for _ in range(1001))
    yield tuple(ScriptMember(drop_type=m.DropType("x", if_exists=True)) for _ in range(4))


SCRIPTS = tuple(_scripts())
QUESTIONS: Mapping[str, Sequence[Any]] = {
    "source": (None, *(m.DescribeSource(name) for name in ("new", "clicks", "visits", "web", "Totals", "gone", "missing"))), "type": (None, *(m.DescribeType(name) for name in ("Fresh", "Money", "unused"))),
    "pin": (None, GetPin(subject_of("new-value")), GetPin(subject_of("orders-value"), 2)), "version": (None, GetVersion(subject_of("new-value"), -1), GetVersion(Subject(".far", "orders-value"), 1)), "schema": (None, GetSchema(3), GetSchema(7, subject_of("new-value"))),
}  # fmt: skip


def _previews() -> Iterator[PreviewScript]:
    dice = random.Random("previews")
    for script in (*SCRIPTS[: len(MEMBERS)], *SCRIPTS[-14:]):
        name = dice.choice([*QUESTIONS])
        yield PreviewScript(script, **{name: dice.choice(QUESTIONS[name])})


TABLES = (
    Table(RunScript((MEMBERS[0],)), {"members": ((), *SCRIPTS), "dry_run": v.FLAGS, "statement": ("", "0123456789abcdef")}, drawn=12, places=(), share=1.0, accesses=v.ACCESSES, asker=WRITER, every=3),
    Table(PreviewScript((MEMBERS[0],)), {"members": ((), *SCRIPTS[-20:]), **QUESTIONS}, drawn=20, places=("source", "type", "pin", "version", "schema"), share=1.0, accesses=v.ACCESSES, asker=WRITER, every=3, more=tuple(_previews())),
)  # fmt: skip
