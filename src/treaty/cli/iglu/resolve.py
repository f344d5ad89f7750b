"""`treaty iglu resolve URI`: finds a schema, the list of its model, or its family."""

from typing import Any

import click

from treaty.cli.iglu.resolver_options import UNAVAILABLE, ResolverSource, resolver_options
from treaty.cli.terminal import options, screen
from treaty.cli.terminal.errors import ReportedError
from treaty.client.iglu import IgluKeyError, IgluNotFoundError, ResolutionError, Resolver
from treaty.client.iglu.errors import format_time
from treaty.core.iglu_key import IgluKey


@click.command(
    "resolve",
    epilog="Exit code 0: found. 1: no registry has it. 2: wrong options, or a file cannot be read. "
    "3: a registry could not say; try again later.",
)
@click.argument("uri")
@click.option("--superseding", is_flag=True, help="Follow $supersededBy.")
@click.option("--list", "listed", is_flag=True, help="Print the list of the schema's model.")
@click.option("--family", is_flag=True, help="Print all schemas of the model up to this one.")
@resolver_options
@options.as_json
def resolve(*, uri: str, superseding: bool, listed: bool, family: bool, source: ResolverSource, as_json: bool) -> None:
    """Find the schema of a URI in registries, and print it. With an error: what each registry answered, when, and when it
    is asked again.

    \b
    Examples:
      treaty iglu resolve iglu:com.acme/a/jsonschema/1-0-0 --resolver iglu.json
      treaty iglu resolve iglu:com.acme/a/jsonschema/1-0-2 --family --registry .
      treaty iglu resolve iglu:com.acme/a/jsonschema/1-0-0 --registry a.zip
    """  # noqa: D301 - click wants the control character
    if listed + family + superseding > 1:
        raise click.UsageError("--list, --family and --superseding exclude each other; give one of them")
    try:
        key = IgluKey.parse(uri)
    except IgluKeyError as error:
        raise click.BadParameter(str(error), param_hint="URI") from None
    with source.open() as resolver:
        try:
            text, members = _find(resolver, key, listed=listed, family=family, superseding=superseding)
        except ResolutionError as error:
            raise _make_report(error) from None
    if as_json:
        screen.say_json(members)
    else:
        screen.say_text(text)


def _find(
    resolver: Resolver, key: IgluKey, *, listed: bool, family: bool, superseding: bool
) -> tuple[str, dict[str, Any]]:
    """Return what is printed as text, and as JSON."""
    if listed:
        keys = resolver.list_schemas_like(key)
        lines = [str(one) for one in keys.schemas]
        return "\n".join(lines), {"registry": keys.registry, "schemas": lines}
    if family:
        members = resolver.lookup_until(key).members
        documents = [{"key": str(one.key), "document": one.document} for one in members]
        return "\n".join(screen.json_text(one.document) for one in members), {"schemas": documents}
    schema = resolver.lookup(key, superseding=superseding)
    described = {
        "key": str(key),
        "registry": schema.registry,
        "resolved_at": format_time(schema.resolved_at),
        "superseded_by": str(schema.superseded_by) if schema.superseded_by else None,
        "document": schema.document,
    }
    return screen.json_text(schema.document, indent=2), described


class NoAnswerError(ReportedError):
    """Some registry can't say now whether it has the schema."""

    exit_code = UNAVAILABLE


def _make_report(error: ResolutionError) -> ReportedError:
    is_missing = isinstance(error, IgluNotFoundError)
    return (ReportedError if is_missing else NoAnswerError)(
        str(error),
        "IGLU_NOT_FOUND" if is_missing else "IGLU_UNAVAILABLE",
        resolution=error.to_json(),
        next_attempts={name: None if time is None else format_time(time) for name, time in error.next_attempts.items()},
    )
