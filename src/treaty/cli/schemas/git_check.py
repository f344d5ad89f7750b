"""Compares schema files with their texts at a git revision, for `treaty check --git-base` and `--staged`; a revision that is not there is refused."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which

from treaty.cli.schemas.check_result import FITS, INVALID, CheckResult, compare_under_others, warn_of_union
from treaty.cli.terminal import screen
from treaty.cli.terminal.findings import OutputOptions
from treaty.cli.terminal.references import References, read_file
from treaty.cli.terminal.source import (
    STDIN,
    SchemaSource,
    UnusableError,
    check_format_name,
    decode_text,
    guess_format_by_content,
    guess_format_by_name,
    read_text,
)
from treaty.formats.engine import FormatEngine
from treaty.formats.history import HistoryComparison, compare_history
from treaty.formats.registry import FormatRegistry, find_formats


@dataclass(frozen=True, slots=True)
class RevisionCheckOptions:
    """Options: the revision, the files (none: all schemas that changed since), and how to compare. `staged` reads the
    files from git's index.
    """

    base: str
    staged: bool
    files: tuple[str, ...]
    format: str | None
    references: References
    level: str
    policy: str


@dataclass(frozen=True, slots=True)
class GitTree:
    """The files of a repository at a commit, or in the index. `renamed` maps current names to the names at the commit."""

    root: Path
    commit: str
    renamed: dict[str, str]

    def text(self, path: str) -> str | None:
        """Return the text of a file; None if it did not exist."""
        try:
            inside = Path(path).resolve().relative_to(self.root.resolve()).as_posix()
        except ValueError:
            raise UnusableError(f"{path} is outside of the repository {self.root}; give files inside it") from None
        before = f"{self.commit}:{self.renamed.get(inside, inside)}"
        if _start_git(self.root, "cat-file", "-e", before).returncode:
            return None
        return decode_text(path, _start_git(self.root, "cat-file", "blob", before).stdout)


def read_staged(files: Sequence[str], format_: str | None) -> tuple[SchemaSource, ...]:
    """Return staged schema files as they are in git's index; without names all that differ from HEAD."""
    formats = find_formats()
    if STDIN in files:
        raise UnusableError("standard input is not staged; give files")
    root = Path(_run_git(Path(), "rev-parse", "--show-toplevel", remedy="run it inside a git repository").strip())
    index, head = GitTree(root, "", {}), GitTree(root, _resolve_commit(root, "HEAD"), {})
    return tuple(
        _find_source(path, _read_indexed(index, path), format_, formats)
        for path in files or _list_changed_schemas(head, formats, staged=True)
    )


def _read_indexed(index: GitTree, path: str) -> str:
    text = index.text(path)
    if text is None:
        raise UnusableError(f"{path} is not staged; run git add, or leave out --staged")
    return text


@dataclass(frozen=True, slots=True)
class RevisionCheck:
    """The options with the trees to compare: the revision, and the index for staged files."""

    since: RevisionCheckOptions
    parser: FormatEngine
    then: GitTree
    index: GitTree | None

    def check_file(self, path: str) -> CheckResult:
        """Compare a file with its text at the revision; a new file has no earlier text."""
        since, formats = self.since, self.parser.formats
        before = self.then.text(path)
        now = read_text(path) if self.index is None else _read_indexed(self.index, path)
        new = _find_source(path, now, since.format, formats)
        olds = () if before is None else (SchemaSource(f"{path}@{since.base}", before, new.format),)
        earlier = [since.references.resolve(replace(old, path=path), formats, self._read_earlier) for old in olds]
        later = since.references.resolve(new, formats, self._read_current)
        history = compare_history(self.parser, earlier, later, since.policy)
        if any(step.faults for step in history.steps):
            # Nobody has data of a text that was no schema, and a commit that mends one has to pass.
            note = f"{path} was not a valid schema at {since.base}: it is not compared"
            return CheckResult(since.level, since.policy, new, (), HistoryComparison(history.faults), note)
        note = warn_of_union((*earlier, later)) if history.fits(since.level) else ""
        other_results = compare_under_others(
            lambda one: compare_history(self.parser, earlier, later, one), history, since.level, since.policy
        )
        return CheckResult(since.level, since.policy, new, olds, history, note, other_results)

    def _read_current(self, path: str) -> str | None:
        return read_file(path) if self.index is None else self.index.text(path)

    def _read_earlier(self, path: str) -> str | None:
        """Return a reference at the revision, or its current text if it did not exist yet."""
        text = self.then.text(path)
        return self._read_current(path) if text is None else text


