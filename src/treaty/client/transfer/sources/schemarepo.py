"""schema-repo as the source of an import: a server, by its REST interface, or the folder of its local file repository."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from treaty.client.transfer.registry_image import RegistryImage, TransferProblem
from treaty.client.transfer.registry_reader import ReportProgress, ignore_progress
from treaty.client.transfer.sources.image import GroupSource, image_of, version_of
from treaty.client.transfer.sources.rest import THREADS, RestSource, quote_name
from treaty.core.limits import OPAQUE_BYTES, TRANSFER_ROWS
from treaty.core.messages.groups import ANY_FORMAT, FORMAT, SCHEMA_REPO, TEXT_FORMAT
from treaty.core.messages.settings import Config
from treaty.core.messages.transfers import ExportedVersion
from treaty.core.refusals import Refusal, RegistryError
from treaty.core.schema import Draft
from treaty.core.schema_engine import ParsedSchema, ParseSchema, ResolvedSchema
from treaty.core.state.values import PolicyValue
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.wire.schemarepo.properties import read_properties
from treaty.wire.schemarepo.requests import create_subject_of, ordinal_of, subject_named
from treaty.wire.schemarepo.texts import JSON, TEXT, SchemaEntry, read_entries, read_names

ROOT = "/schema-repo"
"""The path of the interface, where the URL has none."""
SCHEME = SCHEMA_REPO
"""The scheme of the names of versions whose ids are no numbers."""
LOCK, PROPERTIES, IDS, SUFFIX = ".repo.lock", "subject.properties", "schema_ids", ".schema"
"""Files of a local file repository: the lock, and in the folder of a subject its configuration, its ids, and its schemas."""
NO_TIMES = "schema-repo does not say when schemas were registered"


A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class RepositorySubject:
    """A subject as a repository keeps it: its configuration and its entries, oldest first."""

    name: str
    config: Mapping[str, str]
    entries: tuple[SchemaEntry, ...]
    problems: tuple[TransferProblem, ...] = ()


# ------------------------------------------------------------------------------------------------------- a server


def read_server(url: str, report: ReportProgress = ignore_progress) -> RegistryImage:
    """Read all subjects of a server; what can't be read is a problem. Raises `RegistryError`."""
    with RestSource(url) as source, ThreadPoolExecutor(THREADS, "treaty-transfer") as pool:
        source.path = source.path or ROOT
        body = source.get("/", accept=JSON)
        if body is None:
            raise RegistryError(f"GET {source.path}/: it does not exist: is this a server of schema-repo?")
        names = _read(lambda: read_names(body, JSON), "/")
        return _image(pool.map(lambda name: _ask_subject(source, name), dict.fromkeys(names)), report)


def _ask_subject(source: RestSource, name: str) -> RepositorySubject | TransferProblem:
    path = f"/{quote_name(name)}"
    try:
        config = source.get(f"{path}/config", accept=TEXT)
        listed = source.get(f"{path}/all", accept=JSON)
        if config is None or listed is None:
            return TransferProblem(name, "a subject that is not read", "it does not exist any more")
        entries = _read(lambda: read_entries(listed, JSON), path)
        return RepositorySubject(name, _read(lambda: read_properties(config.decode()), path), tuple(reversed(entries)))
    except RegistryError as no:
        return TransferProblem(name, "a subject that is not read", str(no))


def _read(read: Callable[[], A], path: str) -> A:
    try:
        return read()
    except (ValueError, AttributeError) as error:
        raise RegistryError(f"GET {path}: the answer can't be read: {str(error)[:200]}") from None


# ------------------------------------------------------------------------------------------------------- a folder


def read_repository(path: str, report: ReportProgress = ignore_progress) -> RegistryImage:
    """Read a local file repository, which no server should write meanwhile. Raises `RegistryError` for what is none."""
    root = Path(path)
    if not root.is_dir():
        raise RegistryError(f"{path} is no folder; the folder of a local file repository has one for each subject")
    folders = sorted(one for one in root.iterdir() if one.name != LOCK)
    return _image(map(_read_subject_folder, folders), report)


