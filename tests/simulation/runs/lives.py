"""Many seeds at once: what the tests of every discipline share."""

from collections import Counter
from collections.abc import Callable, Sequence

from tests.simulation.scenario import run

WANTED = ("conflicts", "unknown", "crashes")
"""What has to happen in at least half of the seeds, or in a third of fewer than `MANY`, which differ more by chance."""
MANY = 100
SHOWN = ("held", "reloads", "repeated", "unavailable")


def live(seeds: range, figure: Callable[[str], None], *, log: str = "", wanted: Sequence[str] = WANTED) -> Counter[str]:
    """Run seeds; say what happened in them; fail with all that broke a law. Returns in how many seeds what happened."""
    seen: Counter[str] = Counter()
    broken = []
    for seed in seeds:
        came = run(seed, log=log)
        seen.update(name for name, times in came.counts.items() if times)
        if came.broken is not None:
            option = f" --log {log}" if log else ""
            broken.append(f"seed {seed}: {came.broken}\n  replay it: python -m tests.simulation --seed {seed}{option}")
    told = ", ".join(f"{name} in {seen[name]}" for name in (*wanted, *SHOWN))
    figure(f"{log or 'SQL'} seeds {seeds.start} to {seeds.stop - 1}: {told} of {len(seeds)}")
    assert not broken, "\n".join(broken)
    part = 2 if len(seeds) >= MANY else 3
    for name in wanted:
        assert seen[name] * part >= len(seeds), f"{name} happened in {seen[name]} of {len(seeds)} seeds only"
    return seen
