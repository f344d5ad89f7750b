"""`action.yml`: its steps run by bash in a git repository, with the real command in place of the installed one."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
INSTALL, COMPARE, ASK = ACTION["runs"]["steps"]
OLD = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
NEW = OLD.replace('"int"', '"string"')
CONTEXT = "${{ github.base_ref }}"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone whose branch changes one schema and leaves another one."""
    home = tmp_path / "home"
    home.mkdir()
    run(home, "git", "init", "-q", "-b", "main")
    for name in ("a.avsc", "b.avsc"):
        (home / name).write_text(OLD)
    commit(home)
    run(tmp_path, "git", "clone", "-q", "home", "clone")
    clone = tmp_path / "clone"
    (clone / "a.avsc").write_text(NEW)
    commit(clone)
    return clone


def commit(folder: Path) -> None:
    run(folder, "git", "add", "-A")
    run(folder, "git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "schemas")


def run(folder: Path, *words: str, **settings: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, **settings, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == int(settings.get("EXPECTED", "0")), done.stdout + done.stderr
    return done.stdout


def step(folder: Path, which: dict[str, Any], code: int, **given: str) -> str:
    """Run a step as GitHub does, with the values of inputs in its variables."""
    defaults = {name: one["default"].replace(CONTEXT, "main") for name, one in ACTION["inputs"].items()}
    inputs = defaults | {name.replace("_", "-"): value for name, value in given.items()}
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda at: inputs[at[1]], text)
        for name, text in which["env"].items()
    }
    assert not [one for one in variables.values() if "${{" in one]
    return run(
        folder, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", which["run"], EXPECTED=str(code), **variables
    )


def test_a_pull_request_is_annotated_with_the_remedy(repository: Path) -> None:
    told = step(repository, COMPARE, 1)
    assert "::error file=a.avsc,line=1,col=" in told
    assert "TYPE_MISMATCH" in told
    assert "; remedy: " in told
    assert "b.avsc" not in told


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"files": "b.avsc"}, 0),
        ({"files": "b.avsc\na.avsc"}, 1),
        ({"level": "NONE"}, 0),
        ({"base_branch": ""}, 2),
        ({"level": "$(exit 9)"}, 2),
    ],
)
def test_inputs_are_arguments_and_never_commands(repository: Path, given: dict[str, str], code: int) -> None:
    step(repository, COMPARE, code, **given)


def test_a_registry_is_asked_for_each_file(repository: Path) -> None:
    registry = f"sqlite://{repository}/../r.db"
    (repository.parent / "home" / "a.avsc").write_text(OLD)
    run(repository.parent / "home", "treaty", "schema", "register", "a-value", "a.avsc", TREATY_REGISTRY=registry)
    told = step(repository, ASK, 1, files="a.avsc b.avsc", registry=registry)
    assert "::error file=a.avsc" in told
    step(repository, ASK, 0, files="b.avsc", registry=registry)
    step(repository, ASK, 2, registry=registry)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "treaty-registry"),
        ({"version": "0.1.0"}, "treaty-registry==0.1.0"),
        ({"package": "dist/a b.whl", "version": "1"}, "dist/a b.whl"),
    ],
)
def test_the_package_that_is_installed_has_its_own_name(tmp_path: Path, given: dict[str, str], expected: str) -> None:
    """The words that pip would get; nothing is downloaded."""
    words = INSTALL["run"].replace("python -m pip install --quiet", "printf %s")
    assert words != INSTALL["run"]
    assert step(tmp_path, {**INSTALL, "run": words}, 0, **given) == expected


def test_scripts_have_no_expressions_of_the_workflow() -> None:
    """A value inside a script would run as a part of it."""
    assert not [one["name"] for one in ACTION["runs"]["steps"] if "${{" in one["run"]]
    assert "- uses: OWNER/treaty@REF" in (ROOT / "docs" / "howto" / "ci.md").read_text("utf-8")
