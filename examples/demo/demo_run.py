"""The steps of the demo: register, write, decode, kill, resume, check, and go on with a query."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from examples.demo import data, dimensions, schemas
from examples.demo.dimensions import DIMENSIONS
from examples.demo.events import PHASES, DemoEvent, add_damage, events, write
from examples.demo.processes import ChildProcess, start_job
from examples.demo.queries.query_run import QueryDemo, QueryResult
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import Subject
from treaty.core.refusals import Incompatible
from treaty.core.registry import Registry
from treaty.core.schema import Draft
from treaty.spark.session import list_missing_packages

FILES = (2, 1, 1)
"""Files of events in each phase. A batch of the stream is one file."""
KILL_AT = 2
"""The batch between whose two commits the job is killed."""


class ProgressListener(Protocol):
    """What is called with the progress of the demo."""

    def say(self, words: str) -> None:
        """Report a step, as one line."""

    def wrote(self, rows: int) -> None:
        """Receive the number of events written so far."""

    def decoded(self, rows: int) -> None:
        """Receive the number of events in the tables so far."""


@dataclass(slots=True)
class DemoResult:
    """The results of a run, for the report."""

    total: int
    ids: list[int] = field(default_factory=list)
    batches: list[dict[str, Any]] = field(default_factory=list)
    killed: int = -1
    refused: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    proof: dict[str, Any] = field(default_factory=dict)
    dimension_rows: dict[str, int] = field(default_factory=dict)
    """Events of each topic that flights are joined with, by its name."""
    query: QueryResult = field(default_factory=QueryResult)
    encoding: float = 0.0
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether every event of every topic is in exactly one table, the right one, and the query has the computed rows."""
        others = self.figures.get("dimensions", {})
        whole = all(name in others and others[name]["rows"] == rows for name, rows in self.dimension_rows.items())
        tables = bool(self.proof.get("holds")) and whole and all(dimension["holds"] for dimension in others.values())
        return tables and self.query.holds

    @property
    def rate(self) -> float:
        """Rows per second of the stream with both tables written, without the start of Spark."""
        busy = sum(batch["seconds"] for batch in self.batches)
        return sum(batch["rows"] for batch in self.batches) / busy if busy else 0.0

    @property
    def best_rate(self) -> float:
        """Rows per second of the fastest batch, when the JVM is warm."""
        return max((batch["rows"] / batch["seconds"] for batch in self.batches), default=0.0)


