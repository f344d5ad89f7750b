"""An image of a registry, taken by asking it: works for every server that speaks Confluent's API, and for a node."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TypeVar

from treaty.client.transfer.api_keys import LEFT_OUT, NO_KEYS, UNKNOWN_KEYS, has_keys, read_keys
from treaty.client.transfer.policies import at_known_ordinals, begins_at, without_name
from treaty.client.transfer.registry_image import (
    RegistryImage,
    TransferProblem,
    facts_of,
    find_unused_highest,
    order_of,
    resource_order,
    scope_order,
)
from treaty.core.limits import ASSOCIATIONS_LISTED, SETTINGS_PAGE, TRANSFER_ROWS
from treaty.core.messages.associations import ANY, ListAssociations, OfName, OfSubject, ResourceAssociation
from treaty.core.messages.contexts import ListContexts
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.policies import ListPolicies
from treaty.core.messages.schemaver import SCHEMAVER
from treaty.core.messages.settings import Config, GetConfig, GetMode, ListSettings, Scope, ScopeSetting
from treaty.core.messages.transfers import ExportedSubject, ExportedVersion, ExportSubjects, ExportVersions
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, subject_of
from treaty.core.policy import DEFAULT_LEVEL
from treaty.core.refusals import NotFound, NotOffered, Refusal, RegistryError
from treaty.core.registry import Registry
from treaty.core.state.values import PolicyValue

ReportProgress = Callable[[str, int, int], None]
"""Is called with what is done, how many of it, and of how many (0: not known)."""

PAGE = 1000
"""Versions asked for at once."""
THREADS = 8
"""Questions asked at once."""

DEFAULT_MODE = "READWRITE"
NO_DRAFTS = "drafts of Iglu's API are not listed by any server: put those that you have again"
UNTOLD = "this registry does not list its settings: those of subjects without any version are not read"

A = TypeVar("A")
B = TypeVar("B")


def ignore_progress(what: str, count: int, of: int) -> None:
    """Ignore progress."""


def read(
    registry: Registry,
    prefix: Subject = Subject(EVERYWHERE, ""),
    report: ReportProgress = ignore_progress,
    *,
    keys: bool = False,
) -> RegistryImage:
    """All versions, softly deleted ones too, and all settings and associations of subjects that begin with `prefix`.

    Settings of contexts and of everything are read for the prefix of all contexts, and those of one context for a
    prefix without a name. What the registry doesn't answer becomes a problem, as long as it is only a setting. API keys
    are read with `keys` alone.
    """
    contexts = _contexts(registry, prefix)
    image = _read_whole(registry, prefix, report)
    if image is None:
        image = RegistryImage(tuple(sorted(_versions(registry, prefix, report), key=order_of)))
    image = replace(image, contexts=tuple(contexts))
    try:
        image = _with_listed(registry, prefix, image)
    except (NotFound, NotOffered):  # not a server of Treaty
        image = _with_asked(registry, prefix, image, report)
    image = _with_associations(registry, prefix, _with_known_ranges(image) if image.exact else image)
    return _with_keys(registry, image) if keys else _with_word_on_keys(registry, image)


def _with_word_on_keys(registry: Registry, image: RegistryImage) -> RegistryImage:
    """The image, which says that API keys are left out if there are any; asked where it has subjects of Iglu's API."""
    if not any(one.settings.order == SCHEMAVER for one in image.groups):
        return image
    answer = has_keys(registry)
    if answer is None:
        return replace(image, notes=(*image.notes, UNKNOWN_KEYS))
    return replace(image, left_out=(*image.left_out, LEFT_OUT)) if answer else image


def _with_keys(registry: Registry, image: RegistryImage) -> RegistryImage:
    """The image with the API keys that the caller administers."""
    keys = read_keys(registry)
    if keys is None:
        return replace(image, notes=(*image.notes, NO_KEYS))
    if isinstance(keys, TransferProblem):
        return replace(image, problems=(*image.problems, keys))
    return replace(image, api_keys=keys)


def _with_known_ranges(image: RegistryImage) -> RegistryImage:
    """The image with policies whose ranges begin at versions that it has."""
    ordinals: dict[str, list[int]] = {}
    for exported in image.whole_versions if any(begins_at(config) for _, config in image.configs) else ():
        ordinals.setdefault(exported.version.subject, []).append(exported.version.ordinal)

    def with_known_range(scope: Scope, config: Config) -> Config:
        return at_known_ordinals(config, ordinals.get(str(Subject(scope.context, scope.name or "")), ()))

    return replace(image, configs=tuple((scope, with_known_range(scope, config)) for scope, config in image.configs))


def _read_whole(registry: Registry, prefix: Subject, report: ReportProgress) -> RegistryImage | None:
    """All subjects and versions with all that is kept of them; None from a server that does not list them."""
    try:
        groups = tuple(export_subjects(registry, prefix))
        versions = tuple(export_versions(registry, prefix, report))
    except (NotFound, NotOffered):
        return None
    visible = [one for one in versions if one.state != "hidden"]
    return RegistryImage(
        tuple(sorted((one.version for one in visible), key=order_of)),
        exact=True,
        groups=groups,
        facts={(one.version.subject, one.version.number): facts_of(one) for one in visible},
        hidden=tuple(one for one in versions if one.state == "hidden"),
    )


