"""`EncodeDryRun` says what encoding a frame would do: the text of the schema, whether the subject takes it, and what is planned for each column."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from treaty.plan.encoding.value import EncodePlan, list_steps


@dataclass(frozen=True, slots=True)
class EncodeDryRun:
    """A dry run: the schema's text, whether the subject takes it, and what is planned for each column.

    `schema_id` is that of a version which is this schema already, else 0. `registers`: it would be made a version.
    `reasons` are the registry's where it would be refused, `problems` say why these columns can't be encoded with it.
    """

    subject: str
    format: str
    text: str
    schema_id: int = 0
    registers: bool = False
    compatible: bool = True
    reasons: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    plan: EncodePlan | None = None

    @property
    def fine(self) -> bool:
        """Whether rows would be encoded."""
        return self.compatible and not self.problems and (self.schema_id > 0 or self.registers)

    def to_json(self) -> str:
        """The result for machines: `fine`, the schema, reasons and problems, and `planned` by column."""
        result: dict[str, Any] = {"fine": self.fine, **asdict(self)}
        del result["plan"]
        result["planned"] = (
            [{"path": path, "step": step} for path, step in list_steps(self.plan.fit)] if self.plan else []
        )
        return json.dumps(result, ensure_ascii=False)

    def explain(self) -> str:
        """The result as text for people."""
        existing = f"is a version already, id {self.schema_id}"
        new = "would be registered" if self.registers else "is no version, and registering it was not asked for"
        lines = [
            f"Dry run for {self.subject} ({self.format or 'no schema'})",
            f"  schema   {existing if self.schema_id else new}",
            *(f"  refused  {reason}" for reason in self.reasons),
            *(f"  problem  {problem}" for problem in self.problems),
        ]
        steps = list_steps(self.plan.fit) if self.plan else ()
        return "\n".join((*lines, *(f"  {path or '/'}  {step}" for path, step in steps)))
