"""`treaty association …`: list, create and delete associations of topics with subjects."""

from typing import TypedDict, Unpack

import click
import msgspec

from treaty.cli.registry import connection
from treaty.cli.registry.schema import read_draft, references
from treaty.cli.terminal import screen
from treaty.cli.terminal.confirmation import confirm
from treaty.cli.terminal.options import SubcommandGroup, UpperChoice, format_
from treaty.cli.terminal.subject_completion import complete_subjects
from treaty.core.limits import ASSOCIATIONS_LISTED
from treaty.core.messages.associations import (
    ANY,
    KINDS,
    LIFECYCLES,
    AssociationSpec,
    OfId,
    OfName,
    OfSubject,
    Resource,
    ResourceAssociation,
)
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.wire.confluent.associations import resource_body
from treaty.wire.confluent.listings import association_body

kinds = click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only the key, or only the value."
)
namespace = click.option("--namespace", metavar="NAME", help="Namespace of the topic: the id of its Kafka cluster.")
topic_id = click.option(
    "--id", "topic_id", metavar="ID", help="Id of the topic. A topic that was deleted and created again has a new id."
)
dry_run = click.option("--dry-run", is_flag=True, help="Show what would change. Nothing is written.")


@click.group("association", cls=SubcommandGroup)
def command() -> None:
    """Associations: list, create, delete."""


@command.command("list")
@click.argument("subject", required=False, shell_complete=complete_subjects)
@click.option("--topic", metavar="NAME", help="Only of topics with this name.")
@namespace
@topic_id
@kinds
@click.option("--lifecycle", type=UpperChoice(LIFECYCLES), help="Only these.")
@connection.registry
@connection.as_json
def list_(
    subject: str | None,
    *,
    topic: str | None,
    namespace: str | None,
    topic_id: str | None,
    kinds: tuple[str, ...],
    lifecycle: str | None,
    registry: str,
    as_json: bool,
) -> None:
    """List associations: all, those of SUBJECT, or those of a topic.

    \b
    Examples:
      treaty association list
      treaty association list --topic orders --kind value
      treaty association list orders-value --json
    """  # noqa: D301 - click wants the control character
    if sum(one is not None for one in (subject, topic or namespace, topic_id)) > 1:
        raise click.UsageError("give a subject, a topic (with its namespace), or an id")
    of: OfSubject | OfName | OfId = OfName(topic or ANY, namespace or ANY)
    of = OfSubject(subject_of(subject)) if subject is not None else OfId(topic_id) if topic_id is not None else of
    associations: list[ResourceAssociation] = []
    with connection.open_registry(registry) as source:
        while len(associations) % ASSOCIATIONS_LISTED == 0:
            page = source.associations(of, kinds=kinds, lifecycle=lifecycle or "", offset=len(associations))
            associations += page
            if not page:
                break
    if as_json:
        screen.say_json([msgspec.to_builtins(association_body(one)) for one in associations])
        return
    for association in associations:
        screen.say(_format_association(association))


def _format_association(association: ResourceAssociation) -> str:
    marks = f"{association.lifecycle}{', frozen' if association.frozen else ''}"
    where = f"{association.resource.namespace} {association.resource.name}"
    return f"{where} {association.kind}: {association.subject} ({marks}; id {association.resource.id})"


class CreateOptions(TypedDict):
    """Options of `treaty association create`; the names are those of click's parameters."""

    namespace: str
    topic_id: str
    kind: str
    lifecycle: str | None
    frozen: bool | None
    file: str | None
    format_: str | None
    references: tuple[str, ...]
    update: bool
    dry_run: bool
    registry: str
    as_json: bool


@command.command("create")
@click.argument("topic")
@click.argument("subject", shell_complete=complete_subjects)
@click.option("--namespace", required=True, metavar="NAME", help="Namespace of the topic: the id of its Kafka cluster.")
@click.option("--id", "topic_id", required=True, metavar="ID", help="Id of the topic.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="value",
    show_default=True,
    help="Part of the records that the subject describes: key or value.",
)
@click.option("--lifecycle", type=UpperChoice(LIFECYCLES), help="Lifecycle of the association (default: WEAK).")
@click.option("--frozen/--not-frozen", default=None, help="Make the association immutable.")
@click.option("--schema", "file", type=click.Path(allow_dash=True), help="Also register the schema in this file.")
@format_
@references
@click.option("--update", is_flag=True, help="Update an existing association.")
@dry_run
@connection.registry
@connection.as_json
def create(topic: str, subject: str, **options: Unpack[CreateOptions]) -> None:
    """Associate TOPIC with SUBJECT, where serializers find its schemas.

    A subject with a STRONG association belongs to this topic only: no other schema may refer to it, and it can be
    deleted with the topic.

    \b
    Examples:
      treaty association create orders shop-order --namespace lkc-1 --id t-9
      treaty association create orders orders-value --namespace lkc-1 --id t-9 \\
        --lifecycle STRONG --schema order.avsc
    """  # noqa: D301 - click wants the control character
    named = subject_of(subject)
    with connection.open_registry(options["registry"], "create") as client:
        register = None
        if options["file"] is not None:
            register = Register(named, read_draft(client, options["file"], options["format_"], options["references"]))
        spec = AssociationSpec(
            options["kind"], named, (options["lifecycle"] or "").upper(), options["frozen"], register
        )
        resource = Resource(topic, options["namespace"], options["topic_id"])
        associated = client.associate(resource, spec, update=options["update"], dry_run=options["dry_run"])
    if options["as_json"]:
        screen.say_json(msgspec.to_builtins(resource_body(associated)))
        return
    (bound,) = associated.bound
    word = "would be" if options["dry_run"] else "is now"
    marks = f"{bound.lifecycle}{', frozen' if bound.frozen else ''}"
    screen.say(f"The {bound.kind} of {topic} {word} associated with {bound.subject} ({marks}).", "green")
    if bound.schema is not None:
        screen.say(f"   registered: version {bound.schema.number}, id {bound.schema.schema_id}")


@command.command("delete")
@click.argument("topic_id", metavar="ID")
@kinds
@click.option(
    "--cascade",
    is_flag=True,
    help="Also delete the subjects of STRONG associations permanently. Needed for frozen associations.",
)
@dry_run
@connection.yes
@connection.registry
@connection.as_json
def delete(
    topic_id: str, *, kinds: tuple[str, ...], cascade: bool, dry_run: bool, yes: bool, registry: str, as_json: bool
) -> None:
    """Delete the associations of the topic with this ID.

    \b
    Examples:
      treaty association delete t-9 --kind key
      treaty association delete t-9 --cascade --dry-run
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        ties = client.associations(OfId(topic_id), kinds=kinds)
        going = [one.subject for one in ties if cascade and one.lifecycle == "STRONG"]
        if ties and not dry_run:
            more = f" and all of {', '.join(going)}" if going else ""
            confirm(f"Delete {screen.format_count(len(ties), 'association')} of {topic_id}{more}?", yes=yes)
        client.dissociate(topic_id, *kinds, cascade=cascade, dry_run=dry_run)
    if as_json:
        listed = [msgspec.to_builtins(association_body(one)) for one in ties]
        screen.say_json({"dry_run": dry_run, "associations": listed, "subjects": going})
        return
    word = "Would delete" if dry_run else "Deleted"
    for association in ties:
        gone = ", with its subject" if association.subject in going else ""
        screen.say(f"{word}: {_format_association(association)}{gone}", "green")
