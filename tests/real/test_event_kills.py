"""Pipelines of events are killed in and between the writes of their tables; in the end each part is in one table once."""

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.iglu import schemas
from tests.real.arriving import arrive
from tests.real.events_driver import STREAMS, finish, held
from tests.real.killing import killed
from tests.self_describing import CONTEXTS, META
from treaty.spark.lake.table import FORMATS

pytestmark = pytest.mark.jvm

DRIVER = "tests.real.events_driver"
EVENTS = 30
"""The events of a file; each life has a new one."""
KILLS = 12
MODELS = ("click", "order")
LATER = "1-0-1"
"""A version that appears while streams run: of the one model a member more, of the other a type that breaks it."""
MOST_STEPS, LONGEST = 16, 0.5
"""The steps that a life gives its first stream at most before it is killed, and the seconds that may follow."""
Held = dict[str, Counter[tuple[Any, ...]]]


def schema(model: str, version: str) -> dict[str, Any]:
    """A schema of the model; in its later version `order` has a text where a number was."""
    is_broken = (model, version) == ("order", LATER)
    properties = {"id": {"type": "string"}, "count": {"type": "string" if is_broken else "integer"}}
    if (model, version) == ("click", LATER):
        properties["note"] = {"type": "string"}
    key = {"vendor": "com.acme", "name": model, "format": "jsonschema", "version": version}
    return {"$schema": META, "self": key, "type": "object", "properties": properties, "required": ["id", "count"]}


def recovered_column() -> str:
    """The column of the version that breaks its model."""
    text = json.dumps(schema("order", LATER), separators=(",", ":"))
    return f"com_acme_order_1_0_1_recovered_{hashlib.sha256(text.encode()).hexdigest()[:8]}"


class EventFiles:
    """Files of events, and what is true of them: the parts by column, and the code of each bad event."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root, self.dice = root, dice
        self.truth: Held = defaultdict(Counter)
        self.versions = ["1-0-0"]
        self.numbers = 0
        self.files = 0
        (root / "in").mkdir()
        self.publish(CONTEXTS, schemas()[CONTEXTS])
        for model in MODELS:
            self.publish(f"com.acme/{model}/jsonschema/1-0-0", json.dumps(schema(model, "1-0-0")))

    def publish(self, path: str, text: str) -> None:
        file = self.root / "iglu" / "schemas" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def grow(self) -> None:
        """The later versions appear."""
        self.versions.append(LATER)
        for model in MODELS:
            self.publish(f"com.acme/{model}/jsonschema/{LATER}", json.dumps(schema(model, LATER)))

    def write(self) -> None:
        """One more file."""
        numbers = range(self.numbers, self.numbers + EVENTS)
        texts = [self._event(number) for number in numbers]
        arrive(self.root / "in", self.files, {"number": pa.array(numbers, pa.int64()), "value": pa.array(texts)})
        self.numbers, self.files = self.numbers + EVENTS, self.files + 1

    def _event(self, number: int) -> str:
        damage = self.dice.choice([""] * 9 + ["NOT_JSON", "INVALID_DATA", "SCHEMA_NOT_FOUND"])
        parts: list[dict[str, Any]] = []
        for place in range(self.dice.randint(1, 3)):
            model, version = self.dice.choice(MODELS), self.dice.choice(self.versions)
            count: Any = self.dice.randrange(1000)
            is_broken = (model, version) == ("order", LATER)
            data = {"id": f"{number}/{place}", "count": str(count) if is_broken else count}
            parts.append({"schema": f"iglu:com.acme/{model}/jsonschema/{version}", "data": data})
            if not damage:
                column = f"{model} recovered" if is_broken else model
                self.truth[column][number, version, data["id"], data["count"]] += 1
        if damage:
            self.truth["bad"][number, damage] += 1
        if damage == "INVALID_DATA":
            del parts[-1]["data"]["id"]
        elif damage == "SCHEMA_NOT_FOUND":
            parts[0]["schema"] = "iglu:com.acme/nothing/jsonschema/1-0-0"
        text = json.dumps({"schema": f"iglu:{CONTEXTS}", "data": parts})
        return text[:-2] if damage == "NOT_JSON" else text

    def check(self, spark: SparkSession, streams: Sequence[str]) -> None:
        """Every part and every bad event is once in the tables of each stream."""
        for stream in streams:
            columns = {model: f"com_acme_{model}_1" for model in MODELS}
            if LATER in self.versions:
                columns["order recovered"] = recovered_column()
            found = held(spark, self.root, stream, [*columns.values()])
            counted = {name: Counter(map(tuple, found[column])) for name, column in columns.items()}
            assert (stream, {**counted, "bad": Counter(map(tuple, found["bad"]))}) == (stream, self.truth)


def life(root: Path, dice: random.Random, steps: int, streams: Sequence[str]) -> dict[str, str]:
    """Kill the streams once; returns by stream whether it was in a write or behind one when it was killed."""
    seconds = dice.choice([0.0, dice.random() * LONGEST])
    told = [one.split() for one in killed(DRIVER, root, steps, seconds, streams)]
    words = {"begins": "in a write", "wrote": "behind a write"}
    return {one[0]: words[one[-1]] for one in told if one[-1] in words}


@pytest.mark.soak  # batches of events are cut off at each step in `test_event_pipelines`, and a driver is killed in `test_pipeline_kills`
@pytest.mark.rest
def test_streams_that_are_killed_once_lose_no_event_and_write_none_twice(
    spark: SparkSession, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    """The process is killed in its second batch, whose first tables are written and whose last ones are not."""
    dice, streams = random.Random(1), ("parquet-models",)
    given = EventFiles(tmp_path, dice)
    given.write()
    given.grow()
    given.write()
    hit = life(tmp_path, dice, 14, streams)
    finish(spark, tmp_path, streams)
    given.check(spark, streams)
    figure(f"killed {hit}, {given.numbers} events: 0 lost, 0 twice")


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_streams_that_are_killed_often_lose_no_event_and_write_none_twice(
    spark: SparkSession, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    dice, hit = random.Random(2), Counter[tuple[str, str]]()
    given = EventFiles(tmp_path, dice)
    for turn in range(KILLS):
        given.write()
        if turn == KILLS // 3:
            given.grow()
        first = turn % len(STREAMS)
        streams = (*STREAMS[first:], *STREAMS[:first])[:2]
        for stream, word in life(tmp_path, dice, dice.randint(1, MOST_STEPS), streams).items():
            hit[stream.split("-")[0], word] += 1
    finish(spark, tmp_path, STREAMS)
    given.check(spark, STREAMS)
    shown = ", ".join(f"{format_} {word} {count}" for (format_, word), count in sorted(hit.items()))
    figure(f"{KILLS} kills, {given.numbers} events in each of {len(STREAMS)} streams: 0 lost, 0 twice; {shown}")
    missing = {(one, word) for one in FORMATS for word in ("in a write", "behind a write")} - hit.keys()
    assert not missing, f"no kill fell there: {sorted(missing)}"
