"""Referenced schemas are read from files: given by name, or found in folders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from treaty.cli.terminal.source import (
    STDIN,
    SchemaSource,
    UnusableError,
    display_path,
    find_format,
    guess_format_by_name,
    read_text,
)
from treaty.core.limits import REFERENCE_DEPTH
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import Format, InvalidSchemaError
from treaty.formats.registry import FormatRegistry

Read = Callable[[str], str | None]
"""Read a file; None if it does not exist."""


def read_file(path: str) -> str | None:
    """Return the current text of a file."""
    return read_text(path) if path == STDIN or Path(path).is_file() else None


@dataclass(frozen=True, slots=True)
class References:
    """The options: names with their files, in order of need, and folders to search for other names."""

    named: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()

    @staticmethod
    def parse(words: Sequence[str], folders: Sequence[str]) -> "References":
        """Parse ``NAME=FILE`` arguments and names of folders."""
        pairs = []
        for word in words:
            name, sign, path = word.partition("=")
            if not (name and sign and path):
                raise click.BadParameter(f"{word!r} is not NAME=FILE", param_hint="--reference")
            pairs.append((name, path))
        for folder in folders:
            if not Path(folder).is_dir():
                raise click.BadParameter(f"{folder!r} is not a folder", param_hint="--reference-folder")
        return References(tuple(pairs), tuple(folders))

    def resolve(self, source: SchemaSource, formats: FormatRegistry, read: Read = read_file) -> ResolvedSchema:
        """Return a text with its references, read by `read`. A file that is itself a reference can use the ones before
        it. Without a folder, names are searched in the folder of the file.
        """
        own = () if source.path == STDIN else (str(Path(source.path).parent),)
        search = _FolderSearch(find_format(source.format, formats), self.folders or own, read)
        bound: tuple[ResolvedReference, ...] = ()
        for name, path in self.named:
            if _is_same_file(path, source.path):
                break
            if guess_format_by_name(path, formats) in {None, source.format}:
                text = read(path)
                if text is None:
                    raise UnusableError(f"the reference {name}={path} cannot be read: no such file")
                resolved = ResolvedSchema(source.format, text, search.add_needed(text, bound, (name,)))
                bound = (*bound, ResolvedReference(name, name, 1, resolved))
        return ResolvedSchema(
            source.format, source.text, search.add_needed(source.text, bound, (display_path(source.path),))
        )


def _is_same_file(path: str, other: str) -> bool:
    return STDIN not in {path, other} and Path(path).resolve() == Path(other).resolve()


@dataclass(slots=True)
class _FolderSearch:
    """A search in folders; `found` holds the texts found, by name."""

    form: Format[Any]
    folders: tuple[str, ...]
    read: Read
    found: dict[str, ResolvedReference | None] = field(default_factory=dict)

    def add_needed(
        self, text: str, bound: tuple[ResolvedReference, ...], trail: tuple[str, ...]
    ) -> tuple[ResolvedReference, ...]:
        """Return `bound` and the further references of the text; a name that is not found is left to the format's own
        error.
        """
        if not self.folders:
            return bound
        if len(trail) > REFERENCE_DEPTH:
            raise UnusableError(f"references nest deeper than {REFERENCE_DEPTH} (limit REFERENCE_DEPTH): {trail[-1]}")
        try:
            names = dict.fromkeys(use.name for use in self.form.references(text))
        except InvalidSchemaError:
            return bound  # parsing says what is wrong with it
        names = {name: None for name in names if name not in {one.name for one in bound}}
        more = (self._binding(name, bound, trail) for name in names if name not in trail)
        return (*bound, *(one for one in more if one is not None))

    def _binding(
        self, name: str, bound: tuple[ResolvedReference, ...], trail: tuple[str, ...]
    ) -> ResolvedReference | None:
        if name not in self.found:
            text = self._text(name)
            if text is None:
                self.found[name] = None
            else:
                resolved = ResolvedSchema(self.form.name, text, self.add_needed(text, bound, (*trail, name)))
                self.found[name] = ResolvedReference(name, name, 1, resolved)
        return self.found[name]

    def _text(self, name: str) -> str | None:
        """Return the first file of that name: unchanged, with a suffix of the format, or with dots as folders."""
        endings = ["", *self.form.suffixes]
        names = [name + ending for ending in endings] + [name.replace(".", "/") + ending for ending in endings[1:]]
        for folder in self.folders:
            for name_of_file in names:
                path = Path(folder, name_of_file)
                if "\0" not in name_of_file and path.resolve().is_relative_to(Path(folder).resolve()):
                    text = self.read(str(path))
                    if text is not None:
                        return text
        return None
