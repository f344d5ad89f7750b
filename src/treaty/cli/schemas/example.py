"""`treaty example SCHEMA`: prints example values of a schema, one per line, the same for the same seed."""

import click

from treaty.cli.terminal import options, screen
from treaty.cli.terminal.references import References
from treaty.cli.terminal.schema_file import load_schema
from treaty.cli.terminal.source import UnusableError


@click.command("example", epilog="Exit code 0: printed. 2: the text is not a schema, or no value was found.")
@click.argument("schema", type=click.Path(allow_dash=True))
@click.option("--count", type=click.IntRange(1), default=1, show_default=True, help="Number of values.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random values.")
@options.format_
@options.references()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array instead of JSON lines.")
def command(
    *,
    schema: str,
    count: int,
    seed: int,
    format_: str | None,
    references: tuple[str, ...],
    folders: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print values of a SCHEMA (- reads standard input) as JSON lines, in the JSON encoding of its format.

    \b
    Examples:
      treaty example order.avsc
      treaty example --count 100 --seed 7 order.avsc > orders.jsonl
      treaty example order.avsc | treaty validate order.avsc -
    """  # noqa: D301 - click wants the control character
    schema_file = load_schema(schema, format_, References.parse(references, folders))
    if schema_file.form.example is None:
        raise UnusableError(f"examples are not available for the format {schema_file.form.name}")
    for number in range(count):
        try:
            value = schema_file.form.example(schema_file.model, seed + number)
        except ValueError as none:
            raise UnusableError(f"{schema_file.source.name} has no example: {none}") from None
        ends = ("[" if number == 0 else " ", "]" if number == count - 1 else ",") if as_json else ("", "")
        click.echo(f"{ends[0]}{screen.one_line(value)}{ends[1]}".encode())
