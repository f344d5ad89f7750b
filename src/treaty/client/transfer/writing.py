"""A snapshot written to a registry with the ids, numbers and guids that it has; what is there already is left alone.

It can be cut off anywhere and run again: the plan is made from what the target holds by then.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from treaty.client.transfer.reading import Told, own_mode, read, silent
from treaty.client.transfer.snapshot import Place, Problem, Snapshot
from treaty.core.answers import Config, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import RegistryError
from treaty.core.registry import Registry
from treaty.core.requests import DeleteVersion, Register, Request, Scope, SetConfig, SetMode
from treaty.core.schema import Draft

THREADS = 16
"""Commands in flight."""
MEMBERS = tuple(Config.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to be written: versions in waves (each needs only earlier ones), deletions after all of them, settings.

    `there` counts versions that the target has already. `conflicts` are those that can't be written: the place or the
    id belongs to another schema.
    """

    waves: tuple[tuple[VersionFound, ...], ...]
    deletions: tuple[VersionFound, ...]
    configs: tuple[tuple[Scope, Config], ...]
    modes: tuple[tuple[Scope, str], ...]
    contexts: tuple[str, ...]
    there: int = 0
    conflicts: tuple[Problem, ...] = ()

    @property
    def size(self) -> int:
        """Commands that the plan takes, apart from modes of contexts while it runs."""
        return sum(map(len, self.waves)) + len(self.deletions) + len(self.configs) + len(self.modes)


def make_plan(source: Snapshot, target: Snapshot) -> Plan:
    """Compare two snapshots: what the target lacks is written, what it has otherwise is a conflict."""
    there = {(one.subject, one.number): one for one in target.versions}
    ids = {(subject_of(one.subject).context, one.schema_id): one for one in target.versions}
    fresh: list[VersionFound] = []
    deletions: list[VersionFound] = []
    conflicts: list[Problem] = []
    for one in source.versions:
        found = there.get((one.subject, one.number))
        holder = ids.get((subject_of(one.subject).context, one.schema_id))
        wrong = _conflict(one, found, holder)
        if wrong:
            conflicts.append(Problem(f"{one.subject} version {one.number}", "not written", wrong))
            continue
        if found is None:
            fresh.append(one)
        if one.deleted and not (found and found.deleted):
            deletions.append(one)
    configs, modes = dict(target.configs), dict(target.modes)
    return Plan(
        waves=tuple(_waves(fresh)),
        deletions=tuple(deletions),
        configs=tuple((scope, config) for scope, config in source.configs if configs.get(scope) != config),
        modes=tuple((scope, mode) for scope, mode in source.modes if modes.get(scope) != mode),
        contexts=tuple(sorted({subject_of(one.subject).context for one in fresh})),
        there=len(source.versions) - len(fresh) - len(conflicts),
        conflicts=tuple(conflicts),
    )


def _conflict(one: VersionFound, found: VersionFound | None, holder: VersionFound | None) -> str:
    if found is not None and (found.schema_id != one.schema_id or _differs(found, one)):
        return f"the target has another schema there, with id {found.schema_id}"
    if found is not None and found.deleted and not one.deleted:
        return "the target has it softly deleted; delete it there for good, or register it again"
    if holder is not None and _differs(holder, one):
        return f"id {one.schema_id} belongs to another schema there ({holder.subject} version {holder.number})"
    return ""


def _differs(left: VersionFound, right: VersionFound) -> bool:
    """Tell two schemas apart: by guid, where both sides tell one, else by what they say."""
    if left.guid and right.guid:
        return left.guid != right.guid
    return (left.format, left.text, left.references) != (right.format, right.text, right.references)


