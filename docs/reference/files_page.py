"""Makes the page of what each file of the code is for, from the first paragraphs of the files; `make.py` writes it."""

import ast
from collections import defaultdict
from itertools import pairwise
from pathlib import Path, PurePosixPath

_ROOT = Path(__file__).parents[2] / "src"
_HEAD = """# Files

What each file of the code is for, in its own first words, and the numbers that it decides by; a folder says its own words before them. The limits of `treaty/core/limits.py` are in
[limits](limits.md). [Where is …](../architecture.md#where-is-) answers
by decision instead.
"""


def page() -> str:
    """Every folder of the code with its words, and every file in it with its own."""
    folders: defaultdict[str, list[Path]] = defaultdict(list)
    for path in sorted(_ROOT.glob("treaty/**/*.py")):
        folders[path.parent.relative_to(_ROOT).as_posix()].append(path)
    return _HEAD + "".join(_section(PurePosixPath(folder), files) for folder, files in sorted(folders.items()))


def _section(folder: PurePosixPath, files: list[Path]) -> str:
    sentence = next((_sentence(file) for file in files if file.name == "__init__.py"), "")
    rows = [
        f"| `{file.relative_to(_ROOT / 'treaty').as_posix()}` | {_sentence(file)}{_numbers(file)} |\n"
        for file in files
        if file.name != "__init__.py"
    ]
    table = "\n| file | what it is for |\n|---|---|\n" + "".join(rows) if rows else ""
    return f"\n## {folder}\n\n{sentence}\n{table}"


def _sentence(file: Path) -> str:
    """The first paragraph of a module's docstring on one line."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("|", "\\|")


def _numbers(file: Path) -> str:
    """The names of a module's numbers that have a sentence of their own, such as limits and times."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    names = [
        node.targets[0].id
        for node, after in pairwise(body)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.isupper()
        and not node.targets[0].id.startswith("_")
        and _is_number(node.value)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
    ]
    return f" Numbers: {', '.join(f'`{name}`' for name in names)}." if names and file.name != "limits.py" else ""


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is a number, or made of numbers."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
    return False
