"""How the command of a stream ends where a signal to its whole process group has ended Spark's JVM too."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

from treaty.cli.terminal import screen

STOPPED = "Stopped: Spark ended by the same signal; a batch that it cut off runs again."


@contextmanager
def end_with_spark(ending: Event) -> Iterator[None]:
    """Say that the stream was stopped, instead of an error of the block, where `ending` is set and Spark's JVM has ended."""
    before = logging.root.manager.disable
    try:
        yield
    except Exception:
        from treaty.spark.session import has_jvm_ended_by_signal  # noqa: PLC0415 (loads Spark, which --help must not need)

        if not (ending.is_set() and has_jvm_ended_by_signal()):
            raise
        screen.say(STOPPED, "yellow", err=True)
    finally:
        logging.disable(before)


def silence_libraries() -> None:
    """Leave out what libraries report of a JVM that is gone; `end_with_spark` lets their logs speak again."""
    from treaty.spark.session import silence_accumulators  # noqa: PLC0415 (loads Spark, which --help must not need)

    logging.disable(logging.ERROR)
    silence_accumulators()
