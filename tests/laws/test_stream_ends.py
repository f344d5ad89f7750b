"""How the command of a stream ends: an error is one, unless a signal has ended Spark's JVM."""

import signal
import subprocess
import sys
from threading import Event

import pytest

from treaty.cli.pipeline.jvm_end import end_with_spark
from treaty.spark.session import ends_by_signal


@pytest.mark.parametrize(
    ("number", "by_signal"), [(signal.SIGTERM, True), (signal.SIGINT, True), (signal.SIGKILL, False)]
)
def test_a_process_that_was_killed_has_failed(number: signal.Signals, by_signal: bool) -> None:  # noqa: FBT001 (a case)
    begin = (
        "import signal; [signal.signal(one, signal.SIG_DFL) for one in (2, 15)]; print(1, flush=True); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-S", "-c", begin], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(number)
        assert ends_by_signal(process) is by_signal


@pytest.mark.parametrize("signalled", [False, True])
def test_an_error_without_a_jvm_stays_an_error(signalled: bool) -> None:  # noqa: FBT001 (a case)
    ending = Event()
    if signalled:
        ending.set()
    with pytest.raises(RuntimeError, match="the disk is full"), end_with_spark(ending):
        raise RuntimeError("the disk is full")
