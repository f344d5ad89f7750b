"""`treaty fingerprint FILE`: prints the guid of a schema and the fingerprints of its format."""

from typing import TypeVar

import click
import msgspec

from treaty.cli.terminal import options, screen
from treaty.cli.terminal.references import References
from treaty.cli.terminal.schema_file import SchemaFile, load_schema
from treaty.cli.terminal.source import UnusableError, read_text
from treaty.core.schema import Reference, guid
from treaty.formats.format import InvalidSchemaError
from treaty.wire.confluent.bodies import MetadataBody, RuleSetBody, metadata_of, rules_of

T = TypeVar("T")
LITTLE = "least significant byte first, as in the header of a single object"
BIG = "the same as a number, most significant byte first"
GUID = "the guid in registries with Confluent's API"


@click.command("fingerprint", epilog="Exit code 0: printed. 2: the text is not a schema, or cannot be read.")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--algorithm", metavar="NAME", help="Print only this one: GUID, CRC-64-AVRO-LE, MD5, SHA-256 …")
@click.option("--normalize", is_flag=True, help="Normalize the schema first.")
@click.option("--metadata", metavar="FILE", help="File with metadata in Confluent's JSON; part of the guid.")
@click.option("--rule-set", metavar="FILE", help="File with rules in Confluent's JSON; part of the guid.")
@options.format_
@options.references()
@click.option(
    "--reference-version",
    "stands",
    multiple=True,
    metavar="NAME=SUBJECT:VERSION",
    help="Subject and version of the reference NAME in the registry; part of the guid (default: NAME:1).",
)
@options.as_json
def command(
    *,
    file: str,
    algorithm: str | None,
    normalize: bool,
    metadata: str | None,
    rule_set: str | None,
    format_: str | None,
    references: tuple[str, ...],
    folders: tuple[str, ...],
    stands: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print the guid and the fingerprints of a schema FILE (- reads standard input).

    \b
    Examples:
      treaty fingerprint order.avsc
      treaty fingerprint --algorithm CRC-64-AVRO-LE order.avsc
      treaty fingerprint --reference Money=money.avsc \\
        --reference-version Money=money-value:3 order.avsc
    """  # noqa: D301 - click wants the control character
    schema = load_schema(file, format_, References.parse(references, folders))
    used = _parse_references(schema, stands)
    extras = metadata_of(_read_json_file(metadata, MetadataBody)), rules_of(_read_json_file(rule_set, RuleSetBody))
    rows = [("GUID", guid(schema.show(normalize=normalize).canonical, used, *extras), GUID), *_compute_digests(schema)]
    if algorithm is not None:
        rows = _select_rows(rows, algorithm)
    if as_json:
        digests = {name: digest for name, digest, _ in rows}
        references_used = [{"name": each.name, "subject": each.subject, "version": each.version} for each in used]
        screen.say_json(
            {"file": file, "format": schema.form.name, "references": references_used, "fingerprints": digests}
        )
    elif algorithm is not None and len(rows) == 1:
        screen.say(rows[0][1])
    else:
        screen.say_rows(("algorithm", "fingerprint", "meaning"), rows)


def _compute_digests(schema: SchemaFile) -> list[tuple[str, str, str]]:
    """Return the fingerprints of the format in hex; a CRC in both byte orders, because both are in use."""
    rows = []
    for name, digest in schema.form.fingerprints.items():
        try:
            data = digest(schema.model)
        except InvalidSchemaError as invalid:
            raise click.ClickException(f"{schema.source.name} has no fingerprint {name}: {invalid}") from None
        if name.startswith("CRC-"):
            rows += [(f"{name}-LE", data.hex(), LITTLE), (f"{name}-BE", data[::-1].hex(), BIG)]
        else:
            rows.append((name, data.hex(), ""))
    return rows


def _select_rows(rows: list[tuple[str, str, str]], algorithm: str) -> list[tuple[str, str, str]]:
    upper_name = algorithm.upper()
    selected = [
        row for row in rows if row[0] == upper_name or row[0].removesuffix("-LE").removesuffix("-BE") == upper_name
    ]
    if not selected:
        names = ", ".join(name for name, _, _ in rows)
        raise click.BadParameter(f"unknown fingerprint {algorithm!r}; known are {names}", param_hint="--algorithm")
    return selected


def _parse_references(schema: SchemaFile, stands: tuple[str, ...]) -> tuple[Reference, ...]:
    """Return the references of a schema, with their subjects and versions in a registry."""
    places = {bound.name: Reference(bound.name, bound.subject, bound.version) for bound in schema.resolved.bindings}
    for word in stands:
        name, _, place = word.partition("=")
        subject, _, version = place.rpartition(":")
        if name not in places or not subject or not version.isdecimal():
            message = f"{word!r} is not NAME=SUBJECT:VERSION with the NAME of a --reference"
            raise click.BadParameter(message, param_hint="--reference-version")
        places[name] = Reference(name, subject, int(version))
    return tuple(places.values())


def _read_json_file(path: str | None, type_: type[T]) -> T | None:
    if path is None:
        return None
    try:
        return msgspec.json.decode(read_text(path), type=type_)
    except msgspec.MsgspecError as error:
        raise UnusableError(f"{path} is not valid JSON of Confluent's API: {error}") from None
