"""`treaty schema …`: register, look up, read and delete schemas."""

import re
import sys
from typing import IO, Any

import click

from treaty.cli.registry import connection
from treaty.cli.registry.failures import RefusedError
from treaty.cli.terminal import registry_warnings, screen
from treaty.cli.terminal.confirmation import confirm
from treaty.cli.terminal.findings import OutputOptions, locate_refusal, output_options, print_findings, read_old_version
from treaty.cli.terminal.options import SubcommandGroup, format_, parse_pairs
from treaty.cli.terminal.source import display_path, read_sources
from treaty.cli.terminal.subject_completion import complete_subjects
from treaty.client.connection import Connection
from treaty.core.messages.listings import ListSchemas
from treaty.core.messages.registration import ForceReason
from treaty.core.messages.request import Visible
from treaty.core.messages.schemas import SchemaFound
from treaty.core.messages.versions import VersionFound
from treaty.core.names import subject_of
from treaty.core.refusals import AlreadyDeleted, Incompatible, InvalidSchema, NotFound, Refusal
from treaty.core.schema import Draft, Metadata, Pairs, Reference
from treaty.formats.registry import find_formats

PAGE = 1000
"""Versions per page of a list request."""
GUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}")


@click.group("schema", cls=SubcommandGroup)
def command() -> None:
    """Register, look up, show and delete schemas."""


class RejectedSchemaError(RefusedError):
    """The registry refuses the schema in a file; every finding is printed."""

    def __init__(self, subject: str, file: str, draft: Draft, refusal: Refusal, output: OutputOptions) -> None:
        """Locate the findings in the file."""
        super().__init__(refusal)
        name = display_path(file)
        self.found = locate_refusal(name, draft.format, draft.text, refusal)
        self.facts["findings"] = [one.to_members() for one in self.found]
        self.output = output
        counted = screen.format_count(len(self.found), "finding")
        number = read_old_version(refusal.reason.details)
        old = f", after version {number}" if number else ""
        self.summary = f"{name} is not registered as a version of {subject}{old}: {counted}."

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the findings on stdout."""
        if self.output.is_json:
            super().show(file)
            return
        print_findings(self.found, self.output)
        screen.say(self.summary, "red")


references = click.option(
    "--reference",
    "references",
    multiple=True,
    metavar="NAME=SUBJECT:VERSION",
    help="Reference: the subject and version of a name in the text. The version may be latest. Repeatable.",
)


def read_draft(
    client: Connection, file: str, format_name: str | None, references: tuple[str, ...], properties: Pairs = ()
) -> Draft:
    """Read the schema in a file, with references as ``NAME=SUBJECT:VERSION`` and properties as its metadata."""
    (source,) = read_sources([file], format_name, find_formats())
    bound = tuple(_parse_reference(client, each) for each in references)
    return Draft(source.text, source.format, bound, Metadata(properties=properties) if properties else None)


def _parse_reference(client: Connection, word: str) -> Reference:
    name, _, place = word.partition("=")
    subject, _, version = place.rpartition(":")
    if not (name and subject):
        raise click.BadParameter(f"{word!r} is not NAME=SUBJECT:VERSION", param_hint="--reference")
    number = connection.parse_version(version)
    if not isinstance(number, int) or number < 0:
        number = connection.find_version(client, subject, number).number
    return Reference(name, subject, number)


@command.command("register")
@connection.subject
@click.argument("file", type=click.Path(allow_dash=True))
@format_
@references
@click.option("--property", "properties", multiple=True, metavar="NAME=VALUE", help="Metadata of the schema.")
@click.option(
    "--normalize",
    is_flag=True,
    help="Normalize the schema before it is registered, like normalize=true of Confluent's API.",
)
@click.option(
    "--force",
    metavar="WHY",
    help="Skip the compatibility check. The reason and the caller are stored with the version.",
)
@registry_warnings.strict
@connection.registry
@output_options
def register(
    subject: str,
    file: str,
    *,
    format_: str | None,
    references: tuple[str, ...],
    properties: tuple[str, ...],
    normalize: bool,
    force: str | None,
    strict: bool,
    registry: str,
    output: OutputOptions,
) -> None:
    """Register the schema in FILE (- is standard input) as a version of SUBJECT. An existing version is returned, not
    repeated.

    \b
    Examples:
      treaty schema register orders-value order.avsc
      treaty schema register orders-value order.proto \\
        --reference money.proto=money.proto:latest
    """  # noqa: D301 - click wants the control character
    pairs = parse_pairs(properties)
    with connection.open_registry(registry, "create") as client:
        warnings = registry_warnings.collect_warnings(client)
        draft = read_draft(client, file, format_, references, pairs)
        why = None if force is None else ForceReason("command line", force)
        try:
            registered = client.register(subject, draft, normalize=normalize or None, force=why)
        except (Incompatible, InvalidSchema) as refusal:
            raise RejectedSchemaError(subject, file, draft, refusal, output) from refusal
    if output.is_json:
        members = {**connection.answer_members(registered.version), "created": registered.created}
        screen.say_json({**members, **registry_warnings.warning_members(warnings)})
    else:
        word = "is now" if registered.created else "was already"
        screen.say(
            f"It {word} version {registered.version.number} of {subject}, id {registered.version.schema_id}.", "green"
        )
    registry_warnings.say_warnings(warnings)
    sys.exit(registry_warnings.exit_code(0, warnings, is_strict=strict))


@command.command("lookup")
@connection.subject
@click.argument("file", type=click.Path(allow_dash=True))
@format_
@references
@connection.registry
@connection.as_json
def lookup(
    subject: str, file: str, *, format_: str | None, references: tuple[str, ...], registry: str, as_json: bool
) -> None:
    """Find the version of SUBJECT with the schema in FILE.

    \b
    Example:
      treaty schema lookup orders-value order.avsc
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        version = client.lookup(subject, read_draft(client, file, format_, references))
    connection.say_version(version, as_json=as_json, full=False)


