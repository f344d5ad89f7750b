"""Treaty: a schema registry, and decoding on Spark and Arrow. `treaty.connect(url)` returns a registry."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treaty.assemble import connect, connect_async

__all__ = ["connect", "connect_async"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from treaty import assemble  # noqa: PLC0415 (a client or a Spark worker must not load the server)

        return getattr(assemble, name)
    raise AttributeError(f"module 'treaty' has no attribute {name!r}")
