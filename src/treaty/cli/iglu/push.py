"""`treaty iglu push FOLDER` and `treaty iglu pull FOLDER`: schemas from files to a server, and back."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from treaty.cli.iglu.schema_text import indent_json, is_same_schema
from treaty.cli.iglu.server_options import report_unreachable, server_options
from treaty.cli.terminal import options, registry_warnings, screen
from treaty.cli.terminal.source import UnusableError
from treaty.client.iglu.schema_folder import SchemaPath, read_folder
from treaty.client.iglu.server_client import JSON_SCHEMA, IgluServer, ServerAnswer

_UNASKED = ServerAnswer(0, b'{"message":"its vendor is no name of a folder, so it was not asked for"}')
"""What is said of such a schema: no server answered, as with 0 in `IgluServerError`."""
DONE, REFUSED = 0, 1
"""Exit codes: all is done; the server refused a schema."""
VISIBILITY = b'"VISIBILITY_DIFFERS"'
"""What a server of Treaty says of a schema whose name is private and that should be public, or the other way round."""


@click.command(
    "push",
    epilog="Exit code 0: all schemas are on the server. 1: the server refused one, or warned with --strict. 2: FOLDER or the server is unusable.",
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@server_options
@click.option("--public", is_flag=True, help="Publish the schemas as public ones.")
@click.option("--dry-run", is_flag=True, help="Print what would be sent, in its order. Nothing is sent.")
@registry_warnings.strict
@options.as_json
def push(*, folder: Path, server: IgluServer, public: bool, dry_run: bool, strict: bool, as_json: bool) -> None:
    """Publish the schemas of FOLDER (VENDOR/NAME/FORMAT/VERSION, or below its folder schemas) on an Iglu server.

    They are sent by vendor, name and version, 1-0-2 before 1-0-10. A schema that is there already with the same content
    is left as it is. At the first one that the server refuses the command stops.

    \b
    Examples:
      treaty iglu push . --registry http://127.0.0.1:8081 --public
      treaty iglu push . --registry https://iglu.example.org/api --json
    """  # noqa: D301 - click wants the control character
    schemas = _schemas_of(folder)
    if dry_run:
        for schema in schemas:
            screen.say(str(schema.key))
        return
    with server, report_unreachable():
        result = _push_all(server, schemas, public=public)
    kind = "private" if public else "public"
    unchanged_privacy = (f"{name} stays {kind}, because all versions of its name are {kind}" for name in result.other)
    screen.say_first(unchanged_privacy, "yellow", err=True)
    if as_json:
        members = {"schemas": len(schemas), **result.counts, "refused": result.refused}
        screen.say_json({**members, **registry_warnings.warning_members(result.warnings)})
    else:
        screen.say_facts({name: f"{count:,}" for name, count in result.counts.items()})
        _say_refused(result, len(schemas))
    registry_warnings.say_warnings(result.warnings)
    code = DONE if result.refused is None else REFUSED
    sys.exit(registry_warnings.exit_code(code, result.warnings, is_strict=strict))


@dataclass(slots=True)
class PushResult:
    """What became of the schemas of a folder: counts, the first that was refused, and what the server said of others."""

    counts: dict[str, int] = field(default_factory=lambda: {"created": 0, "updated": 0, "unchanged": 0})
    refused: dict[str, Any] | None = None
    other: list[str] = field(default_factory=list)
    """Schemas that stay private or public, though the other was asked for."""
    warnings: list[registry_warnings.RegistryWarning] = field(default_factory=list)


def _push_all(server: IgluServer, schemas: tuple[SchemaPath, ...], *, public: bool) -> PushResult:
    """Publish schemas in their order, up to the first that is refused."""
    result = PushResult()
    with screen.show_progress() as progress:
        for number, schema in enumerate(schemas, 1):
            kind, answer = _push_one(server, schema, public=public)
            if not kind:
                facts = {"status": answer.status, "message": answer.message}
                result.refused = {"schema": str(schema.key), "file": str(schema.path), **facts}
                break
            result.counts[kind] += 1
            result.warnings += registry_warnings.read_warnings(str(schema.key), answer.body)
            if kind == "unchanged" and VISIBILITY in answer.data:
                result.other.append(str(schema.key))
            progress("publishing", number, len(schemas))
    return result


def _say_refused(result: PushResult, count: int) -> None:
    if result.refused is None:
        return
    screen.say(
        f"{result.refused['schema']} is refused: {result.refused['status']} {result.refused['message']}",
        "red",
        err=True,
    )
    left = count - sum(result.counts.values()) - 1
    verb = "is" if left == 1 else "are"
    screen.say(f"{screen.format_count(left, 'schema')} after it {verb} not sent.", "red", err=True)


def _schemas_of(folder: Path) -> tuple[SchemaPath, ...]:
    schema_folder = read_folder(folder)
    if not schema_folder.schemas:
        raise UnusableError(f"{folder} has no schemas; allowed are files at VENDOR/NAME/FORMAT/VERSION")
    lines = (f"{path} is skipped: it is at no path VENDOR/NAME/FORMAT/VERSION" for path in schema_folder.misplaced)
    screen.say_first(lines, "yellow", err=True)
    return schema_folder.schemas


def _push_one(server: IgluServer, schema: SchemaPath, *, public: bool) -> tuple[str, ServerAnswer]:
    """Publish a schema; returns what became of it, empty where it was refused, and what the server said of it."""
    data = schema.path.read_bytes()
    answer = server.put(schema.key, data, public=public)
    if answer.status in {200, 201}:
        return ("created" if answer.status == 201 else "updated"), answer
    if answer.status == 409:
        stored = server.get(schema.key)
        if stored.status == 200 and is_same_schema(schema.key, data, stored.data):
            return "unchanged", answer
    return "", answer


@contextmanager
def report_unwritable(folder: Path) -> Iterator[None]:
    """Report a folder that can't be written as an error of the command line."""
    try:
        yield
    except OSError as error:
        raise UnusableError(f"{folder} can't be written: {error.strerror}") from error


