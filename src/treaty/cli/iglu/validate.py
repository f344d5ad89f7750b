"""`treaty iglu validate FILE...`: validates self-describing values by the schemas that they name."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
import msgspec

from treaty.cli.iglu.resolver_options import UNAVAILABLE, ResolverSource, resolver_options
from treaty.cli.terminal import options, screen
from treaty.cli.terminal.source import display_path, read_lines, read_text, refuse_second_stdin
from treaty.client.iglu import Resolver, SchemaIssue, ValidationResult

REASONS = 1000
"""Reasons that are counted apart. Those beyond are counted together."""
SHOWN = 20
"""The most frequent reasons that the summary prints; --json has all that are counted apart."""
LINES = (".jsonl", ".ndjson")
"""Suffixes of files with one value per line."""


@dataclass(frozen=True, slots=True)
class CheckedValue:
    """A value with its place and the result."""

    file: str
    line: int
    result: ValidationResult

    def to_members(self) -> dict[str, Any]:
        """The result as members of a JSON object."""
        result = self.result
        used = result.used_version
        return {
            "file": self.file,
            "line": self.line,
            "outcome": result.outcome,
            "schema": str(result.key) if result.key else None,
            "version": str(used) if used else None,
            "superseded_by": str(result.superseded_by) if result.superseded_by else None,
            "error": result.to_json() or None,
        }

    def to_lines(self) -> Iterator[str]:
        """One line for each reason."""
        place = f"{display_path(self.file)}:{self.line}"
        result, about = self.result, f" ({self.result.key})" if self.result.key else ""
        if result.error is not None:
            yield f"{place}: {result.outcome} {result.error}"
        for issue in result.issues:
            yield f"{place}: {result.outcome} {issue.path}: {screen.one_line(issue.message)}{about}"
        for violation in result.violations:
            yield f"{place}: {result.outcome} {violation.keyword} {screen.one_line(violation.message)}{about}"


@dataclass(frozen=True, slots=True, order=True)
class InvalidityReason:
    """Why values are not valid: a code (an outcome), the keyword of the schema (else empty), the schema that they name."""

    code: str
    keyword: str = ""
    schema: str = ""


def find_reasons(result: ValidationResult) -> set[InvalidityReason]:
    """Return the reasons of one value, each once; none of a valid one."""
    if result.is_valid:
        return set()
    schema = str(result.key) if result.key else ""
    return {
        InvalidityReason(result.outcome, keyword, schema)
        for keyword in {one.keyword for one in result.violations} or {""}
    }


@dataclass(frozen=True, slots=True)
class ReasonCounts:
    """How many values there are with each reason, of at most `REASONS`."""

    counts: Counter[InvalidityReason] = field(default_factory=Counter)

    def add(self, result: ValidationResult) -> None:
        """Count the reasons of one value. A reason beyond `REASONS` counts by its code alone."""
        fits = {
            reason if reason in self.counts or len(self.counts) < REASONS else InvalidityReason(reason.code)
            for reason in find_reasons(result)
        }
        self.counts.update(fits)

    def sort(self) -> list[tuple[InvalidityReason, int]]:
        """The reasons and their counts, the most frequent first."""
        return sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))

    def to_members(self) -> list[dict[str, Any]]:
        """The counts as members of JSON objects."""
        return [
            {"code": reason.code, "keyword": reason.keyword or None, "schema": reason.schema or None, "values": count}
            for reason, count in self.sort()
        ]


@click.command(
    "validate",
    epilog="Exit code 0: all values are valid. 1: some are not, or their schema is nowhere. 2: wrong options, or a file "
    "cannot be read. 3: no value is wrong, but for some a registry could not say; try again later.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(allow_dash=True))
@click.option("--lines", is_flag=True, help="One value per line (default for .jsonl files).")
@resolver_options
@options.as_json
def validate(*, files: tuple[str, ...], lines: bool, source: ResolverSource, as_json: bool) -> None:
    """Validate self-describing values, JSON objects with schema and data, by the schemas they name. - reads standard
    input.

    \b
    Examples:
      treaty iglu validate event.json --resolver resolver.json
      treaty iglu validate events.jsonl --registry http://127.0.0.1:8081/api
      tail events.log | treaty iglu validate --lines - --registry schemas/
    """  # noqa: D301 - click wants the control character
    refuse_second_stdin(files)
    counts = {"values": 0, "valid": 0, "unavailable": 0}
    listed: list[dict[str, Any]] = []
    reasons = ReasonCounts()
    with source.open() as resolver:
        for path in files:
            for checked in _check_file(resolver, path, lines=lines or path.endswith(LINES)):
                counts["values"] += 1
                reasons.add(checked.result)
                if checked.result.outcome in counts:
                    counts[checked.result.outcome] += 1
                if as_json:
                    listed.append(checked.to_members())
                elif not checked.result.is_valid:
                    for line in checked.to_lines():
                        screen.say(line, "red")
    invalid = counts["values"] - counts["valid"] - counts["unavailable"]
    if as_json:
        screen.say_json({**counts, "invalid": invalid, "reasons": reasons.to_members(), "results": listed})
    else:
        _say_reasons(reasons.sort())
        _say_sum(counts, invalid)
    sys.exit(1 if invalid else UNAVAILABLE if counts["unavailable"] else 0)


def _say_reasons(reasons: Sequence[tuple[InvalidityReason, int]]) -> None:
    """Print a table of the most frequent reasons; a value with several reasons counts for each."""
    if not reasons:
        return
    rows = [(f"{count:,}", one.code, one.keyword or "-", one.schema or "-") for one, count in reasons[:SHOWN]]
    screen.say_rows(("values", "code", "keyword", "schema"), rows, err=True)
    if len(reasons) > SHOWN:
        screen.say(f"... and {len(reasons) - SHOWN:,} more reasons; --json prints them", err=True)


def _say_sum(counts: Mapping[str, int], invalid: int) -> None:
    total = screen.format_count(counts["values"], "value")
    later = f", {counts['unavailable']:,} could not be checked now" if counts["unavailable"] else ""
    if invalid or later:
        screen.say(f"{invalid:,} of {total} invalid{later}.", "red", err=True)
    else:
        screen.say(f"{total} valid.", "green")


def _check_file(resolver: Resolver, path: str, *, lines: bool) -> Iterator[CheckedValue]:
    texts = read_lines(path, "VALUE_BYTES") if lines else [read_text(path, "VALUE_BYTES")]
    for number, text in enumerate(texts, 1):
        if text.strip():
            yield CheckedValue(path, number, _check_text(resolver, text))


def _check_text(resolver: Resolver, text: str) -> ValidationResult:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        return ValidationResult("malformed", issues=(SchemaIssue("$", f"the value is not JSON: {error}"),))
    return resolver.validate(value)
