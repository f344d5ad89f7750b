"""What a plan is made on: how the project is applied, the rows that are there, and what the steps so far would change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from treaty.core.sources import Source, StoredType
from treaty.core.state.metastore.indexes import reads_of
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.context import ASK_PLANNERS, PlanningOptions
from treaty.metastore.project.objects import ObjectKey, ProjectObject
from treaty.metastore.project.planned_rows import PlannedRows
from treaty.metastore.sql.statements import CreateSourceStatement


@dataclass(frozen=True, slots=True)
class ProjectChoices:
    """How a project is applied.

    Sources get the `label`; with `prune` those that have it and that no file describes are dropped. A `strict` plan changes an
    existing source only where its statement says OR REPLACE: a server that starts does so. `queries` says what becomes of
    those that are not there yet: a planner checks them for the plan, they wait for a later one, or they are carried out unchecked.
    """

    label: str = ""
    prune: bool = False
    strict: bool = False
    queries: Literal["check", "later", "now"] = "check"
    planning: PlanningOptions = ASK_PLANNERS
    """What plans the queries that are checked."""


@dataclass(slots=True)
class MetastoreRows:
    """What a plan is made on: the rows by key, and what the steps so far would change."""

    choices: ProjectChoices
    sources: Mapping[str, Source]
    types: Mapping[str, StoredType]
    needs: Mapping[ObjectKey, set[ObjectKey]]
    planned: PlannedRows
    coming: set[ObjectKey] = field(default_factory=set)
    """Objects that a step creates or changes."""
    waiting: set[ObjectKey] = field(default_factory=set)

    def list_readers(self, key: str) -> tuple[str, ...]:
        """Return the names of the sources whose queries read a source."""
        sources = self.sources.values()
        return tuple(
            source.name for source in sources if any(key_of_name(read.source) == key for read in reads_of(source))
        )

    def list_users(self, key: str) -> tuple[str, ...]:
        """Return the names of the sources and types that use a type."""
        rows: tuple[Source | StoredType, ...] = (*self.types.values(), *self.sources.values())
        return tuple(row.name for row in rows if key in row.types)

    def list_names(self, kind: str) -> dict[str, str]:
        """Return the names of the types or of the sources by key, those that are there and those that the files describe."""
        rows: Mapping[str, Source | StoredType] = self.types if kind == "type" else self.sources
        coming = {key: key for described_kind, key in self.needs if described_kind == kind}
        return coming | {key: row.name for key, row in rows.items()}

    def list_superfluous(self, described: ProjectObject) -> tuple[str, ...]:
        """Return the keys of the streams of bad rows that a source has and that its statement does not ask for."""
        statement = described.statement
        if not isinstance(statement, CreateSourceStatement) or statement.property("BAD_ROWS") == "true":
            return ()
        return tuple(key for key, source in self.sources.items() if source.origin == described.key[1])
