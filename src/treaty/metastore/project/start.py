"""A project that a server applies when it starts: what it has done, and what of it is open."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from treaty.core.refusals import OutcomeUnknown, RegistryError, Unavailable
from treaty.core.registry import AsyncRegistry
from treaty.metastore.project.application import InterruptedProjectError, RefusedProjectError, apply_project
from treaty.metastore.project.files import InvalidProjectError, read_project_files
from treaty.metastore.project.metastore_rows import ProjectChoices
from treaty.metastore.project.objects import SqlProject, parse_project
from treaty.metastore.project.plan import ProjectPlan
from treaty.metastore.project.settings import read_project_settings

logger = logging.getLogger("treaty.project")
RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds between two attempts to plan the queries of a project; the last one is repeated."""


class ProjectStartError(Exception):
    """A server can't start with its project: the files contradict what is there, or have errors. A restart changes nothing."""


class ProjectUnavailableError(Exception):
    """A server can't apply its project now: the log does not answer. A later start may."""


@dataclass(slots=True)
class ProjectStart:
    """A project of SQL of a server: its files, and what of it is open while the server runs.

    `open` has the names of objects that are not there yet, with the reason of each.
    """

    path: str
    project: SqlProject
    choices: ProjectChoices
    open: Mapping[str, str] = field(default_factory=dict)

    async def apply(self, registry: AsyncRegistry) -> None:
        """Carry out all but queries that are not there yet, once everything was checked.

        An existing source is changed only where its statement says OR REPLACE. Raises `ProjectStartError` with the difference,
        before anything is written, and `ProjectUnavailableError`.
        """
        try:
            self._note(await apply_project(registry, self.project, replace(self.choices, queries="later")))
        except RefusedProjectError as refused:
            lines = [f"{self.path} can't be applied, nothing of it was carried out:", *refused.reason.details]
            raise ProjectStartError("\n".join(lines)) from refused
        except InvalidProjectError as error:
            raise ProjectStartError("\n".join(error.reason.details)) from error
        except InterruptedProjectError as stopped:
            if isinstance(stopped.cause, Unavailable | OutcomeUnknown):
                raise ProjectUnavailableError(str(stopped)) from stopped
            how = "was applied in part" if stopped.done else "can't be applied"
            raise ProjectStartError(f"{self.path} {how}: {stopped}") from stopped
        except (Unavailable, OutcomeUnknown) as away:
            raise ProjectUnavailableError(f"{self.path} can't be applied: {away}") from away

    async def finish(self, registry: AsyncRegistry) -> None:
        """Carry out the queries that are open, again and again, until none is."""
        for seconds in _list_pauses():
            if not self.open:
                return
            await asyncio.sleep(seconds)
            try:
                self._note(await apply_project(registry, self.project, replace(self.choices, queries="now")))
            except RegistryError as refused:
                self._note_refusal(refused)

    def _note(self, plan: ProjectPlan) -> None:
        changed = [step for step in plan.changes if not step.is_waiting]
        waiting = {step.name: step.refusal.message for step in plan.waiting if step.refusal is not None}
        if changed or set(waiting) != set(self.open):
            logger.info(
                "%s: %d statements carried out, %d objects unchanged, %d wait for a planner",
                self.path, len(changed), plan.counts["unchanged"], len(waiting),
            )  # fmt: skip
        self.open = waiting

    def _note_refusal(self, refused: RegistryError) -> None:
        """Keep why what is open can't be carried out; the first time it is logged."""
        reason = str(refused)
        if set(self.open.values()) != {reason}:
            logger.error("%s: %s", self.path, reason)
        self.open = dict.fromkeys(self.open, reason)


def _list_pauses() -> Iterator[float]:
    yield from RETRY_SECONDS
    while True:
        yield RETRY_SECONDS[-1]


def read_project_start(path: Path, variables: Mapping[str, str]) -> ProjectStart:
    """Return the project of a file or folder for a server; raises `ProjectStartError` with all errors of its files."""
    try:
        settings = read_project_settings(path)
        project = parse_project(read_project_files(path), {**settings.variables, **variables})
    except InvalidProjectError as error:
        raise ProjectStartError("\n".join(error.reason.details)) from error
    for warning in project.warnings:
        logger.warning("%s", warning)
    return ProjectStart(str(path), project, ProjectChoices(settings.label, strict=True))
