"""Where recorded traces lie, and the command that remakes them."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "cases" / "traces"
REMAKE = "python -m tests.traces"


def file_of(name: str) -> Path:
    """The record of a scenario."""
    return FOLDER / f"{name}.txt"
