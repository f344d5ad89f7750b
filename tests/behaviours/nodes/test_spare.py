"""Memory that a start needed, and that is free afterwards."""

from pathlib import Path

from treaty.node.environment import trim_memory


def resident() -> float:
    """Megabytes of this process."""
    told = Path("/proc/self/status").read_text()
    return int(told.partition("VmRSS:")[2].split()[0]) / 1024


def test_what_was_freed_between_what_stays_goes_back() -> None:
    rows = [bytes(2_000) for _ in range(50_000)]
    stays = rows[::40]
    held = resident()
    del rows
    trim_memory()
    assert resident() < held - 50
    assert len(stays) == 1_250