def export_subjects(registry: Registry, prefix: Subject) -> Iterator[ExportedSubject]:
    """Subjects page by page."""
    pages = _Pages("subjects")
    after: Subject | None = None
    while page := registry.ask(ExportSubjects(prefix, after)).answer.subjects:
        pages.add(one.subject for one in page)
        yield from page
        after = subject_of(page[-1].subject)


def export_versions(
    registry: Registry, prefix: Subject, report: ReportProgress = ignore_progress
) -> Iterator[ExportedVersion]:
    """Versions page by page, hidden ones too."""
    pages = _Pages("versions")
    after: tuple[Subject, int] | None = None
    while page := registry.ask(ExportVersions(prefix, after)).answer.versions:
        pages.add((one.version.subject, one.version.ordinal) for one in page)
        yield from page
        after = (subject_of(page[-1].version.subject), page[-1].version.ordinal)
        report("versions", len(pages.keys), 0)


def _with_asked(registry: Registry, prefix: Subject, image: RegistryImage, report: ReportProgress) -> RegistryImage:
    """The image with the settings of its contexts and subjects, each asked for."""
    problems: list[TransferProblem] = []
    contexts, versions = image.contexts, image.versions
    scopes = [] if prefix.name else [Scope(one, None) for one in contexts]
    if prefix == Subject(EVERYWHERE, ""):
        scopes.append(Scope(EVERYWHERE, None))
    scopes += [Scope(*subject_of(name)) for name in sorted({one.subject for one in versions})]
    configs = sorted(_settings(scopes, partial(own_config, registry), problems, report, "config"), key=scope_order)
    modes = sorted(_settings(scopes, partial(own_mode, registry), problems, report, "mode"), key=scope_order)
    return replace(image, configs=tuple(configs), modes=tuple(modes), problems=tuple(problems), notes=(UNTOLD,))


def _with_listed(registry: Registry, prefix: Subject, image: RegistryImage) -> RegistryImage:
    """The image with all settings, from a server that can list them."""
    listed: list[ScopeSetting] = []
    pages = _Pages("settings")
    page: tuple[ScopeSetting, ...] | None = None
    while page is None or len(page) == SETTINGS_PAGE:
        after = Scope(listed[-1].context, listed[-1].name) if listed else None
        page = registry.ask(ListSettings(prefix, offset=len(listed), after=after)).answer.settings
        pages.add(Scope(one.context, one.name) for one in page)
        listed += page
    scopes = [(Scope(one.context, one.name), one) for one in listed]
    policies = _policies(registry)
    labelled = any(one.settings.order == SCHEMAVER for one in image.groups)
    configs = ((scope, without_name(one.config, policies)) for scope, one in scopes if one.config)
    return replace(
        image,
        policies=tuple(policies.items()),
        configs=tuple(sorted(configs, key=scope_order)),
        modes=tuple(sorted(((scope, one.mode) for scope, one in scopes if one.mode), key=scope_order)),
        native=True,
        notes=(NO_DRAFTS,) if labelled else (),
        highest=find_unused_highest({one.context: one.highest_id for one in listed if one.highest_id}, image.versions),
    )


def _policies(registry: Registry) -> dict[str, PolicyValue]:
    """Return the named policies; none from a server that has none."""
    policies: dict[str, PolicyValue] = {}
    pages = _Pages("policies")
    try:
        while page := registry.ask(ListPolicies(next(reversed(policies), ""))).answer.policies:
            pages.add(one.name for one in page)
            policies |= {one.name: one.policy for one in page}
    except (NotFound, NotOffered):
        return {}
    return policies


def _with_associations(registry: Registry, prefix: Subject, image: RegistryImage) -> RegistryImage:
    """The image with all associations of its subjects; a server that can't list all of them is asked for each."""
    subjects = sorted({one.subject for one in image.versions if not one.deleted})
    try:
        associations = _list_associations(registry, OfName(ANY, ANY))
        if not associations and not image.native:
            associations = [one for each in _at_once(partial(_of_subject, registry), subjects) for one in each]
    except (NotFound, NotOffered):
        associations = []  # a server without associations
    inside = (one for one in associations if _fits(one.subject, prefix))
    return replace(image, associations=tuple(sorted(inside, key=resource_order)))


def _of_subject(registry: Registry, subject: str) -> list[ResourceAssociation]:
    return _list_associations(registry, OfSubject(subject_of(subject)))


def _list_associations(registry: Registry, of: OfName | OfSubject) -> list[ResourceAssociation]:
    associations: list[ResourceAssociation] = []
    pages = _Pages("associations")
    page: tuple[ResourceAssociation, ...] | None = None
    while page is None or len(page) == ASSOCIATIONS_LISTED:
        page = registry.ask(ListAssociations(of, offset=len(associations))).answer.associations
        pages.add((one.resource, one.kind, one.subject) for one in page)
        associations += page
    return associations


