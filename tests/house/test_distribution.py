"""The distribution is `treaty-registry`; `treaty` is the name of another project at the package index, and is never asked for."""

import re
import subprocess
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from treaty.distribution import (
    DISTRIBUTION,
    EXTRAS,
    PROVEN_PYTHONS,
    VERSION,
    MissingExtraError,
    install_command,
    require_library,
    warn_if_unproven,
)

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PLUGINS = sorted((ROOT / "plugins").glob("*/pyproject.toml"))
OTHERS = re.compile(
    r"""(?:\b(?:pip3?|pipx|uv|poetry|pdm)\s[^\n`]*?\b(?:install|add|download|run|inject)|\buvx)\b[^\n`]*?
        (?<![\w./-])['"]?treaty(?:\[[^\]]*\])?(?:\s*(?:==|>=|~=|<)|['"`]|\s|$|[.,;:)](?:\s|$))
    |  (?<![\w-])treaty\[(?:[a-z]+(?:,[a-z]+)*|\{\w+\})\]
    |  \bimportlib\.metadata\b[^\n]*["']treaty["']
    |  (?<![\w.])(?:version|installed|distribution|metadata|requires)\(["']treaty["']\)
    |  package_name=["']treaty["']""",
    re.VERBOSE,
)
"""What would take the distribution of that name: a command that installs it, its extras, its metadata."""
HERE = Path(__file__).relative_to(ROOT)


def tracked() -> Iterator[tuple[str, str]]:
    """The texts of the repository, by path."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.split("\0"):
        path = ROOT / name
        if name and name != str(HERE) and path.is_file() and path.stat().st_size < 1_000_000:
            yield name, path.read_text("utf-8", "replace")


def test_nothing_asks_for_the_package_of_a_stranger() -> None:
    found = [f"{name}: {match[0].strip()}" for name, text in tracked() for match in OTHERS.finditer(text)]

    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "pip install treaty",
        "pip install 'treaty[kafka]'",
        "pip install -U treaty==0.1.0",
        "run `pip install treaty`.",
        "pipx install treaty",
        "uv add treaty",
        "uvx treaty serve",
        "uv pip install --quiet treaty",
        "Install `treaty[spark,kafka]` in the Python",
        'all = ["treaty[spark,arrow]"]',
        "needs asyncpg: pip install 'treaty[{extra}]'",
        'importlib.metadata.version("treaty")',
        'return version("treaty")',
        'click.version_option(package_name="treaty")',
    ],
)
def test_the_rule_sees(line: str) -> None:
    assert OTHERS.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install 'treaty-registry[kafka]'",
        "pip install treaty-registry",
        'pip install "$(ls dist/treaty_registry-*.whl)[spark]"',
        "pip install . ./plugins/treaty-thrift    # Treaty and this package",
        "pip install ./treaty",
        "treaty serve",
        'both = java["valid"] and treaty["valid"]',
        '- run: pip install "${{ vars.TREATY_PACKAGE }}"',
    ],
)
def test_the_rule_passes(line: str) -> None:
    assert not OTHERS.search(line)


def test_curl_lines_run_with_versions_before_7_82() -> None:
    """`--json` of curl came with 7.82, which Ubuntu 22.04 and Red Hat 8 and 9 do not have."""
    found = [
        f"{name}: {line.strip()}"
        for name, text in tracked()
        if name.endswith(".md")
        for line in text.splitlines()
        if re.match(r"\s*(?:\$ )?curl\b.* --json\b", line)
    ]

    assert found == []


def test_the_name_of_the_distribution_and_of_its_extras() -> None:
    extras = PROJECT["optional-dependencies"]
    own = [one for group in extras.values() for one in group if one.startswith("treaty")]

    assert PROJECT["name"] == DISTRIBUTION == "treaty-registry"
    assert own
    assert all(one.startswith(f"{DISTRIBUTION}[") for one in own)
    assert {word for one in own for word in one[len(DISTRIBUTION) + 1 : -1].split(",")} <= set(extras)
    assert {*EXTRAS.values()} <= set(extras)
    assert PROJECT["scripts"] == {"treaty": "treaty.cli.main:main"}
    assert PROJECT["dynamic"] == ["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


@pytest.mark.parametrize("file", PLUGINS, ids=lambda file: file.parent.name)
def test_a_plugin_depends_on_this_distribution(file: Path) -> None:
    project = tomllib.loads(file.read_text("utf-8"))["project"]

    assert [one for one in project["dependencies"] if one.startswith("treaty")] == [DISTRIBUTION]
    assert project["requires-python"] == PROJECT["requires-python"] == ">=3.11"


def test_a_missing_library_names_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"^the sails needs wind: pip install 'treaty-registry\[polars\]'$"):
        raise MissingExtraError("the sails", "wind", "polars")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        require_library("no_such_library", "this", "spark")
    require_library("json", "this", "spark")
    assert install_command("spark") == "pip install 'treaty-registry[spark]'"


@pytest.mark.parametrize("python", PROVEN_PYTHONS)
def test_a_proven_python_is_not_warned_of(python: tuple[int, int]) -> None:
    assert f"Programming Language :: Python :: {python[0]}.{python[1]}" in PROJECT["classifiers"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_unproven(python)


@pytest.mark.parametrize("python", [(3, 14), (3, 15), (4, 0)])
def test_another_python_is_warned_of_where_spark_is_imported(python: tuple[int, int]) -> None:
    with pytest.warns(
        UserWarning, match=rf"proven with Python 3\.11, 3\.12, 3\.13, and this is Python {python[0]}\.{python[1]}"
    ):
        warn_if_unproven(python)
