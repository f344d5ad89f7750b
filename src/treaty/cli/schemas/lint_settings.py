"""Which lints `treaty lint` reports: those that are on by default, and those that the command line, `[tool.treaty.lint]` or `treaty.toml` choose."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from treaty.cli.terminal.source import STDIN, UnusableError, find_format
from treaty.client.suggestions import suggest
from treaty.formats.registry import FormatRegistry

ALL, RECOMMENDED = "all", "recommended"
"""Values of `rules` for all lints of a format, and for the default ones."""
TABLES = ("lint", "plan", "project")
"""The tables of treaty.toml."""
KEY_CHARACTERS = 100
"""Characters of an unknown key that a message shows."""
OPTIONAL = frozenset(
    {
        "ADDITIONAL_PROPERTIES_UNSPECIFIED",
        "DOC_MISSING",
        "ENUM_DEFAULT_MISSING",
        "FIELD_DEFAULT_MISSING",
        "FIELD_DOC_MISSING",
        "FIELD_NUMBERS_WASTED",
        "INTEGER_UNBOUNDED",
        "NAMESPACE_MISSING",
        "NAMESPACE_STYLE",
        "PATTERN_NOT_ANCHORED",
        "SYMBOL_STYLE",
        "TITLE_MISSING",
        "TYPE_MISSING",
        "UNION_NOT_SIMPLE",
    }
)
"""Lints about style and documentation, which are not recommended by default."""


@dataclass(frozen=True, slots=True)
class LintSelection:
    """Chosen lints by id; `by_format` has those of single formats. Files that match `ignore`, relative to `folder`,
    have none.
    """

    rules: tuple[str, ...] = (RECOMMENDED,)
    by_format: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    folder: Path = Path()

    def ids(self, format_: str, available: Sequence[str]) -> list[str]:
        """Return the chosen lints of a format, in its order."""
        chosen = {*self.rules, *self.by_format.get(format_, ())}
        return [
            rule
            for rule in available
            if ALL in chosen or rule in chosen or (RECOMMENDED in chosen and is_recommended(rule))
        ]

    def ignores(self, path: str) -> bool:
        """Return whether a file is ignored."""
        if path == STDIN or not self.ignore:
            return False
        resolved = Path(path).resolve()
        inside = (
            resolved.relative_to(self.folder).as_posix()
            if resolved.is_relative_to(self.folder)
            else resolved.as_posix()
        )
        return any(fnmatch(inside, pattern) for pattern in self.ignore)


def is_recommended(lint: str) -> bool:
    """Return whether a lint is on by default; lints of plugin formats are."""
    return lint not in OPTIONAL


def find_lint_settings(
    path: str, formats: FormatRegistry, settings_by_folder: dict[Path, LintSelection | None]
) -> LintSelection | None:
    """Return the lint settings of the nearest settings file at or above a schema file (or the working folder); None
    without one. `settings_by_folder` caches folders.
    """
    folder = Path.cwd() if path == STDIN else Path(path).resolve().parent
    for parent in (folder, *folder.parents):
        if parent not in settings_by_folder:
            settings_by_folder[parent] = _read_folder_settings(parent, formats)
        if settings_by_folder[parent] is not None:
            return settings_by_folder[parent]
    return None


def _read_folder_settings(folder: Path, formats: FormatRegistry) -> LintSelection | None:
    for name, way in (("treaty.toml", ("lint",)), ("pyproject.toml", ("tool", "treaty", "lint"))):
        file = folder / name
        if not file.is_file():
            continue
        try:
            value: Any = tomllib.loads(file.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise UnusableError(f"{file} cannot be read: {error}") from error
        if name == "treaty.toml":
            refuse_unknown_tables(value, file)
        for step in way:
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None:
            return _parse_settings(value, file, formats)
    return None


def refuse_unknown_tables(settings: Mapping[str, object], file: Path) -> None:
    """Raise `UnusableError` for a table of treaty.toml that no command reads."""
    for name in settings:
        if name not in TABLES:
            hint = suggest(name, TABLES)
            remedy = f"{f'{hint} ' if hint else ''}known are {', '.join(f'[{one}]' for one in TABLES)}"
            raise UnusableError(f"{file}: there is no table [{name[:KEY_CHARACTERS]}]; {remedy}")


def _parse_settings(settings: Any, file: Path, formats: FormatRegistry) -> LintSelection:
    if not isinstance(settings, dict):
        raise UnusableError(f'{file}: lint is not a table; write [lint] and below it rules = ["{ALL}"]')
    names = {name.lower(): name for name in formats.names}
    for key in settings:
        if key not in {"rules", "ignore", *names}:
            keys = ["rules", "ignore", *names]
            hint = suggest(key, keys)
            remedy = f"{f'{hint} ' if hint else ''}known are {', '.join(keys)}"
            raise UnusableError(f"{file}: lint has no key {key[:KEY_CHARACTERS]!r}; {remedy}")
    by_format = {
        names[key]: _parse_words(value.get("rules", []) if isinstance(value, dict) else value, f"{file}: lint.{key}")
        for key, value in settings.items()
        if key in names
    }
    advice = LintSelection(
        _parse_words(settings.get("rules", [RECOMMENDED]), f"{file}: lint.rules"),
        by_format,
        _parse_words(settings.get("ignore", []), f"{file}: lint.ignore"),
        file.parent.resolve(),
    )
    refuse_unknown([*advice.rules, *(one for ids in by_format.values() for one in ids)], formats, str(file))
    return advice


def _parse_words(value: Any, where: str) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise UnusableError(f"{where} is not a list of strings")
    return tuple(words)


def refuse_unknown(ids: Sequence[str], formats: FormatRegistry, where: str) -> None:
    """Refuse unknown ids and suggest similar ones."""
    lints = sorted({lint for name in formats.names for lint in find_format(name, formats).lints})
    for lint_id in ids:
        if lint_id not in lints and lint_id not in {ALL, RECOMMENDED}:
            near = get_close_matches(lint_id.upper(), lints, 3, 0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "treaty lint --list prints all lints"
            raise UnusableError(f"{where}: unknown lint {lint_id!r}; {hint}")