class _Pages:
    """What pages brought so far: each brings something new, and all of them no more than TRANSFER_ROWS."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.keys: set[object] = set()

    def add(self, page: Iterable[object]) -> None:
        """Count a page. Raises `RegistryError` where the answers of a registry would never end."""
        keys = list(page)
        before = len(self.keys)
        self.keys.update(keys)
        if keys and len(self.keys) == before:
            raise RegistryError(f"the registry repeats a page of its {self.what} after {before} of them")
        if len(self.keys) > TRANSFER_ROWS:
            raise RegistryError(f"more {self.what} than the limit TRANSFER_ROWS of {TRANSFER_ROWS}")


def _fits(subject: str, prefix: Subject) -> bool:
    context, name = subject_of(subject)
    return prefix.context in {EVERYWHERE, context} and name.startswith(prefix.name)


def _contexts(registry: Registry, prefix: Subject) -> list[str]:
    if prefix.context != EVERYWHERE:
        return [prefix.context]
    try:
        return list(registry.ask(ListContexts()).answer.names)
    except (NotFound, NotOffered):
        return [DEFAULT_CONTEXT]  # a server without contexts


def _versions(registry: Registry, prefix: Subject, report: ReportProgress) -> Iterator[VersionFound]:
    """Versions page by page; from a server that can't list them, one by one."""
    offset = 0
    last: tuple[str, int] | None = None
    pages = _Pages("versions")
    try:
        while True:
            page = registry.ask(ListSchemas(prefix, "all", offset=offset, limit=PAGE, after=last)).answer.versions
            pages.add((one.subject, one.number) for one in page)
            yield from page
            last = (page[-1].subject, page[-1].number) if page else last
            offset += len(page)
            report("versions", offset, 0)
            if len(page) < PAGE:
                return
    except (NotFound, NotOffered):
        if offset:
            raise
    yield from _one_by_one(registry, prefix, report)


def _one_by_one(registry: Registry, prefix: Subject, report: ReportProgress) -> Iterator[VersionFound]:
    names = registry.ask(ListSubjects(prefix, "all")).answer.names

    def versions_of(name: str) -> list[VersionFound]:
        subject = subject_of(name)
        numbers = registry.ask(ListVersions(subject, "all")).answer.numbers
        return [registry.ask(GetVersion(subject, number, deleted=True, exact=True)).answer for number in numbers]

    for at, versions in enumerate(_at_once(versions_of, names), 1):
        yield from versions
        report("subjects", at, len(names))


def _at_once(work: Callable[[A], B], over: Iterable[A]) -> Iterator[B]:
    with ThreadPoolExecutor(THREADS, "treaty-transfer") as pool:
        yield from pool.map(work, over)


def _settings(
    scopes: list[Scope],
    own: Callable[[Scope], A | None],
    problems: list[TransferProblem],
    report: ReportProgress,
    what: str,
) -> Iterator[tuple[Scope, A]]:
    def ask(scope: Scope) -> A | TransferProblem | None:
        try:
            return own(scope)
        except NotFound:
            return None
        except Refusal as no:
            return TransferProblem(f"{what} of {scope.name or scope.context}", "not read", str(no))

    for at, (scope, setting) in enumerate(zip(scopes, _at_once(ask, scopes), strict=True), 1):
        if isinstance(setting, TransferProblem):
            problems.append(setting)
        elif setting is not None:
            yield scope, setting
        report(what, at, len(scopes))


def own_config(registry: Registry, scope: Scope) -> Config | None:
    """What is set at a scope, or None. Some registries answer for contexts a default where nothing is set, which is
    recognized by what is in force there, and so is the level of a config that has none. Raises `NotFound` for a subject
    that has none.
    """

    def ask(asked_scope: Scope, resolve: bool) -> Config:  # noqa: FBT001 - the signature that `_find_own` calls
        return without_name(registry.ask(GetConfig(asked_scope, resolve)).answer.config)

    own = _find_own(scope, ask, Config(level=DEFAULT_LEVEL))
    if own is None or own.level != DEFAULT_LEVEL or ask(scope, True).level == DEFAULT_LEVEL:
        return own
    return replace(own, level=None)


def own_mode(registry: Registry, scope: Scope) -> str | None:
    """The mode that is set at a scope, or None."""

    def ask(asked_scope: Scope, resolve: bool) -> str:  # noqa: FBT001 - the signature that `_find_own` calls
        return registry.ask(GetMode(asked_scope, resolve)).answer.mode or DEFAULT_MODE

    return _find_own(scope, ask, DEFAULT_MODE)


def _find_own(scope: Scope, ask: Callable[[Scope, bool], A], default: A) -> A | None:
    try:
        own = ask(scope, False)
    except NotFound:
        if scope.name is not None:
            raise
        return None
    if scope.name is not None:
        return own
    below = default if scope.context == EVERYWHERE else ask(Scope(EVERYWHERE, None), False)
    return own if own != below and own == ask(scope, True) else None
