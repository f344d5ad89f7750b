"""`Places`: where one topic of the demo lies, its tables and its checkpoint."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DemoPaths:
    """Folders of one topic of one run of the demo."""

    root: Path
    topic: str = "flights"

    @property
    def events(self) -> str:
        """Files that stand for the topic."""
        return str(self.root / "events" / self.topic)

    @property
    def truth(self) -> str:
        """What is true of each event."""
        return str(self.root / "truth" / self.topic)

    @property
    def good(self) -> str:
        """The table of good rows."""
        return str(self.root / "tables" / self.topic)

    @property
    def bad(self) -> str:
        """The table of bad rows."""
        return str(self.root / "tables" / f"{self.topic}_bad")

    @property
    def checkpoint(self) -> str:
        """Where the stream remembers what it has read."""
        return str(self.root / "checkpoints" / self.topic)
