"""`treaty diff OLD NEW`: all differences of two schemas, compatible or not, and the result of each level."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff

import click

from treaty.cli.terminal import options, screen
from treaty.cli.terminal.references import References
from treaty.cli.terminal.schema_file import SchemaFile, load_schemas
from treaty.core.finding import Finding
from treaty.core.policy import ALL, LEVELS
from treaty.formats.engine import FormatEngine
from treaty.formats.history import FORMAT_CHANGED, HistoryComparison, compare_history
from treaty.formats.registry import find_formats
from treaty.formats.rule import POLICIES

TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^\s\[\]{},:"]+|[\[\]{},:]')
PLAIN = tuple(word for word, level in LEVELS.items() if ALL not in {level.backward, level.forward})
"""Levels without the transitive ones, which are equal for a single earlier schema."""

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
HARM = {
    "backward": "the new schema cannot read old data",
    "forward": "the old schema cannot read new data",
    "both": "neither can read the other's data",
    "none": "none",
}


@dataclass(frozen=True, slots=True)
class ExplainedDifference:
    """A finding, the directions that it breaks (a key of `HARM`), its sentence, and which schema reads."""

    finding: Finding
    harm: str
    sentence: str
    old_reads: bool = False
    policy: str = ""
    """The stricter policy that alone has this finding."""


@click.command(
    "diff", epilog="Exit code 0: printed. 1: the schemas differ, with --exit-code. 2: a text is not a schema."
)
@click.argument("old", type=click.Path(allow_dash=True))
@click.argument("new", type=click.Path(allow_dash=True))
@click.option("--exit-code", is_flag=True, help="Exit with 1 if the schemas differ.")
@options.format_
@options.references()
@options.as_json
def command(
    *,
    old: str,
    new: str,
    exit_code: bool,
    format_: str | None,
    references: tuple[str, ...],
    folders: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show the differences of an OLD schema and a NEW one (- reads standard input).

    It prints the differences, a diff of the canonical texts, and the result of every level.

    \b
    Examples:
      treaty diff old.avsc new.avsc
      git show main:order.avsc | treaty diff - order.avsc
    """  # noqa: D301 - click wants the control character
    before, after = load_schemas([old, new], format_, References.parse(references, folders))
    lines = _diff_lines(before, after)
    found = find_differences(before, after)
    comparisons = {policy: _compare_versions(before, after, policy) for policy in POLICIES}
    if as_json:
        screen.say_json(
            {
                "old": {"file": old, "format": before.form.name},
                "new": {"file": new, "format": after.form.name},
                "differences": [_difference_members(one) for one in found],
                "diff": lines,
                "levels": {policy: list(one.levels) for policy, one in comparisons.items()},
            }
        )
    else:
        _say_differences(found, lines, comparisons)
    sys.exit(1 if exit_code and (lines or found) else 0)


def find_differences(before: SchemaFile, after: SchemaFile) -> list[ExplainedDifference]:
    """Return all differences that the format finds, and every finding of both directions that a level counts.

    A difference that only the old schema cannot read stands for one finding of that direction at its path. Every other
    finding is an entry of its own, in the words of its rule.
    """
    form = after.form
    if before.form.name != form.name:
        changed = FORMAT_CHANGED.finding("/", writer=before.form.name, reader=form.name)
        return [ExplainedDifference(changed, FORMAT_CHANGED.harm, changed.sentence)]
    backward = list(form.compare(after.model, before.model, POLICIES[0]))
    forward = list(form.compare(before.model, after.model, POLICIES[0]))
    listed = {_key(one, old_reads=False) for one in backward} | {_key(one, old_reads=True) for one in forward}
    found: list[ExplainedDifference] = []
    for one in backward if form.differences is None else form.differences(after.model, before.model):
        same = next((each for each in backward if (each.rule, each.path) == (one.rule, one.path)), None)
        mirrored = None if same else next((each for each in forward if each.path == one.path), None)
        if same:
            backward = _remove_first(backward, same)
        elif mirrored:
            forward = _remove_first(forward, mirrored)
        harm = "backward" if same else "forward" if mirrored else "none"
        found.append(ExplainedDifference(one, harm, one.message(reader="new", writer="old")))
    found += [_explain(one, old_reads=False) for one in backward]
    found += [_explain(one, old_reads=True) for one in forward]
    return found + _find_under_others(before, after, listed)


def _remove_first(findings: Sequence[Finding], one: Finding) -> list[Finding]:
    """The findings without the first that is `one`."""
    at = findings.index(one)
    return [*findings[:at], *findings[at + 1 :]]


