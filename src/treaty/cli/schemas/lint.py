"""`treaty lint FILE...`: looks for lint findings in schema files; `cli/terminal/findings.py` prints them."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import click

from treaty.cli.schemas.lint_settings import ALL, LintSelection, find_lint_settings, is_recommended, refuse_unknown
from treaty.cli.terminal import options, screen
from treaty.cli.terminal.findings import OutputOptions, locate_diagnostics, output_options, print_findings
from treaty.cli.terminal.references import References
from treaty.cli.terminal.schema_file import InvalidTextError, SchemaFile, load_schema
from treaty.cli.terminal.source import UnusableError, display_path, find_format, refuse_second_stdin
from treaty.cli.terminal.subject_completion import complete_lints
from treaty.core.finding import Diagnostic
from treaty.formats.registry import FormatRegistry, find_formats

CLEAN, ADVISED, UNUSABLE = 0, 1, 2
"""Exit codes: no findings, findings, an unusable file."""


@click.command("lint", epilog="Exit code 0: no findings. 1: findings. 2: a file is not a schema or cannot be read.")
@click.argument("files", nargs=-1, metavar="FILE...", type=click.Path(allow_dash=True))
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="ID",
    shell_complete=complete_lints,
    help="Check only this lint. Repeatable.",
)
@click.option("--all", "every", is_flag=True, help="Check all lints of the format.")
@click.option(
    "--list", "listing", is_flag=True, help="Print all lints: id, whether it is recommended, formats, purpose."
)
@options.format_
@options.references()
@output_options
def command(
    *,
    files: tuple[str, ...],
    rules: tuple[str, ...],
    every: bool,
    listing: bool,
    format_: str | None,
    references: tuple[str, ...],
    folders: tuple[str, ...],
    output: OutputOptions,
) -> None:
    """Lint schema FILES (- reads standard input).

    The recommended lints are checked. Choose others by --rule or --all, or by rules = [...] under [tool.treaty.lint] in
    pyproject.toml or [lint] in treaty.toml, in the file's folder or above it: ids, "recommended" or "all".

    \b
    Examples:
      treaty lint --list
      treaty lint schemas/*.avsc
      treaty lint --all order.avsc
      treaty lint --rule FIELD_DOC_MISSING schemas/*.avsc
    """  # noqa: D301 - click wants the control character
    formats = find_formats()
    if listing:
        _print_lints(formats, as_json=output.is_json)
        return
    if not files:
        raise click.UsageError("give FILES, - for standard input, or --list")
    refuse_second_stdin(files)
    refuse_unknown(rules, formats, "--rule")
    chosen = LintSelection((ALL,) if every else rules) if every or rules else None
    looked = _LintRun(formats, chosen, format_, References.parse(references, folders))
    for path in screen.track_progress(files, "looking"):
        looked.lint_file(path)
    looked.print(output)
    sys.exit(looked.code)


@dataclass(slots=True)
class _LintRun:
    """A lint run: the findings, and the files that could not be read."""

    formats: FormatRegistry
    chosen: LintSelection | None
    format: str | None
    references: References
    code: int = CLEAN
    files: int = 0
    found: list[tuple[str, Diagnostic]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seen: dict[Path, LintSelection | None] = field(default_factory=dict)

    def lint_file(self, path: str) -> None:
        """Lint a file."""
        advice = self.chosen or find_lint_settings(path, self.formats, self.seen) or LintSelection()
        if advice.ignores(path):
            return
        try:
            findings = _run_lints(load_schema(path, self.format, self.references), advice)
            self.code = max(self.code, ADVISED if findings else CLEAN)
        except InvalidTextError as invalid:
            findings, self.code = list(invalid.faults), UNUSABLE
        except UnusableError as unusable:
            findings, self.code = [], UNUSABLE
            self.errors.append(unusable.message)
        self.files += 1
        self.found += [(path, fault) for fault in findings]

    def print(self, output: OutputOptions) -> None:
        """Print the findings and their number."""
        if output.is_json:
            advice = [{"file": path, **screen.as_json(fault)} for path, fault in self.found]
            screen.say_json({"clean": self.code == CLEAN, "advice": advice, "errors": self.errors})
            return
        findings = [
            finding for path, fault in self.found for finding in locate_diagnostics(display_path(path), "", [fault])
        ]
        print_findings(findings, output)
        for error in self.errors:
            screen.say(f"Error: {error}", "red", err=True)
        counted = screen.format_count(len(findings), "finding") if findings else "no findings"
        screen.say(f"{screen.format_count(self.files, 'file')}, {counted}.", "green" if self.code == CLEAN else "red")


def _run_lints(schema: SchemaFile, advice: LintSelection) -> list[Diagnostic]:
    """Return the findings of the chosen lints, in the order of the text."""
    ids = advice.ids(schema.form.name, list(schema.form.lints))
    faults = screen.locate_diagnostics(
        schema.source.text, [fault for name in ids for fault in schema.form.lints[name].find(schema.model)]
    )
    return sorted(faults, key=lambda fault: (fault.line, fault.column))


def _list_rows(formats: FormatRegistry) -> list[tuple[str, list[str], str]]:
    """Return rows of all lints: id, formats, purpose; an id with different meanings has a row for each."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name in formats.names:
        for lint in find_format(name, formats).lints.values():
            rows.setdefault((lint.id, lint.purpose), []).append(name)
    return sorted((id_, names, purpose) for (id_, purpose), names in rows.items())


def _print_lints(formats: FormatRegistry, *, as_json: bool) -> None:
    rows = _list_rows(formats)
    if as_json:
        screen.say_json(
            [
                {"id": id_, "formats": names, "purpose": purpose, "recommended": is_recommended(id_)}
                for id_, names, purpose in rows
            ]
        )
        return
    lines = [(one, "yes" if is_recommended(one) else "", ", ".join(names), purpose) for one, names, purpose in rows]
    screen.say_rows(("id", "recommended", "formats", "purpose"), lines)
