"""SIGTERM to a whole process group, as service managers send it: the JVM gets it too and ends first, and that is no failure."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.costs import note_killed
from tests.iglu import schemas
from tests.real.pipeline_files import V1, put, sound
from tests.self_describing import CONFIG, CONTEXTS
from tests.servers.small import SMALL
from treaty.assemble import connect
from treaty.spark.session import QUICK_START

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(180)]


def describe(root: Path, source: str) -> Path:
    """A stream that goes on until it is told to end."""
    settings = {**SMALL, "spark.driver.extraJavaOptions": QUICK_START}
    pairs = "\n".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in settings.items())
    tables = "\n".join(f'[{name}]\nplace = "{root}/{name}"\nformat = "parquet"' for name in ("good", "bad"))
    file = root / "stream.toml"
    file.write_text(
        f'checkpoint = "{root}/checkpoint"\n{source}\n{tables}\n[spark]\nmaster = "local[1]"\n[spark.settings]\n{pairs}\n'
    )
    return file


def events(root: Path) -> tuple[list[str], Path]:
    """`treaty iglu load` over one file of events."""
    folder = root / "iglu" / "schemas" / Path(CONTEXTS).parent
    folder.mkdir(parents=True)
    (folder / "1-0-1").write_text(schemas()[CONTEXTS], "utf-8")
    (root / "resolver.json").write_text(json.dumps(CONFIG))
    write(root, number=[1], value=[json.dumps({"schema": f"iglu:{CONTEXTS}", "data": []})])
    source = f'[source.files]\npath = "{root}/in"\nschema = "number BIGINT, value STRING"'
    places = f'keep = ["number"]\nresolver = "resolver.json"\nregistries = ["{root}/iglu"]'
    return ["iglu", "load"], describe(root, f"{places}\n{source}")


def frames(root: Path) -> tuple[list[str], Path]:
    """`treaty pipeline run` over one file of frames."""
    log = f"sqlite://{root / 'log.db'}"
    with connect(log) as registry:
        number = put(registry, V1, "orders-value")
    write(root, value=[value for value, _ in sound(number, V1, 0)])
    source = f'[source.files]\npath = "{root}/in"\nschema = "value BINARY"'
    return ["pipeline", "run"], describe(root, f'registry = "{log}"\nsubject = "orders-value"\n{source}')


def write(root: Path, **columns: list[object]) -> None:
    (root / "in").mkdir()
    pq.write_table(pa.table(columns), root / "in" / "one.parquet")


def end_by_signal(root: Path, make_stream: Callable[[Path], tuple[list[str], Path]]) -> None:
    """The signal goes to the program and to its JVM; the stream ends well, and says nothing of it."""
    words, file = make_stream(root)
    command = [sys.executable, "-m", "treaty.cli.main", *words, str(file), "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        note_killed(process.pid)
        os.killpg(process.pid, signal.SIGTERM)
        rest, errors = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert json.loads(first or rest or "{}").get("batch") == 0, errors
    assert (process.returncode, rest) == (0, ""), errors
    assert "Traceback" not in errors


def fail_to_load(root: Path) -> None:
    """A schema that cannot be had ends the stream, with one sentence that names it."""
    uri = "iglu:com.acme/late/jsonschema/1-0-0"
    write(root, value=[json.dumps({"schema": uri, "data": {}})])
    source = f'[source.files]\npath = "{root}/in"\nschema = "value STRING"'
    file = describe(root, f'registries = ["http://127.0.0.1:1"]\npatience_seconds = 0\n{source}')
    command = [sys.executable, "-m", "treaty.cli.main", "iglu", "load", str(file), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    error = json.loads(done.stdout)["error"]
    assert error["rule"] == "STREAM_FAILED"
    assert error["message"].startswith("the stream failed: UnresolvedSchemasError: batch 0 waits for 1 schemas")
    assert uri in error["message"]


WAYS: dict[str, Callable[[Path], None]] = {
    "a signal while events are loaded": lambda root: end_by_signal(root, events),
    "a signal while frames are read": lambda root: end_by_signal(root, frames),
    "a load that fails": fail_to_load,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_command_with_a_stream_ends_without_a_traceback(tmp_path: Path, way: str) -> None:
    """After SIGTERM to the whole group in silence, after a failure with a sentence; each way starts a JVM of its own."""
    WAYS[way](tmp_path)
