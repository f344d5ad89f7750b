"""The options of `treaty runner` that the command passes on to the service, as one frozen value."""

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.cli.metastore.queries.folders import Folder

HEAP = "2g"


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """The options of a runner that runs until it is stopped."""

    name: str
    root: Folder
    files: Folder
    registry: str
    master: str = "local[*]"
    memory: str = HEAP
    settings: Sequence[str] = ()
    listen: str = "127.0.0.1:0"
    clusters: Sequence[str] = ()
    as_json: bool = False
    checkpoints: Folder | None = None
    """The folder of the checkpoints; None: checkpoints below the root."""
    iceberg: bool = False
    """Whether Iceberg is loaded also where no source has it yet."""
    isolate: bool = False
    """Whether each part has a process of its own."""