@click.command(
    "pull",
    epilog="Exit code 0: all schemas are in FOLDER. 1: a schema could not be read. 2: the server or FOLDER is unusable.",
)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@server_options
@options.as_json
def pull(*, folder: Path, server: IgluServer, as_json: bool) -> None:
    """Write all schemas of an Iglu server that may be read into FOLDER, at schemas/VENDOR/NAME/FORMAT/VERSION.

    JSON schemas are indented, with their members in the order of the answer. A file that holds the same schema already
    stays as it is.

    \b
    Examples:
      treaty iglu pull mirror --registry https://iglu.example.org/api
    """  # noqa: D301 - click wants the control character
    problems: list[dict[str, Any]] = []
    written = 0
    with server, report_unreachable(), report_unwritable(folder), screen.show_progress() as progress:
        keys = server.list_keys()
        (folder / "schemas").mkdir(parents=True, exist_ok=True)
        for number, key in enumerate(keys, 1):
            answer = _UNASKED if key.vendor in {".", ".."} else server.get(key)
            if answer.status == 200:
                path = folder / "schemas" / key.path
                path.parent.mkdir(parents=True, exist_ok=True)
                if not (path.is_file() and is_same_schema(key, path.read_bytes(), answer.data)):
                    path.write_bytes(indent_json(answer.data) if key.format == JSON_SCHEMA else answer.data)
                written += 1
            else:
                problems.append({"schema": str(key), "status": answer.status, "message": answer.message})
            progress("reading", number, len(keys))
    if as_json:
        screen.say_json({"written": written, "problems": problems})
    else:
        lines = (f"{one['schema']}: {one['status']} {one['message']}" for one in problems)
        screen.say_first(lines, "red", err=True)
        if keys:
            screen.say(f"{screen.format_count(written, 'schema')} written to {folder}.", "green")
        else:
            caller = "this API key" if server.apikey else "callers without an API key (--apikey)"
            screen.say(f"The server has no schemas for {caller}: nothing was written to {folder}.", "yellow")
    sys.exit(REFUSED if problems else DONE)
