"""`DecodePlan`: everything that decides how a frame becomes a row, as a frozen value that can be printed and stored."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from treaty.core.finding import shorten_text
from treaty.core.limits import FAULT_CHARACTERS
from treaty.plan.ddl import struct_ddl
from treaty.plan.format_plans import FORMAT_PLANS, AvroFormatPlan, FormatPlan, PayloadFormatPlan, RecordTypes
from treaty.plan.frame_format import PRAVEGA, PREFIX, FrameFormat, encodings_of

FORMAT = 1
"""Of the stored form; a plan of another one is not run."""
ENGINES: Mapping[str, Mapping[str, str]] = {
    "AVRO": {
        "spark": "Spark's from_avro, one call for all ids",
        "fastavro": "Treaty's own reader in Python workers (slower)",
    },
    "PROTOBUF": {
        "ptars": "ptars over whole batches in Python workers, judged by Protobuf's runtime",
        "upb": "Protobuf's runtime in Python workers (slower)",
    },
    "JSON": {
        "arrow": "pyarrow over whole batches in Python workers, and Treaty's own reader for what it refuses",
        "spark": "Spark's from_json, and Treaty's own reader in Python workers for rows that it refuses",
    },
}
"""What does the work, by format and engine."""
COUNTING_ENGINE = "fastavro"
"""The engine for Avro that counts values which take no bytes."""
ROWS = "rows"
"""The engine of every other format."""
_ROWS: Mapping[str, str] = {ROWS: "the reader of the format's package, row by row in Python workers"}


def list_engines(format_: str) -> Mapping[str, str]:
    """The engines that read a format: name, and what does the work."""
    return ENGINES.get(format_, _ROWS)


@dataclass(frozen=True, slots=True)
class WriterSchema:
    """A schema id whose rows can be read: where it is used, its text with references inlined, its hidden fields."""

    schema_id: int
    subject: str
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class RejectedSchema:
    """A schema id whose rows are bad, every one, with the code and the sentence that says why, cut at FAULT_CHARACTERS."""

    schema_id: int
    code: str
    message: str

    def __post_init__(self) -> None:
        """Cut a sentence that is too long: each bad row has it."""
        object.__setattr__(self, "message", shorten_text(self.message, FAULT_CHARACTERS))


@dataclass(frozen=True, slots=True)
class DecodePlan:
    """How frames are decoded. Made on the driver, equal for equal registries; executors never ask anybody.

    `reader_name` says which reader was wanted (``latest``, ``union``, a number, ``given``) and `reader` is its text.
    `writers` are in the order of their branches. `columns` are name and Spark type, empty where the reader is no
    record; `type` is the Spark type of the whole. `recipe` is what only this format needs.
    """

    subject: str
    format: str
    reader_name: str
    reader: str
    type: str
    columns: tuple[tuple[str, str], ...]
    writers: tuple[WriterSchema, ...]
    rejected: tuple[RejectedSchema, ...]
    recipe: FormatPlan
    engine: str = "spark"
    depth: int = 3
    """Levels to which a recursive reader is opened."""
    framing: FrameFormat = PREFIX
    types: RecordTypes | None = None
    """Where several record types are read: which, and what becomes of them."""
    docs: tuple[tuple[tuple[str, ...], str], ...] = ()
    """What the reader says of its fields, by their path (``[]``: items of an array, ``{}``: values of a map)."""
    case_sensitive: bool = True
    """Whether columns may have names that differ in case alone."""
    key: "DecodePlan | None" = None
    """How the keys of the same records are decoded, where they are."""

    @property
    def engine_columns(self) -> tuple[tuple[str, str], ...]:
        """The columns in which the engine gives a record: the plan's own, or one for each record type."""
        return self.types.columns if self.types else self.columns

    @property
    def engine_type(self) -> str:
        """The Spark type of a record as the engine gives it."""
        return struct_ddl(self.types.columns) if self.types else self.type

    @property
    def known(self) -> frozenset[int]:
        """Every id in frames that the plan has an answer for: schema ids, with Pravega's framing encoding ids."""
        return frozenset(encodings_of(self.framing)) if self.framing.name == PRAVEGA else self.known_schemas

    @property
    def known_schemas(self) -> frozenset[int]:
        """Every schema id that the plan has an answer for."""
        return frozenset(one.schema_id for one in self.writers) | {one.schema_id for one in self.rejected}

    @property
    def known_keys(self) -> frozenset[int]:
        """Every id that the plan of the keys has an answer for."""
        return self.key.known if self.key else frozenset()

    def with_engine(self, engine: str) -> "DecodePlan":
        """The plan with another engine; with its own where values that take no bytes have to be counted, as only that one does."""
        counts = isinstance(self.recipe, AvroFormatPlan) and self.recipe.counts
        return replace(self, engine=COUNTING_ENGINE if counts else engine)

    def to_json(self) -> str:
        """The stored form."""
        return json.dumps({"plan": FORMAT, **asdict(self)}, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "DecodePlan":
        """Read the stored form. Raises ValueError for a format that this version does not know."""
        stored: dict[str, Any] = json.loads(text)
        if (format_number := stored.pop("plan", None)) != FORMAT:
            message = (
                f"this decode plan has format {format_number!r}, known here is {FORMAT}: "
                "run the stream with the version of Treaty that stored it, or begin with a new checkpoint"
            )
            raise ValueError(message)
        return _read_stored(stored)

    def explain(self) -> str:
        """The plan as text for people."""
        lines = [
            f"Decode plan for {self.subject or 'any subject'} ({self.format})",
            f"  engine   {list_engines(self.format)[self.engine]}",
            f"  reader   {self.reader_name}",
            *([f"  framing  {self.framing.name}"] if self.framing != PREFIX else []),
        ]
        for writer in self.writers:
            lines.append(f"  id {writer.schema_id:<6}{writer.subject} version {writer.version}")
        for bad in self.rejected:
            lines.append(f"  id {bad.schema_id:<6}{bad.code}: {bad.message}")
        for mixed in self.types.kinds if self.types else ():
            lines.append(f"  type     {mixed.name}")
        for name, kind in self.columns or (("value", self.type),):
            lines.append(f"  column   {name}: {kind}")
        return "\n".join((*lines, *self.recipe.explain()))


def _read_stored(stored: dict[str, Any]) -> DecodePlan:
    key = stored.pop("key")
    framing, types = stored.pop("framing"), stored.pop("types")
    heads = tuple((head, number) for head, number in framing["heads"])
    parts = {
        "columns": tuple((name, kind) for name, kind in stored.pop("columns")),
        "writers": tuple(WriterSchema(**one) for one in stored.pop("writers")),
        "rejected": tuple(RejectedSchema(**one) for one in stored.pop("rejected")),
        "docs": tuple((tuple(path), doc) for path, doc in stored.pop("docs")),
    }
    codecs, indexes = (tuple((head, one) for head, one in framing[name]) for name in ("codecs", "indexes"))
    properties = tuple((codec, tuple((name, value) for name, value in pairs)) for codec, pairs in framing["properties"])
    framed = FrameFormat(framing["name"], heads, codecs, properties, indexes)
    recipe = FORMAT_PLANS.get(stored["format"], PayloadFormatPlan).read_stored(stored.pop("recipe"))
    mixed = RecordTypes.read_stored(types) if types else None
    keys = _read_stored(key) if key else None
    return DecodePlan(**stored, **parts, recipe=recipe, framing=framed, types=mixed, key=keys)  # type: ignore[arg-type]  # by name, as they were stored
