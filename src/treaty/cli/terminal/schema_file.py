"""A schema file is read and parsed for a command; one that can't be is an error with its line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

from treaty.cli.terminal import screen
from treaty.cli.terminal.errors import ReportedError
from treaty.cli.terminal.references import References
from treaty.cli.terminal.source import SchemaSource, read_sources, refuse_second_stdin
from treaty.core.finding import Diagnostic
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.engine import FormatEngine
from treaty.formats.format import Format, InvalidSchemaError, SchemaTexts
from treaty.formats.registry import find_formats

UNRESOLVED = frozenset({"IMPORT_UNRESOLVED", "NAME_UNDEFINED", "REF_UNRESOLVED"})
"""Rules of faults that a missing reference may cause."""


class InvalidTextError(ReportedError):
    """A text is not a valid schema; every fault is printed, with --json as JSON."""

    exit_code = 2

    def __init__(self, source: SchemaSource, faults: tuple[Diagnostic, ...]) -> None:
        """Keep the faults, with their positions."""
        self.source = source
        self.faults = screen.locate_diagnostics(source.text, faults)
        listed = [screen.as_json(fault) for fault in self.faults]
        message = f"{source.name} is not a valid schema ({source.format})"
        super().__init__(message, "INVALID_SCHEMA", file=source.path, format=source.format, faults=listed)

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the faults on stderr."""
        del file
        screen.say(f"{self.message}:", "red", err=True)
        screen.say_faults(self.source.name, self.faults, err=True)
        if any(fault.rule in UNRESOLVED for fault in self.faults):
            remedy = (
                "give the folder of the other schemas with --reference-folder FOLDER, or one of them with --reference"
            )
            screen.say(f"A referenced schema was not found: {remedy}.", err=True)


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema file, its format, and its model."""

    source: SchemaSource
    resolved: ResolvedSchema
    form: Format[Any]
    model: Any

    def show(self, *, normalize: bool = False) -> SchemaTexts:
        """Return the texts of the schema; raises `InvalidTextError` for an invalid one."""
        try:
            return self.form.show(self.model, normalize)
        except InvalidSchemaError as invalid:
            raise InvalidTextError(self.source, invalid.faults) from None


def load_schemas(paths: Sequence[str], format_: str | None, references: References) -> list[SchemaFile]:
    """Read and parse files as strictly as a registration; raises `InvalidTextError` or `UnusableError`."""
    formats = find_formats()
    parser = FormatEngine(formats)
    refuse_second_stdin([*paths, *(path for _, path in references.named)])
    return [
        _parse_schema(parser, source, references.resolve(source, formats))
        for source in read_sources(paths, format_, formats)
    ]


def load_schema(path: str, format_: str | None, references: References) -> SchemaFile:
    """Read and parse one file."""
    (schema,) = load_schemas([path], format_, references)
    return schema


def _parse_schema(parser: FormatEngine, source: SchemaSource, resolved: ResolvedSchema) -> SchemaFile:
    try:
        form, model = parser.model(resolved, strict=True)
    except InvalidSchemaError as invalid:
        raise InvalidTextError(source, invalid.faults) from None
    loaded = SchemaFile(source, resolved, form, model)
    loaded.show()  # what can't be printed can't be registered
    return loaded
