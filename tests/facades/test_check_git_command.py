"""`treaty check --git-base` and the hooks, in real git repositories."""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import treaty
from treaty.core.messages.settings import Config
from treaty.core.policy import Level, VersionRange
from treaty.core.state.values import PolicyValue

ROOT = Path(__file__).parents[2]
OLD = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"}]}'
WIDER = OLD.replace('"int"', '"long"')
MORE = OLD.replace("]}", ',{"name":"b","type":"int"}]}')
BROKEN = '{"type":"record"'
ENV = {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


@dataclass
class Repository:
    folder: Path

    def run(self, *words: str, folder: str = ".") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(words, cwd=self.folder / folder, env=ENV, capture_output=True, text=True, check=False)

    def git(self, *words: str) -> str:
        run = self.run("git", *words)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def commit(self, **files: str) -> None:
        for name, text in files.items():
            self.write(f"{name}.avsc", text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "more")

    def check(self, *words: str, folder: str = ".") -> "subprocess.CompletedProcess[str]":
        return self.run("treaty", "check", *words, folder=folder)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    one = Repository(tmp_path)
    one.git("init", "-q", "-b", "main")
    return one


def test_changed_files_are_compared_with_themselves_at_the_revision(repository: Repository) -> None:
    repository.commit(a=OLD, b=OLD, same=BROKEN)
    repository.write("a.avsc", WIDER)
    repository.write("b.avsc", MORE)
    repository.write("new.avsc", MORE)
    repository.write("note.txt", "no schema")
    run = repository.check("--git-base", "HEAD", "--json")
    told = json.loads(run.stdout)

    assert run.returncode == 1
    assert [(one["file"], one["fits"], [old["file"] for old in one["olds"]]) for one in told["files"]] == [
        ("a.avsc", True, ["a.avsc@HEAD"]),
        ("b.avsc", False, ["b.avsc@HEAD"]),
        ("new.avsc", True, []),
    ]
    assert repository.check("--git-base", "HEAD", "--level", "FORWARD").returncode == 1
    assert "new.avsc is a valid schema, and new." in repository.check("--git-base", "main").stdout


def test_files_are_found_from_any_folder_and_under_their_old_names(repository: Repository) -> None:
    repository.write("deep/down/a.avsc", OLD.replace(",", ",\n"))
    repository.commit()
    repository.git("mv", "deep/down/a.avsc", "deep/renamed.avsc")
    repository.write("deep/renamed.avsc", MORE.replace(",", ",\n"))

    assert repository.check("--git-base", "HEAD", "renamed.avsc", folder="deep").returncode == 1
    assert "deep/renamed.avsc may not follow" in repository.check("--git-base", "HEAD").stdout


def test_nothing_changed_and_nothing_committed(repository: Repository) -> None:
    repository.write("a.avsc", OLD)
    first = repository.check("--git-base", "HEAD")
    repository.commit()

    assert (first.returncode, first.stdout) == (0, "a.avsc is a valid schema, and new.\n")
    assert repository.check("--git-base", "HEAD").stdout == "No schema has changed since HEAD.\n"


def test_a_new_file_has_to_be_valid(repository: Repository) -> None:
    repository.commit(a=OLD)
    repository.write("b.avsc", BROKEN)
    run = repository.check("--git-base", "HEAD", "b.avsc")

    assert run.returncode == 2
    assert "b.avsc:1:17: JSON_MALFORMED" in run.stdout


def test_a_file_that_can_not_be_read_does_not_hide_the_others(repository: Repository) -> None:
    repository.commit(a=OLD, b=OLD)
    repository.write("a.avsc", " " * 2**20 + OLD)
    repository.write("b.avsc", MORE)
    plain, told = (repository.check("--git-base", "HEAD", *words) for words in ([], ["--json"]))

    assert plain.returncode == told.returncode == 2
    assert "b.avsc may not follow b.avsc@HEAD" in plain.stdout
    assert "Error: a.avsc is larger than" in plain.stderr
    assert [one["file"] for one in json.loads(told.stdout)["files"]] == ["b.avsc"]
    assert "a.avsc is larger" in json.loads(told.stdout)["errors"][0]


def test_a_commit_that_mends_a_broken_schema_passes(repository: Repository) -> None:
    repository.commit(a=BROKEN)
    repository.write("a.avsc", OLD)
    mended = repository.check("--git-base", "HEAD")
    repository.write("a.avsc", BROKEN + " ")

    assert mended.returncode == 0
    assert mended.stdout.splitlines()[1:] == ["a.avsc is a valid schema."]
    assert mended.stdout.startswith("note: a.avsc was not a valid schema at HEAD: it is not compared.\n")
    assert repository.check("--git-base", "HEAD").returncode == 2


def test_references_are_read_as_they_were(repository: Repository) -> None:
    uses = '{"type":"record","name":"U","fields":[{"name":"m","type":"M"}]}'
    repository.commit(uses=uses, money='{"type":"fixed","name":"M","size":8}')
    repository.write("money.avsc", '{"type":"fixed","name":"M","size":9}')
    run = repository.check("--git-base", "HEAD", "--reference", "M=money.avsc", "uses.avsc")

    assert run.returncode == 1
    assert "FIXED_SIZE_MISMATCH" in run.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--git-base", "nowhere"], "nowhere is not a revision"),
        (["--git-base", "--output=x"], "is not a revision"),
        (["--git-base", "HEAD", "/dev/null"], "is outside of the repository"),
        (["--git-base", "HEAD", "-"], "standard input has no earlier revision"),
        (["--git-base", "HEAD", "missing.avsc"], "cannot be read"),
    ],
)
def test_what_git_does_not_know_is_told(repository: Repository, words: list[str], told: str) -> None:
    repository.commit(a=OLD)
    run = repository.check(*words)

    assert run.returncode == 2
    assert told in run.stderr
    assert "Traceback" not in run.stderr


