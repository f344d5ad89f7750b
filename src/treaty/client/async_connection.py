"""`AsyncConnection`: `Connection` for asyncio programs; each method is a coroutine function."""

from asyncio import to_thread
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from treaty.client import comparison_exchanges, exchanges, group_exchanges, policy_exchanges, publication_exchanges
from treaty.client.connection import M_co
from treaty.core.messages.names import PinFound
from treaty.core.messages.registration import RegisteredVersion
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import SchemaFound
from treaty.core.messages.versions import VersionFound
from treaty.core.refusals import RegistryError
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Exchange, Reply, method_signature

THREAD_CHARACTERS = 8_192
"""Characters of a schema above which an exchange continues on a thread: to parse it may take longer than a turn of the event loop."""

A = TypeVar("A")
P = ParamSpec("P")


async def run_exchange_async(registry: AsyncRegistry, exchange: Exchange[A], call: CallOptions = CALL) -> A:
    """Return the value of the exchange, as `run_exchange` does. It continues with a long schema on a thread."""
    step: Callable[[], Request[Any]] = partial(next, exchange)
    size = 0
    while True:
        result = await to_thread(_take_step, step) if size > THREAD_CHARACTERS else _take_step(step)
        if isinstance(result, _ExchangeEnd):
            value: A = result.value
            return value
        try:
            answer = (await registry.ask(result, call)).answer
        except RegistryError as refused:
            step, size = partial(exchange.throw, refused), 0
        else:
            step, size = partial(exchange.send, answer), _count_characters(answer)


@dataclass(frozen=True, slots=True)
class _ExchangeEnd:
    """What an exchange returned; a thread can't raise `StopIteration`."""

    value: Any


def _take_step(step: Callable[[], Request[Any]]) -> Request[Any] | _ExchangeEnd:
    try:
        return step()
    except StopIteration as end:
        return _ExchangeEnd(end.value)


def _count_characters(answer: object) -> int:
    """The characters of the schema in an answer, and of the files that came with it; 0 where it has none."""
    content = answer.version if isinstance(answer, PinFound | RegisteredVersion) else answer
    if not isinstance(content, SchemaFound | VersionFound):
        return 0
    return len(content.text) + sum(len(text) for _, text in content.imports)


def _as_coroutine(
    exchange: Callable[P, Exchange[A]],
) -> Callable[Concatenate["AsyncConnection[Any]", P], Coroutine[Any, Any, A]]:
    """Return a coroutine method that runs the exchange and returns its value."""

    @wraps(exchange)
    async def method(self: "AsyncConnection[Any]", /, *args: P.args, **kwargs: P.kwargs) -> A:
        return await run_exchange_async(self.registry, exchange(*args, **kwargs), self.call)

    method.__signature__ = method_signature(exchange)  # type: ignore[attr-defined]
    return method


