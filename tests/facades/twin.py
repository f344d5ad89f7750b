"""A member that answers what it was told to, for tests of translation: it holds no law and no state."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from treaty.core import answers as a
from treaty.core import requests as q
from treaty.core.answers import Resource
from treaty.core.messages import associations as t
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.requests import Request
from treaty.core.state.commit import PositionToken

A = TypeVar("A")
TOKEN = PositionToken("ab", 5, "cd")

VERSION = a.VersionFound("s", 3, 2, 7, "ec7e7a4f-3a77-4fdc-8b0b-6b2f7a2ec7d1", "AVRO", '"string"', time=99)
SCHEMA = a.SchemaFound(7, VERSION.guid, "AVRO", '"string"', subject="s", number=3, time=99)

ANSWERS: Mapping[type, object] = {
    q.Register: a.RegisteredVersion(VERSION, created=True),
    q.Lookup: VERSION,
    q.GetVersion: VERSION,
    q.FindVersion: VERSION,
    q.GetSchema: SCHEMA,
    q.GetGuid: SCHEMA,
    q.GetGuidIds: a.GuidIds(((".", 7), (".x", 2))),
    q.Check: a.CompatibilityResult(compatible=True),
    q.DeleteVersion: a.DeletedVersions((3,)),
    q.DeleteSubject: a.DeletedVersions((1, 2)),
    q.DeleteContext: a.DeletedVersions(()),
    q.SetConfig: a.ConfigStored(a.Config(level="FULL", alias="other")),
    q.GetConfig: a.ConfigStored(a.Config(level="BACKWARD")),
    q.DeleteConfig: a.ConfigStored(a.Config(level="NONE")),
    q.SetMode: a.ModeStored("IMPORT"),
    q.GetMode: a.ModeStored("READWRITE"),
    q.DeleteMode: a.ModeStored("READONLY"),
    q.ListSubjects: a.Subjects(("a", "b", "c")),
    q.ListVersions: a.VersionNumbers((1, 2, 3), (2,)),
    q.ListSchemas: a.Versions((VERSION,)),
    q.UsesOf: a.Uses((("s", 1), ("s", 3), ("t", 1))),
    q.ReferencedBy: a.SchemaIds((4, 9)),
    q.ListContexts: a.Contexts((".", ".x")),
    t.ListAssociations: t.Associations(()),
    t.GetAssociations: t.AssociationResults(()),
    t.Associate: t.ResourceBound(Resource("orders", "lkc-1", "r1"), ()),
    t.Dissociate: a.DeletedVersions(()),
    t.ChangeAssociations: t.AssociationResults(()),
    q.Derive: a.RegisteredVersion(VERSION, created=True),
    q.ListSettings: a.ScopeSettings(()),
    q.MakeContext: a.ContextMade(".x", 7),
    q.GetOutcome: a.CommandOutcome("c1", 5, "{}"),
}


@dataclass
class Fixed:
    """Answers by class of request; an exception is raised. What was asked is remembered."""

    answers: dict[type, object] = field(default_factory=lambda: dict(ANSWERS))
    asked: list[Request[object]] = field(default_factory=list)
    calls: list[CallOptions] = field(default_factory=list)
    changed: list[Callable[[], None]] = field(default_factory=list)
    while_asked: Callable[[], None] | None = None
    halted: str = ""

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        if self.while_asked:
            self.while_asked()
        self.asked.append(request)
        self.calls.append(call)
        answer = self.answers[type(request)]
        if isinstance(answer, Exception):
            raise answer
        return Reply(cast("A", answer), TOKEN)

    async def close(self) -> None:
        """Nothing to close."""

    def on_change(self, callback: Callable[[], None]) -> None:
        self.changed.append(callback)

    def status(self) -> object:
        return {"sequence": TOKEN.sequence}
