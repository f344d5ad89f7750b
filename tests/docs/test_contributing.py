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


def test_every_link_of_the_entry_pages_leads_to_a_file() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    dead = []
    for page in pages:
        prose = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
            if not target.startswith(("http:", "https:")) and not (page.parent / target).exists():
                dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert dead == []


def test_the_architecture_names_files_of_its_rooms() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rooms = re.findall(
        r"^\| `(\w+)` \|.*\| ([^|]*) \|$", page.partition("## The rooms")[2].partition("## A request")[0], re.MULTILINE
    )
    assert len(rooms) > 10
    named = [f"src/treaty/{room}/{path}" for room, last in rooms for path in re.findall(r"`([\w/]+(?:\.py|/))`", last)]
    named += [f"src/treaty/{path}" for path in re.findall(r"`((?:core|log|node|plan|api|client)/[\w/]+\.py)`", page)]
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_each_row_of_where_is_names_a_file_and_what_it_has() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    section = page.partition("## Where is")[2].partition("## One log")[0]
    rows = [line for line in section.splitlines() if re.match(r"\| (?!question)[^|]+ \| .+ \|$", line)]
    source = ROOT / "src" / "treaty"
    assert len(rows) > 200
    for row in rows:
        answer = row.split(" | ", 1)[1]
        folders: list[Path] = [source]
        for place, names in re.findall(r"`([\w/]+(?:\.py|/\w+))`(?: \(((?:`\w[\w.]*`(?:, )?)+)\))?", answer):
            near = [folder / place for folder in reversed(folders) if (folder / place).exists()]
            assert near or list(source.rglob(place)), f"{place} in: {row}"
            if not near:
                continue
            folders.append(near[0] if near[0].is_dir() else near[0].parent)
            for name in re.findall(r"`(?:\w+\.)?(\w+)`", names):
                assert re.search(rf"\b{name}\b", near[0].read_text("utf-8")), f"{name} is not in {place}: {row}"


def test_each_question_of_where_is_is_asked_once() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    section = page.partition("## Where is")[2].partition("## One log")[0]
    questions = re.findall(r"^\| (?!question)([^|]+) \| ", section, re.MULTILINE)
    assert [one for one in questions if questions.count(one) > 1] == []
