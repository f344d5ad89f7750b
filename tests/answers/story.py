"""Commands of a world of the metastore in their order, with the numbers by which later ones name what earlier ones made."""

from collections.abc import Sequence
from typing import Any

from tests.answers.worlds import Sent
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.sources import CHANGES, QueryPlan, SchemaPin, SourceColumn, SourcePart, SourceRead, StateFingerprint

C = SourceColumn
ID = C("id", "BIGINT", nullable=False, role="key")
AVRO = SourcePart("AVRO")


def define(name: str, *columns: SourceColumn, kind: str = "STREAM", **more: Any) -> SourceDefinition:
    """A definition with a text that a CREATE might have; over a topic of its name unless it says another place."""
    query: QueryPlan | None = more.get("query")
    words = f"CREATE {kind} {name}" + (f" AS {query.body}" if query else "")
    more = {"place": name.lower(), "statement": words, **more}
    return SourceDefinition(name, kind, columns=columns or (C("a", "INT"),), **more)


def plan(body: str, *reads: SourceRead, state: str = "", **more: Any) -> QueryPlan:
    """A query; `state` is the word that its fingerprint has, empty where it keeps none."""
    fingerprint = StateFingerprint(state, f"{state}-stores") if state else StateFingerprint()
    return QueryPlan(body, reads, fingerprint=fingerprint, **more)


def allow(*may: Permission, sources: Sequence[str] = ("*",), **more: Any) -> AccessRule:
    """A rule for sources, and for all topics unless it names some."""
    return AccessRule(
        ("user:bob",), with_included(frozenset(may)), sources=tuple(sources), **{"topics": ("*",), **more}
    )


def access(*rules: AccessRule) -> Access:
    """The rights that rules give."""
    return Access(rules)


class Story:
    """A world that is told: `at` has the sequence of the commit that made something of a name, `revisions` those that are not 1,
    `definitions` the last ones."""

    def __init__(self) -> None:
        self.commands: list[Request[Any] | Sent] = []
        self.sequence = 0
        self.at: dict[str, int] = {}
        self.revisions: dict[str, int] = {}
        self.pins: dict[str, SchemaPin] = {}
        self.definitions: dict[str, SourceDefinition] = {}

    def add(self, request: Request[Any], *, makes: str = "", changes: str = "", **sent: Any) -> int:
        """A command that writes one commit, of which this is the sequence; `makes` is what it makes, `changes` a source that gets another revision."""
        self.commands.append(Sent(request, **sent) if sent else request)
        self.sequence += 1
        if makes:
            self.at[makes] = self.sequence
        if changes:
            self.revisions[changes] = self.revisions.get(changes, 1) + 1
        return self.sequence

    def create(self, definition: SourceDefinition, *, sent: dict[str, Any] | None = None, **more: Any) -> int:
        """A source; one that is replaced keeps its number."""
        request, key = CreateSource(definition, **more), definition.name.lower()
        self.definitions[key] = definition
        if request.replace:
            return self.add(request, changes=key, **(sent or {}))
        self.revisions.pop(key, None)
        return self.add(request, makes=key, **(sent or {}))

    def register(self, request: Register, schema_id: int, ordinal: int) -> SchemaPin:
        """A version, with what a pin of it is; the first one of a subject makes the subject."""
        name = str(request.subject)
        sequence = self.add(request)
        generation = self.at.setdefault(f"subject {name}", sequence)
        pin = self.pins[f"{name} {ordinal}"] = SchemaPin(*request.subject, generation, ordinal, schema_id)
        return pin

    def read(self, name: str, *columns: str, mode: str = CHANGES, **more: Any) -> SourceRead:
        """A read of a source as it is at this point."""
        more = {"revision": self.revisions.get(name.lower(), 1), "spelling": name, **more}
        return SourceRead(name.lower(), self.at[name.lower()], mode=mode, columns=columns, **more)
