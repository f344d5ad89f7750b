"""The folders of a topic of the demo: its events, its tables and its checkpoint."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DemoPaths:
    """Folders of one topic of one run of the demo."""

    root: Path
    topic: str = "flights"

    @property
    def events(self) -> str:
        """Files with the events of the topic."""
        return str(self.root / "events" / self.topic)

    @property
    def truth(self) -> str:
        """Files with the version and the damage of each event."""
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
        """The checkpoint of the stream."""
        return str(self.root / "checkpoints" / self.topic)
