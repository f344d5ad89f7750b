"""The same as the second half of `http`, with 100,000 subjects: some minutes to fill, and much memory."""

from benchmarks.http import scale
from benchmarks.row import Row

MANY = 100_000


def run() -> list[Row]:
    """100,000 subjects against 100."""
    return scale(MANY)
