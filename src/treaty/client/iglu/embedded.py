"""Embedded registries: schemas in a folder, in a zip file, or among the resources of a Python package."""

import zipfile
from collections.abc import Iterable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from treaty.client.iglu.errors import NOT_FOUND, RegistryFailure, ResolverConfigError, repo_failure
from treaty.client.iglu.registries import (
    EMBEDDED,
    IgluRegistry,
    ListKey,
    LocalSource,
    RegistryAnswer,
    RegistryQuestion,
    SchemaDocument,
    read_document,
)
from treaty.core.iglu_key import IgluKey, IgluKeyError
from treaty.core.limits import IGLU_ANSWER_BYTES

PACKAGE = "package:"
ARCHIVES = (".zip", ".jar")
PATH_ALLOWED = (
    "a folder, FILE.zip or FILE.jar with an inner path after ! if need be, or package:NAME/PATH; it holds "
    "schemas/VENDOR/NAME/FORMAT/VERSION"
)
BUILT_IN = "Iglu Client Embedded"
"""The name of the registry that every resolver has: it holds the schemas of configurations and self-describing data."""


def embedded_registry(
    name: str, path: str | Path, *, priority: int = 0, vendor_prefixes: Iterable[str] = (), folder: Path | None = None
) -> IgluRegistry:
    """A registry of files: a folder, a zip file or ``package:NAME/PATH``. A relative path begins at `folder`.

    Nothing is opened before the first look-up. Raises `ResolverConfigError` for an empty path.
    """
    text = str(path)
    if not text.removeprefix(PACKAGE).strip("/ "):
        raise ResolverConfigError.of("path", text, PATH_ALLOWED)

    def ask(question: RegistryQuestion) -> RegistryAnswer:
        return _ask_files(text, folder, question)

    return IgluRegistry(name, LocalSource(ask, blocks=True), priority, tuple(vendor_prefixes), EMBEDDED)


def built_in_registry() -> IgluRegistry:
    """The registry of the schemas that Iglu itself needs, part of this library."""

    def ask(question: RegistryQuestion) -> RegistryAnswer:
        return _ask_root(resources.files("treaty.client.iglu") / "schemas", question)

    return IgluRegistry(BUILT_IN, LocalSource(ask), 0, (), EMBEDDED)


def _ask_files(path: str, folder: Path | None, question: RegistryQuestion) -> RegistryAnswer:
    try:
        if path.startswith(PACKAGE):
            package, _, inner = path.removeprefix(PACKAGE).partition("/")
            return _ask_root(_join(resources.files(package), inner) / "schemas", question)
        file, mark, inner = path.partition("!")
        where = (folder or Path()) / file
        if mark or file.endswith(ARCHIVES):
            with zipfile.ZipFile(where) as archive:
                return _ask_root(_join(zipfile.Path(archive), inner) / "schemas", question)
        if not where.is_dir():
            return repo_failure(f"the folder {where} does not exist")
        return _ask_root(where / "schemas", question)
    except (OSError, ImportError, zipfile.BadZipFile, ValueError) as error:
        return repo_failure(f"{path} can't be read: {error}")


def _join(root: Traversable, inner: str) -> Traversable:
    for step in filter(None, inner.split("/")):
        root /= step
    return root


def _ask_root(root: Traversable, question: RegistryQuestion) -> RegistryAnswer:
    if question.vendor in {".", ".."}:
        return NOT_FOUND
    if isinstance(question, ListKey):
        return _list_versions(_join(root, f"{question.vendor}/{question.name}/jsonschema"), question)
    file = _join(root, question.path)
    if not file.is_file():
        return NOT_FOUND
    with file.open("rb") as opened:
        content = opened.read(IGLU_ANSWER_BYTES + 1)
    if len(content) > IGLU_ANSWER_BYTES:
        return repo_failure(f"a file of more than the limit IGLU_ANSWER_BYTES of {IGLU_ANSWER_BYTES} bytes")
    return read_document(content)


def _list_versions(folder: Traversable, question: ListKey) -> SchemaDocument | RegistryFailure:
    """The URIs of a model's versions, in the order of their numbers."""
    if not folder.is_dir():
        return NOT_FOUND
    keys = []
    for file in folder.iterdir():
        try:
            key = IgluKey.parse_path(f"{question.vendor}/{question.name}/jsonschema/{file.name}")
        except IgluKeyError:
            continue
        if key.version.model == question.model:
            keys.append(key)
    return SchemaDocument([str(key) for key in sorted(keys)]) if keys else NOT_FOUND