def _key(one: Finding, *, old_reads: bool) -> tuple[bool, str, str, str]:
    """What makes a finding the same under two policies."""
    return old_reads, one.rule, one.path, one.sentence


def _explain(one: Finding, *, old_reads: bool, policy: str = "") -> ExplainedDifference:
    reader, writer = ("old", "new") if old_reads else ("new", "old")
    harm = "forward" if old_reads else "backward"
    return ExplainedDifference(one, harm, one.message(reader=reader, writer=writer), old_reads=old_reads, policy=policy)


def _find_under_others(
    before: SchemaFile, after: SchemaFile, listed: set[tuple[bool, str, str, str]]
) -> list[ExplainedDifference]:
    """Return the findings that only a stricter policy has, each under the first one that has it."""
    found: list[ExplainedDifference] = []
    for policy in POLICIES[1:]:
        for old_reads in (False, True):
            reader, writer = (before, after) if old_reads else (after, before)
            fresh = after.form.compare(reader.model, writer.model, policy)
            kept = [one for one in fresh if _key(one, old_reads=old_reads) not in listed]
            listed |= {_key(one, old_reads=old_reads) for one in kept}
            found += [_explain(one, old_reads=old_reads, policy=policy) for one in kept]
    return found


def _compare_versions(before: SchemaFile, after: SchemaFile, policy: str) -> HistoryComparison:
    return compare_history(FormatEngine(find_formats()), [before.resolved], after.resolved, policy)


def _diff_lines(before: SchemaFile, after: SchemaFile) -> list[str]:
    """Return a unified diff of the canonical texts; a text of one line is formatted first."""
    old, new = (list(_lay_out(one.show().canonical)) for one in (before, after))
    return list(unified_diff(old, new, before.source.name, after.source.name, lineterm=""))


def _lay_out(text: str) -> Iterator[str]:
    """Return the lines of a text; a JSON text of one line is formatted, its numbers and strings unchanged."""
    if "\n" in text or text[:1] not in {"{", "["}:
        yield from text.splitlines()
        return
    line, depth = "", 0
    for found in TOKEN.finditer(text):
        word = found[0]
        if word in ("]", "}"):
            depth -= 1
            if line.endswith(("[", "{")):  # an empty one stays on its line
                line += word
                continue
            if line.strip():
                yield line
            line = "  " * depth + word
        elif word in ("[", "{"):
            depth += 1
            line += word
            if text[found.end()] not in "]}":
                yield line
                line = "  " * depth
        elif word == ",":
            yield line + word
            line = "  " * depth
        else:
            line += word if word != ":" else ": "
    yield line


def _difference_members(one: ExplainedDifference) -> dict[str, str]:
    found = one.finding
    old, new = (found.reader, found.writer) if one.old_reads else (found.writer, found.reader)
    facts = {"rule": found.rule, "path": found.path or "/", "harm": one.harm, "sentence": one.sentence}
    more = {"policy": one.policy} if one.policy else {}
    return {**facts, "detail": found.detail, "old": old, "new": new, "remedy": found.remedy, **more}


def _say_differences(
    found: Sequence[ExplainedDifference], lines: Sequence[str], comparisons: Mapping[str, HistoryComparison]
) -> None:
    if not lines and not found:
        screen.say("The schemas are equal.", "green")
    for number, one in enumerate(found, 1):
        screen.say(f"{number}. {one.sentence}", bold=True)
        facts = _difference_members(one)
        harm = f"{HARM[one.harm]}, as policy {one.policy} compares" if one.policy else HARM[one.harm]
        facts = {name: facts[name] for name in ("rule", "path", "old", "new") if facts[name]} | {"harm": harm}
        screen.say_facts(facts)
    for line in lines:
        screen.say(line, COLOURS.get(line[:1]))
    _say_levels(comparisons)


def _say_levels(comparisons: Mapping[str, HistoryComparison]) -> None:
    """Print a row for each level, and a column for each group of policies with the same result."""
    verdicts = {policy: tuple(_describe_level(one, level) for level in PLAIN) for policy, one in comparisons.items()}
    if len(set(verdicts.values())) == 1:
        verdicts = {"verdict": next(iter(verdicts.values()))}
    screen.say_rows(
        ("level", *verdicts), [(level, *(words[at] for words in verdicts.values())) for at, level in enumerate(PLAIN)]
    )


def _describe_level(comparison: HistoryComparison, level: str) -> str:
    count = sum(map(len, comparison.reasons(level)))
    return "passes" if comparison.fits(level) else f"refused ({count} finding{'s' if count != 1 else ''})"
