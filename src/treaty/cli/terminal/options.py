"""Options that several commands have, said in the same words."""

import click

exit_codes = "Exit code 0: fine. 1: refused. 2: something given can't be used."
format_ = click.option(
    "--format", "format_", metavar="NAME", help="AVRO, JSON or PROTOBUF; else told by the file's name or its content."
)
references = click.option(
    "--reference",
    "references",
    multiple=True,
    metavar="NAME=FILE",
    help="A schema that the text refers to by NAME; may be given often, the needed ones first.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
