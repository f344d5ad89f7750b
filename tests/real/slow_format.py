"""A format of its own, as a package would offer it, whose texts take as many seconds to read as they say."""

import time
from pathlib import Path

from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import Format, SchemaTexts

PADDING = "." * 200_000
"""What makes a text too large to be read in the event loop."""


def text_of(seconds: float, name: str = "") -> str:
    """A text that takes so long, and is told apart from others by a name."""
    return f"{seconds} {name} {PADDING}"


def parse(meaning: ResolvedSchema, strict: bool) -> str:  # noqa: FBT001 - the signature of `Format.parse`
    """Work, without ever waiting for anything."""
    end = time.monotonic() + float(meaning.text.split(" ")[0])
    while time.monotonic() < end:
        pass
    return meaning.text


FORMAT = Format(
    name="SLOW",
    parse=parse,
    show=lambda model, normalize: SchemaTexts(model, model, ""),
    references=lambda text: (),
    compare=lambda reader, writer, policy: (),
    views={},
    fingerprints={},
    rules={},
)


def offer(folder: Path) -> None:
    """Write what an installed package has, so that a program with this folder on its path knows the format."""
    info = folder / "slow-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[treaty.formats]\nSLOW = tests.real.slow_format:FORMAT\n", "utf-8")
