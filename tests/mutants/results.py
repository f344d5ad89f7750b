"""What became of mutants: kept as it comes, so that a run goes on where another one ended; and the rate with its interval."""

import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutants.sample import Mutant

HERE = Path(__file__).parent
EQUIVALENTS, RATE = HERE / "equivalents.toml", HERE / "rate.toml"
Z = 1.96
"""Quantile of the normal distribution for an interval of 95 %."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one mutant at one stage."""

    key: str
    stage: str
    """`near`: the nearest tests ran; `all`: everything ran."""
    found_by: str = ""
    """The test that failed, or `hang`; empty where all passed."""
    seconds: float = 0.0


class Results:
    """The verdicts in a file; the last one about a mutant holds."""

    def __init__(self, file: Path) -> None:
        self.file = file
        lines = file.read_text().splitlines() if file.exists() else []
        self.verdicts = {one.key: one for one in (Verdict(**json.loads(line)) for line in lines)}

    def add(self, verdict: Verdict) -> None:
        """Keep a verdict, in the file too."""
        self.verdicts[verdict.key] = verdict
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("a") as file:
            file.write(json.dumps(asdict(verdict)) + "\n")

    def of(self, mutant: Mutant) -> Verdict | None:
        """The verdict about a mutant, if there is one."""
        return self.verdicts.get(mutant.key)


def wilson(found: int, count: int) -> tuple[float, float]:
    """The interval of 95 % in which the true rate lies, by Wilson's formula."""
    if not count:
        return 0.0, 1.0
    rate, spread = found / count, Z * Z / count
    middle, half = rate + spread / 2, Z * math.sqrt(rate * (1 - rate) / count + spread / count / 4)
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def read_equivalents(file: Path = EQUIVALENTS) -> Mapping[str, str]:
    """Mutants that change nothing for anybody: their keys, and why."""
    rows = tomllib.loads(file.read_text()).get("equivalent", [])
    return {Mutant("", "", row["function"], 0, row["old"], row["new"]).key: row["why"] for row in rows}


def read_rate(file: Path = RATE) -> float:
    """The rate below which a run fails."""
    return float(tomllib.loads(file.read_text())["found"])


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of a sample."""

    sample: int
    judged: int
    """Those of which it is known by now whether they are found, without the equivalent ones."""
    found: int
    near: int
    """Those of `found` that the nearest tests find."""
    equivalent: int
    survivors: tuple[Mutant, ...]
    unjudged: tuple[Mutant, ...]
    """Those that no test was run with when the run ended: they count neither way."""

    @property
    def rate(self) -> float:
        """Found of judged."""
        return self.found / self.judged if self.judged else 0.0


def score(mutants: Iterable[Mutant], results: Results, equivalents: Mapping[str, str]) -> Score:
    """The figures of a sample by the verdicts that there are.

    What the nearest tests do not find counts as not found until another test finds it: left out, a run that was ended early
    would have the better rate.
    """
    all_ = [*mutants]
    argued = [one for one in all_ if one.key in equivalents and not _is_found(results, one)]
    judged = [one for one in all_ if one not in argued and results.of(one) is not None]
    found = [one for one in judged if _is_found(results, one)]
    near = sum(verdict.stage == "near" for one in found if (verdict := results.of(one)))
    survivors = tuple(one for one in judged if one not in found)
    unjudged = tuple(one for one in all_ if one not in judged and one not in argued)
    return Score(len(all_), len(judged), len(found), near, len(argued), survivors, unjudged)


def _is_found(results: Results, mutant: Mutant) -> bool:
    verdict = results.of(mutant)
    return verdict is not None and bool(verdict.found_by)


def as_lines(score_: Score, results: Results) -> list[str]:
    """The figures for people: survivors with their edits, then the rate."""
    low, high = wilson(score_.found, score_.judged)
    lines = []
    for one in score_.survivors:
        verdict = results.of(one)
        stage = "by the nearest tests, the others did not run" if verdict and verdict.stage == "near" else "by any test"
        lines += [f"not found {stage}: {one.kind}, src/treaty/{one.file}:{one.line} {one.function}"]
        lines += [f"    - {' '.join(one.old.split())}", f"    + {' '.join(one.new.split())}"]
    lines += [f"no verdict yet: {one.kind}, src/treaty/{one.file}:{one.line} {one.key}" for one in score_.unjudged]
    if score_.unjudged:
        lines.append(
            f"{len(score_.unjudged)} have no verdict yet and count neither way; the same command goes on there"
        )
    lines.append(
        f"found {score_.found} of {score_.judged} ({score_.rate:.1%}, 95 % interval {low:.1%} to {high:.1%}), {score_.near} of these by the nearest "
        f"tests; {score_.equivalent} of the sample of {score_.sample} change nothing"
    )
    return lines


def as_json(score_: Score, **more: object) -> str:
    """The figures for programs."""
    low, high = wilson(score_.found, score_.judged)
    members = {**asdict(score_), "rate": score_.rate, "interval": [low, high], **more}
    return json.dumps(members, indent=2)
