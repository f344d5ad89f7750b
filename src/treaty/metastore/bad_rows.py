"""Where the bad rows of a source are: a Delta table below the root of files, and beside it what became of them."""

from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import NotFound, SourceNotFound
from treaty.core.registry import Registry
from treaty.core.sources import Source

FOLDER = "_bad"
"""The folder below the root that has the tables of bad rows."""
RESULTS = "-replays"
"""What follows the folder of a table of bad rows in the name of the table of what became of them."""
REPLAY_LOG = "-replay-log"
"""What follows it in the name of the folder with a file for each replay that has begun, and one for each that is over."""


def first_generation(source: Source) -> int:
    """Return the generation that a source had at first, before it was ever dropped and brought back."""
    return source.former[-1] if source.former else source.generation


def name_bad_folder(bad: Source) -> str:
    """Return the folder of a stream of bad rows, relative to the root of files."""
    return bad.place or f"{FOLDER}/{first_generation(bad)}"


def name_folder(source: Source) -> str:
    """Return the folder of a source, relative to the root of files; bad rows have one by the generation."""
    return name_bad_folder(source) if source.origin else source.place


def find_origin(registry: Registry, bad: Source) -> Source:
    """Return the source whose rows a stream of bad rows has, by the name that it has now.

    The row `bad` may be older than a rename, or than a swap by which its name is that of another source. Raises `NotFound` where the stream or the source is gone.
    """
    while True:
        stream = registry.ask(DescribeSource(bad.name)).answer.source
        if first_generation(stream) != first_generation(bad):
            message = f"{bad.name} has the bad rows of another source by now"
            raise SourceNotFound.of(
                "SOURCE_NOT_FOUND", message, path="/name", old=str(bad.generation), new=str(stream.generation)
            )
        try:
            origin = registry.ask(DescribeSource(stream.origin)).answer.source
        except NotFound:
            if registry.ask(DescribeSource(bad.name)).answer.source.origin == stream.origin:
                raise
            continue
        if registry.ask(DescribeSource(bad.name)).answer.source.origin == stream.origin:
            return origin
