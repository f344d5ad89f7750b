"""The requests that carry out several commands of the metastore as one commit, or say what they would come to: their members, defaults and answers;
decided in `core/handlers/metastore/scripts.py`.
"""

from dataclasses import dataclass, fields
from typing import Any

from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    CreateType,
    DescribeSource,
    DescribeType,
    DropSource,
    DropType,
    SetSourceState,
    SourceFound,
    SourcesDropped,
    SourceStored,
    TypeDropped,
    TypeFound,
    TypeStored,
    UndropSource,
)
from treaty.core.messages.names import GetPin, PinFound
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema, SchemaFound
from treaty.core.messages.versions import GetVersion, VersionFound


@dataclass(frozen=True, slots=True)
class SchemaAssertion:
    """That a schema is there, or (`exists` False) is not: a live version of a subject, a schema id, or that id in the subject."""

    subject: str = ""
    schema_id: int = 0
    exists: bool = True


@dataclass(frozen=True, slots=True)
class ScriptMember:
    """One command of a script: just one of these is there. Its own `dry_run` must be False."""

    create: CreateSource | None = None
    change: ChangeSource | None = None
    state: SetSourceState | None = None
    drop: DropSource | None = None
    undrop: UndropSource | None = None
    create_type: CreateType | None = None
    drop_type: DropType | None = None
    assertion: SchemaAssertion | None = None

    @property
    def commands(self) -> tuple[Any, ...]:
        """The members that are there."""
        return tuple(value for member in fields(self) if (value := getattr(self, member.name)) is not None)


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """What a command of a script came to; nothing for an assertion."""

    stored: SourceStored | None = None
    dropped: SourcesDropped | None = None
    type_stored: TypeStored | None = None
    type_dropped: TypeDropped | None = None

    @property
    def answer(self) -> Any:
        """The answer that the command alone would have; None for an assertion."""
        return self.stored or self.dropped or self.type_stored or self.type_dropped


@dataclass(frozen=True, slots=True)
class ScriptDone:
    """What the commands of a script came to, in their order; `statement` is that of the request."""

    answers: tuple[ScriptAnswer, ...]
    statement: str = ""


@dataclass(frozen=True, slots=True)
class ScriptPreview:
    """The answer to the question that was asked; without a question there is none."""

    source: SourceFound | None = None
    type: TypeFound | None = None
    pin: PinFound | None = None
    version: VersionFound | None = None
    schema: SchemaFound | None = None
    created: bool = False
    """Whether the commands create this source or type: its generation is known in the commit alone."""


@dataclass(frozen=True, slots=True)
class RunScript(Request[ScriptDone]):
    """Carry out commands in one commit, all or none of them; each sees what those before it did.

    The first one that is refused refuses all: its place is in the path of the refusal, ``/members/3/name``. A query (CREATE …
    AS) is no member. A CASCADE without its digest is refused with what would go along. `statement` is a digest of the text, by which a
    repetition is known. With `dry_run` everything is checked and answered, and nothing is written.
    """

    members: tuple[ScriptMember, ...]
    dry_run: bool = False
    statement: str = ""


@dataclass(frozen=True, slots=True)
class PreviewScript(Request[ScriptPreview]):
    """Answer one question as if these commands had been carried out, one after the other; nothing is written.

    Without a question it is a dry run of all of them on one state: the first that would be refused refuses it, as in `RunScript`. Two
    that may not be of one commit, since both begin to run, may be in one preview.
    """

    members: tuple[ScriptMember, ...]
    source: DescribeSource | None = None
    type: DescribeType | None = None
    pin: GetPin | None = None
    version: GetVersion | None = None
    schema: GetSchema | None = None

    @property
    def questions(self) -> tuple[Any, ...]:
        """The questions that are there; one at most is allowed."""
        return tuple(
            question
            for question in (self.source, self.type, self.pin, self.version, self.schema)
            if question is not None
        )
