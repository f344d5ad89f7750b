"""A scene: nodes over one disk with chosen faults, what is asked of them, and the trace of all that."""

import asyncio
import itertools
import logging
import random
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from tests.simulation.disk import Disk
from tests.simulation.texts import FORMATS, Truth, answer
from tests.traces.clock import TracedLoop, name_of_work
from tests.traces.log import Crown, TracedLog, write_foreign
from tests.traces.parts import NodeView
from tests.traces.peers import TracedTransport
from tests.traces.trace import Trace, TraceLines, describe_error
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.request import Request
from treaty.core.names import Subject, subject_of
from treaty.core.registry import CallOptions, Reply
from treaty.core.schema import Draft
from treaty.core.schema_engine import Answer, Question
from treaty.core.state.tables import DictTables
from treaty.node.environment import Environment
from treaty.node.node import Node
from treaty.node.schema_service import SchemaService
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.manager import StateFileManager
from treaty.node.status import LogReporter, Status

QUESTION_SECONDS = 0.06
"""How long a question takes in the pool."""
START_MS = 1_700_000_000_000


def post(subject: str, text: str = '["a"]') -> Register:
    """A registration in the toy format."""
    return Register(subject_of(subject), Draft(text, "TOY"))


@dataclass
class Scene:
    """What the author of a scenario has at hand. Nodes, their logs and their ways to others have the same names."""

    loop: TracedLoop
    trace: Trace
    disk: Disk = field(default_factory=lambda: Disk(9))
    nodes: dict[str, Node] = field(default_factory=dict)
    logs: dict[str, TracedLog] = field(default_factory=dict)
    peers: dict[str, TracedTransport] = field(default_factory=dict)
    files: dict[str, StateFileManager] = field(default_factory=dict)
    crown: Crown | None = None
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    question_faults: list[str] = field(default_factory=list)
    """What becomes of the next questions to the pool: ``odd``, ``slow N``, or nothing of it."""
    statuses: dict[str, LogReporter] = field(default_factory=dict)
    tick: float = 0.0
    """How much time passes whenever a node looks at the clock, as work takes."""
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    cleanups: list[Callable[[], None]] = field(default_factory=list)
    _folder: Path | None = None

    @property
    def node(self) -> Node:
        return self.nodes["a"]

    @property
    def log(self) -> TracedLog:
        return self.logs["a"]

    @property
    def folder(self) -> Path:
        """A folder of this run."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="treaty-trace-"))
            self.trace.names.folder = str(self._folder)
            self.cleanups.append(partial(shutil.rmtree, self._folder))
        return self._folder

    def set(self, module: Any, name: str, value: Any) -> None:
        """Have another value of a constant for this run."""
        before = getattr(module, name)
        setattr(module, name, value)
        self.cleanups.append(lambda: setattr(module, name, before))

    # ---------------------------------------------------------------------------------------------------- nodes

    async def start(
        self,
        name: str = "a",
        *,
        inline: int = 10_000,
        workers: int = 1,
        tables: DictTables | LayeredTables | None = None,
        files: StateFileManager | None = None,
        transport: bool = False,
        prepare: Callable[[TracedLog], None] = lambda _: None,
        log_type: type[TracedLog] = TracedLog,
    ) -> Node:
        """Start a node; `inline` are the characters that it parses itself."""
        log = self.logs[name] = log_type(self.disk, self.trace, self.loop, name, self.crown)
        prepare(log)
        if transport:
            self.peers[name] = TracedTransport(self.trace, self.loop, name, self.nodes)
        schemas = self._schemas(name, inline, workers)
        node = Node(log, schemas, self._environment(name), tables, files, transport=self.peers.get(name))
        self.nodes[name], self.statuses[name] = node, LogReporter()
        self.trace.watch(name, NodeView(node, self.trace.names).list_changes)
        self.trace.changed = self._report
        self.trace.add("starts", name)
        await node.start()
        return node

    async def ready(self, *subjects: str, name: str = "a", **options: Any) -> Node:
        """Start a node and register subjects, without a trace of it."""
        with self.trace.muted():
            node = await self.start(name, **options)
            await self.do(*subjects, by=name)
            await self.loop.pause(0.5)
        return node

    def _report(self, name: str) -> None:
        """Write the lines that the log of a server gets."""
        self.statuses[name].report(self.nodes[name].status())

    def _environment(self, name: str) -> Environment:
        loop, trace = self.loop, self.trace

        def now() -> float:
            if not trace._looking:
                loop.pass_time(self.tick)
            return loop.time()

        async def sleep(seconds: float) -> None:
            trace.add(f"sleeps {seconds:.3f}", name)
            await loop.pause(seconds)
            trace.add("wakes", name)

        async def run_large(work: Callable[[], Any]) -> Any:
            trace.add(f"large work {name_of_work(work)}", name)
            await loop.pause(0.002)
            try:
                return work()
            finally:
                trace.add("large work ends", name)

        randomness = random.Random(name)
        return Environment(
            now, lambda: START_MS + round(loop.time() * 1000), randomness.randbytes, sleep, run_large=run_large
        )

    def _schemas(self, name: str, inline: int, workers: int) -> SchemaService:
        def parse(question: Question) -> Answer:
            self.trace.add(f"reads {type(question).__name__}", name)
            return answer(question)

        async def run(question: Question) -> Answer:
            fault = self.question_faults.pop(0) if self.question_faults else ""
            kind = f"question {type(question).__name__}"
            self.trace.add(f"{kind}{f' [{fault}]' if fault else ''}", name)
            try:
                await self.loop.pause(QUESTION_SECONDS + float(fault.partition(" ")[2] or 0))
                if fault == "odd":
                    raise KeyError("odd")
                return answer(question)
            finally:
                self.trace.add(f"{kind} ends", name)

        return SchemaService(
            lambda: FORMATS, parse, run, inline_bytes=inline, validators=lambda: Truth.validators, workers=workers,
            release=lambda: self.trace.add("pool is closed", name),
        )  # fmt: skip

    async def stop(self, name: str = "a") -> None:
        """Close a node."""
        self.trace.add("closes", name)
        await self.nodes[name].close()
        self.trace.add("is closed", name)
        self.trace.forget(name)
        del self.nodes[name]

    # ---------------------------------------------------------------------------------------------------- asking

    def ask(self, request: Request[Any], by: str = "a", **options: Any) -> asyncio.Task[None]:
        """Ask a node in a task of its own. `by` may have a command id behind a slash."""
        name, _, command_id = by.partition("/")
        number = command_id or f"c{next(self.numbers)}"
        options.setdefault("timeout", 5)
        call = CallOptions(command_id=number, **options)
        more = ", ".join(f"{key}={self._describe_option(value)}" for key, value in options.items())
        task = self.loop.create_task(self._ask(f"{number} {describe(request)} ({more})", name, request, call))
        self.tasks.append(task)
        return task

    def _describe_option(self, value: Any) -> str:
        return self.trace.names.token(value) if hasattr(value, "digest") else str(value)

    async def _ask(self, text: str, name: str, request: Request[Any], call: CallOptions) -> None:
        self.trace.add(f"asked {text}", name)
        number = text.partition(" ")[0]
        await self.tell(number, name, self.nodes[name].ask(request, call))

    async def tell(self, what: str, name: str, work: Awaitable[Any]) -> None:
        """Wait for something, and trace what comes of it."""
        try:
            result = await work
        except asyncio.CancelledError:
            self.trace.add(f"{what} is cancelled", name)
            raise
        except Exception as error:  # noqa: BLE001 - whatever comes is traced
            self.trace.add(f"{what} -> {describe_error(error)}", name)
        else:
            self.trace.add(f"{what} -> {describe(result)}", name)

    def spawn(self, what: str, work: Awaitable[Any], name: str = "a") -> asyncio.Task[None]:
        """Do something in a task of its own, and trace what comes of it."""
        task = self.loop.create_task(self.tell(what, name, work))
        self.tasks.append(task)
        return task

    async def do(self, *subjects: str, by: str = "a") -> None:
        """Register subjects one after the other."""
        for subject in subjects:
            await self.ask(post(subject), by)

    async def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.trace.look()
        await self.loop.pause(seconds)

    async def settle(self) -> None:
        """Wait until everything that was asked is answered."""
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def foreign(self, *requests: Request[Any]) -> None:
        """Have another writer write."""
        for request in requests:
            self.trace.add("another writer writes")
            write_foreign(self.disk, request)

    # ---------------------------------------------------------------------------------------------------- the end

    async def end(self) -> None:
        """Trace where everything has come to, and close all nodes."""
        for name, node in list(self.nodes.items()):
            self.trace.add(f"status {describe_status(node.status())}", name)
        for name in list(self.nodes):
            await self.stop(name)
        await self.settle()
        commits = [each for append in self.disk.appends for each in append.commits]
        self.trace.add("log: " + ", ".join(f"{each.command_id or '-'}" for each in commits))
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for each in others:
                each.cancel()
            await asyncio.gather(*others, return_exceptions=True)


def describe(value: Any) -> str:
    """A request or an answer in a line."""
    if isinstance(value, Register):
        text = value.draft.text
        return f"register {value.subject.name} {text if len(text) < 40 else f'{len(text)} characters'}"
    if isinstance(value, Reply):
        return f"{describe(value.answer)} at {value.token.sequence} {value.token.digest}"
    if isinstance(value, RegisteredVersion):
        found = value.version
        return f"version {found.number} of {found.subject}, id {found.schema_id}{' created' if value.created else ''}"
    if isinstance(value, Request):
        members = ((each.name, getattr(value, each.name), each.default) for each in fields(value))  # type: ignore[arg-type]  # requests are dataclasses
        shown = [f"{name}={describe(member)}" for name, member, default in members if member != default]
        return f"{type(value).__name__}({', '.join(shown)})"
    if isinstance(value, Subject):
        return value.name
    text = repr(value)
    return text if len(text) < 200 else f"{text[:200]}… ({len(text)})"


def describe_status(status: Status) -> str:
    """A status in a line, without what a trace says anyway."""
    names = [name for name in Status.__slots__ if name not in {"counts", "log", "kind"}]
    return ", ".join(f"{name} {value!r}" for name in names if (value := getattr(status, name)) not in ("", (), 0))


Play = Callable[[Scene], Awaitable[None]]


def play(scenario: Play) -> str:
    """Play a scenario, and return its trace."""
    loop = TracedLoop()
    trace = Trace(loop)
    loop.tell, loop.look = trace.add, trace.look
    logger, lines = logging.getLogger("treaty"), TraceLines(trace)
    level, propagate = logger.level, logger.propagate
    scene: Scene | None = None

    async def run() -> None:
        nonlocal scene
        scene = Scene(loop, trace)
        await scenario(scene)
        await scene.end()

    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        loop.run_until_complete(run())
    except Exception as error:  # noqa: BLE001 - a scenario that does not come to its end is a trace too
        trace.add(f"the scenario ends: {describe_error(error)}")
    finally:
        logger.removeHandler(lines)
        logger.setLevel(level)
        logger.propagate = propagate
        loop.look = lambda: None
        with suppress(Exception):
            loop.close()
        for cleanup in reversed(scene.cleanups if scene else []):
            cleanup()
    trace.lines += [f"loop: {trace.names.clean(each)}" for each in loop.errors]
    return trace.text()