def _find_source(path: str, text: str, format_: str | None, formats: FormatRegistry) -> SchemaSource:
    """Return a text with its format: the given one, else that of its name or content."""
    name = format_ or guess_format_by_name(path, formats) or guess_format_by_content(text, formats)
    if name is None:
        raise UnusableError(f"the format of {path} is unknown; add --format {' or '.join(formats.names)}")
    return SchemaSource(path, text, check_format_name(name, formats))


def check_revision(since: RevisionCheckOptions, output: OutputOptions) -> int:
    """Compare every file with its text at the revision, print the results, and return the highest exit code."""
    formats = find_formats()
    if STDIN in since.files:
        raise UnusableError("standard input has no earlier revision; give files")
    root = Path(_run_git(Path(), "rev-parse", "--show-toplevel", remedy="run it inside a git repository").strip())
    commit = _resolve_commit(root, since.base)
    then = GitTree(root, commit, _find_renamed_files(root, commit, staged=since.staged))
    check = RevisionCheck(since, FormatEngine(formats), then, GitTree(root, "", {}) if since.staged else None)
    files = since.files or _list_changed_schemas(then, formats, staged=since.staged)
    results: list[CheckResult] = []
    errors: list[str] = []
    for path in screen.track_progress(files, "comparing"):
        try:
            results.append(check.check_file(path))
        except UnusableError as unusable:
            errors.append(unusable.message)
    code = max((one.code for one in results), default=0) if not errors else INVALID
    if output.is_json:
        screen.say_json({"fits": code == FITS, "files": [one.members() for one in results], "errors": errors})
        return code
    for result in results:
        result.print(output)
    for error in errors:
        screen.say(f"Error: {error}", "red", err=True)
    if not files:
        screen.say(f"No schema has changed since {since.base}.", "green")
    return code


def _resolve_commit(root: Path, base: str) -> str:
    """Return the commit of a revision; the empty tree for HEAD of a repository without commits."""
    run = _start_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if run.returncode == 0:
        return run.stdout.decode().strip()
    if base == "HEAD":
        return _run_git(root, "hash-object", "-t", "tree", "--stdin").strip()
    raise UnusableError(f"{base} is not a revision of {root}; give a branch, a tag or a commit that has been fetched")


def _find_renamed_files(root: Path, commit: str, *, staged: bool) -> dict[str, str]:
    """Return the earlier names of renamed files, by their current name."""
    words = ("diff", *(("--cached",) if staged else ()), "--name-status", "-z", "--diff-filter=R", "--find-renames")
    names = _run_git(root, *words, commit).split("\0")
    return dict(zip(names[2::3], names[1::3], strict=True))


def _list_changed_schemas(then: GitTree, formats: FormatRegistry, *, staged: bool) -> tuple[str, ...]:
    """Return schema files, by their suffixes, that are new or differ from the revision."""
    words = ("diff", *(("--cached",) if staged else ()), "--name-only", "-z", "--diff-filter=ACMR")
    names = _run_git(then.root, *words, then.commit).split("\0")
    if not staged:
        names += _run_git(then.root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
    paths = [then.root / path for path in sorted(set(names) - {""}) if guess_format_by_name(path, formats)]
    working_folder = Path.cwd()
    return tuple(
        str(path.relative_to(working_folder) if path.is_relative_to(working_folder) else path) for path in paths
    )


def _run_git(folder: Path, *words: str, remedy: str = "") -> str:
    run = _start_git(folder, *words)
    if run.returncode:
        reason = run.stderr.decode("utf-8", "replace").strip() or f"git {words[0]} fails"
        raise UnusableError(f"{reason}; {remedy}" if remedy else reason)
    return run.stdout.decode("utf-8", "surrogateescape")


def _start_git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    program = which("git")
    if program is None:
        raise UnusableError("git is not installed; install it, or compare two files: treaty check OLD NEW")
    return subprocess.run([program, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603 (our own words)
