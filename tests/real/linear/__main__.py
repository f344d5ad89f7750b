"""`python -m tests.real.linear`: run the chaos for some time, write its history, judge it; or judge a history again."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.real.linear.checker import broken
from tests.real.linear.history import operations, read
from tests.real.linear.judge import endure
from tests.real.linear.stores import STORES


def main() -> int:
    """Run what the command line says; returns 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.real.linear", description=__doc__)
    parser.add_argument("--backend", choices=[*STORES], default="sqlite")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long servers are killed (default: 60)")
    parser.add_argument("--kills", type=int, default=sys.maxsize, help="end earlier, after so many kills")
    parser.add_argument("--seed", type=int, default=1, help="what is done when; timing is the machine's")
    parser.add_argument("--history", type=Path, default=Path("history.jsonl"), help="where the events go")
    parser.add_argument("--check", type=Path, metavar="FILE", help="run nothing; judge the events of a file")
    told = parser.parse_args()
    if told.check:
        return _check(told.check)
    with tempfile.TemporaryDirectory() as name:
        store = STORES[told.backend](Path(name))
        try:
            outcome = endure(Path(name), store, told.seed, kills=told.kills, seconds=told.seconds, history=told.history)
        finally:
            store.stop()
    print(f"seed {told.seed}: {outcome}; the events are in {told.history}", *outcome.wrong, sep="\n")
    return 1 if outcome.wrong else 0


def _check(path: Path) -> int:
    done = operations(read(path))
    wrong = broken(done)
    print(f"{len(done)} operations on {len({one.subject for one in done})} subjects, {len(wrong)} without an order")
    for subject in wrong:
        print(f"no order explains what was answered for {subject}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