@command.command("get")
@click.argument("what", metavar="SUBJECT|ID|GUID|GROUP/ID", shell_complete=complete_subjects)
@click.argument("version", default="latest")
@click.option("--text", is_flag=True, help="Print only the text of the schema.")
@connection.registry
@connection.as_json
def get(what: str, version: str, *, text: bool, registry: str, as_json: bool) -> None:
    """Print a schema: of a SUBJECT (a VERSION or the latest), of an ID, of a GUID, or by its ID in a GROUP.

    A number is taken for a subject if one of that name exists, else for an id; ``id:7`` is always an id.
    A name with a slash is taken for a subject if one of that name exists, else for a group and an id in
    it: by the id scheme of the group, or the ordinal where it has none. VERSION can be GROUP/ID too.

    \b
    Examples:
      treaty schema get orders-value
      treaty schema get orders-value 3 --text > order.avsc
      treaty schema get id:17
      treaty schema get orders-value/0
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        schema = _find_schema(client, what, version)
    if text:
        screen.say_text(schema.text)
    elif isinstance(schema, SchemaFound):
        _say_schema(schema, as_json=as_json)
    else:
        connection.say_version(schema, as_json=as_json)


def _find_schema(client: Connection, what: str, version: str) -> VersionFound | SchemaFound:
    if what.startswith("id:") and what[3:].isdecimal():
        return client.schema(int(what[3:]))
    try:
        return connection.find_version(client, what, connection.parse_version(version), deleted=version != "latest")
    except NotFound:
        if what.isdecimal() and version == "latest":
            return client.schema(int(what))
        group, slash, _ = what.rpartition("/")
        if slash and group and version == "latest":
            return connection.find_version(client, group, what)
        if GUID.fullmatch(what):
            return client.by_guid(what)
        raise


def _say_schema(schema: SchemaFound, *, as_json: bool) -> None:
    if as_json:
        screen.say_json(connection.answer_members(schema))
        return
    facts = {"id": str(schema.schema_id), "guid": schema.guid, "format": schema.format}
    if schema.subject:
        facts["used as"] = f"{schema.subject} version {schema.number}{' (deleted)' if schema.deleted else ''}"
    screen.say_facts(facts)
    screen.say(schema.text)


@command.command("list")
@click.argument("prefix", default="", shell_complete=complete_subjects)
@click.option("--latest", is_flag=True, help="Only the newest version of each subject.")
@click.option("--deleted", is_flag=True, help="Include soft-deleted ones.")
@click.option("--limit", type=click.IntRange(min=1), help="The most versions to print (default: all).")
@connection.registry
@connection.as_json
def list_(prefix: str, *, latest: bool, deleted: bool, limit: int | None, registry: str, as_json: bool) -> None:
    """List versions of subjects that begin with PREFIX.

    \b
    Examples:
      treaty schema list --latest
      treaty schema list orders --json
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        versions = _list_all(client, prefix, "all" if deleted else "live", latest=latest, limit=limit)
    if as_json:
        screen.say_json([connection.answer_members(version) for version in versions])
        return
    rows = [
        (
            str(version.schema_id),
            version.format,
            str(version.number),
            version.subject + (" (deleted)" if version.deleted else ""),
        )
        for version in versions
    ]
    screen.say_rows(("id", "format", "version", "subject"), rows)


def _list_all(
    client: Connection, prefix: str, visible: Visible, *, latest: bool, limit: int | None
) -> list[VersionFound]:
    """Yield versions page by page, up to a limit; also ends if a registry repeats a page."""
    listed: list[VersionFound] = []
    while limit is None or len(listed) < limit:
        size = PAGE if limit is None else min(PAGE, limit - len(listed))
        last = (listed[-1].subject, listed[-1].number) if listed else None
        request = ListSchemas(subject_of(prefix), visible, latest, offset=len(listed), limit=size, after=last)
        page = client.ask(request).answer.versions
        if last is not None and page and (page[-1].subject, page[-1].number) == last:
            break
        listed += page
        if len(page) < size:
            break
    return listed


@command.command("delete")
@connection.subject
@click.argument("version")
@connection.permanent
@connection.yes
@connection.registry
@connection.as_json
def delete(subject: str, version: str, *, permanent: bool, yes: bool, registry: str, as_json: bool) -> None:
    """Delete a VERSION of a SUBJECT. A soft-deleted version is still readable by id; --permanent deletes it completely.

    \b
    Example:
      treaty schema delete orders-value 2
    """  # noqa: D301 - click wants the control character
    number = connection.parse_version(version)
    with connection.open_registry(registry) as client:
        connection.refuse_missing_subject(client, subject, "all" if permanent else "live")
        stored_version = connection.find_version(client, subject, number, deleted=permanent)
        how = " permanently" if permanent else ""
        confirm(f"Delete version {stored_version.number} of {subject}{how}?", yes=yes)
        try:
            if not stored_version.deleted:
                client.delete_version(subject, stored_version.number)
        except AlreadyDeleted:  # some registries do not say of a version that it is deleted
            if not permanent:
                raise
        if permanent:
            client.delete_version(subject, stored_version.number, permanent=True)
    if as_json:
        facts = {"subject": stored_version.subject, "version": stored_version.number, "id": stored_version.schema_id}
        screen.say_json({**facts, "permanent": permanent})
        return
    word = "Permanently deleted" if permanent else "Deleted"
    screen.say(f"{word}: {subject} version {stored_version.number}, id {stored_version.schema_id}", "green")
