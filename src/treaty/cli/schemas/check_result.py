"""The result of comparing a new schema with earlier ones: as an exit code, as JSON, and as findings."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from treaty.cli.terminal import findings, screen
from treaty.cli.terminal.findings import LocatedFinding, OutputOptions
from treaty.cli.terminal.source import SchemaSource
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.history import ExplainedFinding, HistoryComparison
from treaty.formats.rule import POLICIES

Others = tuple[tuple[str, HistoryComparison], ...]
"""Results by policy."""

FITS, BREAKS, INVALID = 0, 1, 2
"""Exit codes: compatible, incompatible, not a schema."""
SHOWN = 3
"""The most findings of another policy in a note."""


def compare_under_others(
    compare: Callable[[str], HistoryComparison], history: HistoryComparison, level: str, policy: str
) -> Others:
    """Compare by the stricter policies too if a schema passes; their findings become a note."""
    if not history.fits(level):
        return ()
    return tuple((one, compare(one)) for one in POLICIES if one not in {policy, "LENIENT"})


def warn_of_union(versions: Sequence[ResolvedSchema]) -> str:
    """Return why a reader of all versions would leave out the last one; "" if it would not."""
    if len(versions) < 2:
        return ""
    from treaty.plan.decode_plans import find_union_conflict  # noqa: PLC0415 (plans are needed for this alone)

    return find_union_conflict(versions)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A new schema, the earlier ones (the oldest first), and the result of comparing them by a level and policy."""

    level: str
    policy: str
    new: SchemaSource
    olds: tuple[SchemaSource, ...]
    history: HistoryComparison
    note: str = ""
    """A warning beside the result."""
    others: Others = ()
    """The same comparison by other policies, if the schema passes by the requested one."""

    @property
    def code(self) -> int:
        """The exit code."""
        if not self.history.valid:
            return INVALID
        return FITS if self.history.fits(self.level) else BREAKS

    def members(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        earlier = zip(self.olds, self.history.steps, self.history.reasons(self.level), strict=True)
        return {
            "fits": self.code == FITS,
            "level": self.level,
            "policy": self.policy,
            "format": self.new.format,
            "file": self.new.path,
            "faults": [
                screen.as_json(fault) for fault in screen.locate_diagnostics(self.new.text, self.history.faults)
            ],
            "olds": [
                {
                    "file": old.path,
                    "faults": [screen.as_json(fault) for fault in screen.locate_diagnostics(old.text, step.faults)],
                    "reasons": [
                        {**asdict(reason), "line": position.line, "column": position.column}
                        for reason, position in zip(reasons, self._locate(old, reasons), strict=True)
                    ],
                }
                for old, step, reasons in earlier
            ],
            "levels": list(self.history.levels),
            "note": self.note,
            "other_policies": {policy: one.fits(self.level) for policy, one in self.others},
        }

    def print(self, output: OutputOptions) -> None:
        """Print findings and the result on stdout."""
        findings.print_findings(self._findings(), output)
        if self.note:
            screen.say(f"note: {self.note}.", "yellow")
        self._print_result()

    def _findings(self) -> Iterator[LocatedFinding]:
        """Return the faults of all texts; without faults, the incompatible differences."""
        for old, step in zip(self.olds, self.history.steps, strict=True):
            yield from findings.locate_diagnostics(old.name, old.text, step.faults)
        yield from findings.locate_diagnostics(self.new.name, self.new.text, self.history.faults)
        if self.code != INVALID:
            for old, reasons in zip(self.olds, self.history.reasons(self.level), strict=True):
                yield from self._locate(old, reasons, old.name if len(self.olds) > 1 else "")

    def _locate(self, old: SchemaSource, reasons: Sequence[ExplainedFinding], after: str = "") -> list[LocatedFinding]:
        return findings.locate_reasons(self.new.name, self.new.format, (old.text, self.new.text), reasons, after)

    def _print_result(self) -> None:
        if self.code == INVALID:
            steps = zip(self.olds, self.history.steps, strict=True)
            invalid = [old for old, step in steps if step.faults] + ([self.new] if self.history.faults else [])
            for source in invalid:
                screen.say(f"{source.name} is not a valid schema ({source.format}).", "red")
            return
        if not self.olds:
            screen.say(f"{self.new.name} is a valid schema{'' if self.note else ', and new'}.", "green")
            return
        olds = self.olds[0].name if len(self.olds) == 1 else f"{len(self.olds)} earlier schemas"
        if self.code == FITS:
            screen.say(f"{self.new.name} may follow {olds} under {self.level}.", "green")
            for policy, other in self.others:
                self._print_other(policy, other)
            return
        count = sum(map(len, self.history.reasons(self.level)))
        counted = screen.format_count(count, "finding")
        screen.say(f"{self.new.name} may not follow {olds} under {self.level}: {counted}.", "red")
        screen.say(f"It would pass under {', '.join(self.history.levels)}.")

    def _print_other(self, policy: str, other: HistoryComparison) -> None:
        """Print a note that another policy rejects the schema, and why."""
        reasons = [reason for step in other.reasons(self.level) for reason in step]
        if reasons:
            places = dict.fromkeys(f"{one.rule} at {one.path or '/'}" for one in reasons)
            first = ", ".join(list(places)[:SHOWN]) + (", ..." if len(places) > SHOWN else "")
            counted = screen.format_count(len(reasons), "finding")
            screen.say(f"note: rejected under --policy {policy} ({counted}: {first}).", "yellow")
