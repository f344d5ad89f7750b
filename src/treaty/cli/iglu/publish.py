"""`treaty iglu publish FOLDER OUT`: a static registry, files that any web server can serve."""

import json
from pathlib import Path

import click

from treaty.cli.terminal import options, screen
from treaty.cli.terminal.source import UnusableError
from treaty.client.iglu.schema_folder import list_models, read_folder

ALL_SCHEMAS = "index.json"
"""The file with the list of all schemas, in the folder ``schemas``."""


@click.command("publish", epilog="Exit code 0: the registry is written. 2: FOLDER or OUT is unusable.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@options.as_json
def publish(*, folder: Path, out: Path, as_json: bool) -> None:
    """Write the schemas of FOLDER to OUT as a static registry: the files byte by byte, and a list for each model.

    OUT/schemas/VENDOR/NAME/FORMAT/VERSION has a schema, OUT/schemas/VENDOR/NAME/FORMAT/MODEL the URIs of a model in their
    order, and OUT/schemas/index.json all URIs.

    \b
    Examples:
      treaty iglu publish . site
    """  # noqa: D301 - click wants the control character
    schemas = read_folder(folder).schemas
    if not schemas:
        raise UnusableError(f"{folder} has no schemas; allowed are files at VENDOR/NAME/FORMAT/VERSION")
    root = out / "schemas"
    if root.resolve() in {folder.resolve(), (folder / "schemas").resolve()}:
        raise UnusableError(f"OUT is the folder of the schemas themselves, {root}; give another one")
    for schema in screen.track_progress(schemas, "writing"):
        _write(root / schema.key.path, schema.path.read_bytes())
    models = list_models(one.key for one in schemas)
    for path, uris in models.items():
        _write(root / path, json.dumps(uris).encode())
    _write(root / ALL_SCHEMAS, json.dumps([str(one.key) for one in schemas]).encode())
    if as_json:
        screen.say_json({"schemas": len(schemas), "lists": len(models)})
    else:
        screen.say(
            f"{screen.format_count(len(schemas), 'schema')} and {screen.format_count(len(models), 'list')} written to {out}.",
            "green",
        )


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
