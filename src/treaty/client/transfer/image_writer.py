"""An image written to a registry with the ids, numbers and guids that it has; what is there already is left alone.

It can be cut off anywhere and run again: the plan is made from what the target holds by then.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from treaty.client.transfer.api_keys import add_keys
from treaty.client.transfer.group_requests import begin_groups, finish_groups, import_of
from treaty.client.transfer.plan import ImportPlan, make_plan
from treaty.client.transfer.policies import as_elsewhere, begins_at, exactly, list_cleared_members, shift_ordinals
from treaty.client.transfer.registry_image import ProblemList, RegistryImage, TransferProblem
from treaty.client.transfer.registry_reader import ReportProgress, ignore_progress, read
from treaty.core.messages.associations import Associate, AssociationSpec, ImportedAssociation, ResourceAssociation
from treaty.core.messages.contexts import MakeContext
from treaty.core.messages.policies import CreatePolicy
from treaty.core.messages.registration import ForceReason, Register, RegisteredVersion
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteVersion, GetVersion, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import RegistryError
from treaty.core.registry import Registry
from treaty.core.schema import Draft

THREADS = 16
"""Commands in flight."""


@dataclass(frozen=True, slots=True)
class TransferReport:
    """What was written, and what was not."""

    plan: ImportPlan
    written: int
    problems: tuple[TransferProblem, ...]
    """At most TRANSFER_PROBLEMS of them."""
    more_problems: int = 0
    """Problems that are only counted."""


def write(
    source: RegistryImage, registry: Registry, *, dry_run: bool = False, report: ReportProgress = ignore_progress
) -> TransferReport:
    """Write an image to a registry: versions under mode IMPORT, then softly deleted ones, associations and settings.

    Modes that stood in the way are given back; the image's own modes come last. With `dry_run` nothing is written.
    """
    plan = make_plan(source, read(registry, keys=bool(source.api_keys)))
    if dry_run:
        problems = ProblemList(plan.conflicts)
        return TransferReport(plan, 0, tuple(problems.kept), problems.more)
    return _Writing(registry, plan, report).run()


class _Writing:
    """One run of a plan."""

    def __init__(self, registry: Registry, plan: ImportPlan, report: ReportProgress) -> None:
        self.registry = registry
        self.plan = plan
        self.report = report
        self.problems = ProblemList(plan.conflicts)
        self.written = 0

    def run(self) -> TransferReport:
        plan = self.plan
        for scope, _ in plan.lifted:
            mode = "IMPORT" if scope.name is None and scope.context != "*" else None
            self.registry.ask(SetMode(scope, mode, force=True))
        try:
            with ThreadPoolExecutor(THREADS, "treaty-transfer") as pool:
                contexts = ((f"context {name}", MakeContext(name, highest)) for name, highest in plan.made)
                self._send_all(pool, contexts)
                self._send_all(pool, ((f"policy {name}", CreatePolicy(name, policy)) for name, policy in plan.policies))
                self._send_all(pool, add_keys(plan.api_keys))
                self._send_all(pool, begin_groups(plan.groups))
                for wave in plan.waves:
                    self._register_wave(pool, wave)
                for requests in finish_groups(plan.groups):
                    self._send_all(pool, requests)
                self._send_all(
                    pool, ((f"deletion of {_name(version)}", _delete(version)) for version in plan.deletions)
                )
                self._send_all(
                    pool, ((_tie(association), self._associate(association)) for association in plan.associations)
                )
                for problem in pool.map(self._configure, plan.configs):
                    self._count(problem)
        finally:
            for scope, own in plan.lifted:
                problem = self._send(f"mode of {_name_scope(scope)}", SetMode(scope, own, force=True))
                if problem is not None:
                    self.problems.add(problem)
        for scope, mode in plan.modes:
            self._count(self._send(f"mode of {_name_scope(scope)}", SetMode(scope, mode, force=True)))
        return TransferReport(plan, self.written, tuple(self.problems.kept), self.problems.more)

    def _register_wave(self, pool: ThreadPoolExecutor, wave: Iterable[VersionFound]) -> None:
        for problem in pool.map(self._register, wave):
            self._count(problem)

    def _register(self, version: VersionFound) -> TransferProblem | None:
        try:
            registered = self.registry.ask(self._request(version)).answer.version
        except RegistryError as no:
            return TransferProblem(_name(version), "not written", str(no))
        if version.guid and registered.guid and registered.guid != version.guid:
            return TransferProblem(
                _name(version), "written with another guid", f"it was {version.guid} and is {registered.guid}"
            )
        return None

    def _request(self, version: VersionFound) -> Request[RegisteredVersion]:
        carried = self.plan.groups.versions.get((version.subject, version.number))
        if carried is not None:
            return import_of(carried)
        draft = Draft(
            version.text, version.format, version.references, version.metadata, version.rules, imports=version.imports
        )
        if not self.plan.native:
            return Register(subject_of(version.subject), draft, number=version.number, schema_id=version.schema_id)
        return Register(
            subject_of(version.subject),
            draft,
            number=version.number,
            schema_id=version.schema_id,
            force=ForceReason(version.forced.who, version.forced.why) if version.forced else None,
            properties=version.properties,
            time=version.time,
            exact=True,
        )

    def _configure(self, setting: tuple[Scope, Config]) -> TransferProblem | None:
        """Write a config; ranges that begin at a version begin at the same version in the target."""
        scope, config = setting
        what = f"config of {_name_scope(scope)}"
        if not self.plan.native:
            return self._send(what, SetConfig(scope, as_elsewhere(config), list_cleared_members(config)))
        numbers = self.plan.numbers.get(scope, {})
        exact = str(Subject(scope.context, scope.name or "")) in self.plan.groups.exact
        if begins_at(config) and not numbers and not exact:
            return TransferProblem(what, "not written", "its range begins at a version of a subject that has none")
        try:
            if not exact:
                config = shift_ordinals(
                    config, {ordinal: self._ordinal(scope, number) for ordinal, number in numbers.items()}
                )
        except RegistryError as no:
            return TransferProblem(what, "not written", str(no))
        return self._send(what, SetConfig(scope, exactly(config), list_cleared_members(config)))

    def _ordinal(self, scope: Scope, number: int) -> int:
        subject = Subject(scope.context, scope.name or "")
        return self.registry.ask(GetVersion(subject, number, deleted=True, exact=True)).answer.ordinal

    def _associate(self, association: ResourceAssociation) -> Request[object]:
        imported = (
            ImportedAssociation(association.guid, association.created, association.updated)
            if self.plan.native and association.guid
            else None
        )
        wish = AssociationSpec(
            association.kind,
            subject_of(association.subject),
            association.lifecycle,
            association.frozen or None,
            given=imported,
        )
        return Associate(association.resource, (wish,))

    def _send_all(self, pool: ThreadPoolExecutor, requests: Iterable[tuple[str, Request[object]]]) -> None:
        work: Callable[[tuple[str, Request[object]]], TransferProblem | None] = lambda each: self._send(*each)  # noqa: E731
        for problem in pool.map(work, requests):
            self._count(problem)

    def _send(self, what: str, request: Request[object]) -> TransferProblem | None:
        try:
            self.registry.ask(request)
        except RegistryError as no:
            return TransferProblem(what, "not written", str(no))
        return None

    def _count(self, problem: TransferProblem | None) -> None:
        if problem is None:
            self.written += 1
        else:
            self.problems.add(problem)
        self.report("written", self.written, self.plan.size)


def _name(version: VersionFound) -> str:
    return f"{version.subject} version {version.number}"


def _tie(association: ResourceAssociation) -> str:
    return f"{association.kind} of {association.resource.name} in {association.resource.namespace}"


def _delete(version: VersionFound) -> Request[object]:
    return DeleteVersion(subject_of(version.subject), version.number, exact=True)


def _name_scope(scope: Scope) -> str:
    return scope.context if scope.name is None else str(Subject(scope.context, scope.name))
