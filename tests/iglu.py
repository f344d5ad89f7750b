"""The JSON schemas of Iglu Central, as they were published, and the families of versions among them."""

import json
import lzma
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).parent / "conformance" / "data" / "iglu-central" / "jsonschema.json.xz"


@cache
def schemas() -> Mapping[str, str]:
    """The 660 texts by vendor/name/format/model-revision-addition, unchanged."""
    found: dict[str, str] = json.loads(lzma.decompress(ARCHIVE.read_bytes()))
    return found


@cache
def families() -> Mapping[str, tuple[tuple[tuple[int, int, int], str], ...]]:
    """The texts of every schema that has more than one version: its name, and version and text in their order."""
    grouped: dict[str, list[tuple[tuple[int, int, int], str]]] = {}
    for path, text in schemas().items():
        name, _, label = path.rpartition("/")
        model, revision, addition = map(int, label.split("-"))
        grouped.setdefault(name.removesuffix("/jsonschema"), []).append(((model, revision, addition), text))
    return {name: tuple(sorted(versions)) for name, versions in grouped.items() if len(versions) > 1}
