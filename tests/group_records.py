"""Classes and settings for tests of groups, and a registry that counts what it is asked."""

import dataclasses
from typing import Any, TypeVar

from treaty.client.groups.codecs import PayloadCodec
from treaty.client.groups.settings import GroupWriterSettings, pravega_group
from treaty.core.messages.request import Request
from treaty.core.registry import CALL, CallOptions, Registry, Reply

A = TypeVar("A")


@dataclasses.dataclass
class Order:
    item: str
    count: int


@dataclasses.dataclass
class Cancel:
    item: str


class CountingRegistry:
    """A registry that notes what it is asked."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.asked: list[Request[Any]] = []

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        self.asked.append(request)
        return self._registry.ask(request, call)

    def close(self) -> None:
        pass

    def take(self) -> list[type[Request[Any]]]:
        """Return the kinds of requests since the last call."""
        kinds = [type(one) for one in self.asked]
        self.asked.clear()
        return kinds


def writing(
    format_: str = "AVRO", codec: PayloadCodec | str = "", *, many: bool = True, **more: Any
) -> GroupWriterSettings:
    return GroupWriterSettings(
        create=pravega_group(format_, many_types=many), register_schema=True, register_codec=True, codec=codec, **more
    )
