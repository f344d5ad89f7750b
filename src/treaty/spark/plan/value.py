"""`DecodePlan`: everything that decides how a frame becomes a row, as a frozen value that can be printed and stored."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from treaty.spark.plan.framing import PREFIX, Framing
from treaty.spark.plan.recipes import RECIPES, AvroRecipe, Recipe

FORMAT = 2
"""Of the stored form; a plan of another format is not run."""
ENGINES = {
    ("AVRO", "spark"): "Spark's from_avro, one call for all ids",
    ("AVRO", "fastavro"): "fastavro in Python workers (slower)",
    ("PROTOBUF", "upb"): "Protobuf's runtime in Python workers",
    ("JSON", "spark"): "Spark's from_json",
}
"""What does the work, by format and engine."""


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
class DecodePlan:
    """How frames are decoded. Made on the driver, equal for equal registries; executors never ask anybody.

    `reader_name` says which reader was wanted (``latest``, ``union``, a number, ``given``) and `reader` is its text.
    `writers` are in the order of their branches. `columns` are name and Spark type, empty where the reader is no record;
    `type` is the Spark type of the whole. `recipe` is what only this format needs.
    """

    subject: str
    format: str
    reader_name: str
    reader: str
    type: str
    columns: tuple[tuple[str, str], ...]
    writers: tuple[Writer, ...]
    rejected: tuple[Rejected, ...]
    recipe: Recipe
    engine: str = "spark"
    depth: int = 3
    """Levels to which a recursive reader is opened."""
    framing: Framing = PREFIX

    @property
    def known(self) -> frozenset[int]:
        """Every id that the plan has an answer for."""
        return frozenset(one.schema_id for one in self.writers) | {one.schema_id for one in self.rejected}

    def to_json(self) -> str:
        """The stored form."""
        return json.dumps({"plan": FORMAT, **asdict(self)}, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "DecodePlan":
        """Read the stored form. Raises ValueError for a format that this version does not know."""
        stored: dict[str, Any] = json.loads(text)
        if stored.pop("plan", None) != FORMAT:
            message = f"this decode plan is not of format {FORMAT}; it was stored by another version of Treaty"
            raise ValueError(message)
        framing = stored.pop("framing")
        heads = tuple((head, number) for head, number in framing["heads"])
        parts = {
            "columns": tuple((name, kind) for name, kind in stored.pop("columns")),
            "writers": tuple(Writer(**one) for one in stored.pop("writers")),
            "rejected": tuple(Rejected(**one) for one in stored.pop("rejected")),
        }
        framed = Framing(framing["name"], heads)
        recipe = RECIPES[stored["format"]].stored(stored.pop("recipe"))
        return DecodePlan(**stored, **parts, recipe=recipe, framing=framed)  # type: ignore[arg-type]  # by name, as they were stored

    def explain(self) -> str:
        """The plan as text for people."""
        lines = [
            f"Decode plan for {self.subject or 'any subject'} ({self.format})",
            f"  engine   {ENGINES[self.format, self.engine]}",
            f"  reader   {self.reader_name}",
            *([f"  framing  {self.framing.name}"] if self.framing != PREFIX else []),
        ]
        for one in self.writers:
            lines.append(f"  id {one.schema_id:<6}{one.subject} version {one.version}")
        for bad in self.rejected:
            lines.append(f"  id {bad.schema_id:<6}{bad.code}: {bad.message}")
        for name, kind in self.columns or (("value", self.type),):
            lines.append(f"  column   {name}: {kind}")
        for fix in self.recipe.repairs if isinstance(self.recipe, AvroRecipe) else ():
            where = "/".join((*fix.path, fix.field))
            lines.append(f"  converts {where}: {fix.how} for ids {', '.join(map(str, fix.ids))}")
        return "\n".join(lines)
