"""Schema files and a git revision: each file is compared with what it was there."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from treaty.cli.schemas.judged import Judged
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import STDIN, Source, UnusableError, bindings, by_name, decoded, named_files, sources
from treaty.core.meaning import Binding, Meaning
from treaty.formats.answer import Parser
from treaty.formats.table import Table, table
from treaty.formats.verdict import history


@dataclass(frozen=True, slots=True)
class Since:
    """What was asked for: the revision, the files (none: all schemas that changed since), and how to judge."""

    base: str
    files: tuple[str, ...]
    format: str | None
    references: tuple[str, ...]
    level: str
    policy: str


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a repository as they were at a commit; `renamed` leads from names now to names then."""

    root: Path
    base: str
    renamed: dict[str, str]

    def text(self, path: str) -> str | None:
        """The text of a file then; None where it was not there."""
        try:
            inside = Path(path).resolve().relative_to(self.root.resolve()).as_posix()
        except ValueError:
            raise UnusableError(f"{path} lies outside the repository {self.root}; name files inside it") from None
        before = f"{self.base}:{self.renamed.get(inside, inside)}"
        if _run(self.root, "cat-file", "-e", before).returncode:
            return None
        return decoded(path, _run(self.root, "cat-file", "blob", before).stdout)


def check(since: Since, *, as_json: bool) -> int:
    """Judge every file after itself at the revision, print, and return the worst exit code."""
    formats = table()
    parser = Parser(formats)
    if STDIN in since.files:
        raise UnusableError("standard input has no earlier revision; name files")
    root = Path(_git(Path(), "rev-parse", "--show-toplevel", remedy="run it inside a git repository").strip())
    base = _commit(root, since.base)
    tree = Tree(root, base, _renamed(root, base))
    files = since.files or _changed(tree, formats)
    judged = [_judge(since, tree, path, parser) for path in screen.watched(files, "comparing")]
    if as_json:
        screen.say_json({"fits": all(one.code == 0 for one in judged), "files": [one.members() for one in judged]})
    else:
        for one in judged:
            one.say()
        if not judged:
            screen.say(f"No schema has changed since {since.base}.", "green")
    return max((one.code for one in judged), default=0)


def _commit(root: Path, base: str) -> str:
    """The commit that a revision names; the empty tree for the HEAD of a repository without a commit."""
    run = _run(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if run.returncode == 0:
        return run.stdout.decode().strip()
    if base == "HEAD":
        return _git(root, "hash-object", "-t", "tree", "--stdin").strip()
    raise UnusableError(f"{base} is no revision of {root}; name a branch, a tag or a commit that has been fetched")


def _judge(since: Since, tree: Tree, path: str, parser: Parser) -> Judged:
    (new,) = sources([path], since.format, parser.table)
    text = tree.text(path)
    olds: tuple[Source, ...] = ()
    if text is not None:
        olds = (Source(f"{path}@{since.base}", text, new.format),)
    before = [Meaning(one.format, one.text, _bound_then(since, tree, one.format)) for one in olds]
    now = Meaning(new.format, new.text, bindings(since.references, new.format))
    return Judged(since.level, since.policy, new, olds, history(parser, before, now, since.policy))


def _bound_then(since: Since, tree: Tree, format_: str) -> tuple[Binding, ...]:
    """The references as they were at the revision; those that were not there yet, as they are now."""
    bound: tuple[Binding, ...] = ()
    now = bindings(since.references, format_)
    for (name, path), one in zip(named_files(since.references), now, strict=True):
        then = tree.text(path)
        text = one.meaning.text if then is None else then
        bound = (*bound, Binding(name, name, 1, Meaning(format_, text, bound)))
    return bound


def _renamed(root: Path, base: str) -> dict[str, str]:
    """Files that have another name now than at the revision, by their name now."""
    told = _git(root, "diff", "--name-status", "-z", "--diff-filter=R", "--find-renames", base).split("\0")
    return dict(zip(told[2::3], told[1::3], strict=True))


def _changed(tree: Tree, formats: Table) -> tuple[str, ...]:
    """Schema files that differ from the revision or are new, known by their names' endings."""
    told = _git(tree.root, "diff", "--name-only", "-z", "--diff-filter=ACMR", tree.base).split("\0")
    told += _git(tree.root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
    paths = [tree.root / path for path in sorted(set(told) - {""}) if by_name(path, formats)]
    here = Path.cwd()
    return tuple(str(path.relative_to(here) if path.is_relative_to(here) else path) for path in paths)


def _git(folder: Path, *words: str, remedy: str = "") -> str:
    run = _run(folder, *words)
    if run.returncode:
        told = run.stderr.decode("utf-8", "replace").strip() or f"git {words[0]} fails"
        raise UnusableError(f"{told}; {remedy}" if remedy else told)
    return run.stdout.decode("utf-8", "surrogateescape")


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    program = which("git")
    if program is None:
        raise UnusableError("git is not installed here; install it, or compare two files: treaty check OLD NEW")
    return subprocess.run([program, *words], cwd=folder, capture_output=True, check=False)  # noqa: S603 (our own words)