@dataclass(slots=True)
class DemoRun:
    """One run of the demo in `folder`, against the registry at `url`."""

    folder: Path
    registry: Registry
    url: str
    total: int
    listener: ProgressListener
    result: DemoResult = field(init=False)
    stream: Iterator[DemoEvent] = field(init=False)
    row_count: int = 0
    phase: int = 0
    rows: dict[int, int] = field(default_factory=dict)
    job: ChildProcess = field(init=False)
    query: QueryDemo = field(init=False)
    writer: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    phase_writes: list[Future[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make an empty result."""
        self.result = DemoResult(self.total)
        self.query = QueryDemo(self.folder, self.url, self.total, self.execute, self.listener.say)

    def run(self) -> DemoResult:
        """Run all steps, and return the figures. The job is a process of its own, which is killed once and started
        again.
        """
        began = time.monotonic()
        subject = Subject(".", schemas.SUBJECT)
        self.registry.ask(SetConfig(Scope(subject.context, subject.name), Config(level="BACKWARD_TRANSITIVE")))
        missing = list_missing_packages()
        if missing:
            self.listener.say(f"Spark fetches its packages first (once, about 50 MB): {', '.join(missing)}")
        with (self.folder / "job.log").open("w", encoding="utf-8") as log:
            self.job = start_job(self.folder, self.url, self.total, log)  # it starts Spark while events are written
            try:
                other = self.write_dimensions()
                sound = events(data.flights(self.total), data.weather(), self.total, self.result.ids)
                self.stream = add_damage(sound, other)
                self.start_next_phase()
                if self.follow_job(crash=True):
                    self.job = start_job(self.folder, self.url, self.total, log)
                    self.follow_job(crash=False)
                self.result.query = self.query.run()
                self.finish_job()
            finally:
                self.job.stop()
                self.query.stop()
                self.writer.shutdown()
        self.register_incompatible_version()
        self.result.seconds = time.monotonic() - began
        return self.result

    def execute(self, text: str) -> list[list[Any]]:
        """Carry out a statement of the metastore in the job, which has Spark, and return its rows. Raises RuntimeError if it
        is refused.
        """
        self.job.send(json.dumps(text))
        for step in self.job.steps():
            if step["step"] == "statement":
                rows: list[list[Any]] = step["rows"]
                return rows
            self.handle_step(step)
        message = f"the statement was refused: {text}; see {self.folder / 'job.log'}"
        raise RuntimeError(message)

    def write_dimensions(self) -> int:
        """Register the schemas of the topics that flights are joined with, write their events, and return one of the
        ids.
        """
        ids: dict[str, list[int]] = {}
        for dimension in DIMENSIONS:
            subject = Subject(".", dimension.subject)
            drafts = [Draft(text, dimension.format) for text in dimension.versions]
            ids[dimension.name] = [
                self.registry.ask(Register(subject, draft)).answer.version.schema_id for draft in drafts
            ]
        until = data.last_hour(self.total)
        for dimension in DIMENSIONS:
            foreign = next(dimension_ids[0] for name, dimension_ids in ids.items() if name != dimension.name)
            batch = list(dimensions.events(dimension, ids[dimension.name], foreign, until))
            write(batch, self.folder, dimension.name, "all")
            self.result.dimension_rows[dimension.name] = len(batch)
            many = "a version" if len(dimension.versions) == 1 else f"{len(dimension.versions)} versions"
            self.listener.say(f"[b]{dimension.name}[/b]: {many} in {dimension.format_label}, {len(batch):,} events")
        return ids["planes"][0]

    def start_next_phase(self) -> None:
        """Register the next version, and begin to write the next events in all versions so far, interleaved."""
        number = self.phase + 1
        draft = Draft(schemas.VERSIONS[self.phase])
        version = self.registry.ask(Register(Subject(".", schemas.SUBJECT), draft)).answer.version
        self.result.ids.append(version.schema_id)
        self.listener.say(
            f"[b]version {number}[/b] registered with id {version.schema_id}: {schemas.STORY[self.phase]}"
        )
        self.phase = number
        phase_write = self.writer.submit(self.write_phase, number)
        self.phase_writes.append(phase_write)
        phase_write.add_done_callback(lambda future: self.job.stop() if future.exception() else None)

    def write_phase(self, number: int) -> None:
        """Write the events of a phase, counted from 1, in its files."""
        began = time.monotonic()
        share, _ = PHASES[number - 1]
        until = self.total if number == len(PHASES) else int(share * self.total)
        for part in range(FILES[number - 1]):
            left = FILES[number - 1] - part
            batch = list(islice(self.stream, (until - self.row_count) // left))
            write(batch, self.folder, "flights", f"{number - 1}-{part}")
            self.row_count += len(batch)
            self.listener.wrote(self.row_count)
        self.result.encoding += time.monotonic() - began

    def follow_job(self, *, crash: bool) -> bool:
        """Begin the stream and read the steps of the job until the tables are filled; return whether it was killed.
        Raises RuntimeError if it ends unexpectedly.
        """
        self.job.send("begin")
        for step in self.job.steps():
            name, batch = step["step"], step.get("batch", -1)
            if name == "good":
                self.rows[batch] = step["counts"]["rows"]
                if crash and batch == KILL_AT:
                    self.job.kill()
                    self.result.killed = batch
                    self.listener.say(
                        f"[b red]SIGKILL[/] in batch {batch}: its good rows are committed, its bad rows are not"
                    )
                    return True
                self.job.send("go")
            self.handle_step(step)
            if name == "dimensions":
                return False
        for phase_write in self.phase_writes:
            phase_write.result()
        message = f"the job ended unexpectedly; its log is {self.folder / 'job.log'}"
        raise RuntimeError(message)

    def finish_job(self) -> None:
        """End the job, and wait for its proof. Raises RuntimeError if it has none."""
        self.job.send(json.dumps(""))
        for step in self.job.steps():
            self.handle_step(step)
        if not self.result.proof:
            message = f"the tables could not be checked; see {self.folder / 'job.log'}"
            raise RuntimeError(message)

    def handle_step(self, step: dict[str, Any]) -> None:
        """Report or keep what the job has done."""
        match step["step"]:
            case "ready":
                again = ", again" if self.result.batches else ""
                self.listener.say(
                    f"Spark runs{again}: the job continues from its checkpoint" if again else "Spark runs"
                )
            case "extended":
                rejected = {code for _, code in step["rejected"]}
                news = f"ids {', '.join(str(number) for number, _ in step['ids'])}"
                other = " and one of another subject" if "WRONG_SUBJECT" in rejected else ""
                self.listener.say(
                    f"batch {step['batch']}: ids the plan did not know; it now reads {news}{other}, no restart"
                )
            case "bad":
                self.finish_batch(step)
            case "dimensions":
                texts = ", ".join(f"{rows:,} of {name}" for name, rows in step["rows"].items())
                self.listener.say(f"the other topics are in their tables: {texts}")
            case "figures":
                self.result.figures = step
            case "proof":
                self.result.proof = step

    def finish_batch(self, step: dict[str, Any]) -> None:
        """Note that a batch is in both tables."""
        batch = step["batch"]
        facts = {"batch": batch, "rows": self.rows[batch], "seconds": step["seconds"], "versions": len(step["ids"])}
        self.result.batches.append(facts)
        self.listener.decoded(sum(batch["rows"] for batch in self.result.batches))
        if self.phase < len(PHASES) and batch >= self.phase - 1:
            self.start_next_phase()
        if self.result.killed >= 0 and self.query.runner is None:
            self.query.start()  # its runner starts while the job reads the last events
        if sum(batch["rows"] for batch in self.result.batches) >= self.total:
            self.job.send("stop")

    def register_incompatible_version(self) -> None:
        """Register a fourth version that breaks readers, and keep the refusal."""
        try:
            self.registry.ask(Register(Subject(".", schemas.SUBJECT), Draft(schemas.V4)))
        except Incompatible as refusal:
            texts = [finding.message(reader="new", writer="old") for finding in refusal.findings]
            self.result.refused = texts or [str(refusal), *refusal.reason.details]
        else:
            message = "an incompatible version 4 was accepted"
            raise RuntimeError(message)
