"""`treaty subject list`, `get` and `delete` list, show and delete subjects, softly or for good."""

from contextlib import suppress

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.confirmation import confirm
from treaty.cli.terminal.options import SubcommandGroup
from treaty.cli.terminal.subject_completion import complete_subjects
from treaty.client.connection import Connection
from treaty.core.messages.request import Visible
from treaty.core.policy import in_words
from treaty.core.refusals import AlreadyDeleted, Forbidden, NotFound


@click.group("subject", cls=SubcommandGroup)
def command() -> None:
    """List, show and delete subjects."""


@command.command("list")
@click.argument("prefix", default=":*:", shell_complete=complete_subjects)
@click.option("--deleted", is_flag=True, help="Include soft-deleted ones.")
@connection.registry
@connection.as_json
def list_(prefix: str, *, deleted: bool, registry: str, as_json: bool) -> None:
    """List subjects that begin with PREFIX; without it those of all contexts.

    \b
    Examples:
      treaty subject list
      treaty subject list orders --json
      treaty subject list :.prod: --deleted
    """  # noqa: D301 - click wants the control character
    visible: Visible = "all" if deleted else "live"
    with connection.open_registry(registry) as client:
        names = client.subjects(prefix, visible)
    if as_json:
        screen.say_json(list(names))
    else:
        for name in names:
            screen.say(name)


@command.command("get")
@connection.subject
@click.option("--deleted", is_flag=True, help="Include soft-deleted versions.")
@connection.registry
@connection.as_json
def get(subject: str, *, deleted: bool, registry: str, as_json: bool) -> None:
    """Show a SUBJECT: its versions, and the config and mode in force.

    \b
    Example:
      treaty subject get orders-value
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        visible: Visible = "all" if deleted else "live"
        connection.refuse_missing_subject(client, subject, visible)
        numbers = client.versions(subject, visible)
        versions = [client.version(subject, number, deleted=True) for number in numbers]
        config, mode = client.config(subject), client.mode(subject)
    if as_json:
        listed = [{"version": one.number, "id": one.schema_id, "deleted": one.deleted} for one in versions]
        screen.say_json(
            {"subject": subject, "versions": listed, "config": connection.answer_members(config), "mode": mode}
        )
        return
    screen.say_facts(
        {
            "subject": subject,
            "level": in_words(config.exact_level) if config.exact_level else config.level or "",
            "mode": mode or "",
        }
    )
    rows = [(str(one.number), str(one.schema_id), one.format, "deleted" if one.deleted else "") for one in versions]
    screen.say_rows(("version", "id", "format", ""), rows)


@command.command("delete")
@connection.subject
@connection.permanent
@connection.yes
@connection.registry
@connection.as_json
def delete(subject: str, *, permanent: bool, yes: bool, registry: str, as_json: bool) -> None:
    """Delete all versions of a SUBJECT. Soft-deleted versions are still readable by id; --permanent deletes them
    completely.

    \b
    Examples:
      treaty subject delete orders-value
      treaty subject delete orders-value --permanent --yes
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        if not yes:
            _refuse_absent(client, subject, permanent=permanent)
        confirm(f"Delete {subject}{' permanently' if permanent else ''}?", yes=yes)
        numbers: tuple[int, ...] = ()
        try:
            numbers = client.delete_subject(subject)
        except AlreadyDeleted:
            if not permanent:
                raise
        if permanent:
            numbers = client.delete_subject(subject, permanent=True)
    if as_json:
        screen.say_json(list(numbers))
    else:
        word = "Permanently deleted" if permanent else "Deleted"
        screen.say(f"{word}: {subject}, versions {', '.join(map(str, numbers))}", "green")


def _refuse_absent(client: Connection, subject: str, *, permanent: bool) -> None:
    """Raise `NotFound` for a subject without any version, and `AlreadyDeleted` where a soft deletion finds no live one; whether
    one that the caller may not read exists is left to the registry.
    """
    with suppress(Forbidden):
        connection.refuse_missing_subject(client, subject, "all")
        client.versions(subject, "all")
        if permanent:
            return
        try:
            client.versions(subject)
        except NotFound:
            message = f"Subject '{subject}' is soft-deleted already: --permanent deletes it completely"
            raise AlreadyDeleted.of("SUBJECT_SOFT_DELETED", message, subject=subject, allowed="--permanent") from None
