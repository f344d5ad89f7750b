"""What a registry has under some names, as an image in which a change can be rehearsed."""

from collections.abc import Iterable
from dataclasses import replace

from treaty.client.transfer.policies import without_name
from treaty.client.transfer.registry_image import Place, RegistryImage, facts_of, order_of
from treaty.client.transfer.registry_reader import export_subjects, export_versions
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.settings import Config, GetConfig, GetMode, Scope
from treaty.core.messages.transfers import ExportedSubject, ExportedVersion
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound, NotOffered
from treaty.core.registry import Registry

ANY = "*"
"""In place of a context: references are followed into every one."""


def stand(registry: Registry, subjects: Iterable[Subject]) -> RegistryImage:
    """All versions of these subjects and what they refer to, and the config and mode in force at each."""
    versions: dict[Place, VersionFound] = {}
    configs: list[tuple[Scope, Config]] = []
    modes: list[tuple[Scope, str]] = []
    subjects = tuple(dict.fromkeys(subjects))
    for subject in subjects:
        scope = Scope(subject.context, subject.name)
        configs.append((scope, without_name(registry.ask(GetConfig(scope, resolve=True)).answer.config)))
        modes.append((scope, registry.ask(GetMode(scope, resolve=True)).answer.mode or "READWRITE"))
        try:
            numbers = registry.ask(ListVersions(subject, "all")).answer.numbers
        except NotFound:
            continue
        for number in numbers:
            version = registry.ask(GetVersion(subject, number, deleted=True, exact=True)).answer
            if subject_of(version.subject) == subject:  # and not the one of this name in another context
                collect(registry, version, ANY, versions)
    existing = (subject for subject in subjects if any(one == str(subject) for one, _ in versions))
    groups, exported = read_whole(registry, map(str, existing))
    visible = {(each.version.subject, each.version.number): each for each in exported if each.state != "hidden"}
    versions |= {place: each.version for place, each in visible.items() if place in versions}
    return RegistryImage(
        tuple(sorted(versions.values(), key=order_of)),
        tuple(configs),
        tuple(modes),
        exact=bool(groups),
        groups=tuple(groups),
        facts={place: facts_of(each) for place, each in visible.items()},
        hidden=tuple(each for each in exported if each.state == "hidden"),
    )


def read_whole(registry: Registry, subjects: Iterable[str]) -> tuple[list[ExportedSubject], list[ExportedVersion]]:
    """Subjects and their versions with all that is kept of them; none from a server that does not list them."""
    groups: list[ExportedSubject] = []
    exported: list[ExportedVersion] = []
    try:
        for name in subjects:
            groups += [one for one in export_subjects(registry, subject_of(name)) if one.subject == name]
            versions = export_versions(registry, subject_of(name))
            exported += [one for one in versions if one.version.subject == name]
    except (NotFound, NotOffered):
        return [], []
    return groups, exported


def find_latest_numbers(image: RegistryImage, subjects: Iterable[Subject]) -> dict[Subject, int]:
    """The number of the latest live version of each subject, -1 where there is none."""
    numbers = dict.fromkeys(subjects, -1)
    for version in image.versions:
        subject = subject_of(version.subject)
        if not version.deleted and subject in numbers:
            numbers[subject] = max(numbers[subject], version.number)
    return numbers


def register(registry: Registry, request: Register) -> RegisteredVersion:
    """Register a schema; without the expected latest version if the server does not support it."""
    try:
        return registry.ask(request).answer
    except NotOffered:
        if request.expected is None:
            raise
    return registry.ask(replace(request, expected=None)).answer


def collect(registry: Registry, root: VersionFound, context: str, collected: dict[Place, VersionFound]) -> None:
    """Put a version behind everything that it refers to in a context; depth first, without recursion."""
    waiting: list[tuple[VersionFound, bool]] = [(root, False)]
    while waiting:
        version, ready = waiting.pop()
        place = (version.subject, version.number)
        if place in collected:
            continue
        if ready:
            collected[place] = version
            continue
        waiting.append((version, True))
        for reference in reversed(version.references):
            target = subject_of(version.subject).sibling(reference.subject)
            if context in {ANY, target.context} and (str(target), reference.version) not in collected:
                waiting.append(
                    (registry.ask(GetVersion(target, reference.version, deleted=True, exact=True)).answer, False)
                )
