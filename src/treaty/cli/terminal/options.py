"""Options that several commands have, said in the same words."""

from collections.abc import Callable
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

format_ = click.option(
    "--format", "format_", metavar="NAME", help="AVRO, JSON or PROTOBUF; default: from the file's name or content."
)


def references(
    help_: str = "A schema that the text refers to by NAME; may be given often, the needed ones first.",
) -> Decorator:
    """The two options that say where references are: by name and by folder."""
    named = click.option("--reference", "references", multiple=True, metavar="NAME=FILE", help=help_)
    folder_help = (
        "Folder to search for names that the text needs: as files, with the format's ending, or with dots as folders. "
        "Default: the folder of the file."
    )
    folders = click.option("--reference-folder", "folders", multiple=True, metavar="FOLDER", help=folder_help)
    return lambda command: named(folders(command))


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
