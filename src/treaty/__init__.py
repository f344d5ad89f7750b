"""Treaty: a schema registry and streaming metastore. `treaty.connect(url)` is the way in."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.assemble import connect

__all__ = ["connect"]


def __getattr__(name: str) -> object:
    if name == "connect":
        from treaty.assemble import connect  # noqa: PLC0415 (a client or a Spark worker must not load the server)

        return connect
    raise AttributeError(f"module 'treaty' has no attribute {name!r}")
