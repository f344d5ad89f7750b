"""`EncodePlan`: everything that decides how a row becomes a payload, as a frozen value that can be printed and stored."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from treaty.core.schema import Pairs
from treaty.plan.encoding.fit import ColumnConversion, read_conversion
from treaty.plan.format_plans import PayloadFormatPlan

FORMAT = 1
"""Of the stored form; a plan of another format is not run."""
ENGINES = {
    "AVRO": "Spark's to_avro",
    "PROTOBUF": "ptars over whole batches in Python workers, or Protobuf's runtime row by row",
    "JSON": "Spark's to_json",
}
"""What writes payloads, by format."""
_ROWS = "the writer of the format's package, row by row in Python workers"
"""What writes those of every other format."""


@dataclass(frozen=True, slots=True)
class EncodePlan:
    """How rows are encoded. Made on the driver, equal for equal registries and frames; executors never ask anybody.

    `text` is what the format's engine needs to know of the schema: Avro's text with references inlined, JSON Schema's
    canonical text; for Protobuf `files` are descriptors in Base64, each after those that it imports, and `message` is a
    full name. `head` (hex) stands before every payload, or with the framing ``header`` in the header of the `part`.
    `columns` are name and Spark type of those that were planned for, `fit` is what becomes of them.
    """

    subject: str
    version: int
    schema_id: int
    format: str
    text: str
    columns: tuple[tuple[str, str], ...]
    fit: ColumnConversion
    head: str
    framing: str = "prefix"
    part: str = "value"
    message: str = ""
    files: tuple[str, ...] = ()
    codec: str = ""
    """What packs payloads; "": nothing."""
    properties: Pairs = ()
    """Those of the codec in its group."""
    validate: bool = False
    """Whether each payload is validated by its JSON Schema too."""
    recipe: PayloadFormatPlan | None = None
    """Of a plug-in's format the way to write values, and the schema with all that it refers to."""

    def to_json(self) -> str:
        """The stored form."""
        return json.dumps({"plan": FORMAT, **asdict(self)}, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "EncodePlan":
        """Read the stored form. Raises ValueError for a format that this version does not know."""
        stored: dict[str, Any] = json.loads(text)
        if stored.pop("plan", None) != FORMAT:
            message = f"this encode plan is not of format {FORMAT}; it was stored by another version of Treaty"
            raise ValueError(message)
        columns = tuple((name, kind) for name, kind in stored.pop("columns"))
        properties = tuple((name, value) for name, value in stored.pop("properties", ()))
        fit, files = read_conversion(stored.pop("fit")), tuple(stored.pop("files"))
        stored_recipe = stored.pop("recipe", None)
        recipe = PayloadFormatPlan.read_stored(stored_recipe) if stored_recipe else None
        return EncodePlan(**stored, columns=columns, fit=fit, files=files, properties=properties, recipe=recipe)

    def explain(self) -> str:
        """The plan as text for people."""
        where = f"{self.subject} version {self.version}" if self.version else self.subject
        lines = [
            f"Encode plan for {where} ({self.format})",
            f"  engine   {ENGINES.get(self.format, _ROWS)}{', then validated' if self.validate else ''}",
            f"  schema   id {self.schema_id}{f', message {self.message}' if self.message else ''}",
            *([f"  framing  {self.framing}"] if self.framing != "prefix" else []),
            *([f"  codec    {self.codec}"] if self.codec else []),
            *(self.recipe.explain() if self.recipe else ()),
        ]
        lines += [f"  column   {name}: {kind}" for name, kind in self.columns]
        return "\n".join((*lines, *(f"  {path or '/'}  {step}" for path, step in list_steps(self.fit))))


def list_steps(fit: ColumnConversion) -> tuple[tuple[str, str], ...]:
    """Where something is done or checked, and what, in words."""
    return tuple((part.path, step) for part in fit.walk() for step in part.steps() if part.path or step)
