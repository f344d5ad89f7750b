"""`treaty iglu lint PATH...`: igluctl's checks of schemas, and of their versions together."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from treaty.cli.terminal import options, screen
from treaty.cli.terminal.source import UnusableError
from treaty.client.iglu.schema_folder import SchemaPath, read_folder
from treaty.core.iglu_key import IgluKey, IgluKeyError
from treaty.core.limits import IGLU_DEPTH
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.wire.iglu.families import GAP, LABEL, check_path, find_gaps, find_wrong_labels, make_comparison
from treaty.wire.iglu.lint import CHECKS, SKIPPABLE, LintFinding, lint_document

CLEAN, FOUND = 0, 1
"""Exit codes: no errors and no warnings; some."""
_SKIPPABLE = SKIPPABLE | {GAP, LABEL}
_COLOURS = {"ERROR": "red", "WARNING": "yellow", "INFO": None}


@click.command("lint", epilog="Exit code 0: no errors and no warnings. 1: some. 2: a path is unusable.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--skip-checks",
    "skipped",
    default="",
    metavar="NAMES",
    help="Names of checks that are left out, with commas between them.",
)
@click.option("--list", "listing", is_flag=True, help="Print the checks: name, level, and whether it can be skipped.")
@options.as_json
def lint(*, paths: tuple[Path, ...], skipped: str, listing: bool, as_json: bool) -> None:
    """Lint schemas: PATHS are files at VENDOR/NAME/FORMAT/VERSION, or folders of them.

    Besides igluctl's checks: the path is what `self` says, no version is missing, and a label says what changed. Errors
    and warnings make the exit code 1; what is only information does not. Schemas of other formats are left out.

    \b
    Examples:
      treaty iglu lint --list
      treaty iglu lint schemas --skip-checks stringLength,optionalNull
    """  # noqa: D301 - click wants the control character
    if listing:
        _say_checks()
        return
    if not paths:
        raise click.UsageError("give PATHS, or --list")
    skip = _names(skipped)
    schemas = [schema for path in paths for schema in _schemas_at(path) if schema.key.format == "jsonschema"]
    findings = [
        (schema, finding)
        for schema in screen.track_progress(schemas, "looking")
        for finding in _check_file(schema, skip)
    ]
    findings += _check_families(schemas, skip)
    counts = {level: sum(finding.level == level for _, finding in findings) for level in _COLOURS}
    if as_json:
        listed = [
            {"schema": str(schema.key), "file": str(schema.path), **finding._asdict()} for schema, finding in findings
        ]
        screen.say_json(
            {"schemas": len(schemas), **{level.lower(): many for level, many in counts.items()}, "findings": listed}
        )
    else:
        for schema, finding in findings:
            screen.say(
                f"{schema.path}:{finding.pointer or '/'}: {finding.level} {finding.check} {finding.message}",
                _COLOURS[finding.level],
            )
        counted = ", ".join(f"{many:,} {level}" for level, many in counts.items())
        screen.say(f"{screen.format_count(len(schemas), 'schema')}: {counted}.", "red" if counts["ERROR"] else "green")
    sys.exit(FOUND if counts["ERROR"] or counts["WARNING"] else CLEAN)


def _names(text: str) -> frozenset[str]:
    names = frozenset(one.strip() for one in text.split(",") if one.strip())
    for unknown in sorted(names - _SKIPPABLE):
        allowed = ", ".join(sorted(_SKIPPABLE))
        raise click.BadParameter(f"{unknown!r} can't be skipped; allowed: {allowed}", param_hint="--skip-checks")
    return names


def _say_checks() -> None:
    rows = [(one.name, one.level, "no" if one.level == "ERROR" else "yes") for one in CHECKS]
    rows += [("syntax", "ERROR", "no"), ("unknownKeywords", "WARNING", "yes"), ("pathMismatch", "ERROR", "no")]
    rows += [(GAP, "ERROR", "yes"), (LABEL, "WARNING", "yes")]
    screen.say_rows(("check", "level", "skippable"), rows)


def _schemas_at(path: Path) -> Iterator[SchemaPath]:
    if path.is_dir():
        folder = read_folder(path)
        lines = (f"{path} is skipped: it is at no path VENDOR/NAME/FORMAT/VERSION" for path in folder.misplaced)
        screen.say_first(lines, "yellow", err=True)
        yield from folder.schemas
        return
    try:
        yield SchemaPath(IgluKey.parse_path("/".join(path.resolve().parts[-4:])), path)
    except IgluKeyError:
        raise UnusableError(f"{path} lies at no path VENDOR/NAME/FORMAT/VERSION") from None


def _check_file(schema: SchemaPath, skip: frozenset[str]) -> Iterator[LintFinding]:
    try:
        document: Any = json.loads(schema.path.read_bytes())
    except (ValueError, RecursionError) as error:
        yield LintFinding("syntax", "ERROR", "", f"the file is no JSON: {error}")
        return
    mismatch = check_path(schema.key, document)
    if mismatch is not None:
        yield mismatch
    yield from lint_document(document, IGLU_DEPTH, skip)


def _check_families(schemas: list[SchemaPath], skip: frozenset[str]) -> list[tuple[SchemaPath, LintFinding]]:
    places = {one.key: one for one in schemas}
    findings = [] if GAP in skip else list(find_gaps(list(places)))
    if LABEL not in skip:
        texts = {key: one.path.read_text("utf-8", "replace") for key, one in places.items()}
        findings += find_wrong_labels(texts, make_comparison(FormatEngine(find_formats())))
    return [(places[key], finding) for key, finding in findings]