def test_outside_a_repository_the_remedy_is_told(tmp_path: Path) -> None:
    run = Repository(tmp_path).check("--git-base", "HEAD")

    assert run.returncode == 2
    assert "run it inside a git repository" in run.stderr


def entries() -> dict[str, dict[str, str]]:
    """The hooks of .pre-commit-hooks.yaml by id: plain words after a colon, nothing else of YAML is used there."""
    hooks: dict[str, dict[str, str]] = {}
    for block in (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8").split("\n- ")[1:]:
        pairs = dict(re.findall(r"^ *(\w+): (.+)$", block, re.MULTILINE))
        hooks[pairs["id"]] = pairs
    return hooks


def test_staged_files_are_judged_by_the_exact_policies_of_their_subjects(
    repository: Repository, tmp_path: Path
) -> None:
    """The policies have no word: a range from a version on, and a named one with a validator. Nothing is registered."""
    url = f"sqlite://{tmp_path}/registry.db"
    with treaty.connect(url) as registry:
        registry.create_policy("gold", PolicyValue(validators=("required-metadata(owner)",)))
        registry.set_level("a-value", "NONE")
        for text in (WIDER, OLD):
            registry.register("a-value", text)
        registry.set_config("a-value", Config(exact_level=Level(VersionRange("till", 1))))
        registry.set_config("b-value", Config(follows="gold"))
    asked = ("--staged", "--subject", "{name}-value", "--registry", url)
    assert "No staged schema" in repository.check(*asked).stdout
    repository.write("a.avsc", WIDER)
    repository.write("deep/b.avsc", OLD)
    repository.git("add", "-A")
    repository.write("a.avsc", BROKEN)  # what is not staged does not count
    first = repository.check(*asked, "a.avsc")
    assert (first.returncode, "may become a version of a-value" in first.stdout) == (0, True), first.stderr
    every = repository.check(*asked, "--json")
    told = json.loads(every.stdout)
    assert (every.returncode, told["fits"]) == (1, False)
    assert [(one["subject"], one["fits"]) for one in told["files"]] == [("a-value", True), ("b-value", False)]
    assert [one["rule"] for one in told["files"][1]["findings"]] == ["required-metadata"]
    assert told["files"][0]["config"]["exact_level"] == "backward till 1"
    assert told["files"][1]["config"]["follows"] == "gold"
    one_for_all = repository.check("--staged", "--subject", "a-value", "--registry", url)
    assert (one_for_all.returncode, "{name}-value" in one_for_all.stderr) == (2, True)
    with treaty.connect(url) as registry:
        assert registry.versions("a-value") == (1, 2)


@pytest.mark.parametrize(("text", "code"), [(WIDER, 0), (MORE, 1), (BROKEN, 2)])
def test_the_hook_of_pre_commit_judges_the_staged_files(repository: Repository, text: str, code: int) -> None:
    repository.commit(a=OLD, b=OLD)
    repository.write("a.avsc", text)
    repository.write("note.txt", "no schema")
    repository.git("add", "-A")
    hook = entries()["treaty-check"]
    staged = repository.git("diff", "--cached", "--name-only").splitlines()
    files = [name for name in staged if re.search(hook["files"].strip("'"), name)]
    run = repository.run(*shlex.split(hook["entry"]), *files)

    assert files == ["a.avsc"]
    assert run.returncode == code, run.stderr


def test_the_lint_hook_looks_at_schemas_with_the_settings_of_the_repository(repository: Repository) -> None:
    repository.commit(a=OLD.replace('"F"', '"f"'))
    hook = entries()["treaty-lint"]
    words = [*shlex.split(hook["entry"]), "a.avsc"]

    linted = repository.run(*words)
    assert (linted.returncode, "NAME_STYLE" in linted.stdout) == (1, True)
    repository.write("treaty.toml", '[lint]\nignore = ["*.avsc"]\n')
    assert repository.run(*words).returncode == 0


def test_the_hook_of_the_how_to_asks_a_registry(repository: Repository, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "howto" / "git-hook.md").read_text("utf-8")
    _, script = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", page, re.DOTALL)
    url = f"sqlite://{tmp_path}/registry.db"
    with treaty.connect(url) as registry:
        registry.register("a-value", OLD)
    hook = repository.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text(script.replace("http://registry:8081", url))
    hook.chmod(0o755)
    for text, code in ((MORE, 1), (WIDER, 0)):
        repository.write("a.avsc", text)
        repository.git("add", "a.avsc")
        assert repository.run("git", "commit", "-q", "-m", "a change").returncode == code


def test_the_hook_of_the_how_to_stops_a_commit(repository: Repository) -> None:
    page = (ROOT / "docs" / "howto" / "git-hook.md").read_text("utf-8")
    script, _ = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", page, re.DOTALL)
    repository.commit(a=OLD)
    hook = repository.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text(script)
    hook.chmod(0o755)
    repository.write("a.avsc", WIDER)
    repository.commit()
    repository.write("a.avsc", MORE)
    run = repository.run("git", "commit", "-q", "-a", "-m", "a break")

    assert run.returncode != 0
    assert "a.avsc may not follow a.avsc@HEAD" in run.stderr  # where git sends what a hook prints
    assert repository.git("log", "--oneline").count("\n") == 2
    # What is not staged is not judged.
    repository.git("reset", "-q")
    assert repository.check("--staged", "a.avsc").returncode == 0
    assert repository.check("--staged", "--git-base", "HEAD~1", "a.avsc", "--level", "FORWARD").returncode == 1
    assert "other.avsc is not staged" in repository.check("--staged", "other.avsc").stderr
    repository.write("other.txt", "x")
    repository.git("add", "other.txt")
    repository.git("commit", "-q", "-m", "something else")
