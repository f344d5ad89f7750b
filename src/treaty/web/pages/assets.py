"""Files that pages refer to: styles and scripts, under names that change with their content."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
MEDIA: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Media types by the ending of a name."""


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file with its media type, and the name under which pages ask for it."""

    name: str
    body: bytes
    media: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """All files, by the name with their digest."""
    files = {}
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in MEDIA:
            body = path.read_bytes()
            name = f"{path.stem}.{hashlib.sha256(body).hexdigest()[:12]}{path.suffix}"
            files[name] = StaticFile(name, body, MEDIA[path.suffix])
    return files


@cache
def static_path(plain: str) -> str:
    """Return the address of a file, relative to the pages: ``static/app.0123456789ab.css`` for ``app.css``."""
    stem, _, ending = plain.rpartition(".")
    parts = (name.split(".") for name in static_files())
    return next(f"static/{'.'.join(one)}" for one in parts if (".".join(one[:-2]), one[-1]) == (stem, ending))
