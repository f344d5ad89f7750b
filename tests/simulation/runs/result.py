"""What a run came to."""

from collections import Counter
from dataclasses import dataclass, field

from tests.simulation.judging.broken import Broken


@dataclass(slots=True)
class Run:
    """What a run came to."""

    seed: int
    digest: str
    counts: Counter[str]
    trace: list[str] = field(default_factory=list)
    broken: Broken | None = None
