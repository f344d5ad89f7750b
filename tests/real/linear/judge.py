"""What is asked of a run when it is over."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.real.linear.chaos import Chaos
from tests.real.linear.checker import broken
from tests.real.linear.history import Operation, operations
from tests.real.linear.prefixes import PrefixReader
from tests.real.linear.stores import Store


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to. `wrong` says in sentences what must not be; it is empty where all was true."""

    operations: int
    unknown: int
    failed: int
    harms: dict[str, int]
    wrong: tuple[str, ...]
    states: int = 0
    """States of the log at which its invariants were looked at while servers wrote."""

    def __str__(self) -> str:
        """One line."""
        harms = ", ".join(f"{count} {name}" for name, count in sorted(self.harms.items()))
        return (
            f"{self.operations} operations ({self.failed} refused for want of a log, {self.unknown} outcomes unknown), "
            f"{harms}; {self.states} states of the log; {len(self.wrong)} things wrong"
        )


def endure(folder: Path, store: Store, seed: int, *, kills: int, seconds: float, history: Path) -> Outcome:
    """Run the chaos, then judge what was seen and what is left. The history is written whatever happens."""
    prefixes = PrefixReader(store.url)
    chaos = Chaos(folder, store, seed, begun=prefixes.start)
    try:
        chaos.run(kills, seconds)
        states = {}
        for server in chaos.servers:
            server.get("/subjects?limit=1")  # looks at the tip
            states[server.base] = server.get("/status")["node"]["state_root"]
        meanings = chaos.meanings()
    finally:
        chaos.recorder.write(history)
        chaos.stop()
        prefixes.stop()
    done = operations(chaos.recorder.events)
    wrong = [*_orders(done), *_digests(store, states), *_ids(chaos, meanings), *prefixes.wrong]
    failed = sum(event["type"] == "fail" for event in chaos.recorder.events)
    return Outcome(len(done), sum(one.open for one in done), failed, dict(chaos.harms), tuple(wrong), prefixes.states)


def _orders(done: list[Operation]) -> list[str]:
    return [
        "\n".join((f"no order explains what was answered for {subject} ({len(some)} operations)", *map(str, some)))
        for subject, some in broken(done).items()
    ]


def _digests(store: Store, states: dict[str, str]) -> list[str]:
    """The log itself, read by a process of its own, must be sound, and come to the state that all servers show."""
    command = [sys.executable, "-m", "treaty.cli.main", "log", "verify", store.url, "--json"]
    verified = subprocess.run(command, capture_output=True, text=True, check=False)
    if verified.returncode != 0:
        return [f"the log is not sound: {verified.stdout}{verified.stderr}"]
    told = json.loads(verified.stdout)["logs"][0]["stateRoot"]
    return [f"{base} shows state {state}, the log {told}" for base, state in states.items() if state != told]


def _ids(chaos: Chaos, meanings: dict[int, list[str]]) -> list[str]:
    wrong = [f"id {number} was told for {sorted(texts)}" for number, texts in chaos.ids.items() if len(texts) > 1]
    for number, found in meanings.items():
        allowed = {*chaos.ids[number], "SchemaNotFound"}
        if len({*found}) > 1 or not {*found} <= allowed:
            wrong.append(f"id {number} was told for {sorted(chaos.ids[number])}, and now means {found}")
    return wrong
