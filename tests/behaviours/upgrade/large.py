"""Upgrades a log that `record.py` has written with many schemas, and asks the new registry everything that the old one answered::

PYTHONPATH=OLD/src:OLD python tests/behaviours/upgrade/record.py FOLDER 50000
python -m tests.behaviours.upgrade.large FOLDER
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import zstandard

from tests.behaviours.upgrade.asking import answered, expected, own_policies
from treaty.assemble import connect
from treaty.core.registry import CallOptions
from treaty.log.upgrade.sqlite import OldSqlite


def main(folder: Path) -> int:
    """Return how many answers differ."""
    with tempfile.TemporaryDirectory() as scratch:
        old, new = Path(scratch, "old.db"), f"sqlite://{Path(scratch, 'new.db')}"
        with (folder / "log.db.zst").open("rb") as packed, old.open("wb") as file:
            zstandard.ZstdDecompressor().copy_stream(packed, file)
        began = time.perf_counter()
        words = [str(Path(sys.executable).with_name("treaty")), "log", "upgrade", f"sqlite://{old}", new, "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        told = json.loads(done.stdout or "{}")
        print(f"upgrade: {time.perf_counter() - began:.1f} s, exit code {done.returncode}, {told.get('rows')} rows,",
              f"{len(told.get('differences', [0]))} differences, ended: {told.get('ended')}")  # fmt: skip
        followers = {*own_policies(asyncio.run(OldSqlite(old, "old").read()))}
        with (folder / "answers.jsonl.zst").open("rb") as packed:
            lines = zstandard.ZstdDecompressor().stream_reader(packed).read().splitlines()
        asked, wrong, versions = Counter[str](), 0, 0
        with connect(new) as registry:
            registry.call = CallOptions(timeout=600)  # the first question waits until all is read
            for one in map(json.loads, lines):
                asked[one["question"]] += 1
                versions += len(one["answer"]) if one["question"] == "schemas" else 0
                if answered(registry, one, followers) != expected(one, followers):
                    wrong += 1
                    print("differs:", str(one)[:300])
        print(f"{sum(asked.values())} questions ({dict(asked)}) about {versions} versions: {wrong} answers differ")
        verdict = subprocess.run([*words[:2], "verify", new], capture_output=True, text=True, check=False)
        print(verdict.stdout)
        return wrong + done.returncode + verdict.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])) != 0)
