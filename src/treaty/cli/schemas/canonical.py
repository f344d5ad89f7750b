"""`treaty canonical FILE`: prints the text of a schema as a registry stores and hashes it, or another form of it."""

import click

from treaty.cli.terminal import options, screen
from treaty.cli.terminal.references import References
from treaty.cli.terminal.schema_file import SchemaFile, load_schema
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError


@click.command("canonical", epilog="Exit code 0: printed. 2: the text is not a schema, or cannot be read.")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option(
    "--normalize",
    is_flag=True,
    help="Print the normalized form: equal for schemas that differ only in order and spelling.",
)
@click.option("--view", metavar="NAME", help="Another form: resolved, parsing (Avro) or serialized (Protobuf).")
@options.format_
@options.references()
@options.as_json
def command(
    *,
    file: str,
    normalize: bool,
    view: str | None,
    format_: str | None,
    references: tuple[str, ...],
    folders: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print a schema FILE as a registry stores, returns and hashes it (- reads standard input).

    \b
    Examples:
      treaty canonical order.avsc
      treaty canonical --normalize --reference Money=money.avsc order.avsc
      treaty canonical --view parsing - < order.avsc
    """  # noqa: D301 - click wants the control character
    schema = load_schema(file, format_, References.parse(references, folders))
    printed = schema.show(normalize=normalize)
    text = printed.canonical if view is None else render_view(schema, view, normalize=normalize)
    if as_json:
        members = {"file": file, "format": schema.form.name, "view": view or "canonical"}
        screen.say_json({**members, "normalized": normalize, "type_name": printed.type_name, "text": text})
    else:
        screen.say_text(text)


def render_view(schema: SchemaFile, view: str, *, normalize: bool) -> str:
    """Return a named form of a schema, or its normalized form."""
    if view not in schema.form.views:
        names = ", ".join(sorted(schema.form.views)) or "none"
        raise click.BadParameter(f"{schema.form.name} has no view {view!r}; known are {names}", param_hint="--view")
    model = schema.model
    try:
        if normalize:
            text = schema.form.show(model, True).canonical
            model = schema.form.parse(ResolvedSchema(schema.form.name, text, schema.resolved.bindings), False)
        return schema.form.views[view](model)
    except InvalidSchemaError as invalid:
        raise click.ClickException(f"{schema.source.name} cannot be shown in this view: {invalid}") from None