class AsyncConnection(Generic[M_co]):
    """A registry for asyncio, with the `CallOptions` of its methods."""

    def __init__(
        self,
        registry: AsyncRegistry,
        call: CallOptions = CALL,
        *,
        open_metastore: Callable[[AsyncRegistry, CallOptions], M_co] | None = None,
    ) -> None:
        """Send requests to `registry`, which is closed with this object. `open_metastore` gives what `metastore` is."""
        self.registry = registry
        self.call = call
        self._open_metastore = open_metastore

    @property
    def metastore(self) -> M_co:
        """The metastore over the same registry, as `Connection.metastore`; its methods are coroutines."""
        if self._open_metastore is None:
            raise TypeError(
                "this connection has no metastore: treaty.connect_async opens one that has, or treaty.metastore.AsyncMetastore(registry)"
            )
        return self._open_metastore(self.registry, self.call)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def ask(self, request: Request[A], call: CallOptions | None = None) -> Reply[A]:
        """Send any request; return its answer with the position token of the state that answered."""
        return await self.registry.ask(request, call or self.call)

    async def close(self) -> None:
        """Close the registry with its connections, threads and files."""
        await self.registry.close()

    register = _as_coroutine(exchanges.register)
    derive = _as_coroutine(exchanges.derive)
    lookup = _as_coroutine(exchanges.lookup)
    check = _as_coroutine(exchanges.check)
    diff = _as_coroutine(comparison_exchanges.diff)
    try_change = _as_coroutine(comparison_exchanges.try_change)
    search = _as_coroutine(comparison_exchanges.search)
    version = _as_coroutine(exchanges.version)
    named_version = _as_coroutine(exchanges.named_version)
    find = _as_coroutine(exchanges.find)
    versions = _as_coroutine(exchanges.versions)
    subjects = _as_coroutine(exchanges.subjects)
    schemas = _as_coroutine(exchanges.schemas)
    delete_version = _as_coroutine(exchanges.delete_version)
    delete_subject = _as_coroutine(exchanges.delete_subject)

    schema = _as_coroutine(exchanges.schema)
    by_guid = _as_coroutine(exchanges.by_guid)
    ids_of = _as_coroutine(exchanges.ids_of)
    uses = _as_coroutine(exchanges.uses)
    referenced_by = _as_coroutine(exchanges.referenced_by)

    config = _as_coroutine(exchanges.config)
    set_config = _as_coroutine(exchanges.set_config)
    set_level = _as_coroutine(exchanges.set_level)
    settings = _as_coroutine(exchanges.settings)
    delete_config = _as_coroutine(exchanges.delete_config)
    mode = _as_coroutine(exchanges.mode)
    set_mode = _as_coroutine(exchanges.set_mode)
    delete_mode = _as_coroutine(exchanges.delete_mode)

    contexts = _as_coroutine(exchanges.contexts)
    make_context = _as_coroutine(exchanges.make_context)
    delete_context = _as_coroutine(exchanges.delete_context)

    add_codec = _as_coroutine(group_exchanges.add_codec)
    codecs = _as_coroutine(group_exchanges.codecs)
    assign_encoding = _as_coroutine(group_exchanges.assign_encoding)
    encoding = _as_coroutine(group_exchanges.encoding)
    encodings = _as_coroutine(group_exchanges.encodings)

    create_subject = _as_coroutine(group_exchanges.create_subject)
    change_subject = _as_coroutine(group_exchanges.change_subject)
    remove_subject = _as_coroutine(group_exchanges.remove_subject)
    delete_ordinal = _as_coroutine(group_exchanges.delete_ordinal)
    group = _as_coroutine(group_exchanges.group)
    groups = _as_coroutine(group_exchanges.groups)
    ordinal = _as_coroutine(group_exchanges.ordinal)
    typed_version = _as_coroutine(group_exchanges.typed_version)
    publish = _as_coroutine(publication_exchanges.publish)
    get_published = _as_coroutine(publication_exchanges.get_published)
    list_published = _as_coroutine(publication_exchanges.list_published)
    delete_published = _as_coroutine(publication_exchanges.delete_published)
    put_draft = _as_coroutine(publication_exchanges.put_draft)
    draft = _as_coroutine(publication_exchanges.draft)
    group_versions = _as_coroutine(group_exchanges.group_versions)
    history = _as_coroutine(group_exchanges.history)
    find_same_version = _as_coroutine(group_exchanges.find_same_version)
    find_same_schema = _as_coroutine(group_exchanges.find_same_schema)
    check_reading = _as_coroutine(group_exchanges.check_reading)

    create_policy = _as_coroutine(policy_exchanges.create_policy)
    change_policy = _as_coroutine(policy_exchanges.change_policy)
    delete_policy = _as_coroutine(policy_exchanges.delete_policy)
    policy = _as_coroutine(policy_exchanges.policy)
    policies = _as_coroutine(policy_exchanges.policies)

    add_api_keys = _as_coroutine(publication_exchanges.add_api_keys)
    remove_api_key = _as_coroutine(publication_exchanges.remove_api_key)
    api_keys = _as_coroutine(publication_exchanges.api_keys)

    associations = _as_coroutine(exchanges.associations)
    find_associations = _as_coroutine(exchanges.find_associations)
    associate = _as_coroutine(exchanges.associate)
    dissociate = _as_coroutine(exchanges.dissociate)
    change_associations = _as_coroutine(exchanges.change_associations)

    outcome = _as_coroutine(exchanges.outcome)
