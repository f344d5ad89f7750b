"""The jars that Ivy found for a set of packages, kept beside them: later starts of Spark need not ask Ivy again."""

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from treaty.spark.packages import Packages

IVY_JARS = Path.home() / ".ivy2.5.2" / "jars"
"""Where Spark 4.1's Ivy puts what it fetched."""
LISTS = IVY_JARS.with_name("treaty")
"""Where the lists are: a jar on each line, its size in bytes before it."""


def kept(wanted: Packages, lists: Path = LISTS) -> tuple[str, ...]:
    """All jars of these packages, those that they need in turn too; empty unless each is on disk as it was fetched."""
    try:
        lines = (lists / _name(wanted)).read_text("utf-8").splitlines()
        found = [line.split(" ", 1) for line in lines]
        whole = all(Path(jar).stat().st_size == int(size) for size, jar in found)
    except (OSError, ValueError):
        return ()
    return tuple(jar for _, jar in found) if whole else ()


def keep(wanted: Packages, jars: Sequence[str], lists: Path = LISTS) -> None:
    """Note what Ivy found, out of all jars of a session; nothing where a package is not among them, or on a disk that can't be written."""
    paths = [Path(one.removeprefix("file://")) for one in jars]
    mine = [one for one in paths if one.parent == IVY_JARS]
    if not {jar_of(one) for one in wanted.coordinates} <= {one.name for one in mine}:
        return
    try:
        text = "".join(f"{one.stat().st_size} {one}\n" for one in mine)
        lists.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=lists, encoding="utf-8", delete=False) as half:
            half.write(text)
        Path(half.name).replace(lists / _name(wanted))
    except OSError:
        return  # the next start asks Ivy again


def jar_of(coordinate: str) -> str:
    """The name that Ivy gives to the jar of a package."""
    group, artifact, version = coordinate.split(":")
    return f"{group}_{artifact}-{version}.jar"


def _name(wanted: Packages) -> str:
    told = "\n".join((*wanted.coordinates, "", *wanted.excludes))
    return hashlib.sha256(told.encode()).hexdigest()[:16] + ".txt"
