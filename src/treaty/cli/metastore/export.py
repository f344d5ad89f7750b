"""`treaty metastore export`: the statements that recreate the sources and types of a metastore."""

from pathlib import Path

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.core.registry import run_exchange
from treaty.metastore.project.export import ExportedObject, export_objects


@click.command("export")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write a file per object into DIR, which is made or must be empty.",
)
@connection.registry
@connection.as_json
def command(*, folder: Path | None, registry: str, as_json: bool) -> None:
    """Print the statements that recreate the types, streams and tables, each after those that it needs.

    `treaty apply` of them makes equal rows in another metastore. Schemas are made of the columns; they, their ids and the
    generations of sources are those of the other registry.

    \b
    Examples:
      treaty metastore export > metastore.sql
      treaty metastore export --folder sql/
      treaty apply metastore.sql --registry http://other:8081
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as source:
        exported = run_exchange(source.registry, export_objects())
    if folder is not None:
        _write_files(folder, exported)
    if as_json:
        members = [{"kind": one.kind, "name": one.name, "file": one.path, "text": one.text} for one in exported]
        screen.say_json(members)
    elif folder is not None:
        screen.say(f"{screen.format_count(len(exported), 'file')} written below {folder}.", "green")
    else:
        screen.say_text("\n".join(one.text for one in exported))


def _write_files(folder: Path, exported: tuple[ExportedObject, ...]) -> None:
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise UnusableError(
                f"{folder} is not empty: files of earlier exports would be mixed with these; give an empty folder"
            )
        for exported_object in exported:
            file = folder / exported_object.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(exported_object.text, "utf-8")
    except OSError as error:
        raise UnusableError(f"{folder} cannot be written: {error.strerror}; give another folder") from error
