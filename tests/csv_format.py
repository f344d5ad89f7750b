"""A format as a package would offer it, in fifty lines: columns by name, and values as one line of CSV."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from treaty.core.finding import Diagnostic, Finding
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, Columns, Scalar
from treaty.formats.format import BadPayloadError, Format, InvalidSchemaError, PayloadEncoding, SchemaTexts
from treaty.formats.rule import CompatibilityRule

Model = Mapping[str, str]
TYPES: Mapping[str, tuple[str, Callable[[str], Any]]] = {"int": ("int64", int), "text": ("string", str)}
GONE = CompatibilityRule("COLUMN_GONE", "Columns stay.", "The column {detail} is gone", "keep it", harm="backward")


def parse(schema: ResolvedSchema, strict: bool) -> Model:  # noqa: FBT001 - the signature of `Format.parse`
    """Columns: lines of a name and a type, after the line ``columns``."""
    parts = [line.split() for line in schema.text.split("\n")[1:] if line.strip()]
    for number, part in enumerate(parts, 2):
        if len(part) != 2 or part[1] not in TYPES:
            raise InvalidSchemaError((Diagnostic("COLUMN", "", "no column", "a name and int or text", number, 1),))
    return {part[0]: part[1] for part in parts}


def compare(reader: Model, writer: Model, policy: str) -> tuple[Finding, ...]:
    """Columns that the reader no longer has."""
    return tuple(GONE.finding(f"/{one}", one, writer=one, reader="") for one in writer if one not in reader)


def write(model: Model, mark: str) -> Callable[[Any], bytes]:
    """A line of the values in the order of the columns."""
    return lambda value: mark.join(str(value[name]) for name in model).encode()


def read(writer: Model, reader: Model, mark: str) -> Callable[[bytes], Any]:
    """The values by name; columns that the reader lacks are left out."""

    def read_line(payload: bytes) -> dict[str, Any]:
        cells = payload.decode("utf-8", "replace").split(mark)
        if len(cells) != len(writer):
            raise BadPayloadError("TRAILING" if len(cells) > len(writer) else "MALFORMED", f"{len(cells)} cells")
        try:
            row = {name: TYPES[kind][1](cell) for (name, kind), cell in zip(writer.items(), cells, strict=True)}
        except ValueError as wrong:
            raise BadPayloadError("INVALID", str(wrong)) from wrong
        return {name: row.get(name) for name in reader}

    return read_line


def payload_codec(mark: str) -> PayloadEncoding[Model]:
    """Lines with this mark between cells."""
    return PayloadEncoding(lambda model: write(model, mark), lambda writer, reader: read(writer, reader, mark))


def show(model: Model, normalize: bool) -> SchemaTexts:  # noqa: FBT001 - the signature of `Format.show`
    """The lines."""
    text = "\n".join(("columns", *(f"{name} {kind}" for name, kind in model.items())))
    return SchemaTexts(text, text, "", tuple(model))


FORMAT = Format(
    name="CSV",
    parse=parse,
    show=show,
    references=lambda text: (),
    compare=compare,
    rules={GONE.id: GONE},
    columns=lambda model: Columns(tuple(Column(name, Scalar(TYPES[kind][0])) for name, kind in model.items())),
    suffixes=(".columns",),
    recognize=lambda text: text.startswith("columns\n"),
    locate=lambda text, path: (
        next((at for at, line in enumerate(text.split("\n"), 1) if line.startswith(f"{path[1:]} ")), 0),
        1,
    ),
    payloads={"comma": payload_codec(","), "tab": payload_codec("\t")},
    finding_form="{rule} at {path}: {sentence} [{remedy}]",
)


def offer(folder: Path) -> None:
    """Write what an installed package has, so that a program with this folder on its path knows the format."""
    info = folder / "csvformat-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: csvformat\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[treaty.formats]\nCSV = tests.csv_format:FORMAT\n", "utf-8")