def _read_subject_folder(folder: Path) -> RepositorySubject | TransferProblem:
    if folder.is_symlink() or not folder.is_dir() or not (folder / IDS).is_file():
        return TransferProblem(folder.name, "not read", f"it is no folder of a subject: it has no file {IDS}")
    problems: list[TransferProblem] = []
    entries: list[SchemaEntry] = []
    try:
        files = {one.name.removesuffix(SUFFIX): one for one in folder.iterdir() if one.name.endswith(SUFFIX)}
        properties = folder / PROPERTIES
        config = read_properties(_read_text(properties)) if properties.exists() else {}
        ids = [line for line in _read_text(folder / IDS).splitlines() if line]
    except (OSError, ValueError) as error:
        return TransferProblem(folder.name, "a subject that is not read", str(error))
    for id_ in dict.fromkeys(ids):
        file = files.pop(id_, None)
        try:
            if file is None:
                raise ValueError(f"it has no file {id_}{SUFFIX}")
            entries.append(SchemaEntry(id_, _read_text(file)))
        except (OSError, ValueError) as error:
            problems.append(TransferProblem(f"{folder.name} id {id_}", "a schema that is not read", str(error)))
    for id_ in sorted(files):
        why = f"{IDS} does not list it: its registration was cut off"
        problems.append(TransferProblem(f"{folder.name} id {id_}", "a schema that is not read", why))
    return RepositorySubject(folder.name, config, tuple(entries), tuple(problems))


def _read_text(file: Path) -> str:
    """Read a file of UTF-8. Raises `ValueError` for other bytes and too many of them, `OSError` for what can't be read."""
    if file.is_symlink() or not file.is_file():
        raise ValueError(f"{file.name} is no file")
    if file.stat().st_size > OPAQUE_BYTES:
        raise ValueError(f"{file.name} has more bytes than the limit OPAQUE_BYTES of {OPAQUE_BYTES}")
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{file.name} is not text in UTF-8: byte {error.start} can't be read") from None


# -------------------------------------------------------------------------------------------------------- subjects


def _image(read_subjects: Iterable[RepositorySubject | TransferProblem], report: ReportProgress) -> RegistryImage:
    groups: list[GroupSource] = []
    problems: list[TransferProblem] = []
    for subject_read in read_subjects:
        try:
            if isinstance(subject_read, TransferProblem):
                problems.append(subject_read)
            else:
                groups.append(_group_of(subject_read))
        except Refusal as no:
            assert isinstance(subject_read, RepositorySubject)
            problems.append(TransferProblem(subject_read.name, "a subject that is not read", str(no)))
        if len(groups) > TRANSFER_ROWS:
            raise RegistryError(f"more subjects than the limit TRANSFER_ROWS of {TRANSFER_ROWS}")
        report("subjects", len(groups), 0)
    return image_of(groups, problems, (NO_TIMES,) if any(one.versions for one in groups) else ())


def _group_of(repository_subject: RepositorySubject) -> GroupSource:
    """Return the subject that a subject of a repository is here."""
    subject = subject_named(repository_subject.name)
    settings = create_subject_of(SCHEMA_REPO, repository_subject.config).settings
    config = settings.policy or Config(level="NONE")
    policy = PolicyValue(validators=config.validators or ())
    named = dict(settings.properties).get(FORMAT, ANY_FORMAT)
    last: dict[tuple[str, str], int] = {}
    versions: list[ExportedVersion] = []
    for ordinal, entry in _ordinals(repository_subject.entries):
        draft = _draft_of(entry.schema, ("AVRO", TEXT_FORMAT) if named == ANY_FORMAT else (named,))
        kind = (draft.format, draft.type_name)
        last[kind] = last.get(kind, -1) + 1
        names = () if str(ordinal) == entry.id else ((SCHEME, entry.id),)
        version = version_of(subject, ordinal, draft, type_version=last[kind])
        versions.append(ExportedVersion(version, "live", policy, names))
    return GroupSource(subject, settings, config, tuple(versions), problems=repository_subject.problems)


def _ordinals(entries: tuple[SchemaEntry, ...]) -> Iterator[tuple[int, SchemaEntry]]:
    """Return entries with their ordinals: the ids, where all are numbers that rise; else they are counted, and the ids are
    further names. An id that is listed twice counts once.
    """
    listed = tuple({entry.id: entry for entry in reversed(entries)}.values())[::-1]
    numbers = [ordinal_of(entry.id) for entry in listed]
    ordinals = [one for one in numbers if one is not None]
    rising = len(ordinals) == len(listed) and all(low < high for low, high in pairwise(ordinals))
    return zip(ordinals if rising else range(len(listed)), listed, strict=True)


def _draft_of(text: str, formats: tuple[str, ...]) -> Draft:
    """Return a text as the first format that it can be read in, else as the last one."""
    engine = FormatEngine(find_formats())
    for format_ in formats:
        if engine.formats.find(format_) is None:
            continue
        answer = engine.answer(ParseSchema(ResolvedSchema(format_, text), strict=False, normalize=False))
        if isinstance(answer, ParsedSchema):
            return Draft(text, format_, type_name=answer.type_name)
    return Draft(text, formats[-1])
