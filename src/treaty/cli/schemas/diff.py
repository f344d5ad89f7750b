"""`treaty diff OLD NEW`: all differences of two schemas, compatible or not, and the result of each level."""

import sys
from collections.abc import Mapping, Sequence
from difflib import unified_diff

import click

from treaty.cli.terminal import options, screen
from treaty.cli.terminal.differences import COLOURS, difference_members, is_stored, say_differences
from treaty.cli.terminal.references import References
from treaty.cli.terminal.schema_file import SchemaFile, load_schemas
from treaty.core.finding import ExplainedDifference
from treaty.formats.differences import (
    PLAIN,
    compare_both_ways,
    describe_change_of_format,
    list_differences,
    list_harmless,
)
from treaty.formats.engine import FormatEngine
from treaty.formats.history import HistoryComparison, compare_history
from treaty.formats.registry import find_formats
from treaty.formats.rule import POLICIES
from treaty.formats.text_layout import lay_out_lines


@click.command(
    "diff", epilog="Exit code 0: printed. 1: the schemas differ, with --exit-code. 2: a text is not a schema."
)
@click.argument("old")
@click.argument("new")
@click.option("--registry", envvar="TREATY_REGISTRY", metavar="URL", help="Registry of versions and guids.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if the schemas differ.")
@options.format_
@options.references(
    "A schema that the text refers to by NAME. Repeatable; those that others need come first. With a registry: NAME=SUBJECT:VERSION."
)
@options.as_json
def command(
    *,
    old: str,
    new: str,
    registry: str | None,
    exit_code: bool,
    format_: str | None,
    references: tuple[str, ...],
    folders: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show the differences of an OLD schema and a NEW one: files (- reads standard input), versions of a registry
    (SUBJECT@NUMBER, SUBJECT@latest), or guids.

    It prints the differences, a diff of the canonical texts, and the result of every level. A file after a version is also tried as
    the next version of that subject, and who uses the subject is listed. Nothing is written.

    \b
    Examples:
      treaty diff old.avsc new.avsc
      git show main:order.avsc | treaty diff - order.avsc
      export TREATY_REGISTRY=http://localhost:8081
      treaty diff orders-value@1 orders-value@latest
      treaty diff orders-value@latest order.avsc
    """  # noqa: D301 - click wants the control character
    if is_stored(old) or is_stored(new):
        from treaty.cli.schemas.registry_diff import RegistryDiffOptions, diff_with_registry  # noqa: PLC0415 (a client)

        registry_options = RegistryDiffOptions(old, new, registry, format_, references)
        sys.exit(int(diff_with_registry(registry_options, as_json=as_json) and exit_code))
    before, after = load_schemas([old, new], format_, References.parse(references, folders))
    lines = _diff_lines(before, after)
    differences = find_differences(before, after)
    comparisons = {policy: _compare_versions(before, after, policy) for policy in POLICIES}
    if as_json:
        screen.say_json(
            {
                "old": {"file": old, "format": before.form.name},
                "new": {"file": new, "format": after.form.name},
                "differences": [difference_members(one) for one in differences],
                "diff": lines,
                "levels": {policy: list(one.levels) for policy, one in comparisons.items()},
            }
        )
    else:
        _say_differences(differences, lines, comparisons)
    sys.exit(1 if exit_code and (lines or differences) else 0)


def find_differences(before: SchemaFile, after: SchemaFile) -> list[ExplainedDifference]:
    """Return all differences of two schemas, those of each format's rules first, in words."""
    form = after.form
    if before.form.name != form.name:
        return [describe_change_of_format(before.form.name, form.name)[0]]
    compared = compare_both_ways(form, before.model, after.model)
    differences = list_differences(form, before.model, after.model, compared)
    return differences + list_harmless(form, before.model, after.model, differences)


def _compare_versions(before: SchemaFile, after: SchemaFile, policy: str) -> HistoryComparison:
    return compare_history(FormatEngine(find_formats()), [before.resolved], after.resolved, policy)


def _diff_lines(before: SchemaFile, after: SchemaFile) -> list[str]:
    """Return a unified diff of the canonical texts; a text of one line is formatted first."""
    old, new = (list(lay_out_lines(one.show().canonical)) for one in (before, after))
    return list(unified_diff(old, new, before.source.name, after.source.name, lineterm=""))


def _say_differences(
    differences: Sequence[ExplainedDifference], lines: Sequence[str], comparisons: Mapping[str, HistoryComparison]
) -> None:
    if not lines and not differences:
        screen.say("The schemas are equal.", "green")
    say_differences(differences)
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
