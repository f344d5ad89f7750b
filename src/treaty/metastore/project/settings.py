"""Reads the `treaty.toml` of a project: its label and its variables."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treaty.core.limits import NAME_LENGTH
from treaty.metastore.project.files import InvalidProjectError, ProjectProblem

SETTINGS_FILE = "treaty.toml"
TABLE = "project"
"""The table of the file that is about a project of SQL."""
MEMBERS = ("label", "variables")


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """The label of a project, empty without one, and the variables of its files."""

    label: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


def read_project_settings(path: str | Path) -> ProjectSettings:
    """Return the table ``[project]`` of the settings in a folder, or beside a file; empty settings without one.

    Raises `InvalidProjectError` for a file that can't be read, and for members that are not known or have other types.
    """
    root = Path(path)
    file = (root if root.is_dir() else root.parent) / SETTINGS_FILE
    if not file.is_file():
        return ProjectSettings()
    try:
        table: Any = tomllib.loads(file.read_text("utf-8")).get(TABLE, {})
    except (OSError, ValueError) as error:
        raise _refuse(file, f"it can't be read: {error}", "a file in TOML") from error
    if not isinstance(table, dict):
        raise _refuse(file, f"{TABLE} is no table", f"[{TABLE}]")
    label, variables = table.get("label", ""), table.get("variables", {})
    unknown = sorted(table.keys() - set(MEMBERS))
    if unknown:
        raise _refuse(file, f"[{TABLE}] has no member {unknown[0]}", f"known are {', '.join(MEMBERS)}")
    if not isinstance(label, str) or len(label) > NAME_LENGTH:
        raise _refuse(
            file, "the label is no text, or too long", f'label = "flights", with {NAME_LENGTH} characters at most'
        )
    if not isinstance(variables, dict) or not all(isinstance(text, str) for text in variables.values()):
        raise _refuse(file, "variables are texts", f'[{TABLE}.variables] with lines such as env = "test"')
    return ProjectSettings(label, variables)


def _refuse(file: Path, message: str, hint: str) -> InvalidProjectError:
    return InvalidProjectError([ProjectProblem(str(file), 0, 0, "PROJECT_SETTINGS", message, hint)])
