"""What durable appends cost on each log, beside bare loops that write the same bytes as durably; nodes that contend; starts."""

from benchmarks.log.run import run

__all__ = ["run"]
