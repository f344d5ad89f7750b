"""A registry inside a program: a node on a loop and a thread of its own, over the real logs."""

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import active_children
from pathlib import Path

import pytest

from treaty.assemble import connect
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.log.urls import LogUrlError, open_log
from treaty.node.embedded import EmbeddedRegistry
from treaty.node.environment import real_environment
from treaty.node.node import Node
from treaty.node.schema_service import SchemaService, make_process_service, make_thread_service


def record(*names: str, kind: str = "long") -> str:
    return json.dumps({"type": "record", "name": "R", "fields": [{"name": name, "type": kind} for name in names]})


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"memory:{tmp_path}" if request.param == "memory" else f"sqlite://{tmp_path / 'log.db'}"


def test_many_threads_of_many_programs_agree(url: str) -> None:
    with connect(url) as one, connect(url) as two, connect(url) as three, ThreadPoolExecutor(12) as threads:
        posts = [threads.submit(door.register, "s", record("a")) for _ in range(30) for door in (one, two, three)]
        told = Counter((post.result().version.schema_id, post.result().created) for post in posts)
        assert told == {(1, True): 1, (1, False): 89}

        others = [threads.submit(door.register, "t", record(f"f{n}")) for n in range(8) for door in (one, two, three)]
        kept = [post.result().version.text for post in others if not isinstance(post.exception(), Incompatible)]
        assert len(set(kept)) == 1
        assert one.versions("t") == two.versions("t") == three.versions("t") == (1,)


def test_what_one_wrote_the_other_reads(url: str) -> None:
    with connect(url) as one, connect(url) as two:
        for number in range(30):
            wrote = one.ask(Register(subject_of(f"s{number}"), Draft(record("a"))))
            assert len(two.subjects()) == number + 1
            assert len(two.ask(ListSubjects(), CallOptions("eventual", after=wrote.token)).answer.names) == number + 1


def test_a_file_is_found_again(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url) as first:
        made = first.register("s", record("a"))
    with connect(url) as second:
        assert second.version("s") == made.version
        assert not second.register("s", record("a")).created


def test_what_is_closed_says_so() -> None:
    registry = connect("memory:")
    registry.register("s", record("a"))
    registry.close()
    registry.close()
    with pytest.raises(Unavailable, match="closed"):
        registry.subjects()


def test_a_log_that_can_not_be_opened_leaves_no_thread() -> None:
    before = threading.active_count()
    with pytest.raises(LogUrlError):
        connect("nonsense:")
    assert threading.active_count() == before


@pytest.mark.parametrize("desk", [make_thread_service, make_process_service])
def test_large_schemas_are_read_beside_the_loop(desk: Callable[[], SchemaService]) -> None:
    async def make() -> Node:
        return Node(await open_log("memory:"), desk(), real_environment())

    large = record(*(f"a_rather_long_name_of_a_field_{number}" for number in range(3_000)))
    assert len(large) > 150_000
    with EmbeddedRegistry(make) as registry:
        first = registry.ask(Register(subject_of("s"), Draft(large))).answer.version
        with pytest.raises(Incompatible):
            registry.ask(Register(subject_of("s"), Draft(large.replace('"long"', '"string"'))))
        assert first.number == 1
        assert registry.node.counts.parked >= 2


def test_a_pool_whose_process_dies_is_made_anew() -> None:
    async def make() -> Node:
        return Node(await open_log("memory:"), make_process_service(), real_environment())

    def large(word: str) -> Register:
        names = (f"{word}_{number}_of_a_very_long_row_of_fields" for number in range(3_000))
        return Register(subject_of(word), Draft(record(*names)))

    with EmbeddedRegistry(make) as registry:
        registry.ask(large("first"))
        for child in active_children():
            child.kill()
            child.join()
        with pytest.raises(Unavailable, match="died"):
            registry.ask(large("second"))
        assert registry.ask(large("third")).answer.created


def test_a_program_that_forgets_to_close_ends_quietly(url: str) -> None:
    program = (
        f"from treaty.assemble import connect\nprint(connect({url!r}).register('s', {record('a')!r}).version.number)"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", program], capture_output=True, text=True, check=True
    )

    assert (ended.stdout, ended.stderr) == ("1\n", "")


def test_closing_does_not_wait_for_a_large_schema() -> None:
    async def make() -> Node:
        return Node(await open_log("memory:"), make_process_service(), real_environment())

    names = (f"another_rather_long_name_of_a_field_{number}" for number in range(10_000))
    with EmbeddedRegistry(make) as registry, ThreadPoolExecutor(1) as thread:
        asked = thread.submit(registry.ask, Register(subject_of("s"), Draft(record(*names))))
        while not registry.node.counts.parked and not asked.done():
            registry.ask(ListSubjects())
        registry.close()
        assert isinstance(asked.exception(), Unavailable)
