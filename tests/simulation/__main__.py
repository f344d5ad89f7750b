"""`python -m tests.simulation --seed N [--log any]`: replay a seed and print its trace."""

import argparse
import sys
import time
from collections import Counter
from itertools import count, islice

from tests.simulation.clients.sources import has_source_clients
from tests.simulation.runs.table import NAMES
from tests.simulation.scenario import run


def main() -> int:
    """Run one seed with its trace, or many with a summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1, help="how many seeds")
    parser.add_argument("--log", choices=NAMES, default="", help="the log's discipline; the seed chooses one of SQL's")
    parser.add_argument("--sources", action="store_true", help="only seeds whose clients ask about sources too, 1 in 3")
    parser.add_argument("--quiet", action="store_true", help="no trace")
    given = parser.parse_args()
    seen: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    begun, bad, spent = time.perf_counter(), 0, time.process_time()
    seeds = (seed for seed in count(given.seed) if has_source_clients(seed) or not given.sources)
    for seed in islice(seeds, given.count):
        came = run(seed, log=given.log, keep=given.count == 1 and not given.quiet)
        for line in came.trace:
            print(line)
        seen.update(name for name, value in came.counts.items() if value)
        totals += came.counts
        if came.broken is not None:
            bad += 1
            print(f"seed {seed}: {came.broken}", flush=True)
    took = f"{time.perf_counter() - begun:.1f} s, {time.process_time() - spent:.1f} s of CPU"
    print(f"{given.count} seeds up to {seed} in {took}, {bad} broken; last trace {came.digest[:16]}")
    for name, number in sorted(totals.items()):
        print(f"  {name:14} {number:8}  in {seen[name]} seeds")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
