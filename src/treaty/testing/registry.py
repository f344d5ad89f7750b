"""`TreatyRegistry`: an empty registry in this process, optionally with a server."""

from pathlib import Path
from types import TracebackType
from typing import Self

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.versions import VersionFound
from treaty.core.schema import Draft, Reference
from treaty.formats.registry import find_formats
from treaty.node.embedded import EmbeddedRegistry
from treaty.testing.server import LocalServer, start_server


def list_endings() -> dict[str, str]:
    """Return which format a schema file has, by the ending of its name."""
    formats = find_formats()
    return {f".{suffix.rpartition('.')[2]}": name for name in formats.names for suffix in formats[name].suffixes}


class TreatyRegistry:
    """A registry that lives in memory and ends with the block; any number of them may be open at once.

    `registry` is a `Connection`: serializers take it as it is, and it has a method for everything.
    """

    def __init__(self) -> None:
        """Start the node, which takes a few milliseconds. The server starts when `url` is first asked for."""
        self.registry: Connection = connect("memory:")
        embedded = self.registry.registry
        assert isinstance(embedded, EmbeddedRegistry)
        self._embedded = embedded
        self._server: LocalServer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Address of a server on a free port of loopback, for clients that speak HTTP; the same registry stands behind."""
        if self._server is None:
            self._server = self._embedded.run(start_server(self._embedded.node))
        return self._server.url

    def register_file(
        self,
        path: Path | str,
        subject: str = "",
        *,
        format: str = "",  # noqa: A002 (the word of the protocol)
        references: tuple[Reference, ...] = (),
    ) -> VersionFound:
        """Register the schema in a file; the subject is the file's name without its ending, if none is given.

        The format is determined by the suffix (.avsc, .json, .proto) if it is not given. Raises `ValueError` where that
        says nothing, and what a registry raises.
        """
        place = Path(path)
        kind = format or list_endings().get(place.suffix, "")
        if not kind:
            raise ValueError(f"{place.name}: which format? Give format=, or name the file {', '.join(list_endings())}")
        draft = Draft(place.read_text("utf-8"), kind, references)
        return self.registry.register(subject or place.stem, draft).version

    def close(self) -> None:
        """End server and registry. Closing twice is closing once."""
        server, self._server = self._server, None
        if server is not None:
            self._embedded.run(server.close())
        self.registry.close()
