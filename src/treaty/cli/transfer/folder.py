"""A folder of schema files as the desired state of subjects, with `[plan]` of its `treaty.toml`."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from treaty.cli.schemas.lint_settings import refuse_unknown_tables
from treaty.cli.terminal.source import UnusableError, read_sources
from treaty.client.suggestions import suggest
from treaty.client.transfer.desired import DesiredSubject
from treaty.core.names import Subject, context_of, subject_of
from treaty.core.policy import LEVELS
from treaty.formats.registry import FormatRegistry

SETTINGS = "treaty.toml"
_UNKNOWN = re.compile(r"contains unknown field `([^`]{1,100})`")


class SubjectPlan(msgspec.Struct, forbid_unknown_fields=True):
    """Settings of one subject: its file, and its own values."""

    file: str
    level: str = ""
    normalize: bool | None = None
    references: dict[str, str] = {}
    properties: dict[str, str] = {}
    format: str | None = None


class FolderPlan(msgspec.Struct, forbid_unknown_fields=True):
    """Settings of all subjects of a folder, and of single ones."""

    context: str = ""
    level: str = ""
    normalize: bool | None = None
    subjects: dict[str, SubjectPlan] = {}
    ignore: list[str] = []


@dataclass(frozen=True, slots=True)
class SchemaFolder:
    """A folder and its plan."""

    path: Path
    plan: FolderPlan
    formats: FormatRegistry
    _suffixes: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Read the suffixes of all formats, the longest first."""
        suffixes = {suffix for name in self.formats.names for suffix in self.formats[name].suffixes}
        object.__setattr__(self, "_suffixes", tuple(sorted(suffixes, key=len, reverse=True)))

    def list_desired_subjects(self) -> tuple[DesiredSubject, ...]:
        """Return every subject by name. Raises `UnusableError` for two files with one subject, and for missing files."""
        subjects: dict[Subject, DesiredSubject] = {}
        named = {one.file for one in self.plan.subjects.values()}
        everything = (
            *self.plan.subjects.items(),
            *((stem, SubjectPlan(path)) for stem, path in self._list_other_files(named)),
        )
        for name, subject_plan in everything:
            wish = self._read_subject(name, subject_plan)
            if wish.subject in subjects:
                other = subjects[wish.subject].path
                raise UnusableError(
                    f"{other} and {subject_plan.file} are both {wish.subject}; set their subjects in {SETTINGS}"
                )
            subjects[wish.subject] = wish
        return tuple(subjects[subject] for subject in sorted(subjects))

    def _list_other_files(self, named: set[str]) -> Iterator[tuple[str, str]]:
        """Yield files that the plan does not list; the subject is the file's name without suffix."""
        for file in sorted(self.path.rglob("*")):
            inside = file.relative_to(self.path)
            suffix = next((one for one in self._suffixes if file.name.endswith(one)), "")
            hidden = any(part.startswith((".", "_")) for part in inside.parts)
            if not suffix or hidden or not file.is_file() or inside.as_posix() in named or self._is_ignored(inside):
                continue
            yield file.name.removesuffix(suffix), inside.as_posix()

    def _is_ignored(self, path: Path) -> bool:
        return any(path.match(pattern) for pattern in self.plan.ignore)

    def _read_subject(self, name: str, subject_plan: SubjectPlan) -> DesiredSubject:
        (source,) = read_sources([str(self.path / subject_plan.file)], subject_plan.format, self.formats)
        context = context_of(self.plan.context) if self.plan.context else "."
        level = (subject_plan.level or self.plan.level).upper()
        if level and level not in LEVELS:
            raise UnusableError(f"{SETTINGS}: unknown level {level!r}; known are {', '.join(LEVELS)}")
        return DesiredSubject(
            subject=subject_of(name, context),
            path=subject_plan.file,
            text=source.text,
            format=source.format,
            level=level,
            normalize=self.plan.normalize if subject_plan.normalize is None else subject_plan.normalize,
            references=tuple(sorted(subject_plan.references.items())),
            properties=tuple(sorted(subject_plan.properties.items())),
        )


def _find_hint(message: str) -> str:
    """Return what a key may have meant that the message of msgspec calls unknown, or the keys of its table."""
    unknown = _UNKNOWN.search(message)
    if unknown is None:
        return ""
    members = (SubjectPlan if "subjects" in message else FolderPlan).__struct_fields__
    hint = suggest(unknown[1], members)
    return f"; {hint} Known are {', '.join(members)}" if hint else f"; known are {', '.join(members)}"


def read_folder(path: str, formats: FormatRegistry) -> SchemaFolder:
    """Read the settings of a folder. Raises `UnusableError` if they cannot be read or have unknown members."""
    root = Path(path)
    file = root / SETTINGS
    settings: Mapping[str, Any] = {}
    try:
        if file.is_file():
            settings = tomllib.loads(file.read_text("utf-8"))
        refuse_unknown_tables(settings, file)
        plan = msgspec.convert(settings.get("plan", {}), FolderPlan)
    except (OSError, ValueError) as error:
        raise UnusableError(f"{file} is invalid: {error}{_find_hint(str(error))}") from error
    return SchemaFolder(root, plan, formats)
