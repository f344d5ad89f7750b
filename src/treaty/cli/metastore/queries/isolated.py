"""Processes of single parts: how `treaty runner --isolate` starts them, and what runs in each."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from treaty.cli.metastore.queries.folders import print_folder
from treaty.cli.metastore.queries.service_options import ServiceOptions
from treaty.cli.registry import connection

if TYPE_CHECKING:
    from treaty.core.registry import Registry
    from treaty.spark.runner.query_start import QueryStarter
    from treaty.spark.runner.service.wanted import WantedPart

StarterMaker = Callable[[ServiceOptions, "Registry"], "QueryStarter"]
TURN_SECONDS = 0.5
"""Seconds between two looks at the part."""


def make_command(options: ServiceOptions, part: "WantedPart") -> Sequence[str]:
    """Return the command line of the process of a part; it has the options of its runner. What may have a password is in `make_variables`."""
    words = [
        sys.executable, "-m", "treaty.cli.main", "runner", "--isolated-part", f"{part.key.generation}/{part.part}", "--name", options.name,
        "--root", print_folder(options.root), "--files", print_folder(options.files),
        "--master", options.master, "--memory", options.memory,
    ]  # fmt: skip
    if options.checkpoints is not None:
        words += ["--checkpoints", print_folder(options.checkpoints)]
    if options.iceberg:
        words.append("--iceberg")
    for option, values in (("--conf", options.settings), ("--cluster", options.clusters)):
        words += [word for value in values for word in (option, value)]
    return words


def make_variables(options: ServiceOptions) -> Mapping[str, str]:
    """Return the variables of the process of a part: a URL with a password is not for all who list processes."""
    return {**os.environ, "TREATY_REGISTRY": options.registry}  # noqa: TID251 (a command's settings are variables too)


def run_part(options: ServiceOptions, key_text: str, make_starter: "StarterMaker") -> None:
    """Run one part until the runner says that it shall end; at once where the runner is gone."""
    from threading import Semaphore  # noqa: PLC0415 (with what loads Spark, which --help must not need)

    from treaty.spark.runner.service.follower import FeedFollower  # noqa: PLC0415
    from treaty.spark.runner.service.part_process import RunnerWords, parse_key, saying_status  # noqa: PLC0415
    from treaty.spark.runner.service.part_thread import DRAIN_SECONDS, PartHooks, PartThread  # noqa: PLC0415

    for number in (signal.SIGTERM, signal.SIGINT):  # a terminal sends them to all: the runner says what is to end
        signal.signal(number, signal.SIG_IGN)
    key, words = parse_key(key_text), RunnerWords(sys.stdin)
    with connection.open_registry(options.registry) as client:
        starter = make_starter(options, client.registry)
        follower = FeedFollower(client.registry, lambda _: None)
        hooks = PartHooks(starter, Semaphore(1), lambda _: None, lambda: words.is_alive)
        thread: PartThread | None = None
        with saying_status(lambda: None if thread is None else thread.status):
            while not words.ending.is_set():
                part = follower.snapshot.parts.get(key)
                if part is not None and thread is None:
                    thread = PartThread(part, hooks)
                elif part is not None and thread is not None:
                    thread.change(part)
                follower.woken.wait(TURN_SECONDS)
                follower.woken.clear()
            if thread is not None:
                thread.end()
                thread.join(2 * DRAIN_SECONDS)
        follower.close()