def _waves(versions: list[VersionFound]) -> Iterator[tuple[VersionFound, ...]]:
    """Versions in waves: what a schema refers to comes before it, and so does the version before it.

    What goes in circles comes last, all at once.
    """
    waiting = {(one.subject, one.number): one for one in versions}
    needs = {place: {each for each in _needs(one) if each in waiting} for place, one in waiting.items()}
    before: dict[str, Place] = {}
    for place in sorted(waiting):
        if place[0] in before:
            needs[place].add(before[place[0]])
        before[place[0]] = place
    users: dict[Place, list[Place]] = {}
    for place, needed in needs.items():
        for each in needed:
            users.setdefault(each, []).append(place)
    ready = [place for place, needed in needs.items() if not needed]
    while ready:
        yield tuple(waiting.pop(place) for place in ready)
        freed: list[Place] = []
        for place in ready:
            for user in users.get(place, ()):
                needs[user].discard(place)
                if not needs[user]:
                    freed.append(user)
        ready = freed
    if waiting:
        yield tuple(waiting.values())


def _needs(version: VersionFound) -> Iterator[Place]:
    home = subject_of(version.subject)
    for one in version.references:
        yield str(home.sibling(one.subject)), one.version


@dataclass(frozen=True, slots=True)
class Report:
    """What was written, and what was not."""

    plan: Plan
    written: int
    problems: tuple[Problem, ...]


def write(source: Snapshot, registry: Registry, *, dry_run: bool = False, told: Told = silent) -> Report:
    """Write a snapshot to a registry: versions under mode IMPORT, then softly deleted ones, then settings.

    A mode that a context had is given back; the snapshot's own modes come last. With `dry_run` nothing is written.
    """
    plan = make_plan(source, read(registry))
    if dry_run:
        return Report(plan, 0, plan.conflicts)
    return _Writing(registry, plan, told).run()


class _Writing:
    """One run of a plan."""

    def __init__(self, registry: Registry, plan: Plan, told: Told) -> None:
        self.registry = registry
        self.plan = plan
        self.told = told
        self.problems: list[Problem] = list(plan.conflicts)
        self.written = 0

    def run(self) -> Report:
        plan = self.plan
        modes = {context: self._import(context) for context in plan.contexts}
        try:
            with ThreadPoolExecutor(THREADS, "treaty-transfer") as pool:
                for wave in plan.waves:
                    self._all(pool, ((_name(one), _register(one)) for one in wave))
                deletions = ((f"deletion of {_name(one)}", _delete(one)) for one in plan.deletions)
                self._all(pool, deletions)
        finally:
            for context, mode in modes.items():
                problem = self._try(f"mode of {context}", SetMode(Scope(context), mode, force=True))
                if problem is not None:
                    self.problems.append(problem)
        for scope, config in plan.configs:
            clear = tuple(name for name in MEMBERS if getattr(config, name) is None)
            self._count(self._try(f"config of {_shown(scope)}", SetConfig(scope, config, clear)))
        for scope, mode in plan.modes:
            self._count(self._try(f"mode of {_shown(scope)}", SetMode(scope, mode, force=True)))
        return Report(plan, self.written, tuple(self.problems))

    def _import(self, context: str) -> str | None:
        """Set a context to IMPORT; returns the mode that it has of its own."""
        own = own_mode(self.registry, Scope(context))
        self.registry.ask(SetMode(Scope(context), "IMPORT", force=True))
        return None if own == "IMPORT" else own

    def _all(self, pool: ThreadPoolExecutor, requests: Iterable[tuple[str, Request[object]]]) -> None:
        work: Callable[[tuple[str, Request[object]]], Problem | None] = lambda each: self._try(*each)  # noqa: E731
        for problem in pool.map(work, requests):
            self._count(problem)

    def _try(self, what: str, request: Request[object]) -> Problem | None:
        try:
            self.registry.ask(request)
        except RegistryError as no:
            return Problem(what, "not written", str(no))
        return None

    def _count(self, problem: Problem | None) -> None:
        if problem is None:
            self.written += 1
        else:
            self.problems.append(problem)
        self.told("written", self.written, self.plan.size)


def _name(version: VersionFound) -> str:
    return f"{version.subject} version {version.number}"


def _register(one: VersionFound) -> Request[object]:
    draft = Draft(one.text, one.format, one.references, one.metadata, one.rules)
    return Register(subject_of(one.subject), draft, number=one.number, schema_id=one.schema_id)


def _delete(one: VersionFound) -> Request[object]:
    return DeleteVersion(subject_of(one.subject), one.number)


def _shown(scope: Scope) -> str:
    return str(Subject(scope.context, scope.name or ""))
