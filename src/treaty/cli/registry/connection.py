"""Shared by the commands about a registry: its URL, the connection, and how answers are printed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import msgspec

from treaty.cli.registry.failures import report_failures
from treaty.cli.terminal import options, registry_url, screen
from treaty.cli.terminal.subject_completion import complete_lints, complete_subjects
from treaty.client.connection import Connection
from treaty.core.limits import COUNTER
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.request import Visible
from treaty.core.messages.schemas import SchemaFound
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.core.refusals import NotFound, SubjectNotFound
from treaty.wire.confluent.settings import exact_body
from treaty.wire.confluent.versions import schema_body, version_body

registry, as_json, yes = options.registry, options.as_json, options.yes
scope = click.argument("scope", default="", shell_complete=complete_subjects)
subject = click.argument("subject", shell_complete=complete_subjects)
group_name = click.argument("subject", metavar="GROUP", shell_complete=complete_subjects)
no_defaults = click.option("--no-defaults", is_flag=True, help="Only what is set at SCOPE itself, without defaults.")
validators = click.option(
    "--validator",
    "validators",
    multiple=True,
    metavar="VALIDATOR",
    shell_complete=complete_lints,
    help="A validator that every new version must pass: a lint, or a name such as 'required-metadata(owner)'. Repeatable.",
)
permanent = click.option("--permanent", is_flag=True, help="Delete permanently. Live versions are soft-deleted first.")


@contextmanager
def open_registry(url: str, missing: registry_url.MISSING = "refuse") -> Iterator[Connection]:
    """Connect for the block; a refusal ends the program with exit code 1, a failure with 2."""
    with report_failures(), registry_url.connect_to(url, missing) as client:
        yield client


def parse_version(version: str) -> int | str:
    """Parse a version: a number, ``latest``, or the id of a version in its group as ``GROUP/ID``."""
    if version.strip().lower() == "latest":
        return -1
    if version.isascii() and version.isdecimal() and int(version) > 0:
        return int(version)
    if "/" in version.strip("/"):
        return version
    raise click.BadParameter(f"{version!r} is neither a version number nor 'latest' nor GROUP/ID")


def find_version(client: Connection, subject: str, version: int | str, *, deleted: bool = False) -> VersionFound:
    """Return a version of a subject by its number or id. An id in a group without id schemes is an ordinal."""
    if isinstance(version, int):
        return client.version(subject, version, deleted=deleted)
    name = version.removeprefix(f"{subject}/")
    if name.isascii() and name.isdecimal() and len(name) <= len(str(COUNTER)) and not client.group(subject).schemes:
        return client.ordinal(subject, int(name))
    return client.named_version(subject, name)


def refuse_missing_subject(client: Connection, subject: str, visible: Visible = "live") -> None:
    """Raise `SubjectNotFound` if exactly this subject, or the target of this alias, has no visible version.

    A registry may answer a name without a context with the subject of that name in another context. A command that
    shows or deletes one subject must not use that answer.
    """
    try:
        alias = client.config(subject, resolve=False).alias
    except NotFound:
        alias = None
    target = subject_of(subject)
    if alias:
        target = target.sibling(alias)
    if target.context != DEFAULT_CONTEXT:
        return
    # Names come sorted: a subject is the first one of those that begin with its name.
    if target.name not in client.ask(ListSubjects(target, visible, limit=1)).answer.names:
        allowed = "a name from `treaty subject list`, with its context"
        message = f"Subject '{subject}' not found."
        raise SubjectNotFound.of("SUBJECT_NOT_FOUND", message, subject=subject, allowed=allowed)


def answer_members(answer: VersionFound | SchemaFound | Config) -> dict[str, Any]:
    """Return an answer as JSON members with the names of the HTTP API."""
    match answer:
        case VersionFound():
            body: Any = version_body(answer)
        case SchemaFound():
            body = schema_body(answer)
            body.id = answer.schema_id
        case Config():
            body = exact_body(answer)
    members: dict[str, Any] = msgspec.to_builtins(body)
    return members


def group_version_members(version: VersionFound) -> dict[str, Any]:
    """Return a version as JSON members, with those that only groups have; `properties` are the version's own."""
    forced = None if version.forced is None else {"who": version.forced.who, "why": version.forced.why}
    return {
        **answer_members(version),
        "ordinal": version.ordinal,
        "typeName": version.type_name,
        "typeVersion": version.type_version,
        "names": dict(version.names),
        "properties": dict(version.properties),
        "forced": forced,
        "imported": version.imported,
    }


def say_version(version: VersionFound, *, as_json: bool, full: bool = True) -> None:
    """Print a version: its properties and its text."""
    if as_json:
        screen.say_json(answer_members(version))
        return
    facts = {
        "subject": version.subject,
        "version": f"{version.number}{' (deleted)' if version.deleted else ''}",
        "id": str(version.schema_id),
        "guid": version.guid,
        "format": version.format,
    }
    screen.say_facts(facts)
    for reference in version.references:
        screen.say(f"   refers to {reference.name}: {reference.subject} version {reference.version}")
    if full:
        screen.say(version.text)


def say_members(members: dict[str, Any], *, as_json: bool) -> None:
    """Print settings."""
    if as_json:
        screen.say_json(members)
    else:
        screen.say_facts({name: str(value) for name, value in members.items()})
