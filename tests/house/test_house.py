"""The project keeps the rules of its house; where it does not yet, `ratchet.toml` says how far."""

import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from tests.house import names, ratchet, rules
from treaty.distribution import VERSION

ROOT = Path(__file__).parents[2]
CODE = ("src", "plugins", "tests", "benchmarks", "docs", "examples")
STANDARD = frozenset(sys.stdlib_module_names)
RATCHET = ratchet.read_ratchet()
GLOSSARY = names.read_glossary()


@cache
def module(path: Path) -> rules.Module:
    """A file, read and parsed once for all rules."""
    return rules.Module(PurePosixPath(path.relative_to(ROOT).as_posix()), path.read_text("utf-8"))


def modules(*folders: str) -> list[rules.Module]:
    """All Python files under the folders."""
    return [module(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def tracked() -> list[tuple[str, str]]:
    """All text files that belong to the project, as path and text."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    found = []
    for name in listing.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file():
            data = path.read_bytes()
            if b"\0" not in data[:4096]:
                found.append((name, data.decode("utf-8", "replace")))
    return found


@pytest.mark.parametrize(
    ("rule", "folders"),
    [
        (rules.long_files, CODE),
        (rules.long_functions, CODE),
        (rules.silent_modules, CODE),
        (rules.drawers, CODE),
        (rules.busy_doorways, CODE),
        (rules.heirs, ("src",)),
        (rules.excuses, ("tests",)),
    ],
    ids=lambda value: value.__name__ if callable(value) else "-",
)
def test_code(rule: rules.Rule, folders: tuple[str, ...]) -> None:
    assert not list(rule(modules(*folders))), rule.__doc__


@pytest.mark.parametrize(
    "rule",
    [
        rules.crowded_folders,
        rules.thin_folders,
        rules.thin_modules,
        rules.unused_limits,
        names.shared_class_names,
        names.vague_functions,
        names.vague_bindings,
        names.nameless_errors,
        names.unknown_names,
    ],
)
def test_offenders_only_become_fewer(rule: rules.Rule) -> None:
    assert not list(ratchet.broken(RATCHET, rule.__name__, rule(modules("src")))), rule.__doc__


@pytest.mark.parametrize(
    "rule",
    [names.retired_names, names.vague_classes, names.verbal_modules, names.retired_messages, names.retired_docstrings],
)
def test_names_and_messages_use_the_words_of_the_glossary(rule: names.WordRule) -> None:
    assert not list(ratchet.broken(RATCHET, rule.__name__, rule(modules("src"), GLOSSARY))), rule.__doc__


def test_documents_use_the_words_of_the_glossary() -> None:
    documents = [
        (name, text)
        for name, text in tracked()
        if name.endswith(".md") and name.split("/")[0] in {"README.md", "docs", "src"}
    ]

    assert documents
    assert not list(ratchet.broken(RATCHET, "retired_texts", names.retired_texts(documents, GLOSSARY)))


def test_a_term_is_not_retired_by_another_one() -> None:
    assert not GLOSSARY.terms & GLOSSARY.in_names.keys()
    assert not GLOSSARY.terms & GLOSSARY.in_texts.keys()


def test_libraries_live_in_their_rooms() -> None:
    assert not list(rules.strangers(modules("src"), STANDARD))


def test_no_format_of_a_plugin_is_named_in_the_package() -> None:
    named = {path.name.removeprefix("treaty-") for path in (ROOT / "plugins").iterdir() if path.is_dir()}

    assert named == {"thrift"}
    assert not [str(one.path) for one in modules("src") for name in named if name in one.text.lower()]


def test_no_tracked_file_names_a_machine_or_a_package_host() -> None:
    assert not list(rules.addresses(tracked()))


def test_links_between_documents_lead_somewhere() -> None:
    documents = [(name, text) for name, text in tracked() if name.endswith(".md")]

    assert documents
    assert not list(rules.dead_links(documents, lambda path: (ROOT / path).exists()))


def pins(name: str) -> dict[str, list[str]]:
    """Versions and hashes of one file by name; a marker says where a package is needed, which may differ."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    found = (one.partition("==") for one in re.split(r"\n(?=[a-z])", text) if not one.startswith("#"))
    return {name: [rest.split()[0], *re.findall(r"--hash=\S+", rest)] for name, _, rest in found}


def test_pins_are_exact_and_have_hashes_and_no_addresses() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        assert not list(rules.loose_pins(path.read_text("utf-8"))), path.name


def test_servers_and_builds_have_the_pins_that_are_tested() -> None:
    tested = pins("development")
    for name in ("server", "build"):
        mine = pins(name)
        assert mine
        for one, pin in mine.items():
            assert pin == tested[one], one
    assert not {"pytest", "ruff", "mypy", "hypothesis", "pyspark"} & pins("server").keys()


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = {
        "server": [
            *project["dependencies"],
            *(one for name in ("kafka", "postgres", "auth", "encryption") for one in extras[name]),
        ],
        "development": [*project["dependencies"], *(one for listed in extras.values() for one in listed)],
    }
    for name, listed in needed.items():
        names = {re.split(r"[^A-Za-z0-9_.-]", one)[0].lower().replace("_", "-") for one in listed} - {"treaty-registry"}
        assert names <= pins(name).keys()


def test_packages_are_installed_by_their_hashes_alone() -> None:
    recipe = [line for line in (ROOT / "Makefile").read_text("utf-8").splitlines() if " -r requirements/" in line]

    assert len(recipe) == 2
    assert all("--require-hashes" in line for line in recipe)


def test_the_changelog_knows_this_version() -> None:
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_every_make_target_has_a_help_line() -> None:
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    declared = next(line for line in lines if line.startswith(".PHONY:")).split()[1:]
    helped = {line.split(":")[0] for line in lines if "## " in line and line[0].isalpha()}

    assert set(declared) == helped
