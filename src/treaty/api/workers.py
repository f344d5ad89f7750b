"""Supervises several workers on one listening socket: starts them, starts one that died again after a pause (FIRST_WAIT), ends all where one has a
permanent error (HOPELESS), and stops them within STOP_SECONDS.
"""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

log = logging.getLogger("treaty.server")

FIRST_WAIT = 0.25
"""Seconds before a worker that died is started again; doubled each time, up to `LONGEST_WAIT`."""
LONGEST_WAIT = 30.0
LONG_LIFE = 30.0
"""Seconds after which a worker counts as healthy, and the restart delay is reset."""
STOP_SECONDS = 20.0
"""Seconds for workers to stop before they are killed."""
HOPELESS = 78
"""Exit code of a worker with a permanent error: it is not restarted."""


@dataclass(slots=True)
class WorkerSupervisor:
    """Workers as processes. `command` gives the arguments of the worker with a number."""

    command: Callable[[int], Sequence[str]]
    socket: socket.socket
    count: int
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    running: dict[int, asyncio.subprocess.Process] = field(default_factory=dict)
    code: int = 0

    async def run(self) -> int:
        """Run until SIGTERM or SIGINT; return the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stopping.set)
        async with asyncio.TaskGroup() as group:
            for index in range(self.count):
                group.create_task(self._keep(index))
            group.create_task(self._stop())
        return self.code

    async def _keep(self, index: int) -> None:
        """Keep one worker running."""
        wait = FIRST_WAIT
        loop = asyncio.get_running_loop()
        while not self.stopping.is_set():
            began = loop.time()
            worker = await asyncio.create_subprocess_exec(
                *self.command(index),
                pass_fds=[self.socket.fileno()],
                start_new_session=True,  # Ctrl-C is for this process, which stops them
            )
            self.running[index] = worker
            if self.stopping.is_set():  # told to stop while it was being started
                with contextlib.suppress(ProcessLookupError):
                    worker.terminate()
            code = await worker.wait()
            del self.running[index]
            if self.stopping.is_set():
                return
            if code == HOPELESS:
                self.code = code
                self.stopping.set()
                return
            wait = FIRST_WAIT if loop.time() - began > LONG_LIFE else min(wait * 2, LONGEST_WAIT)
            log.warning("worker %d ended with %d; starting it again in %.1f s", index, code, wait)
            try:
                await asyncio.wait_for(self.stopping.wait(), wait)
            except TimeoutError:
                continue

    async def _stop(self) -> None:
        """Stop all workers once it is time, and kill those that don't."""
        await self.stopping.wait()
        log.info("stopping: workers have %d s to end", STOP_SECONDS)
        self.socket.close()  # it listens until the last of its holders has let go of it
        for worker in tuple(self.running.values()):
            with contextlib.suppress(ProcessLookupError):
                worker.terminate()
        for _ in range(int(STOP_SECONDS * 10)):
            if not self.running:
                return
            await asyncio.sleep(0.1)
        for index, worker in tuple(self.running.items()):
            log.warning("worker %d did not stop in time; it is killed", index)
            with contextlib.suppress(ProcessLookupError):
                worker.kill()
