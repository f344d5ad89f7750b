"""`treaty diff` of versions that a registry has, and of a file that would follow them."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

import click
import msgspec

from treaty.cli.registry import connection
from treaty.cli.schemas.registry_check import resolve_references
from treaty.cli.terminal import screen
from treaty.cli.terminal.differences import COLOURS, GUID, is_stored, say_differences
from treaty.cli.terminal.source import find_format, read_sources
from treaty.client.connection import Connection
from treaty.core.messages.differences import ChangeResult, SchemasCompared
from treaty.core.schema import Draft
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import find_formats
from treaty.wire.differences import compared_body

_MANY = 20
"""Users of a subject that are printed; --json has them all."""


@dataclass(frozen=True, slots=True)
class RegistryDiffOptions:
    """What is compared: versions, guids or files; and how files are read."""

    old: str
    new: str
    url: str | None
    format: str | None
    references: tuple[str, ...]


def diff_with_registry(options: RegistryDiffOptions, *, as_json: bool) -> bool:
    """Ask the registry, print the answer, and return whether the schemas differ. A file that follows a version is also tried as
    the next version of its subject.
    """
    if options.url is None:
        raise click.UsageError(f"{options.old} is in a registry: give it with --registry URL or TREATY_REGISTRY")
    with connection.open_registry(options.url) as registry:
        compared = _compare(registry, options)
    if as_json:
        screen.say_json(msgspec.to_builtins(compared_body(compared)))
    else:
        _say_comparison(compared, options)
    return bool(compared.differences) or (compared.old is not None and compared.old.text != compared.new.text)


def _compare(registry: Connection, options: RegistryDiffOptions) -> SchemasCompared:
    if is_stored(options.new):
        old = options.old if is_stored(options.old) else _read_draft(registry, options.old, options, "")
        return registry.diff(old, options.new)
    subject = "" if GUID.fullmatch(options.old) else options.old.rpartition("@")[0]
    new = _read_draft(registry, options.new, options, subject)
    return registry.try_change(subject, new, old=options.old) if subject else registry.diff(options.old, new)


def _read_draft(registry: Connection, path: str, options: RegistryDiffOptions, subject: str) -> Draft:
    """Read a file; references that its text needs and that are not given are those of the latest version of the subject."""
    formats = find_formats()
    latest = registry.version(subject) if subject else None
    (source,) = read_sources([path], options.format, formats, None if latest is None else latest.format)
    references = resolve_references(registry, options.references)
    try:
        needed = {use.name for use in find_format(source.format, formats).references(source.text)}
    except InvalidSchemaError:
        needed = set()  # the registry says what is wrong with the text
    needed -= {one.name for one in references}
    if latest is not None:
        references += tuple(one for one in latest.references if one.name in needed)
    return Draft(source.text, source.format, references)


def _say_comparison(compared: SchemasCompared, options: RegistryDiffOptions) -> None:
    old = "" if compared.old is None else compared.old.text
    lines = list(unified_diff(old.splitlines(), compared.new.text.splitlines(), options.old, options.new, lineterm=""))
    if not lines and not compared.differences:
        screen.say("The schemas are equal.", "green")
    say_differences(compared.differences)
    if compared.left_out:
        screen.say(f"and {compared.left_out} more differences")
    for line in lines:
        screen.say(line, COLOURS.get(line[:1]))
    if compared.change is not None:
        _say_change(compared.change)
        return
    results = [(one.level, one.findings) for one in compared.levels if one.policy == compared.levels[0].policy]
    screen.say_rows(("level", "result"), [(level, describe_findings(count)) for level, count in results])


def _say_change(change: ChangeResult) -> None:
    rows = [
        (
            change_level.level,
            describe_findings(change_level.findings),
            str(change_level.against) if change_level.against else "",
        )
        for change_level in change.levels
    ]
    screen.say_rows(("level", "result", "against version"), rows)
    word = "passes" if change.compatible else "would be refused"
    screen.say(
        f"{change.subject} has level {change.level}: the change {word}.", "green" if change.compatible else "red"
    )
    if change.same:
        screen.say(f"It is version {change.same} already.")
    _say_touched(change)


def _say_touched(change: ChangeResult) -> None:
    users: Sequence[Any] = change.touched
    if users:
        screen.say("It touches:")
        screen.say_rows(("kind", "name", "needs"), [(one.kind, one.name, one.needs) for one in users[:_MANY]])
    if len(users) > _MANY or change.more:
        screen.say(f"and {len(users) - _MANY}{' or more' if change.more else ''} others; --json lists them")
    if change.hidden:
        screen.say(f"and {change.hidden} sources that you may not see")


def describe_findings(count: int) -> str:
    """Return the result of a level in words."""
    return "passes" if not count else f"refused ({count} finding{'s' if count != 1 else ''})"
