"""A member that answers what it was told to, for tests of translation: it holds no law and no state."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from treaty.core.messages import associations as t
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.contexts import ContextMade, Contexts, DeleteContext, ListContexts, MakeContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions, Subjects, VersionNumbers, Versions
from treaty.core.messages.outcomes import CommandOutcome, GetOutcome
from treaty.core.messages.registration import Derive, Register, RegisteredVersion
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import (
    GetGuid,
    GetGuidIds,
    GetSchema,
    GuidIds,
    ReferencedBy,
    SchemaFound,
    SchemaIds,
    Uses,
    UsesOf,
)
from treaty.core.messages.settings import (
    Config,
    ConfigStored,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ListSettings,
    ModeStored,
    ScopeSettings,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import (
    DeletedVersions,
    DeleteSubject,
    DeleteVersion,
    FindVersion,
    GetVersion,
    Lookup,
    VersionFound,
)
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.state.commit import PositionToken

A = TypeVar("A")
TOKEN = PositionToken("ab", 5, "cd")

VERSION = VersionFound("s", 3, 2, 7, "ec7e7a4f-3a77-4fdc-8b0b-6b2f7a2ec7d1", "AVRO", '"string"', time=99)
SCHEMA = SchemaFound(7, VERSION.guid, "AVRO", '"string"', subject="s", number=3, time=99)

ANSWERS: Mapping[type, object] = {
    Register: RegisteredVersion(VERSION, created=True),
    Lookup: VERSION,
    GetVersion: VERSION,
    FindVersion: VERSION,
    GetSchema: SCHEMA,
    GetGuid: SCHEMA,
    GetGuidIds: GuidIds(((".", 7), (".x", 2))),
    Check: CompatibilityResult(compatible=True),
    DeleteVersion: DeletedVersions((3,)),
    DeleteSubject: DeletedVersions((1, 2)),
    DeleteContext: DeletedVersions(()),
    SetConfig: ConfigStored(Config(level="FULL", alias="other")),
    GetConfig: ConfigStored(Config(level="BACKWARD")),
    DeleteConfig: ConfigStored(Config(level="NONE")),
    SetMode: ModeStored("IMPORT"),
    GetMode: ModeStored("READWRITE"),
    DeleteMode: ModeStored("READONLY"),
    ListSubjects: Subjects(("a", "b", "c")),
    ListVersions: VersionNumbers((1, 2, 3), (2,)),
    ListSchemas: Versions((VERSION,)),
    UsesOf: Uses((("s", 1), ("s", 3), ("t", 1))),
    ReferencedBy: SchemaIds((4, 9)),
    ListContexts: Contexts((".", ".x")),
    t.ListAssociations: t.Associations(()),
    t.GetAssociations: t.AssociationResults(()),
    t.Associate: t.ResourceBound(t.Resource("orders", "lkc-1", "r1"), ()),
    t.Dissociate: DeletedVersions(()),
    t.ChangeAssociations: t.AssociationResults(()),
    Derive: RegisteredVersion(VERSION, created=True),
    ListSettings: ScopeSettings(()),
    MakeContext: ContextMade(".x", 7),
    GetOutcome: CommandOutcome("c1", 5, "{}"),
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
