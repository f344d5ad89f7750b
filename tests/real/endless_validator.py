"""A validator of its own, as a package would offer it, that counts no step and ends once a file is gone."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from treaty.core.finding import Diagnostic
from treaty.formats.validators import ValidatedSchema, Validator

WAYS: dict[str, Callable[[], None]] = {"spin": lambda: None, "sleep": lambda: time.sleep(600)}


def find(
    schema: ValidatedSchema, versions: tuple[ValidatedSchema, ...], parameters: tuple[str, ...]
) -> Iterator[Diagnostic]:
    """Spin or sleep, and then find nothing."""
    way, path = parameters[:2]
    while Path(path).exists():
        WAYS[way]()
    yield from ()


def check(parameters: tuple[str, ...]) -> None:
    """Spin too where a third parameter says so."""
    while parameters[2:] and Path(parameters[1]).exists():
        pass


ENDLESS = Validator("endless", "Ends some time.", find, check, parses=False)


def offer(folder: Path) -> None:
    """Write what an installed package has, so that a program with this folder on its path knows the validator."""
    info = folder / "endless-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: endless\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(
        "[treaty.validators]\nendless = tests.real.endless_validator:ENDLESS\n", "utf-8"
    )
