"""Registries as arguments of functions: an object is taken as it is, the URL of a server is connected to."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from treaty.client.http_registry import HttpRegistry
from treaty.client.properties import settings_of
from treaty.core.registry import Registry
from treaty.plan.errors import PlanError

SCHEMES = ("http", "https")
NOTHING: Mapping[str, str] = MappingProxyType({})


@contextmanager
def open_registry(registry: Registry | str, settings: Mapping[str, str] = NOTHING) -> Iterator[Registry]:
    """Return the given registry, or a client of the server at a URL, closed after the block. Raises the errors of
    `connect_address`.
    """
    if not isinstance(registry, str):
        if settings:
            raise PlanError(
                f"the setting {min(settings)!r} is for an address, and a registry is given; leave one of both out"
            )
        yield registry
        return
    client = connect_address(registry, settings)
    try:
        yield client
    finally:
        client.close()


def connect_address(address: str, settings: Mapping[str, str] = NOTHING) -> HttpRegistry:
    """Return a client of the server at a URL, by default with http; `settings` have the names of Confluent's clients.

    Raises `PlanError` for a URL that is not of a server, and `ValueError` for an invalid URL or setting.
    """
    scheme, has_scheme, _ = address.partition("://")
    if has_scheme and scheme.lower() not in SCHEMES:
        raise PlanError(
            f"a registry is taken by the address of its server, http(s)://HOST:PORT, not by one that begins with {scheme}://; "
            "open the URL of a log with treaty.connect, and give the registry that it returns"
        )
    return HttpRegistry(settings_of({"url": address if has_scheme else f"http://{address}", **settings}))
