"""Drivers of pipelines on a real broker are killed in the middle of batches; each next start goes on by itself, and every record is in a table once."""

import json
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.real.killing import killed, started
from tests.real.test_pipeline_kills import V1, V2, Input, check
from tests.servers.kafka import Kafka
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.spark.lake.table import FORMATS

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.slow]

DRIVER = "tests.real.kafka_driver"
LONGEST = 0.2
"""The seconds that a driver lives on at most after the step at which it is to be killed."""
INSIDE = 2
"""The steps after which a driver is in the middle of a batch for certain: planned, and good rows written."""


class Topic(Input):
    """The records of a topic of one partition, and what is true of each offset."""

    def __init__(self, root: Path, dice: random.Random, registry: Connection, kafka: Kafka, topic: str) -> None:
        super().__init__(root, dice, registry)
        self.producer, self.topic = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0}), topic
        (root / "topic").write_text(f"{kafka.bootstrap} {topic}", "utf-8")

    def keep(self, values: list[bytes]) -> None:
        """Send the rows, which follow those before them."""
        for value in values:
            self.producer.produce(self.topic, value)
        assert self.producer.flush(60) == 0


@pytest.mark.parametrize(
    ("seed", "kills"),
    [pytest.param(1, 5, marks=pytest.mark.timeout(1800)), pytest.param(2, 30, marks=pytest.mark.timeout(7200))],
    ids=["few kills", "30 kills"],
)
def test_a_driver_on_a_broker_goes_on_by_itself_after_every_kill(
    seed: int, kills: int, kafka: Kafka, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """The last kill falls into the middle of a batch of each stream, so the last life has the fault to get over three times."""
    dice = random.Random(seed)
    with connect(f"sqlite://{tmp_path / 'registry.db'}") as registry:
        given = Topic(tmp_path, dice, registry, kafka, kafka.topic(f"kills-{seed}"))
        given.register(V1)
        inside = 0
        for turn in range(kills):
            given.write()
            if turn == kills // 2:
                given.register(V2)
            first = turn % len(FORMATS)
            formats = FORMATS[first:] + FORMATS[:first] if turn % 3 == 0 else FORMATS[first : first + 1]
            told = killed(DRIVER, tmp_path, dice.randint(1, 5), dice.random() * LONGEST, formats)
            inside += not told[-1].endswith(("done", "ended"))
        for one in FORMATS:  # each in the middle of a batch of its own
            given.write()
            told = killed(DRIVER, tmp_path, INSIDE, 0.0, [one])
            inside += not told[-1].endswith(("done", "ended"))
        given.write()
        last = started(DRIVER, tmp_path, "--read")
        output = _ended(last, tmp_path)
    check(json.loads((tmp_path / "held.json").read_text("utf-8")), given.truth)
    restarts = {one: int(found[1]) for one in FORMATS if (found := re.search(rf"{one} restarts (\d+)", output))}
    figure(
        f"{kills + len(FORMATS)} kills, {inside} of them inside a batch, {len(given.truth)} records in each format: 0 lost, 0 twice; "
        f"the last life came back by itself: {restarts}"
    )
    assert any(restarts.values()), f"no stream had to get over the fault: {restarts}"


def _ended(process: "subprocess.Popen[str]", root: Path) -> str:
    output, _ = process.communicate()
    assert output.endswith("ended\n"), (root / "driver.log").read_text("utf-8")[-3000:]
    return output
