"""Folders of schemas as Iglu lays them out: ``schemas/VENDOR/NAME/FORMAT/VERSION``, and their order of publication."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from treaty.core.iglu_key import IgluKey, IgluKeyError


@dataclass(frozen=True, slots=True)
class SchemaPath:
    """The file of a schema."""

    key: IgluKey
    path: Path


@dataclass(frozen=True, slots=True)
class IgluFolder:
    """The schemas of a folder, in the order in which they are published, and files that lie at no path of a schema."""

    schemas: tuple[SchemaPath, ...]
    misplaced: tuple[Path, ...]


def read_folder(folder: Path) -> IgluFolder:
    """List the schemas of a folder, or of its folder ``schemas``. Hidden files are left out."""
    root = folder / "schemas" if (folder / "schemas").is_dir() else folder
    schemas: list[SchemaPath] = []
    misplaced: list[Path] = []
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if not path.is_file() or any(part.startswith(".") for part in parts):
            continue
        try:
            key = IgluKey.parse_path("/".join(parts)) if len(parts) == 4 else None
        except IgluKeyError:
            key = None
        if key is None:
            misplaced.append(path)
        else:
            schemas.append(SchemaPath(key, path))
    return IgluFolder(tuple(sorted(schemas, key=lambda one: one.key)), tuple(misplaced))


def list_models(keys: Iterable[IgluKey]) -> dict[str, list[str]]:
    """Return the lists of a static registry by path: the URIs of each model, ``VENDOR/NAME/FORMAT/MODEL``."""
    models = groupby(sorted(keys), lambda key: f"{key.vendor}/{key.name}/{key.format}/{key.version.model}")
    return {path: [str(key) for key in members] for path, members in models}
