"""The page for contributors names files that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_every_path_exists() -> None:
    named = set(re.findall(r"`((?:src|tests|docs)/[A-Za-z0-9_/.*…]+)`", PAGE))
    named |= {f"src/treaty/{path}" for path in re.findall(r"`((?:formats|core|log|plan)/[A-Za-z0-9_/.]+)`", PAGE)}
    assert len(named) > 30
    assert [path for path in sorted(named) if not list(ROOT.glob(path.rstrip("/")))] == []


def test_the_architecture_names_files_of_its_rooms() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rooms = re.findall(
        r"^\| `(\w+)` \|.*\| ([^|]*) \|$", page.partition("## The rooms")[2].partition("## A request")[0], re.MULTILINE
    )
    assert len(rooms) > 10
    named = [f"src/treaty/{room}/{path}" for room, last in rooms for path in re.findall(r"`([\w/]+(?:\.py|/))`", last)]
    named += [f"src/treaty/{path}" for path in re.findall(r"`((?:core|log|node|plan|api|client)/[\w/]+\.py)`", page)]
    assert [path for path in named if not (ROOT / path).exists()] == []
