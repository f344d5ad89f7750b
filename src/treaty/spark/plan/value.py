"""`DecodePlan`: everything that decides how a frame becomes a row, as a frozen value that can be printed and stored."""

import json
from dataclasses import asdict, dataclass
from typing import Any

FORMAT = 1
"""Of the stored form; a plan of another format is not run."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A schema id whose rows can be read: where it is used, its text with references inlined, its hidden fields."""

    schema_id: int
    subject: str
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """A schema id whose rows are bad, every one, with the code and the sentence that says why."""

    schema_id: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Repair:
    """A field whose value stands in a hidden field for rows of some writers.

    `path` leads from the record to the field's owner: names, ``[]`` for the items of an array, ``{}`` for the values of
    a map. `how` is the conversion, `type` the Spark type that the field shall have.
    """

    path: tuple[str, ...]
    field: str
    hidden: str
    ids: tuple[int, ...]
    how: str
    type: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of a record in which, or below which, something is repaired."""

    path: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DecodePlan:
    """How frames are decoded. Made on the driver, equal for equal registries; executors never ask anybody.

    `reader_name` says which reader was wanted (``latest``, ``union``, a number, ``given``) and `reader` is its text.
    `writers` are in the order of their branches. `columns` are name and Spark type, empty where the reader is no record;
    `type` is the Spark type of the whole. `writer_text` and `reader_text` are what Spark's `from_avro` gets, `union`,
    `tail` and `whole` say how they are woven.
    """

    subject: str
    reader_name: str
    reader: str
    type: str
    columns: tuple[tuple[str, str], ...]
    writers: tuple[Writer, ...]
    rejected: tuple[Rejected, ...]
    repairs: tuple[Repair, ...]
    layouts: tuple[Layout, ...]
    writer_text: str
    reader_text: str
    union: bool
    tail: str
    whole: str
    engine: str = "spark"
    depth: int = 3
    """Levels to which a recursive reader is opened."""

    @property
    def known(self) -> frozenset[int]:
        """Every id that the plan has an answer for."""
        return frozenset(one.schema_id for one in self.writers) | {one.schema_id for one in self.rejected}

    def to_json(self) -> str:
        """The stored form."""
        return json.dumps({"format": FORMAT, **asdict(self)}, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "DecodePlan":
        """Read the stored form. Raises ValueError for a format that this version does not know."""
        stored: dict[str, Any] = json.loads(text)
        if stored.pop("format") != FORMAT:
            message = f"this decode plan is not of format {FORMAT}; it was stored by another version of Treaty"
            raise ValueError(message)
        parts = {
            "columns": tuple((name, kind) for name, kind in stored.pop("columns")),
            "writers": tuple(Writer(**one) for one in stored.pop("writers")),
            "rejected": tuple(Rejected(**one) for one in stored.pop("rejected")),
            "repairs": tuple(_repair(one) for one in stored.pop("repairs")),
            "layouts": tuple(Layout(tuple(one["path"]), tuple(one["fields"])) for one in stored.pop("layouts")),
        }
        return DecodePlan(**stored, **parts)  # type: ignore[arg-type]

    def explain(self) -> str:
        """The plan as text for people."""
        engine = {"spark": "Spark's from_avro, one call for all ids", "fastavro": "fastavro in Python workers (slower)"}
        lines = [
            f"Decode plan for {self.subject or 'any subject'}",
            f"  engine   {engine[self.engine]}",
            f"  reader   {self.reader_name}",
        ]
        for one in self.writers:
            lines.append(f"  id {one.schema_id:<6}{one.subject} version {one.version}")
        for bad in self.rejected:
            lines.append(f"  id {bad.schema_id:<6}{bad.code}: {bad.message}")
        for name, kind in self.columns or (("value", self.type),):
            lines.append(f"  column   {name}: {kind}")
        for fix in self.repairs:
            where = "/".join((*fix.path, fix.field))
            lines.append(f"  converts {where}: {fix.how} for ids {', '.join(map(str, fix.ids))}")
        return "\n".join(lines)


def _repair(stored: dict[str, Any]) -> Repair:
    return Repair(**{**stored, "path": tuple(stored["path"]), "ids": tuple(stored["ids"])})
