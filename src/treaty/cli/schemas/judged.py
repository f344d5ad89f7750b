"""A new schema after earlier ones, judged: as an exit code, as JSON, and in words."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from treaty.cli.terminal import screen
from treaty.cli.terminal.source import Source
from treaty.core.finding import Diagnostic
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.history import HistoryComparison

FITS, BREAKS, INVALID = 0, 1, 2
"""Exit codes: the new schema may follow, it may not, one of the texts is no schema."""


def warn_of_union(versions: Sequence[ResolvedSchema]) -> str:
    """What a reader of all versions makes of the last one, where that is to leave it out; "" else."""
    if len(versions) < 2 or {one.format for one in versions} != {"AVRO"}:
        return ""
    from treaty.plan.making import find_union_conflict  # noqa: PLC0415 (plans are needed for this alone)

    return find_union_conflict(versions)


@dataclass(frozen=True, slots=True)
class Judged:
    """A new schema, the earlier ones (the oldest first), and what came of comparing them under a level and policy."""

    level: str
    policy: str
    new: Source
    olds: tuple[Source, ...]
    history: HistoryComparison
    note: str = ""
    """What is worth knowing beside the verdict."""

    @property
    def code(self) -> int:
        """The exit code."""
        if not self.history.valid:
            return INVALID
        return FITS if self.history.fits(self.level) else BREAKS

    def members(self) -> dict[str, Any]:
        """The verdict as a JSON object."""
        earlier = zip(self.olds, self.history.steps, self.history.reasons(self.level), strict=True)
        return {
            "fits": self.code == FITS,
            "level": self.level,
            "policy": self.policy,
            "format": self.new.format,
            "file": self.new.path,
            "faults": [screen.as_json(fault) for fault in screen.placed(self.new.text, self.history.faults)],
            "olds": [
                {
                    "file": old.path,
                    "faults": [screen.as_json(fault) for fault in screen.placed(old.text, step.faults)],
                    "reasons": [asdict(reason) for reason in reasons],
                }
                for old, step, reasons in earlier
            ],
            "levels": list(self.history.levels),
            "note": self.note,
        }

    def say(self) -> None:
        """Print the verdict; what stands between two versions on stdout, refusals on stderr."""
        if self.note:
            screen.say(f"{self.note}.", "yellow", err=True)
        for old, step in zip(self.olds, self.history.steps, strict=True):
            self._say_faults(old, step.faults)
        self._say_faults(self.new, self.history.faults)
        if self.code == INVALID:
            return
        reasons = self.history.reasons(self.level)
        for old, found in zip(self.olds, reasons, strict=True):
            if found and len(self.olds) > 1:
                screen.say(f"after {old.name}:", bold=True)
            screen.say_reasons(found)
        self._say_verdict(sum(map(len, reasons)))

    def _say_faults(self, one: Source, faults: tuple[Diagnostic, ...]) -> None:
        if faults:
            screen.say(f"{one.name} is not a valid schema ({one.format}):", "red", err=True)
            screen.say_faults(one.name, screen.placed(one.text, faults), err=True)

    def _say_verdict(self, count: int) -> None:
        if not self.olds:
            screen.say(f"{self.new.name} is a valid schema{'' if self.note else ', and new'}.", "green")
            return
        olds = self.olds[0].name if len(self.olds) == 1 else f"{len(self.olds)} earlier schemas"
        if self.code == FITS:
            screen.say(f"{self.new.name} may follow {olds} under {self.level}.", "green")
            return
        found = "1 finding" if count == 1 else f"{count} findings"
        screen.say(f"{self.new.name} may not follow {olds} under {self.level}: {found}.", "red", err=True)
        screen.say(f"It would pass under {', '.join(self.history.levels)}.", err=True)
